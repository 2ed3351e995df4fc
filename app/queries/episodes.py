"""Episodes of a lake. In: a lake and a filter. Out: rows of ``episodes`` or ``incidents``, or roll-ups of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.queries.subscriptions import check_subscription
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, check_range
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class EpisodeFilter:
    """Which episodes; None means any.

    Attributes
    ----------
    subscription : str, optional
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix every partition.
    open : bool
        Only what is not drained.
    start_ms, end_ms : int, optional
        Only what touches [start_ms, end_ms).
    """

    cluster: str | None = None
    subscription: str | None = None
    open: bool = False
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True)
class EpisodeListing:
    """Rows of ``episodes`` or ``incidents``, or counts of episodes.

    Attributes
    ----------
    table : str
        ``episodes``, ``incidents`` or ``rollups``.
    by : str, optional
        What roll-ups count by.
    """

    table: str
    rows: list[dict[str, Any]]
    by: str | None = None


def list_episodes(lake: Lake, wanted: EpisodeFilter, *, incidents: bool, by: str | None) -> EpisodeListing:
    """Episodes, shared incidents, or roll-ups of episodes.

    Raises
    ------
    InputError
        Roll-ups of incidents were requested, the lake does not have the subscription, or as :func:`read_episodes`.
    """
    check_listing(incidents=incidents, by=by)
    listing = _listing(lake, wanted, incidents=incidents, by=by)
    if not listing.rows and wanted.subscription is not None:
        check_subscription(lake, wanted.subscription)
    return listing


def _listing(lake: Lake, wanted: EpisodeFilter, *, incidents: bool, by: str | None) -> EpisodeListing:
    if by is not None:
        return EpisodeListing("rollups", read_rollups(lake, wanted, by), by)
    if incidents:
        return EpisodeListing("incidents", read_incidents(lake, wanted))
    return EpisodeListing("episodes", read_episodes(lake, wanted))


def check_listing(*, incidents: bool, by: str | None) -> None:
    """Refuse roll-ups of incidents."""
    if incidents and by is not None:
        raise InputError("Incidents are not counted", got="--incidents with --by", fix="leave one out")


def read_episodes(lake: Lake, wanted: EpisodeFilter) -> list[dict[str, Any]]:
    """Rows of ``episodes``; where none were stored yet, they are judged here from signals and verdicts.

    Returns
    -------
    list of dict
        Oldest first within a subscription partition.

    Raises
    ------
    InputError
        The range runs backwards, a name is not understood, there are no signals, or there are too many for one process.
    """
    rows = _all(lake, wanted, **_parts(wanted))
    rows = [row for row in rows if _touches(row, wanted)]
    return sorted(rows, key=lambda row: (*(row[name] for name in SUBSCRIPTION_KEY_NAMES), row["start_ms"]))


def read_incidents(lake: Lake, wanted: EpisodeFilter) -> list[dict[str, Any]]:
    """Rows of ``incidents``, oldest first; with a subscription those that it is a member of.

    Raises
    ------
    InputError
        As :func:`read_episodes`.
    """
    from throttlescope.models.episodes import incidents_of

    parts = _parts(wanted)
    # Incidents are shared, so the episodes of all subscriptions are read.
    everyone = _all(lake, wanted, **dict.fromkeys(parts))
    rows = [row for row in incidents_of(everyone) if _touches(row, wanted)]
    selected = {name: value for name, value in parts.items() if value is not None}
    return [
        row
        for row in rows
        if not selected
        or any(all(member[name] == selected[name] for name in selected) for member in row["members"])
    ]


def read_rollups(lake: Lake, wanted: EpisodeFilter, by: str) -> list[dict[str, Any]]:
    """Roll-ups of the selected episodes; see :func:`~throttlescope.models.episodes.rollups.rollups`."""
    from throttlescope.models.episodes import rollups

    rows = read_episodes(lake, wanted)
    return rollups(rows, by, partition_counts(lake, rows))


def store_episodes(
    lake: Lake, wanted: EpisodeFilter, settings: Settings, *, progress: Progress = SILENT, debug: bool = False
) -> None:
    """Judge whole clusters, on Spark where they are large, and write ``episodes``, with what each cause's removal would have drained, and ``incidents``.

    Raises
    ------
    InputError
        There are no signals of them, or one subscription was selected.
    """
    from throttlescope.app.pipeline.results import executor_for_signals
    from throttlescope.app.pipeline.spark_session import SparkIfNeeded
    from throttlescope.models.episodes.apply import LOOK_BACK_MS, build_episodes
    from throttlescope.models.episodes.levers.apply import CounterfactualCounts, build_counterfactuals

    if wanted.subscription is not None:
        raise InputError(
            "--store judges whole clusters", got="--store with --subscription", fix="leave one of them out"
        )
    partitions = None if wanted.cluster is None else {"cluster": [wanted.cluster]}
    files = lake.files("signals", partition=partitions)
    if not files:
        raise InputError(
            "There are no signals of it in this lake",
            got=lake.root,
            fix="bring some with throttlescope run --lake DIR",
        )
    run_id = f"episodes-{uuid.uuid4()}"
    spans: dict[str, tuple[int, int]] = {}
    for file in files:
        low, high = file.minimum["minute_ms"], file.maximum["minute_ms"] + MINUTE_MS
        first, last = spans.get(file.partition["cluster"], (low, high))
        spans[file.partition["cluster"]] = (min(first, low), max(last, high))
    ranges = []
    for cluster, (low, high) in sorted(spans.items()):
        start_ms = low if wanted.start_ms is None else max(wanted.start_ms, low)
        end_ms = high if wanted.end_ms is None else min(wanted.end_ms, high)
        if start_ms < end_ms:
            ranges.append((cluster, start_ms, end_ms))
    spark = SparkIfNeeded(settings, debug=debug)
    progress.expect(2)
    with progress.step("Following backlogs") as step:
        written = 0
        for cluster, start_ms, end_ms in ranges:
            executor = executor_for_signals(
                spark, lake, [cluster], start_ms - LOOK_BACK_MS, end_ms, step.note
            )
            written += build_episodes(executor, lake, [cluster], start_ms, end_ms, run_id)
        step.note(f"{written} episodes written")
    with progress.step(sentence("steps.episodes.replay")) as step:
        answered = CounterfactualCounts()
        for cluster, start_ms, end_ms in ranges:
            executor = executor_for_signals(spark, lake, [cluster], start_ms, end_ms, step.note)
            answered += build_counterfactuals(executor, lake, [cluster], start_ms, end_ms, run_id)
        step.note(answered.words)


def partition_counts(lake: Lake, rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """How many partitions each topic has, by (cluster, topic): those seen in the newest hour of these episodes."""
    newest: dict[str, int] = {}
    topics: dict[str, set[str]] = {}
    for row in rows:
        newest[row["cluster"]] = max(row["known_until_ms"], newest.get(row["cluster"], 0))
        topics.setdefault(row["cluster"], set()).add(row["topic"])
    seen: dict[tuple[str, str], set[int]] = {}
    for cluster, until_ms in newest.items():
        found = lake.read(
            "signals",
            columns=["topic", "partition"],
            where=pc.field("topic").isin(sorted(topics[cluster])),
            partition={"cluster": [cluster]},
            between={"minute_ms": (until_ms - BLOCK_MS, until_ms - 1)},
        )
        for row in found.group_by(["topic", "partition"]).aggregate([]).to_pylist():
            seen.setdefault((cluster, row["topic"]), set()).add(row["partition"])
    return {name: len(partitions) for name, partitions in seen.items()}


def _all(lake: Lake, wanted: EpisodeFilter, **parts: Any) -> list[dict[str, Any]]:
    """Episodes of a cluster and a subscription, whenever they were."""
    if wanted.start_ms is not None and wanted.end_ms is not None:
        check_range(wanted.start_ms, wanted.end_ms)
    if lake.version("episodes") is None:
        from throttlescope.models.episodes.find import find_episodes

        # What was there at the start began earlier; a day is far enough for most.
        start_ms = None if wanted.start_ms is None else wanted.start_ms - DAY_MS
        return find_episodes(lake, cluster=wanted.cluster, start_ms=start_ms, end_ms=wanted.end_ms, **parts)
    where = pc.scalar(True)
    for name, value in parts.items():
        if value is not None:
            where = where & (pc.field(name) == value)
    partitions = None if wanted.cluster is None else {"cluster": [wanted.cluster]}
    return lake.read("episodes", where=where, partition=partitions).to_pylist()


def _touches(row: Mapping[str, Any], wanted: EpisodeFilter) -> bool:
    return not (
        (wanted.open and row["end_ms"] is not None)
        or (wanted.end_ms is not None and row["start_ms"] >= wanted.end_ms)
        or (wanted.start_ms is not None and row["end_ms"] is not None and row["end_ms"] <= wanted.start_ms)
    )


def _parts(wanted: EpisodeFilter) -> dict[str, Any]:
    if wanted.subscription is None:
        return {"topic": None, "partition": None, "subscription": None}
    name = SubscriptionName.of(wanted.subscription)
    return {"topic": name.topic, "partition": name.partition, "subscription": name.subscription}
