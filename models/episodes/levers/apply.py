"""Counterfactuals of a lake's episodes. In: ``episodes``, ``verdicts`` and samples of a range. Out: the column ``counterfactual``.

A call gets a shard's questions of one day and reads the samples itself, in a task of Spark or here; the answers are little, and the
driver writes them. An answer that is stored for the same question is not made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, check_range
from throttlescope.models.episodes.levers.lifted import verdict_agrees
from throttlescope.models.episodes.levers.question import VERDICT_COLUMNS, LeverQuestion, questions
from throttlescope.models.episodes.levers.shard import ShardWork, answers_of, works_of

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

#: A window that began earlier does not reach an episode any more.
_LONGEST_WINDOW_MS = DAY_MS


@dataclass(frozen=True)
class CounterfactualCounts:
    """How many episodes needed a replay, how many had been replayed already, and how many replays failed."""

    needed: int = 0
    known: int = 0
    failed: int = 0

    @property
    def words(self) -> str:
        """For the line of a step."""
        if not self.needed:
            return "no episode leaves its cause open"
        parts = [f"{self.needed} episode{' needs' if self.needed == 1 else 's need'} a replay"]
        parts += [f"{self.known} already replayed"] if self.known else []
        parts += [f"{self.failed} without an answer"] if self.failed else []
        return ", ".join(parts)

    def __add__(self, other: CounterfactualCounts) -> CounterfactualCounts:
        return CounterfactualCounts(
            self.needed + other.needed, self.known + other.known, self.failed + other.failed
        )


def build_counterfactuals(
    executor: Executor,
    lake: Lake,
    clusters: Iterable[str],
    start_ms: int,
    end_ms: int,
    run_id: str,
) -> CounterfactualCounts:
    """Ask a replay about the episodes that touch a range and whose verdicts leave two levers open, and write its answers.

    Parameters
    ----------
    executor : Executor
        Makes the replays.
    clusters : iterable of str
    start_ms, end_ms : int
        Episodes that touch [start_ms, end_ms).

    Returns
    -------
    CounterfactualCounts

    Raises
    ------
    InputError
        The range is empty.
    """
    check_range(start_ms, end_ms)
    total = CounterfactualCounts()
    for cluster in sorted(set(clusters)):
        episodes = [
            row
            for row in lake.read("episodes", partition={"cluster": [cluster]}).to_pylist()
            if row["start_ms"] < end_ms and (row["end_ms"] is None or row["over_until_ms"] >= start_ms)
        ]
        if not episodes:
            continue
        of_episode = questions(episodes, _verdicts(lake, cluster, episodes))
        stored = {row["episode_id"]: row["counterfactual"] for row in episodes}
        answers = {
            name: _judged_anew(question, stored[name])
            for name, question in of_episode.items()
            if question.is_answered(stored[name])
        }
        known = len(answers)
        works = works_of(lake, cluster, [one for name, one in of_episode.items() if name not in answers])
        for answered in executor.map(_answers, works):
            answers |= answered
        _write(lake, episodes, answers, run_id)
        failed = sum(value["failed"] is not None for value in answers.values())
        total += CounterfactualCounts(len(of_episode), known, failed)
    return total


def _verdicts(lake: Lake, cluster: str, episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Verdicts of the episodes' topics and times that blame anything."""
    low_ms, high_ms = min(row["start_ms"] for row in episodes), max(row["over_until_ms"] for row in episodes)
    where = (
        pc.field("topic").isin(sorted({row["topic"] for row in episodes}))
        & (pc.field("cause") != "healthy")
        & (pc.field("window_end_ms") > low_ms)
        & (pc.field("window_start_ms") < high_ms)
    )
    return lake.read(
        "verdicts",
        columns=list(VERDICT_COLUMNS),
        where=where,
        partition={"cluster": [cluster]},
        between={"window_start_ms": (low_ms - _LONGEST_WINDOW_MS, high_ms)},
    ).to_pylist()


def _judged_anew(question: LeverQuestion, stored: Mapping[str, Any]) -> dict[str, Any]:
    """A stored answer, compared with the present verdicts."""
    agrees = verdict_agrees(question, stored["primary"], stored["limiter"])
    return {**stored, "verdict_lever": question.verdict_lever, "agrees": agrees}


def _answers(work: ShardWork) -> dict[str, dict[str, Any]]:
    return dict(answers_of(work))


def _write(
    lake: Lake, episodes: list[dict[str, Any]], answers: Mapping[str, Mapping[str, Any]], run_id: str
) -> None:
    """Put answers into their rows; an episode that asks nothing any more has none."""
    field = TABLES["episodes"].loose_schema.field("counterfactual")
    looked_at = {row["episode_id"]: row["peak_ms"] for row in episodes}
    before = {row["episode_id"]: row["counterfactual"] for row in episodes}
    changed = [row for row in episodes if before[row["episode_id"]] != answers.get(row["episode_id"])]

    def change(existing: pa.Table) -> pa.Table:
        values = []
        for name, peak_ms, value in zip(
            *(existing.column(one).to_pylist() for one in ("episode_id", "peak_ms", field.name)), strict=True
        ):
            # Another run may have found a higher peak meanwhile; then the next one asks again.
            same = looked_at.get(name) == peak_ms
            values.append(answers.get(name) if same else value)
        place = existing.column_names.index(field.name)
        return existing.set_column(place, field, pa.array(values, field.type))

    if changed:
        touched = pa.Table.from_pylist([{name: row[name] for name in ("cluster", "date")} for row in changed])
        lake.update("episodes", change, partitions_of=touched, run_id=run_id)
