"""From options to an answer. In: a lake and a question. Out: what was read, then the answer of a replay.

Everything that can be refused is refused by :func:`read`; only :func:`answer` takes time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS, SECOND_MS, parse_duration, parse_time
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import (
    Change,
    Observed,
    ReplayAnswer,
    newest_ms,
    parse_change,
    read_observed,
    replay,
)

MAX_HORIZON_MS = 31 * DAY_MS
#: Where a person chooses nothing: what is read of the past for the consumers' capacity, and how soon a backlog is to be gone.
HISTORY, TARGET = "24h", "30m"


@dataclass(frozen=True)
class Question:
    """A question, as it was typed; ``at`` None is the newest sample, ``window`` None the longest that is replayed well (of recommendations only)."""

    subscription: str
    cluster: str | None
    settings: Sequence[str]
    at: str | None
    window: str | None
    history: str
    horizon: str
    drained_below_entries: int | None


@dataclass(frozen=True, eq=False)
class ReplayInputs:
    """What was read of a lake for a question; the window is [start_ms, at_ms)."""

    name: SubscriptionName
    change: Change
    observed: Observed
    history: Observed
    start_ms: int
    at_ms: int
    horizon_s: int
    drained_below_entries: int | None


def read(lake: Lake, question: Question, *, now_ms: int) -> ReplayInputs:
    """Check a question and read what it needs.

    Raises
    ------
    InputError
        An option is not understood, or the lake does not have it.
    """
    name = SubscriptionName.of(question.subscription)
    change = parse_change(question.settings)
    window_ms = _duration("--window", question.window)
    history_ms = _duration("--history", question.history)
    horizon_ms = _duration("--horizon", question.horizon)
    if history_ms < window_ms:
        raise InputError(
            "--history: shorter than the window",
            got=question.history,
            expected=f"at least {question.window}",
            fix="widen it, or narrow --window",
        )
    if not SECOND_MS <= horizon_ms <= MAX_HORIZON_MS:
        raise InputError("--horizon", got=question.horizon, expected="from 1s to 31d")
    newest = newest_ms(lake, question.subscription, question.cluster)
    at_ms = newest + 1 if question.at is None else parse_time(question.at, now_ms=now_ms)
    observed = read_observed(lake, question.subscription, at_ms - window_ms, at_ms, question.cluster)
    history = read_observed(lake, question.subscription, at_ms - history_ms, at_ms, question.cluster)
    return ReplayInputs(
        name, change, observed, history, at_ms - window_ms, at_ms, horizon_ms // SECOND_MS,
        question.drained_below_entries,
    )  # fmt: skip


def answer(found: ReplayInputs) -> ReplayAnswer:
    """Replay what was read.

    Raises
    ------
    InputError
        The change makes no sense for this subscription, or would take hours to compute.
    """
    return replay(
        found.observed,
        found.change,
        history=found.history,
        horizon_s=found.horizon_s,
        drained_below_entries=found.drained_below_entries,
    )


def _duration(option: str, text: str) -> int:
    try:
        found_ms = parse_duration(text)
    except InputError:
        found_ms = 0
    if not found_ms:
        raise InputError(
            f"{option}: not a duration", got=text or "nothing", expected="such as 90s, 30m or 24h"
        )
    return found_ms
