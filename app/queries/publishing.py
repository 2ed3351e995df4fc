"""What limits publishing, and how much of it is used. In: a lake. Out: a :class:`Publishing`: limits, totals, resource groups, full quotas.

Limits come from the newest answers of the admin API, which a run asks about topics with a backlog and topics whose producers are
paused; use comes from the newest samples of every topic. So a total of use is of all topics, one of limits only of those that were read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.metrics import PUBLISH_PAUSES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, dates_of
from throttlescope.ingest.core.topic_name import namespace_of
from throttlescope.transforms.deadlines import TopicAnswers
from throttlescope.transforms.limits import PublishLimit, publish_limits

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

_RATE, _THROUGHPUT = "pulsar_rate_in", "pulsar_throughput_in"
_BACKLOG, _QUOTA = "pulsar_storage_backlog_size", "pulsar_storage_backlog_quota_limit"
METRICS = (_RATE, _THROUGHPUT, PUBLISH_PAUSES, _BACKLOG, _QUOTA)
#: Older samples say nothing of now: what Prometheus itself looks back.
LOOK_BACK_MS = 5 * MINUTE_MS
#: What a full quota of these does to producers; any other takes entries away instead.
STOPPING = ("producer_request_hold", "producer_exception")


@dataclass(frozen=True)
class PublishUse:
    """One limit of publishing with its use.

    Attributes
    ----------
    level, owner
        As :class:`~throttlescope.transforms.limits.PublishLimit` has them.
    use_msg_per_s, use_bytes_per_s : float or None
        Of a topic that of its busiest partition, each of which has the limit; of a group or a broker the sum over its topics; None: no
        sample of the last minutes.
    share_msg, share_bytes : float or None
        Use / limit; None where either is not known or there is no limit.
    pauses : int or None
        Most pauses of its producers' connections in a minute, for any reason.
    """

    cluster: str
    level: str
    owner: str
    rate_msg: int | None
    rate_bytes: int | None
    set_by: str | None
    namespaces: tuple[str, ...]
    answered_ms: int
    partitions: int
    use_msg_per_s: float | None
    use_bytes_per_s: float | None
    pauses: int | None

    @property
    def share_msg(self) -> float | None:
        return _over(self.use_msg_per_s, self.rate_msg)

    @property
    def share_bytes(self) -> float | None:
        return _over(self.use_bytes_per_s, self.rate_bytes)

    @property
    def share(self) -> float | None:
        """The larger of both shares."""
        return max((one for one in (self.share_msg, self.share_bytes) if one is not None), default=None)


@dataclass(frozen=True)
class PublishTotal:
    """What a tenant or a namespace publishes, and what its topics may.

    Attributes
    ----------
    use_msg_per_s, use_bytes_per_s : float
        Sum over its topic partitions.
    limit_msg_per_s, limit_bytes_per_s : int or None
        Sum of the limits of the topics of which one was read, a limit for each partition; None: none has one.
    topics, topics_read, topics_limited : int
        With samples; of which limits were read; with a limit.
    pauses : int
        Most pauses that one of its topics counts.
    """

    cluster: str
    name: str
    use_msg_per_s: float
    use_bytes_per_s: float
    limit_msg_per_s: int | None
    limit_bytes_per_s: int | None
    topics: int
    topics_read: int
    topics_limited: int
    pauses: int


@dataclass(frozen=True)
class StoppedProducers:
    """A topic partition whose backlog quota keeps its producers from publishing.

    Attributes
    ----------
    policy : str
        ``producer_request_hold`` (they wait) or ``producer_exception`` (they get an error).
    rate_msg_per_s : float or None
        What is still published: 0 once the broker has looked.
    """

    cluster: str
    topic: str
    partition: int
    policy: str
    set_by: str
    backlog_bytes: float
    quota_bytes: float
    rate_msg_per_s: float | None

    @property
    def share(self) -> float:
        return self.backlog_bytes / self.quota_bytes


@dataclass(frozen=True)
class Publishing:
    """All of it, and as of when.

    Attributes
    ----------
    limits : list of PublishUse
        Used most first; those that are not known last.
    namespaces, tenants : list of PublishTotal
        With the most traffic first.
    at_ms : int or None
        Newest sample; None: the lake has none.
    answered_ms : int or None
        Newest answer of the admin API.
    """

    limits: list[PublishUse]
    namespaces: list[PublishTotal]
    tenants: list[PublishTotal]
    stopped: list[StoppedProducers]
    at_ms: int | None
    answered_ms: int | None


@dataclass
class _Seen:
    """Newest samples of a topic partition."""

    values: dict[str, float]
    instance: str


_Place = tuple[str, str, int]


def read_publishing(lake: Lake, cluster: str | None = None) -> Publishing:
    """Read limits and use as of the newest samples.

    Parameters
    ----------
    cluster : str, optional
        Only this one.

    Raises
    ------
    InputError
        The lake has no samples.
    """
    at_ms = _newest_ms(lake, cluster)
    if at_ms is None:
        raise InputError(
            "There is nothing about publishing in this lake",
            got=lake.root if cluster is None else f"cluster {cluster}",
            expected=f"samples of {_RATE}",
            fix="let a run read a source: throttlescope run --lake DIR",
        )
    seen = _newest_samples(lake, cluster, at_ms)
    policies = _newest_policies(lake, cluster)
    limits = [one for rows in policies.values() for one in publish_limits(rows)]
    uses = [_use(one, seen) for one in limits]
    return Publishing(
        sorted(uses, key=_order),
        _totals(limits, seen, lambda namespace: namespace),
        _totals(limits, seen, lambda namespace: namespace.partition("/")[0]),
        [one for name, rows in policies.items() for one in _stopped(TopicAnswers(rows, at_ms), name, seen)],
        at_ms,
        max((row["observed_ms"] for rows in policies.values() for row in rows), default=None),
    )


# -- reading ------------------------------------------------------------------------------------


def _newest_ms(lake: Lake, cluster: str | None) -> int | None:
    files = lake.files("samples", partition={"metric_name": [_RATE]})
    if cluster is not None:
        files = [file for file in files if file.minimum["cluster"] <= cluster <= file.maximum["cluster"]]
    newest = max((file.maximum["block_start_ms"] for file in files), default=None)
    if newest is None:
        return None
    where = pc.field("block_start_ms") == newest
    if cluster is not None:
        where &= pc.field("cluster") == cluster
    rows = lake.read(
        "samples",
        columns=["timestamps_ms"],
        where=where,
        partition={"metric_name": [_RATE], "date": dates_of(newest, newest + BLOCK_MS)},
        between={"block_start_ms": (newest, newest)},
    )
    return pc.max(pc.list_flatten(rows["timestamps_ms"])).as_py()


def _newest_samples(lake: Lake, cluster: str | None, at_ms: int) -> dict[_Place, _Seen]:
    first_ms = at_ms - LOOK_BACK_MS
    where = pc.scalar(True) if cluster is None else pc.field("cluster") == cluster
    rows = lake.read(
        "samples",
        columns=["series_id", "timestamps_ms", "values"],
        where=where,
        partition={"metric_name": list(METRICS), "date": dates_of(first_ms, at_ms + 1)},
        between={"block_start_ms": (block_start(first_ms), at_ms)},
    )
    newest: dict[str, tuple[int, float]] = {}
    for series_id, times, values in zip(
        *(rows[name].to_pylist() for name in ("series_id", "timestamps_ms", "values")), strict=True
    ):
        if times and first_ms < times[-1] and times[-1] > newest.get(series_id, (0, 0.0))[0]:
            newest[series_id] = times[-1], values[-1]
    where &= pc.field("metric_name").isin(list(METRICS)) & pc.field("series_id").isin(list(newest))
    seen: dict[_Place, _Seen] = {}
    latest: dict[tuple[_Place, str], int] = {}
    series = lake.read("series", columns=["series_id", "metric_name", "labels"], where=where)
    for row in series.to_pylist():
        labels = dict(row["labels"])
        place = labels["cluster"], labels["topic"], int(labels["partition"])
        at, value = newest[row["series_id"]]
        # A topic that moved has series of both brokers.
        if at < latest.get((place, row["metric_name"]), 0):
            continue
        latest[place, row["metric_name"]] = at
        one = seen.setdefault(place, _Seen({}, ""))
        one.values[row["metric_name"]], one.instance = value, labels.get("instance", "")
    return seen


def _newest_policies(lake: Lake, cluster: str | None) -> dict[str, list[Mapping]]:
    """Rows of the last day before each cluster's newest answer."""
    where = pc.scalar(True) if cluster is None else pc.field("cluster") == cluster
    files = lake.files("policies")
    newest = max((file.maximum["observed_ms"] for file in files), default=0)
    rows = lake.read("policies", where=where, between={"observed_ms": (newest - 2 * DAY_MS, newest)})
    found: dict[str, list[Mapping]] = defaultdict(list)
    for row in rows.to_pylist():
        found[row["cluster"]].append(row)
    return {name: _of_last_day(of_one) for name, of_one in sorted(found.items())}


def _of_last_day(rows: Sequence[Mapping]) -> list[Mapping]:
    newest_ms = max(row["observed_ms"] for row in rows)
    return [row for row in rows if row["observed_ms"] > newest_ms - DAY_MS]


# -- counting -----------------------------------------------------------------------------------


def _use(limit: PublishLimit, seen: Mapping[_Place, _Seen]) -> PublishUse:
    mine = [one for place, one in seen.items() if _is_of(limit, place, one)]
    add = max if limit.level == "topic" else sum
    rates, throughputs, pauses = (
        [one.values[name] for one in mine if name in one.values]
        for name in (_RATE, _THROUGHPUT, PUBLISH_PAUSES)
    )
    return PublishUse(
        limit.cluster,
        limit.level,
        limit.owner,
        limit.rate_msg,
        limit.rate_bytes,
        limit.set_by,
        limit.namespaces,
        limit.answered_ms,
        len(mine),
        add(rates) if rates else None,
        add(throughputs) if throughputs else None,
        int(max(pauses)) if pauses else None,
    )


def _is_of(limit: PublishLimit, place: _Place, one: _Seen) -> bool:
    cluster, topic, _ = place
    if cluster != limit.cluster:
        return False
    if limit.level == "topic":
        return topic == limit.owner
    return one.instance == limit.owner if limit.level == "broker" else namespace_of(topic) in limit.namespaces


def _totals(limits: Sequence[PublishLimit], seen: Mapping[_Place, _Seen], group_of) -> list[PublishTotal]:
    of_topic = {(one.cluster, one.owner): one for one in limits if one.level == "topic"}
    grouped: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for place in seen:
        grouped[place[0], group_of(namespace_of(place[1]))].append(place)
    found = []
    for (cluster, name), places in grouped.items():
        topics = {(place[0], place[1]) for place in places}
        read = {one for one in topics if one in of_topic and of_topic[one].is_known}
        per_partition = [of_topic[place[0], place[1]] for place in places if place[:2] in read]
        msg = [one.rate_msg for one in per_partition if one.rate_msg is not None]
        size = [one.rate_bytes for one in per_partition if one.rate_bytes is not None]
        found.append(
            PublishTotal(
                cluster,
                name,
                sum(seen[place].values.get(_RATE, 0.0) for place in places),
                sum(seen[place].values.get(_THROUGHPUT, 0.0) for place in places),
                sum(msg) if msg else None,
                sum(size) if size else None,
                len(topics),
                len(read),
                len(
                    {
                        one
                        for one in read
                        if (of_topic[one].rate_msg, of_topic[one].rate_bytes) != (None, None)
                    }
                ),
                int(max(seen[place].values.get(PUBLISH_PAUSES, 0.0) for place in places)),
            )
        )
    return sorted(found, key=lambda one: (-one.use_msg_per_s, one.cluster, one.name))


def _stopped(answers: TopicAnswers, cluster: str, seen: Mapping[_Place, _Seen]) -> list[StoppedProducers]:
    found = []
    for (of, topic, partition), one in seen.items():
        size, quota_bytes = one.values.get(_BACKLOG), one.values.get(_QUOTA)
        # The broker's own figures name what is full; the admin API says what that does.
        if of != cluster or size is None or quota_bytes is None or not 0 < quota_bytes <= size:
            continue
        try:
            deadlines = answers.deadlines(topic)
        except (ValueError, TypeError, AttributeError, json.JSONDecodeError):
            continue
        quota = deadlines.quota_size if deadlines is not None else None
        if quota is not None and quota.policy in STOPPING:
            found.append(
                StoppedProducers(
                    cluster,
                    topic,
                    partition,
                    quota.policy,
                    quota.set_by,
                    size,
                    quota_bytes,
                    one.values.get(_RATE),
                )
            )
    return sorted(found, key=lambda one: (-one.share, one.topic, one.partition))


def _over(use: float | None, limit: int | None) -> float | None:
    return None if use is None or limit is None else use / limit


def _order(one: PublishUse) -> tuple:
    return one.set_by is None, -(one.share if one.share is not None else -1.0), one.cluster, one.owner
