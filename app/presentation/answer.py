"""The answer in words. In: a verdict, the runs up to it, the limits known. Out: what, since when, why, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.cause_runs import CauseRun, runs
from throttlescope.app.presentation.causes import CAUSES, SIDES, CauseLook, limiter_words
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.models.diagnosis.causes import THROTTLED, UNKNOWN

_REASONS = 3


@dataclass(frozen=True)
class VerdictAnswer:
    """What a person at 3 AM reads first; every field is a sentence or a short list of them.

    Attributes
    ----------
    backlog : str
        How much waits and how it moves.
    since : str
        Begin and length, "at least" where the time before is not known.
    sure : str
        Confidence as a share, in words.
    why : tuple of str
        The strongest evidence for it.
    against : tuple of str
        The strongest evidence against it.
    naive : str
        What the naive rule says, and whether it agrees.
    """

    cause: CauseLook
    title: str
    backlog: str
    since: str
    sure: str
    why: tuple[str, ...]
    against: tuple[str, ...]
    first: str
    never: str
    naive: str
    naive_agrees: bool


def answer(verdict: dict, history: Sequence[dict], limits: Sequence[KnownLimit]) -> VerdictAnswer:
    """The answer that one verdict gives.

    Parameters
    ----------
    verdict : dict
        The row of ``verdicts`` that is told.
    history : sequence of dict
        Verdicts of the same subscription up to it, for "since"; evidence may be left out of them.
    limits : sequence of KnownLimit
        As of the verdict's time.
    """
    cause = CAUSES[verdict["cause"]]
    side = SIDES[verdict["naive_side"]]
    agrees = verdict["naive_side"] == verdict["side"]
    return VerdictAnswer(
        cause=cause,
        title=_title(cause, verdict["limiter"], limits),
        backlog=_backlog(verdict),
        since=_since(runs([*history, verdict])[-1]),
        sure=_sure(verdict),
        why=_sentences(verdict, "for"),
        against=_sentences(verdict, "against"),
        first=cause.first,
        never=cause.never,
        naive=f"{side.mark} {side.label}",
        naive_agrees=agrees,
    )


def _sure(verdict: dict) -> str:
    if cause_is_open(verdict["cause"], verdict["confidence"]):
        return "no cause is named"
    return f"{fmt.percent(verdict['confidence'])} confidence"


def cause_is_open(cause: str, confidence: float) -> bool:
    """Whether a confidence is none: ``unknown`` names no cause that could be right."""
    return cause == UNKNOWN.name and confidence == 0


def _title(cause: CauseLook, limiter: str | None, limits: Sequence[KnownLimit]) -> str:
    if not limiter:
        return f"{cause.answer}."
    limit = next((limit for limit in limits if f"{limit.level}.{limit.unit}" == limiter), None)
    details = "" if limit is None or limit.rate is None else f" ({limit.amount()}, set by {limit.who()})"
    if limit is not None and limit.lifted_ms is not None:
        return f"Until {fmt.clock(limit.lifted_ms)} the {limiter_words(limiter)}{details} held this subscription back."
    if cause.word == THROTTLED.name:
        return f"The {limiter_words(limiter)}{details} holds this subscription back."
    return f"{cause.answer}: the {limiter_words(limiter)}{details}."


def _backlog(verdict: dict) -> str:
    waiting, change = verdict["backlog_entries"], verdict["backlog_growth_entries"]
    if fmt.is_missing(waiting):
        return "Backlog not measured."
    length = fmt.duration(verdict["window_end_ms"] - verdict["window_start_ms"])
    text = f"{fmt.count(waiting, 'entries')} wait"
    if fmt.is_missing(change):
        return f"{text}."
    if change == 0:
        return f"{text}, unchanged over {length}."
    return f"{text}, {fmt.signed(change)} over {length}."


def _since(run: CauseRun) -> str:
    at_least = "at least " if run.follows_gap else ""
    return f"Since {at_least}{fmt.moment(run.start_ms)}, for {fmt.duration(run.end_ms - run.start_ms)}."


def _sentences(verdict: dict, weight: str) -> tuple[str, ...]:
    texts = [row["text"] for row in verdict["evidence"] or () if row["weight"] == weight]
    return tuple(texts[:_REASONS])
