"""What is fresh, and what this lake cannot see. In: a reader. Out: the newest time per cluster and table, and counts of what is not judged."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.services.doctor.admin_checks import has_throttle_counters
from throttlescope.app.web.data.reader import LakeReader, dicts
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS

#: Tables whose files are of one cluster, the column that says how new their rows are, and what a row's end is beyond it.
_PER_CLUSTER = (("signals", "minute_ms", MINUTE_MS), ("verdicts", "window_end_ms", 0))
#: Tables that are small enough to be queried.
_ASKED = (("policies", "observed_ms"), ("forecasts", "made_at_ms"), ("episodes", "known_until_ms"), ("anomalies", "end_ms"))  # fmt: skip
#: Metrics of which every subscription, topic and broker has a series.
_SUBSCRIPTION, _TOPIC, _BROKER = "pulsar_subscription_back_log", "pulsar_rate_in", "pulsar_version_info"
_KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)


@dataclass(frozen=True)
class Fresh:
    """The newest time per cluster: by table in epoch milliseconds; a table without rows of a cluster is not in its dict."""

    clusters: dict[str, dict[str, int]]
    tables: tuple[str, ...]


@dataclass(frozen=True)
class UnseenBroker:
    """One broker with the version that it reported; ``counts`` is whether that version has the throttle counters."""

    cluster: str
    broker: str
    version: str
    counts: bool


@dataclass(frozen=True)
class BlindSpots:
    """What can be counted of what is not judged.

    Attributes
    ----------
    brokers : tuple of UnseenBroker
        Those whose version is known.
    clusters_without_version : tuple of str
        Judged clusters of which no broker's version was read.
    non_persistent_topics, non_persistent_judged : int
        Topics seen, and subscriptions of them that have a verdict all the same.
    own_topics : int
        Judged subscriptions of Pulsar's own topics.
    replication_series : int
        Series of ``pulsar_replication_*`` in the catalogue: only where they were requested.
    gone : int
        Judged subscriptions whose newest verdict is older than their cluster's: ended, unloaded or filtered out.
    judged : int
        Subscriptions with a verdict.
    """

    brokers: tuple[UnseenBroker, ...]
    clusters_without_version: tuple[str, ...]
    non_persistent_topics: int
    non_persistent_judged: int
    own_topics: int
    replication_series: int
    gone: int
    judged: int


def fresh(reader: LakeReader) -> Fresh:
    """How new each table is of each cluster."""

    def read(cursor, snapshot):
        found: dict[str, dict[str, int]] = {}
        for table, column, beyond_ms in _PER_CLUSTER:
            for file in snapshot.files[table]:
                # From the file list alone: a lake of months is answered as quickly as one of a day.
                by_table = found.setdefault(file.partition["cluster"], {})
                by_table[table] = max(by_table.get(table, 0), file.maximum[column] + beyond_ms)
        for table, column in _ASKED:
            files = snapshot.files[table]
            if all("cluster" in file.partition and column in file.maximum for file in files):
                for file in files:
                    by_table = found.setdefault(file.partition["cluster"], {})
                    by_table[table] = max(by_table.get(table, 0), file.maximum[column])
                continue
            source = snapshot.source(table, files)
            rows = cursor.execute(f"SELECT cluster, max({column}) FROM {source} GROUP BY cluster")  # noqa: S608
            for cluster, newest_ms in rows.fetchall():
                if newest_ms is not None:
                    found.setdefault(cluster, {})[table] = newest_ms
        tables = tuple(table for table, *_ in (*_PER_CLUSTER, *_ASKED))
        return Fresh(dict(sorted(found.items())), tables)

    return reader.read(read)


def blind_spots(reader: LakeReader) -> BlindSpots:
    """Count what is not judged, or with less evidence."""

    def read(cursor, snapshot):
        snapshot.once("blind_series", lambda: _summarise(snapshot))
        brokers = _brokers(cursor, snapshot)
        judged = cursor.execute(
            "SELECT count(*) AS judged, count(*) FILTER (own_topic) AS own, count(*) FILTER (stale) AS gone, "
            "count(*) FILTER (starts_with(topic, 'non-persistent://')) AS non_persistent FROM latest"
        )
        counts = dicts(judged)[0]
        clusters = cursor.execute("SELECT DISTINCT cluster FROM latest ORDER BY cluster").fetchall()
        known = {broker.cluster for broker in brokers}
        topics, replication = cursor.execute(
            "SELECT count(DISTINCT (cluster, topic)) FILTER (starts_with(topic, 'non-persistent://')), "
            "coalesce(sum(series) FILTER (starts_with(metric_name, 'pulsar_replication_')), 0)::BIGINT FROM blind_series"
        ).fetchall()[0]
        return BlindSpots(
            brokers,
            tuple(row[0] for row in clusters if row[0] not in known),
            topics,
            counts["non_persistent"],
            counts["own"],
            replication,
            counts["gone"],
            counts["judged"],
        )

    return reader.read(read)


def broker_versions(reader: LakeReader, cluster: str) -> tuple[str, ...]:
    """The versions of a cluster's brokers, as far as they were read."""

    def read(cursor, snapshot):
        snapshot.once("blind_series", lambda: _summarise(snapshot))
        found = {broker.version for broker in _brokers(cursor, snapshot) if broker.cluster == cluster}
        return tuple(sorted(found))

    return reader.read(read)


def _summarise(snapshot) -> None:
    """Of the catalogue only what is counted: topics that are not persistent, replication, and what brokers say of themselves."""
    source = snapshot.source("series", snapshot.files["series"])
    snapshot.connection.cursor().execute(
        f"""CREATE TABLE blind_series AS
        SELECT metric_name, cluster, labels['topic'] AS topic, labels['instance'] AS instance, labels['version'] AS version,
               max(last_ms) AS last_ms, count(*) AS series
        FROM {source}
        WHERE metric_name = '{_BROKER}' OR starts_with(metric_name, 'pulsar_replication_')
           OR (metric_name IN ('{_SUBSCRIPTION}', '{_TOPIC}') AND starts_with(labels['topic'], 'non-persistent://'))
        GROUP BY ALL"""  # noqa: S608
    )


def _brokers(cursor, snapshot) -> tuple[UnseenBroker, ...]:
    """Every broker's newest version, as the admin API or the metric ``pulsar_version_info`` reported it."""
    policies = snapshot.source("policies", snapshot.files["policies"])
    rows = cursor.execute(
        f"""WITH versions AS (
            SELECT cluster, coalesce(broker, key) AS broker, trim(body, '"') AS version, observed_ms AS at_ms
            FROM {policies} WHERE scope = 'broker_version'
            UNION ALL
            SELECT cluster, instance, version, last_ms FROM blind_series
            WHERE metric_name = '{_BROKER}' AND version IS NOT NULL AND instance IS NOT NULL
        )
        SELECT cluster, broker, arg_max(version, at_ms) FROM versions GROUP BY ALL ORDER BY ALL"""  # noqa: S608
    ).fetchall()
    return tuple(
        UnseenBroker(cluster, broker, version, has_throttle_counters(version))
        for cluster, broker, version in rows
    )
