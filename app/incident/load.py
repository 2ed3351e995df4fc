"""The data of a bundle, read once. In: a lake and a selection. Out: an ``Incident``; nothing is computed or written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.incident import selection
from throttlescope.app.incident.admin_answers import AdminAnswers, about, answers_of
from throttlescope.app.incident.selection import IncidentSelection
from throttlescope.app.queries.episodes import EpisodeFilter, read_episodes
from throttlescope.app.queries.subscriptions import check_subscription
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, format_time
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.messages.stored import verdict_in_language

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: Tables whose versions identify what was read.
TABLES = ("signals", "verdicts", "episodes", "limits", "policies", "samples")


@dataclass(frozen=True, eq=False)
class Incident:
    """One backlog of one subscription partition, as the lake has it.

    Attributes
    ----------
    at_ms : int
        The time of the report; forecasts and advice use nothing later.
    start_ms, end_ms : int
        Range of the files, [start_ms, end_ms).
    was_cut : bool
        The episode is longer than the range.
    known_until_ms : int
        End of the newest minute or window of this partition.
    newest_backlog : (int, float) or None
        End of the newest minute with a ready backlog, and the entries.
    verdict : dict or None
        The verdict of the newest window that had ended at ``at_ms``.
    newest : dict or None
        The newest verdict of all.
    verdicts : sequence of dict
        Rows of ``verdicts`` that touch the range, oldest first.
    minutes : pandas.DataFrame
        Rows of ``signals`` in the range, oldest first.
    episode : dict or None
    episodes_stored : bool
        The episode is stored in the lake; otherwise it was computed here.
    partitions : sequence of dict
        Of every other partition that is meant the newest verdict: ``partition``, ``cause``, ``limiter``, ``backlog_entries``,
        ``window_end_ms``.
    limits : sequence of dict
        Rows of ``limits`` of this partition, oldest first.
    answers : AdminAnswers
        Stored answers of the admin API about it, and their changes.
    versions : dict of str to int or None
        The lake's tables; None: never written.
    """

    key: SubscriptionKey
    selection: IncidentSelection
    at_ms: int
    start_ms: int
    end_ms: int
    was_cut: bool
    known_until_ms: int
    newest_backlog: tuple[int, float] | None
    verdict: Mapping[str, Any] | None
    newest: Mapping[str, Any] | None
    verdicts: Sequence[dict[str, Any]]
    minutes: pd.DataFrame
    episode: Mapping[str, Any] | None
    episodes_stored: bool
    partitions: Sequence[dict[str, Any]]
    limits: Sequence[dict[str, Any]]
    answers: AdminAnswers
    versions: Mapping[str, int | None]

    @property
    def name(self) -> SubscriptionName:
        partition = None if self.key.partition < 0 else self.key.partition
        return SubscriptionName(self.key.topic, partition, self.key.subscription)

    def minute_at(self, at_ms: int) -> pd.Series | None:
        """The newest minute with a backlog that had ended at a time."""
        before = self.minutes[
            (self.minutes["minute_ms"] + MINUTE_MS <= at_ms) & self.minutes["backlog_entries"].notna()
        ]
        return None if before.empty else before.iloc[-1]

    @property
    def worded(self) -> dict[str, Any] | None:
        """The verdict with its text in the current language."""
        return None if self.verdict is None else verdict_in_language(self.verdict)


def read_incident(lake: Lake, selected: IncidentSelection) -> Incident:
    """Read one incident.

    Raises
    ------
    InputError
        The name is invalid or ambiguous (several clusters), or the lake has no data of it at that time.
    """
    versions = {table: lake.version(table) for table in TABLES}
    name = SubscriptionName.of(selected.subscription)
    where = (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
    if name.partition is not None:
        where &= pc.field("partition") == name.partition
    source = _Source(lake, versions, selected.cluster)
    seen = source.read("signals", where, [*SubscriptionKey._fields, "minute_ms", "backlog_ready_entries"])
    verdict_rows = source.read(
        "verdicts", where,
        [*SubscriptionKey._fields, "window_start_ms", "window_end_ms", "cause", "limiter", "backlog_entries"],
    )  # fmt: skip
    limited = source.read("limits", where, None)
    keys = _keys(seen, verdict_rows, limited)
    if not keys:
        check_subscription(lake, selected.subscription)
    keys = selection.one_cluster(keys, selected)
    cluster = keys[0].cluster
    source = _Source(lake, versions, cluster)
    episodes = _episodes(lake, selected, cluster) if seen.num_rows else []
    key = selection.worst(keys, episodes, _newest(seen, "minute_ms").values())
    mine = _of_partition(verdict_rows, key).sort_by(
        [("window_end_ms", "ascending"), ("window_start_ms", "ascending")]
    )
    windows = mine.to_pylist()
    limits = sorted(
        _of_partition(limited, key).to_pylist(), key=lambda row: (row["observed_ms"], row["level"])
    )
    until_ms = _until(_of_partition(seen, key), windows, limits)
    episode = selection.episode_of(key, episodes, selected)
    at_ms = selection.moment(selected, episode, windows, until_ms)
    start_ms, end_ms, was_cut = selection.span(selected, episode, at_ms, until_ms)
    _check_known(selected, at_ms, seen, windows, limits)
    exactly = where & (pc.field("partition") == key.partition)
    verdicts = source.read(
        "verdicts",
        exactly & (pc.field("window_end_ms") > start_ms) & (pc.field("window_start_ms") < end_ms),
        None,
    ).sort_by([("window_end_ms", "ascending"), ("window_start_ms", "ascending")])
    minutes = source.read(
        "signals",
        exactly & (pc.field("minute_ms") >= start_ms) & (pc.field("minute_ms") < end_ms),
        None,
        {"minute_ms": (start_ms, end_ms - 1)},
    ).sort_by("minute_ms").to_pandas()  # fmt: skip
    rows = verdicts.to_pylist()
    brokers = {one for one in [*minutes["broker"], *(row["broker"] for row in limits)] if one}
    policies = source.read("policies", about(key, brokers), None).to_pylist()
    return Incident(
        key, selected, at_ms, start_ms, end_ms, was_cut, until_ms,
        newest_backlog=_backlog(_of_partition(seen, key)),
        verdict=selection.verdict_at(rows, at_ms),
        newest=windows[-1] if windows else None,
        verdicts=rows,
        minutes=minutes,
        episode=episode,
        episodes_stored=versions["episodes"] is not None,
        partitions=_others(verdict_rows, keys, key),
        limits=limits,
        answers=answers_of(policies, start_ms, end_ms, brokers=brokers),
        versions=versions,
    )  # fmt: skip


class _Source:
    """Reads tables of one version, of one cluster where it is known."""

    def __init__(self, lake: Lake, versions: Mapping[str, int | None], cluster: str | None) -> None:
        self.lake, self.versions, self.cluster = lake, versions, cluster

    def read(self, table: str, where: pc.Expression, columns, between=None) -> pa.Table:
        if self.cluster is not None:
            where &= pc.field("cluster") == self.cluster
        # Only signals and verdicts keep a cluster in folders of its own.
        parts = None
        if self.cluster is not None and table in ("signals", "verdicts"):
            parts = {"cluster": [self.cluster]}
        return self.lake.read(
            table,
            columns=columns,
            where=where,
            partition=parts,
            between=between,
            version=self.versions[table],
        )


def _episodes(lake: Lake, selected: IncidentSelection, cluster: str) -> list[dict[str, Any]]:
    """Episodes of all selected partitions in the selected range."""
    wanted = EpisodeFilter(
        cluster=cluster,
        subscription=selected.subscription,
        start_ms=selected.start_ms,
        end_ms=selected.end_ms,
    )
    found = read_episodes(lake, wanted)
    if selected.at_ms is not None:
        # An episode is shown as of the range's end; one that began later is left out.
        found = [row for row in found if row["start_ms"] < selected.at_ms]
    return found


def _keys(*tables: pa.Table) -> list[SubscriptionKey]:
    found = set()
    for rows in tables:
        names = list(SubscriptionKey._fields)
        for row in rows.select(names).group_by(names).aggregate([]).to_pylist():
            found.add(SubscriptionKey(*(row[name] for name in names)))
    return sorted(found)


def _newest(rows: pa.Table, column: str) -> dict[int, dict[str, Any]]:
    """The newest row of each partition."""
    return {row["partition"]: row for row in rows.sort_by(column).to_pylist()}


def _of_partition(rows: pa.Table, key: SubscriptionKey) -> pa.Table:
    mine = pc.and_(pc.equal(rows["partition"], key.partition), pc.equal(rows["cluster"], key.cluster))
    return rows.filter(mine)


def _backlog(seen: pa.Table) -> tuple[int, float] | None:
    counted = seen.filter(pc.is_valid(seen["backlog_ready_entries"])).sort_by("minute_ms")
    if not counted.num_rows:
        return None
    row = counted.slice(counted.num_rows - 1).to_pylist()[0]
    return row["minute_ms"] + MINUTE_MS, row["backlog_ready_entries"]


def _others(
    verdict_rows: pa.Table, keys: Sequence[SubscriptionKey], selected: SubscriptionKey
) -> list[dict[str, Any]]:
    newest = _newest(verdict_rows, "window_end_ms")
    unknown = dict.fromkeys(("cause", "limiter", "backlog_entries", "window_end_ms"))
    return [
        {**unknown, **newest.get(key.partition, {}), "partition": key.partition}
        for key in keys
        if key != selected
    ]


def _until(seen: pa.Table, windows: Sequence[Mapping], limits: Sequence[Mapping]) -> int:
    """End of the known data: of minutes and windows, else of limits."""
    ends = [] if not seen.num_rows else [pc.max(seen["minute_ms"]).as_py() + MINUTE_MS]
    ends += [windows[-1]["window_end_ms"]] if windows else []
    return max(ends or [row["observed_ms"] + 1 for row in limits])


def _check_known(selected: IncidentSelection, at_ms: int, seen: pa.Table, windows, limits) -> None:
    """Raise for a time before all known data, or a day after it: the page would describe another time."""
    starts = [] if not seen.num_rows else [pc.min(seen["minute_ms"]).as_py()]
    starts += [row["window_start_ms"] for row in windows[:1]] + [row["observed_ms"] for row in limits[:1]]
    first_ms, last_ms = min(starts), _until(seen, windows, limits)
    wanted_ms = selected.at_ms if selected.at_ms is not None else selected.end_ms
    late = wanted_ms is not None and selected.at_ms is not None and wanted_ms > last_ms + DAY_MS
    if at_ms < first_ms or late:
        raise InputError(
            "The lake has no data of this subscription at that time",
            got=format_time(at_ms if wanted_ms is None else wanted_ms),
            expected=f"{format_time(first_ms)} to {format_time(last_ms)}",
        )
