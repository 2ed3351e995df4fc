"""A what-if question answered, with progress. In: a lake and a `Question`. Out: what was read, and what the replay says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.app.services.simulate.scenario import note_compilation
from throttlescope.app.services.whatif.replay import Question, ReplayInputs, answer, read
from throttlescope.ingest.lake import Lake

if TYPE_CHECKING:
    from throttlescope.models.throttling.replay import ReplayAnswer


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What was read, and what the replay says."""

    found: ReplayInputs
    known: ReplayAnswer


def what_if(lake: Lake, question: Question, now_ms: int, progress: Progress = SILENT) -> WhatIf:
    """Replay a subscription's last samples, then look ahead.

    Raises
    ------
    InputError
        The question is not understood, or the lake does not hold what it needs.
    """
    found = read_in_step(lake, question, now_ms, progress)
    with progress.step("Replaying"):
        note_compilation(progress, "Replaying")
        known = answer(found)
        progress.note(f"{len(found.observed.times_ms)} scrapes, then {question.horizon} at most")
    return WhatIf(found, known)


def read_in_step(lake: Lake, question: Question, now_ms: int, progress: Progress = SILENT) -> ReplayInputs:
    """Read what a question needs, as one step of a progress."""
    with progress.step("Reading"):
        found = read(lake, question, now_ms=now_ms)
        progress.note(f"{len(found.history.times_ms)} scrapes of {found.name}")
    return found
