"""Evidence: which symptom speaks for or against which cause. In: symptoms and a cause. Out: rows, strongest first.

:data:`BEARING` is the whole weighing. A symptom that does not bear on a cause is left out of its evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from throttlescope.models.diagnosis.hypotheses import SYSTEM_BACKLOG, Standing
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.symptoms import Symptom, Symptoms
from throttlescope.models.diagnosis.symptoms.limiters import limiter_events, limiter_use
from throttlescope.models.diagnosis.window import Window

_HELD = (
    "throttled both slow_consumers no_consumers blocked_on_unacked hung_consumers redelivery topic_moved "
    "key_shared_blocked filter_rejects publish_burst cold_reads read_limit phantom_backlog"
)


class Bearing(NamedTuple):
    """What a symptom's answer says about causes."""

    symptom: str
    holds: bool
    speaks_for: str = ""
    speaks_against: str = ""
    neutral: str = ""


#: In the order in which evidence is listed. Words are causes; ``*`` stands for all.
BEARING: tuple[Bearing, ...] = (
    Bearing("coverage", False, "unknown"),
    Bearing("served_twice", True, "unknown"),
    Bearing("no_consumers", True, "no_consumers", "hung_consumers slow_consumers"),
    Bearing("abandoned", True, "no_consumers"),
    Bearing("blocked_on_unacked", True, "blocked_on_unacked", "throttled", "both slow_consumers"),
    Bearing("consumers_blocked", True, "blocked_on_unacked", "throttled", "both slow_consumers"),
    Bearing("backlog_present", True, _HELD, "healthy micro_burst_throttled", "unknown healed_by_loss"),
    Bearing("backlog_present", False, "healthy micro_burst_throttled delayed_delivery", "", "unknown healed_by_loss"),
    Bearing("backlog_old", True, _HELD, "healthy", "unknown healed_by_loss"),
    Bearing("backlog_growing", True, _HELD, "healthy", "unknown"),
    Bearing("backlog_growing", False, "healthy", "", "throttled both slow_consumers unknown"),
    Bearing("backlog_draining", True, "healthy", "", f"{_HELD} healed_by_loss unknown"),
    Bearing("backlog_sawtooth", True, "micro_burst_throttled", "", "healthy"),
    Bearing("backlog_delayed", True, "delayed_delivery", "", "healthy unknown"),
    Bearing("expiring", True, "healed_by_loss", "healthy", f"{_HELD} unknown"),
    Bearing("evicting", True, "healed_by_loss", "healthy", f"{_HELD} unknown"),
    Bearing("publishing_burst", True, "publish_burst micro_burst_throttled", "", "*"),
    Bearing("limiter_at_limit", True, "throttled both", "slow_consumers redelivery", "healthy unknown"),
    Bearing("limiter_at_limit", False, "", "", "healthy throttled micro_burst_throttled unknown"),
    Bearing("limits_far", True, "slow_consumers hung_consumers redelivery key_shared_blocked publish_burst cold_reads "
            "read_limit phantom_backlog filter_rejects", "throttled both", "unknown"),
    Bearing("capacity_short", True, "both slow_consumers", "publish_burst", "throttled"),
    Bearing("capacity_short", False, "publish_burst", "slow_consumers both", "throttled unknown"),
    Bearing("limit_not_in_force", True, "", "throttled both", "*"),
    Bearing("consumer_queue_full", True, "slow_consumers both hung_consumers", "throttled",
            "healthy redelivery publish_burst unknown"),
    Bearing("consumer_queue_full", False, "", "", "unknown"),
    Bearing("consumer_queue_empty", True, "throttled micro_burst_throttled cold_reads read_limit phantom_backlog",
            "slow_consumers", "both redelivery unknown"),
    Bearing("consumers_busy", True, "slow_consumers", "", "throttled both unknown"),
    Bearing("unacked_steady", True, "slow_consumers both", "", "throttled unknown"),
    Bearing("consumers_uneven", True, "key_shared_blocked", "", "slow_consumers both hung_consumers blocked_on_unacked unknown"),
    Bearing("hash_blocked", True, "key_shared_blocked", "", "slow_consumers unknown"),
    Bearing("dispatch_stopped", True, "hung_consumers no_consumers blocked_on_unacked", "", "unknown throttled"),
    Bearing("acks_stopped", True, "hung_consumers blocked_on_unacked", "", "unknown"),
    Bearing("flow_stopped", True, "hung_consumers", "", "unknown"),
    Bearing("acks_behind", True, "slow_consumers blocked_on_unacked", "throttled", "unknown"),
    Bearing("redelivering", True, "redelivery", "", "throttled both slow_consumers blocked_on_unacked unknown"),
    Bearing("dispatch_flat", True, "throttled"),
    Bearing("cold_reads", True, "cold_reads", "", "slow_consumers unknown"),
    Bearing("storage_faster", True, "slow_consumers", "cold_reads", "unknown"),
    Bearing("storage_faster", False, "", "", "cold_reads unknown"),
    Bearing("replication_markers", True, "", "", "no_consumers hung_consumers unknown"),
    Bearing("filtering", True, "filter_rejects", "", "slow_consumers unknown"),
    Bearing("reads_wait", True, "read_limit", "", "cold_reads unknown"),
    Bearing("counters_restarted", True, "topic_moved", "", "*"),
    Bearing("limit_changed", True, "", "", "*"),
    Bearing("limit_observed_later", True, "", "", "throttled both slow_consumers unknown"),
    Bearing("limits_old", True, "", "", "throttled both slow_consumers unknown"),
)  # fmt: skip

WEIGHTS = ("for", "against", "neutral")

#: What decides for a cause, most telling first; all else of the same weight comes behind.
DECISIVE = {
    "throttled": "limiter_at_limit throttle_events consumer_queue_empty backlog_growing",
    "both": "limiter_at_limit capacity_short consumer_queue_full throttle_events backlog_growing",
    "micro_burst_throttled": "throttle_events backlog_sawtooth",
    "slow_consumers": "consumer_queue_full consumers_busy acks_behind limits_far throttle_events unacked_steady storage_faster "
    "capacity_short "
    "backlog_growing",
    "no_consumers": "no_consumers abandoned",
    "blocked_on_unacked": "blocked_on_unacked consumers_blocked",
    "hung_consumers": "dispatch_stopped acks_stopped flow_stopped consumer_queue_full",
    "redelivery": "redelivering",
    "key_shared_blocked": "hash_blocked consumers_uneven",
    "publish_burst": "publishing_burst capacity_short",
    "healed_by_loss": "expiring evicting",
    "delayed_delivery": "backlog_delayed",
    "cold_reads": "cold_reads consumer_queue_empty",
    "read_limit": "reads_wait consumer_queue_empty",
    "filter_rejects": "filtering",
    "topic_moved": "counters_restarted",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row of a verdict's evidence; see the table contract of ``verdicts``."""

    symptom: str
    weight: str
    text: str
    value: float | None = None
    threshold: float | None = None
    unit: str | None = None
    at_ms: int | None = None
    promql: str | None = None

    def to_row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


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
    if standing.cause == "unknown":
        found.insert(0, Evidence("rule", "for", f"No cause is named: {standing.why}."))
    elif standing == SYSTEM_BACKLOG:
        found.insert(0, Evidence("rule", "for", f"This is no incident: {standing.why}."))
    if not found:
        found.append(_row(symptoms.by_name["coverage"], "neutral"))
    decisive = DECISIVE.get(standing.cause, "").split()
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
        weights = {"slow_consumers": "for", "throttled": "against", "micro_burst_throttled": "against"}
        return [_row(silent, weights.get(standing.cause, "neutral"))]
    rows = [
        _row(limiter_events(window, limiter), _counter_weight(limiter, standing))
        for limiter in sorted(
            ticking, key=lambda limiter: (limiter.name != standing.limiter, -limiter.events)
        )
    ]
    return rows


def _counter_weight(limiter: LimiterReading, standing: Standing) -> str:
    throttle = standing.cause in ("throttled", "both", "micro_burst_throttled")
    if throttle and limiter.name != standing.limiter:
        return "neutral"
    if limiter.activity == "continuous" or (
        limiter.informative and standing.cause == "micro_burst_throttled"
    ):
        return "for" if throttle else "against" if standing.cause == "slow_consumers" else "neutral"
    if limiter.activity == "sparse" and limiter.informative:
        return "against" if throttle else "for" if standing.cause == "slow_consumers" else "neutral"
    return "neutral"


def _row(symptom: Symptom, weight: str) -> Evidence:
    return Evidence(
        symptom.name,
        weight,
        symptom.text,
        symptom.value,
        symptom.threshold,
        symptom.unit,
        symptom.at_ms,
        symptom.promql,
    )
