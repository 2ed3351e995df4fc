"""The last steps of a run. In: groups of clusters and hours with verdicts. Out: episodes, incidents, forecasts, anomalies, and counts.

What is small is judged in this process, all else on Spark (:mod:`throttlescope.app.pipeline.spark_session`): each of these steps
would need several jobs. The answers are the same either way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.pipeline.sources.source import Ingested
from throttlescope.ingest.core.times import BLOCK_MS, SECOND_MS, block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.duck import from_table
from throttlescope.ingest.spark.task_executor import TaskExecutor, executor_for
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count

if TYPE_CHECKING:
    from throttlescope.app.config import Settings
    from throttlescope.app.pipeline.spark_session import SparkIfNeeded

#: Rows of ``signals`` that a step reads in this process at most: a day of 350 subscription partitions.
IN_PROCESS_ROWS = 500_000
#: The same where Spark does not run yet.
ROWS_WITHOUT_SPARK = 2_000_000
#: The two for a comparison with the weeks before, which holds no more than a share of them at a time.
COMPARED_IN_PROCESS, COMPARED_WITHOUT_SPARK = 2_000_000, 10_000_000

#: Clusters and a range [start_ms, end_ms).
Group = tuple[tuple[str, ...], int, int]
Note = Callable[[str], None]


@dataclass
class Results:
    """What is in the lake for the range of a run, whichever run wrote it.

    Attributes
    ----------
    episodes, anomalies : dict
        Rows by state.
    incidents, forecasts : int
        Rows.
    counterfactuals : dict
        Episodes whose verdicts leave open what limits them, so that a replay was ``asked``, and how many ``failed``.
    learning_until_ms : int, optional
        When the first of the series without enough history will be judged; None: there is none, or no day of it is whole yet.
    """

    episodes: dict[str, int] = field(default_factory=dict)
    incidents: int = 0
    counterfactuals: dict[str, int] = field(default_factory=dict)
    forecasts: int = 0
    anomalies: dict[str, int] = field(default_factory=dict)
    learning_until_ms: int | None = None


def make_episodes(
    spark: SparkIfNeeded,
    lake: Lake,
    groups: Sequence[Group],
    todo: Sequence[Group],
    run_id: str,
    results: Results,
    note: Note,
) -> None:
    """Judge backlogs from start to drain, and those with one limiter or broker in common."""
    from throttlescope.models.episodes.apply import LOOK_BACK_MS, build_episodes

    states: Counter[str] = Counter()
    results.incidents = 0
    for clusters, start_ms, end_ms in todo:
        executor = executor_for_signals(spark, lake, clusters, start_ms - LOOK_BACK_MS, end_ms, note)
        build_episodes(executor, lake, clusters, start_ms, end_ms, run_id)
    for clusters, start_ms, end_ms in groups:
        states.update(dict(_touching(lake, "episodes", "state, count(*)", clusters, start_ms, end_ms)))
        results.incidents += sum(
            rows for (rows,) in _touching(lake, "incidents", "count(*)", clusters, start_ms, end_ms)
        )
    results.episodes = dict(states.most_common())
    note(f"{count(states.total())} episodes, {count(results.incidents)} shared incidents")


def make_counterfactuals(
    spark: SparkIfNeeded,
    lake: Lake,
    groups: Sequence[Group],
    run_id: str,
    results: Results,
    note: Note,
) -> None:
    """Replay the episodes whose verdicts leave open what limits them."""
    from throttlescope.models.episodes.levers.apply import CounterfactualCounts, build_counterfactuals

    answered = CounterfactualCounts()
    for clusters, start_ms, end_ms in groups:
        executor = executor_for_signals(spark, lake, clusters, start_ms, end_ms, note)
        answered += build_counterfactuals(executor, lake, clusters, start_ms, end_ms, run_id)
    results.counterfactuals = {"asked": answered.needed, "failed": answered.failed}
    note(answered.words)


def forget_answers(lake: Lake, cluster: str, hours: Sequence[int], run_id: str) -> None:
    """Take back what replays said of episodes in hours whose signals changed: the samples that they were made from are others now."""
    if not hours:
        return
    starts = np.array(sorted(hours), np.int64)

    def touches(row: dict[str, Any]) -> bool:
        first, after = np.searchsorted(
            starts, [row["start_ms"] - BLOCK_MS + 1, row["over_until_ms"] + BLOCK_MS]
        )
        return row["counterfactual"] is not None and first < after

    columns = ["episode_id", "date", "start_ms", "over_until_ms", "counterfactual"]
    near = pc.field("start_ms") < int(starts[-1]) + 2 * BLOCK_MS
    near &= pc.field("over_until_ms") > int(starts[0]) - BLOCK_MS
    found = lake.read("episodes", columns=columns, where=near, partition={"cluster": [cluster]})
    rows = [row for row in found.to_pylist() if touches(row)]
    if not rows:
        return
    ids = {row["episode_id"] for row in rows}

    def change(existing: pa.Table) -> pa.Table:
        place = existing.column_names.index("counterfactual")
        names, answers = (existing[name].to_pylist() for name in ("episode_id", "counterfactual"))
        kept = [None if name in ids else answer for name, answer in zip(names, answers, strict=True)]
        return existing.set_column(
            place, existing.schema.field(place), pa.array(kept, existing.schema.field(place).type)
        )

    touched = pa.Table.from_pylist([{"cluster": cluster, "date": row["date"]} for row in rows])
    lake.update("episodes", change, partitions_of=touched, run_id=run_id)


def make_forecasts(
    spark: SparkIfNeeded,
    lake: Lake,
    groups: Sequence[Group],
    todo: Sequence[Group],
    run_id: str,
    results: Results,
    note: Note,
    *,
    every_ms: int,
) -> None:
    """Forecast drains and deadlines, every so often."""
    from throttlescope.models.forecast.apply import LOOK_BACK_MS, build_forecasts

    results.forecasts = 0
    for clusters, start_ms, end_ms in todo:
        executor = executor_for_signals(spark, lake, clusters, start_ms - LOOK_BACK_MS, end_ms, note)
        build_forecasts(executor, lake, clusters, start_ms, end_ms, run_id, every_ms=every_ms)
    for clusters, start_ms, end_ms in groups:
        inside = {"made_at_ms": (block_start(start_ms), block_start(end_ms - 1) + BLOCK_MS - 1)}
        files = lake.files("forecasts", partition={"cluster": clusters}, between=inside)
        results.forecasts += sum(file.rows for file in files)
    note(f"{count(results.forecasts)} forecasts")


def make_anomalies(
    spark: SparkIfNeeded,
    lake: Lake,
    groups: Sequence[Group],
    todo: Sequence[Group],
    run_id: str,
    settings: Settings,
    results: Results,
    note: Note,
) -> None:
    """Compare with the weeks before, each cluster's in its own time zone."""
    from throttlescope.models.anomaly.apply import build_anomalies

    states: Counter[str] = Counter()
    until_ms: list[int] = []
    for clusters, start_ms, end_ms in todo:
        for zone, mine in _by_zone(clusters, settings).items():
            executor = executor_to_compare(spark, lake, mine, start_ms, end_ms, zone, note)
            build_anomalies(executor, lake, mine, start_ms, end_ms, run_id, zone=zone)
    for clusters, start_ms, end_ms in groups:
        counts = "state, count(*), min(learning_until_ms)"
        for state, rows, learned_ms in _touching(lake, "anomalies", counts, clusters, start_ms, end_ms):
            states[state] += rows
            until_ms += [] if learned_ms is None else [learned_ms]
    results.anomalies = dict(states.most_common())
    results.learning_until_ms = min(until_ms, default=None)
    note(anomalies_note(results))


def anomalies_note(results: Results) -> str:
    """How many anomalies there are, and when the other series will have enough history, in words."""
    learning = results.anomalies.get("learning", 0)
    anomalies = count(sum(results.anomalies.values()) - learning)
    if not learning:
        return sentence("pipeline.anomalies", anomalies=anomalies)
    if results.learning_until_ms is None:
        return sentence("pipeline.anomalies.no_history", anomalies=anomalies, series=count(learning))
    until = f"{datetime.fromtimestamp(results.learning_until_ms / SECOND_MS, UTC):%Y-%m-%d}"
    return sentence(
        "pipeline.anomalies.no_history_until", anomalies=anomalies, series=count(learning), until=until
    )


def _by_zone(clusters: Iterable[str], settings: Settings) -> dict[str, list[str]]:
    """Clusters by the time zone of their weeks; a recording, which no configuration names, has UTC."""
    zones: dict[str, list[str]] = {}
    for cluster in clusters:
        known = settings.clusters.get(cluster)
        zones.setdefault("UTC" if known is None else known.time_zone, []).append(cluster)
    return zones


def executor_for_signals(
    spark: SparkIfNeeded, lake: Lake, clusters: Sequence[str], start_ms: int, end_ms: int, note: Note
) -> TaskExecutor:
    """The executor for a step that reads the signals of a range."""
    files = lake.files(
        "signals", partition={"cluster": clusters}, between={"minute_ms": (start_ms, end_ms - 1)}
    )
    rows = sum(file.rows for file in files)
    return executor_for(spark.session_for(rows, ROWS_WITHOUT_SPARK, note=note), rows, IN_PROCESS_ROWS)


def executor_to_compare(
    spark: SparkIfNeeded,
    lake: Lake,
    clusters: Sequence[str],
    start_ms: int,
    end_ms: int,
    zone: str,
    note: Note,
) -> TaskExecutor:
    """The executor for a comparison of a range with the weeks before."""
    from throttlescope.models.anomaly.apply import rows_to_read

    rows = rows_to_read(lake, clusters, start_ms, end_ms, zone=zone)
    session = spark.session_for(rows, COMPARED_WITHOUT_SPARK, note=note)
    return executor_for(session, rows, COMPARED_IN_PROCESS)


def _touching(
    lake: Lake, table: str, columns: str, clusters: Sequence[str], start_ms: int, end_ms: int
) -> list[tuple]:
    """A SELECT of rows that began before the range's end and did not end before its start.

    It counts, so that no row comes here: while a fleet is being learned, each of its series has an anomaly's row.
    """
    files = lake.files(table, partition={"cluster": clusters})
    with lake.counting(table, files) as connection:
        query = (
            f"SELECT {columns} FROM {from_table(connection, table, files)} "  # noqa: S608
            "WHERE (end_ms IS NULL OR end_ms > $start_ms) AND start_ms < $end_ms GROUP BY ALL ORDER BY ALL"
        )
        return connection.execute(query, {"start_ms": start_ms, "end_ms": end_ms}).fetchall()


@dataclass
class RunResult:
    """What a run did; every number is a count of this run.

    Attributes
    ----------
    status : str
        ``done``: any other end is an error.
    idle : bool
        There was nothing to do: no samples in the range.
    warnings : int
        Findings of the gates that did not hold and did not stop the run.
    verdicts : dict, optional
        Verdicts in the range by cause; None after ``ingest``.
    results : Results, optional
        Episodes, incidents, forecasts and anomalies in the range; None after ``ingest``.
    hours_computed : dict, optional
        Hours whose rows were computed, by stage and summed over clusters; all others were as they had to be.
    """

    run_id: str
    command: str
    lake: str
    status: str
    start_ms: int
    end_ms: int
    clusters: tuple[str, ...]
    sources: list[Ingested] = field(default_factory=list)
    idle: bool = False
    warnings: int = 0
    signals: int | None = None
    verdicts: dict[str, int] | None = None
    results: Results | None = None
    hours_computed: dict[str, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as they are printed in JSON."""
        return asdict(self)
