"""Recommendations from a question. In: a lake and a `Question`. Out: what was read, and what helps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.services.simulate.scenario import note_compilation
from throttlescope.app.services.slo import AgeObjective, SloQuestion, find_keeping
from throttlescope.app.services.whatif.replay import Question, ReplayInputs, read
from throttlescope.app.services.whatif.what_if import read_in_step
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.models.recommendation import advise

if TYPE_CHECKING:
    from throttlescope.models.recommendation import Advice

#: Windows that are tried where none is given, until one is replayed well: in a long one the cause may have changed.
WINDOWS = ("30m", "15m", "10m", "5m", "3m")
#: Fewer scrapes are replayed well by chance.
LEAST_SCRAPES = 8


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

    A question without a window gets the longest of :data:`WINDOWS` that is replayed well. If none is, the advice recommends nothing.

    Raises
    ------
    InputError
        The question is not understood, or the lake does not hold what it needs.
    """
    longest, *shorter = WINDOWS if question.window is None else (question.window,)
    found = read_in_step(lake, replace(question, window=longest), now_ms, progress)
    with progress.step("Replaying"):
        note_compilation(progress, "Replaying")
        first = tried = DrainAdvice(found, _advised(found))
        for window in shorter:
            if not tried.advice.counterfactuals.is_far_off:
                break
            try:
                found = read(lake, replace(question, window=window), now_ms=now_ms)
            except InputError:
                # Too few samples for a replay: shorter windows have fewer.
                break
            if len(found.observed.times_ms) < LEAST_SCRAPES:
                break
            tried = DrainAdvice(found, _advised(found))
        if tried.advice.counterfactuals.is_far_off:
            tried = first
        progress.note(f"{len(tried.advice.counterfactuals.rows)} levers")
    return tried


def _advised(found: ReplayInputs) -> Advice:
    return advise(found.observed, history=found.history, target_s=found.horizon_s)


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
