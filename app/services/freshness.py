"""Freshness of data. In: a lake, or the configured sources, and a time. Out: one `Freshness` per cluster.

Idle is not late: a cluster without subscriptions has no new verdicts, as long as its source was read. Nothing is written.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from throttlescope.app.config import UNNAMED
from throttlescope.ingest.contracts.incremental import ALL
from throttlescope.ingest.core.errors import GateError, InputError
from throttlescope.ingest.core.metrics import BROKER_MARKS
from throttlescope.ingest.core.selector import NAME_LABEL, parse_selector
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, SECOND_MS
from throttlescope.ingest.lake.newest_samples import newest_samples
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import duration_text, minute_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from throttlescope.app.config import Cluster, Settings
    from throttlescope.app.services.doctor.requests import PrometheusQueries
    from throttlescope.ingest.lake import Lake

#: Tables whose freshness can be checked, and the column with the end of a row's data.
TABLES = {"samples": "last_ms", "signals": "minute_ms", "verdicts": "window_end_ms"}
BACKLOG = "pulsar_subscription_back_log"
#: Labels that a broker's own series do not have.
_BELOW_BROKER = ("namespace", "topic", "partition", "subscription")


@dataclass(frozen=True)
class Freshness:
    """Up to when the data of one cluster goes.

    Attributes
    ----------
    cluster : str
        Its name; empty for the only cluster of a source without a name.
    of : str
        ``source``, or the table of the lake.
    newest_ms : int or None
        Up to when there is data; None: there is none that is less than a day old at the source, or none at all in the lake.
    age_ms : int or None
        How much older than the requested time; 0 if there is newer data.
    late : bool
        Older than allowed, and nothing says that there was nothing to know.
    note : str
        Why it is not late although it is old; empty otherwise.
    """

    cluster: str
    of: str
    newest_ms: int | None
    age_ms: int | None
    late: bool
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return asdict(self)


def lake_freshness(
    lake: Lake, table: str, clusters: Sequence[str], *, at_ms: int, max_age_ms: int
) -> list[Freshness]:
    """How fresh a table of the lake is.

    Parameters
    ----------
    table : str
        One of :data:`TABLES`.
    clusters : sequence of str
        Those that have to be fresh; empty means all clusters of the lake.
    at_ms : int
        The time that ages are relative to.

    Raises
    ------
    InputError
        There is no lake.
    """
    read_to = newest_samples(lake, metric_name=BACKLOG)
    if not read_to and lake.version("ingest_runs") is None:
        raise InputError(
            "There is no lake",
            got=lake.root,
            fix="create one with throttlescope run --lake DIR, or correct --lake",
        )
    newest = read_to if table == "samples" else _newest_rows(lake, table)
    names = clusters or sorted({*read_to, *newest}) or [""]
    watched = _watched_until(lake)
    found = []
    for name in names:
        one = _judged(name, table, newest.get(name), at_ms, max_age_ms)
        # A verdict's window may end a few minutes before the newest sample.
        behind_ms = read_to.get(name, 0) - newest.get(name, 0)
        looked_ms = max(watched.get(name, 0), watched.get(ALL, 0))
        if one.late and name in newest and behind_ms < 10 * MINUTE_MS and at_ms - looked_ms <= max_age_ms:
            note = sentence("freshness.source_idle", until=minute_text(looked_ms))
            one = Freshness(name, table, one.newest_ms, one.age_ms, False, note)
        found.append(one)
    return found


def source_freshness(settings: Settings, *, at_ms: int, max_age_ms: int) -> list[Freshness]:
    """How fresh the Prometheus of each cluster of the settings is.

    Raises
    ------
    InputError
        No cluster has a Prometheus.
    SourceError
        One cannot be reached, or rejects the request.
    """
    from throttlescope.app.services.doctor.requests import PrometheusQueries

    clusters = {name: one for name, one in settings.clusters.items() if one.prometheus is not None}
    if not clusters:
        raise InputError(
            "No Prometheus is configured",
            fix="add --prometheus URL, or write a throttlescope.toml (docs/reference/configuration.md)",
        )
    found = []
    for name, cluster in clusters.items():
        prometheus = PrometheusQueries(cluster.prometheus.url, cluster.prometheus.access())
        prometheus.version()
        shown = "" if name == UNNAMED else name
        newest_ms = _newest_at_source(prometheus, _selectors(cluster, [BACKLOG]), at_ms)
        one = _judged(shown, "source", newest_ms, at_ms, max_age_ms)
        if one.late:
            brokers_ms = _newest_at_source(prometheus, _selectors(cluster, BROKER_MARKS), at_ms)
            alive = _judged(shown, "source", brokers_ms, at_ms, max_age_ms)
            if not alive.late:
                note = sentence("freshness.subscriptions_idle", until=minute_text(brokers_ms))
                one = Freshness(shown, "source", one.newest_ms, one.age_ms, False, note)
        found.append(one)
    return found


def recordings_freshness(recordings: Iterable[str], *, at_ms: int, max_age_ms: int) -> list[Freshness]:
    """How fresh recordings are, each a cluster of its own."""
    from throttlescope.app.pipeline.sources.recordings import recording_folder
    from throttlescope.ingest.sources.recording import list_shipped, read_recording

    shipped = list_shipped()
    found = [read_recording(recording_folder(text, shipped)) for text in recordings]
    return [_judged(one.name, "source", one.end_ms, at_ms, max_age_ms) for one in found]


def refuse_late(found: Sequence[Freshness], max_age_ms: int) -> None:
    """Raise if something is late.

    Raises
    ------
    GateError
        It names the latest of them.
    """
    late = sorted(
        (one for one in found if one.late), key=lambda one: (one.newest_ms is not None, one.newest_ms)
    )
    if not late:
        return
    worst = late[0]
    what = "The source's samples are late" if worst.of == "source" else f"The lake's {worst.of} are late"
    whose = f"{worst.cluster}: " if worst.cluster else ""
    more = f"; {len(late) - 1} more clusters are late" if len(late) > 1 else ""
    raise GateError(
        what,
        got=whose
        + (
            "none"
            if worst.newest_ms is None
            else f"up to {minute_text(worst.newest_ms)} UTC, {_age_text(worst)}"
        )
        + more,
        expected=f"at most {duration_text(max_age_ms)}",
        fix="see throttlescope doctor"
        if worst.of == "source"
        else "check whether throttlescope ingest and diagnose still run, and their logs",
    )


def _age_text(one: Freshness) -> str:
    return f"{duration_text(one.age_ms)} old"


def _judged(cluster: str, of: str, newest_ms: int | None, at_ms: int, max_age_ms: int) -> Freshness:
    age_ms = None if newest_ms is None else max(0, at_ms - newest_ms)
    return Freshness(cluster, of, newest_ms, age_ms, age_ms is None or age_ms > max_age_ms)


# -- the lake ------------------------------------------------------------------------------


def _newest_rows(lake: Lake, table: str) -> dict[str, int]:
    """End of each cluster's rows, from the files' statistics alone."""
    column = TABLES[table]
    length_ms = MINUTE_MS if column == "minute_ms" else 0
    newest: dict[str, int] = {}
    for file in lake.files(table):
        cluster = file.partition["cluster"]
        newest[cluster] = max(newest.get(cluster, 0), file.maximum[column] + length_ms)
    return newest


def _watched_until(lake: Lake) -> dict[str, int]:
    """End of the range that was read from each cluster's source, with or without data."""
    watched: dict[str, int] = {}
    for row in lake.read("watermarks", columns=["cluster", "complete_until_ms"]).to_pylist():
        watched[row["cluster"]] = max(watched.get(row["cluster"], 0), row["complete_until_ms"])
    return watched


# -- a Prometheus --------------------------------------------------------------------------


def _newest_at_source(prometheus: PrometheusQueries, selectors: Sequence[str], at_ms: int) -> int | None:
    """Time of the newest sample of any of the selectors.

    Prometheus has a look-back of five minutes: the query runs for now, then for the requested time, and only then over the last day
    and the day after the requested time: an hour of last week may precede samples that are old themselves.
    """
    now_ms = round(prometheus.now_s() * SECOND_MS)
    for moment_ms in (now_ms, min(at_ms, now_ms)):
        found = [prometheus.query(f"max(timestamp({selector}))", moment_ms) for selector in selectors]
        if any(found):
            return _latest(found)
    day = f"{DAY_MS // MINUTE_MS}m:5m"
    for moment_ms in dict.fromkeys((now_ms, min(at_ms + DAY_MS, now_ms))):
        newest_ms = _latest(
            prometheus.query(f"max(max_over_time(timestamp({selector})[{day}]))", moment_ms)
            for selector in selectors
        )
        if newest_ms is not None:
            return newest_ms
    return None


def _latest(answers: Iterable[list[dict[str, Any]]]) -> int | None:
    values = [float(row["value"][1]) for rows in answers for row in rows]
    return round(max(values) * SECOND_MS) if values else None


def _selectors(cluster: Cluster, metrics: Sequence[str]) -> list[str]:
    """The metrics, narrowed as the configuration narrows what is read."""
    theirs = {getattr(cluster.labels, name) for name in _BELOW_BROKER} if metrics == BROKER_MARKS else set()
    narrowed = []
    for text in cluster.match or ["{}"]:
        matchers = [] if text == "{}" else parse_selector(text).matchers
        kept = [str(m) for m in matchers if m.name != NAME_LABEL and m.name not in theirs]
        narrowed += [f"{metric}{{{','.join(kept)}}}" for metric in metrics]
    return list(dict.fromkeys(narrowed))
