"""Evidence: which symptom speaks for or against a cause. In: symptoms and a cause. Out: rows, strongest first.

The table :data:`~throttlescope.models.diagnosis.bearing.BEARING` is the whole weighing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from throttlescope.models.diagnosis.bearing import BEARING, Bearing
from throttlescope.models.diagnosis.causes import (
    CAUSE_OF,
    MICRO_BURST_THROTTLED,
    SLOW_CONSUMERS,
    SYSTEM_BACKLOG,
    UNKNOWN,
    Standing,
)
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.symptoms import RULE, Symptom, Symptoms
from throttlescope.models.diagnosis.symptoms.limiters import limiter_events, limiter_use
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message, render

#: What an answer may weigh, in the order of the columns of :data:`~throttlescope.models.diagnosis.bearing.BEARING`.
WEIGHTS = ("for", "against", "neutral")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row of a verdict's evidence; see the table contract of ``verdicts``."""

    symptom: str
    weight: str
    finding: Message
    value: float | None = None
    threshold: float | None = None
    unit: str | None = None
    at_ms: int | None = None
    promql: str | None = None

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        return render(self.finding)

    def to_row(self) -> dict[str, Any]:
        return {
            "symptom": self.symptom,
            "weight": self.weight,
            "text": self.finding.stored,
            "value": self.value,
            "threshold": self.threshold,
            "unit": self.unit,
            "at_ms": self.at_ms,
            "promql": self.promql,
        }


def weigh(window: Window, symptoms: Symptoms, standing: Standing) -> tuple[Evidence, ...]:
    """Evidence for a cause: what speaks for it first, then against it, then what one should know.

    There is always at least one row: where nothing bears on the cause, how much was seen does.
    """
    found = []
    for bearing in BEARING:
        symptom = symptoms.by_name[bearing.symptom]
        weight = _weight(bearing, standing.cause) if symptom.holds is bearing.holds else None
        if weight is not None:
            found.append(_row(_of_limiter(window, symptoms, symptom, standing), weight))
    found += _counters(window, symptoms, standing)
    if standing.cause == UNKNOWN.name:
        found.insert(0, _row(RULE.answer(True, RULE.says("no_cause", why=standing.because)), "for"))
    elif standing == SYSTEM_BACKLOG:
        found.insert(0, _row(RULE.answer(True, RULE.says("no_incident", why=standing.because)), "for"))
    if not found:
        found.append(_row(symptoms.by_name["coverage"], "neutral"))
    decisive = CAUSE_OF[standing.cause].decisive
    return tuple(
        sorted(
            found,
            key=lambda evidence: (
                WEIGHTS.index(evidence.weight),
                decisive.index(evidence.symptom) if evidence.symptom in decisive else len(decisive),
            ),
        )
    )


def _weight(bearing: Bearing, cause: str) -> str | None:
    for weight, causes in zip(WEIGHTS, bearing[2:], strict=True):
        if cause in causes.split() or causes == "*":
            return weight
    return None


def _of_limiter(window: Window, symptoms: Symptoms, symptom: Symptom, standing: Standing) -> Symptom:
    """A verdict that names a limiter shows the use of that one, not of the one used most."""
    if symptom.name != "limiter_at_limit" or standing.limiter in (None, symptom.limiter):
        return symptom
    named = next(limiter for limiter in symptoms.limiters if limiter.name == standing.limiter)
    return limiter_use(window, named) if named.rho is not None and named.zone != "unknown" else symptom


def _counters(window: Window, symptoms: Symptoms, standing: Standing) -> list[Evidence]:
    ticking = [limiter for limiter in symptoms.limiters if limiter.events]
    if not ticking:
        silent = symptoms.by_name["throttle_events"]
        if silent.holds is None:
            return []
        if CAUSE_OF[standing.cause].lever == "limiter":
            return [_row(silent, "against")]
        return [_row(silent, "for" if standing.cause == SLOW_CONSUMERS.name else "neutral")]
    rows = [
        _row(limiter_events(window, limiter), _counter_weight(limiter, standing))
        for limiter in sorted(
            ticking, key=lambda limiter: (limiter.name != standing.limiter, -limiter.events)
        )
    ]
    return rows


def _counter_weight(limiter: LimiterReading, standing: Standing) -> str:
    throttle = CAUSE_OF[standing.cause].names_limiter
    if throttle and limiter.name != standing.limiter:
        return "neutral"
    if limiter.activity == "continuous" or (
        limiter.informative and standing.cause == MICRO_BURST_THROTTLED.name
    ):
        return "for" if throttle else "against" if standing.cause == SLOW_CONSUMERS.name else "neutral"
    if limiter.activity == "sparse" and limiter.informative:
        return "against" if throttle else "for" if standing.cause == SLOW_CONSUMERS.name else "neutral"
    return "neutral"


def _row(symptom: Symptom, weight: str) -> Evidence:
    return Evidence(
        symptom.name,
        weight,
        symptom.finding,
        symptom.value,
        symptom.threshold,
        symptom.unit,
        symptom.at_ms,
        symptom.promql,
    )
