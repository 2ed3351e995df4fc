"""The verdict. In: a window. Out: side, cause, limiter, confidence, evidence, and what is missing.

A pure function of the window's rows: no clock, no input or output, the same answer every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.core.times import date_of
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.causes import (
    CAUSE_OF,
    HEALTHY,
    INCLUDES,
    UNKNOWN,
    Cause,
    Standing,
    standings,
)
from throttlescope.models.diagnosis.evidence import Evidence, weigh
from throttlescope.models.diagnosis.history import ObservedCapacity
from throttlescope.models.diagnosis.missing import MissingEvidence, missing_evidence
from throttlescope.models.diagnosis.naive import naive_side
from throttlescope.models.diagnosis.symptoms import Symptoms, examine
from throttlescope.models.diagnosis.symptoms.backlog import backlog_growth_entries, coverage_share
from throttlescope.models.diagnosis.window import SubscriptionKey, Window
from throttlescope.models.messages.catalogue import Message
from throttlescope.models.messages.stored import packed

#: Raised whenever a verdict could come out differently. Stored with every verdict.
RULES_VERSION = "6"

#: The probability that a cause of this grade is right. Stated, not yet calibrated: A, two independent kinds of evidence
#: agree; B, one decisive kind and nothing against it; C, by elimination or from weaker evidence; D, little more than a
#: lean. ``unknown`` names no cause, so its confidence is 0.
CONFIDENCE_OF_GRADE = {"A": 0.95, "B": 0.85, "C": 0.70, "D": 0.55, "": 0.0}

#: What a flaw of the evidence costs: a factor of the confidence.
FLAWS = {
    "limit_observed_later": 0.9,
    "limits_old": 0.9,
    "limit_changed": 0.8,
    "coverage_partial": 0.9,
    "counters_restarted": 0.95,
}

#: A cause that is not more likely than not is not named.
ANSWER_FLOOR = 0.5


@dataclass(frozen=True, slots=True)
class Contributing:
    """A cause that applies next to the primary one."""

    cause: str
    side: str
    limiter: str | None
    confidence: float
    because: Message

    @property
    def why(self) -> str:
        """The rule that named it, in words."""
        return self.because.text

    def to_row(self) -> dict[str, Any]:
        return {
            "cause": self.cause,
            "side": self.side,
            "limiter": self.limiter,
            "confidence": self.confidence,
            "why": self.because.stored,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one subscription partition has, or has not, a backlog in one window.

    Attributes
    ----------
    contributing : tuple of Contributing
        Causes that apply as well, most urgent first.
    capacity : ObservedCapacity or None
        What the consumers did when they were last seen at their capacity.
    standings : tuple of Standing
        All causes that applied, the named one first unless its confidence was too low. Not stored.
    symptoms : Symptoms
        What was measured. Not stored.
    """

    key: SubscriptionKey
    window_start_ms: int
    window_end_ms: int
    side: str
    cause: str
    limiter: str | None
    confidence: float
    evidence: tuple[Evidence, ...]
    missing_evidence: tuple[MissingEvidence, ...]
    naive_side: str
    rules_version: str
    backlog_entries: float | None
    backlog_growth_entries: float | None
    variant: str | None
    because: Message
    contributing: tuple[Contributing, ...]
    capacity: ObservedCapacity | None
    standings: tuple[Standing, ...]
    symptoms: Symptoms

    def to_row(self) -> dict[str, Any]:
        """A row of ``verdicts``."""
        return {
            **self.key._asdict(),
            "window_start_ms": self.window_start_ms,
            "window_end_ms": self.window_end_ms,
            "side": self.side,
            "cause": self.cause,
            "limiter": self.limiter,
            "confidence": self.confidence,
            "evidence": [row.to_row() for row in self.evidence],
            "missing_evidence": [row.to_row() for row in self.missing_evidence],
            "naive_side": self.naive_side,
            "rules_version": self.rules_version,
            "backlog_entries": self.backlog_entries,
            "backlog_growth_entries": self.backlog_growth_entries,
            "variant": self.variant,
            "why": self.because.stored,
            "contributing": [row.to_row() for row in self.contributing],
            "capacity_msg_rate": self.capacity.msg_per_s if self.capacity else None,
            "capacity_seen_ms": self.capacity.seen_ms if self.capacity else None,
            "messages": self._messages(),
            "date": date_of(self.window_start_ms),
        }

    @property
    def why(self) -> str:
        """The rule that named the cause, in words."""
        return self.because.text

    def _messages(self) -> dict[str, Any]:
        missing = [message for one in self.missing_evidence for message in (one.gap, one.remedy)]
        return {
            "evidence": [packed(row.finding) for row in self.evidence],
            "missing_evidence": [packed(message) for message in missing],
            "contributing": [packed(row.because) for row in self.contributing],
            "why": packed(self.because),
        }


def diagnose(window: Window) -> Verdict:
    """Judge one window.

    Parameters
    ----------
    window : Window
        A subscription partition's minutes of ``signals``. Gaps, NULL and NaN are allowed anywhere.

    Returns
    -------
    Verdict
        Its cause is ``unknown`` where the evidence does not carry one.
    """
    symptoms = examine(window)
    found = standings(symptoms)
    primary = found[0]
    confidence = confidence_in(primary, window, symptoms)
    if primary.cause != UNKNOWN.name and confidence < ANSWER_FLOOR:
        primary = UNKNOWN.because("unlikely", cause=primary.cause)
        confidence = 0.0
    return Verdict(
        key=window.key,
        window_start_ms=window.start_ms,
        window_end_ms=window.end_ms,
        side=CAUSE_OF[primary.cause].side,
        cause=primary.cause,
        limiter=primary.limiter,
        confidence=confidence,
        evidence=weigh(window, symptoms, primary),
        missing_evidence=missing_evidence(window, symptoms, primary.cause),
        naive_side=naive_side(window),
        rules_version=RULES_VERSION,
        backlog_entries=window.last("backlog_ready_entries"),
        backlog_growth_entries=backlog_growth_entries(window),
        variant=primary.variant,
        because=primary.because,
        contributing=_contributing(primary, found, window, symptoms),
        capacity=symptoms.capacity,
        standings=found,
        symptoms=symptoms,
    )


def _contributing(
    primary: Standing, found: tuple[Standing, ...], window: Window, symptoms: Symptoms
) -> tuple[Contributing, ...]:
    """Causes that apply next to the primary one and are not included in it already."""
    said = {HEALTHY, UNKNOWN, *_with_included(CAUSE_OF[primary.cause])}
    rows = []
    for standing in found:
        cause = CAUSE_OF[standing.cause]
        if cause not in said:
            said |= _with_included(cause)
            confidence = confidence_in(standing, window, symptoms)
            rows.append(Contributing(cause.name, cause.side, standing.limiter, confidence, standing.because))
    return tuple(rows)


def _with_included(cause: Cause) -> set[Cause]:
    return {cause, *INCLUDES.get(cause, ())}


def confidence_in(standing: Standing, window: Window, symptoms: Symptoms) -> float:
    """The grade's probability, reduced by the flaws of the evidence."""
    confidence, cause = CONFIDENCE_OF_GRADE[standing.grade], CAUSE_OF[standing.cause]
    if coverage_share(window) < t.COVERAGE_FULL_SHARE:
        confidence *= FLAWS["coverage_partial"]
    if cause.rests_on_limits:
        for name in ("limit_observed_later", "limits_old", "limit_changed"):
            if symptoms.holds(name):
                confidence *= FLAWS[name]
    if symptoms.holds("counters_restarted") and not cause.survives_restart:
        confidence *= FLAWS["counters_restarted"]
    return round(confidence, 4)
