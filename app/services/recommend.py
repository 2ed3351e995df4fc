"""Recommendations from a question, with progress. In: a lake and a `Question`. Out: what was read, and what helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.services.simulate.scenario import note_compilation
from throttlescope.app.services.slo import AgeObjective, SloQuestion, find_keeping
from throttlescope.app.services.whatif.replay import Question, ReplayInputs
from throttlescope.app.services.whatif.what_if import read_in_step
from throttlescope.ingest.lake import Lake
from throttlescope.models.recommendation import advise

if TYPE_CHECKING:
    from throttlescope.models.recommendation import Advice


@dataclass(frozen=True, eq=False)
class DrainAdvice:
    """What was read, and what drains the backlog."""

    found: ReplayInputs
    advice: Advice


@dataclass(frozen=True, eq=False)
class AgeAdvice:
    """What was read, and what would have kept the age."""

    found: ReplayInputs
    answer: SloQuestion


def recommend_drain(lake: Lake, question: Question, now_ms: int, progress: Progress = SILENT) -> DrainAdvice:
    """The smallest change that drains a backlog within the question's horizon.

    Raises
    ------
    InputError
        The question is not understood, or the lake does not hold what it needs.
    """
    found = read_in_step(lake, question, now_ms, progress)
    with progress.step("Replaying"):
        note_compilation(progress, "Replaying")
        advice = advise(found.observed, history=found.history, target_s=found.horizon_s)
        progress.note(f"{len(advice.counterfactuals.rows)} levers")
    return DrainAdvice(found, advice)


def recommend_age(
    lake: Lake, question: Question, objective: AgeObjective, now_ms: int, progress: Progress = SILENT
) -> AgeAdvice:
    """What would have kept the age of the oldest message.

    Raises
    ------
    InputError
        As :func:`recommend_drain`.
    """
    found = read_in_step(lake, question, now_ms, progress)
    with progress.step("Sweeping"):
        note_compilation(progress, "Sweeping")
        answer = find_keeping(lake, found, objective, progress.note)
    return AgeAdvice(found, answer)
