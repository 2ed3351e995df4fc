"""Limits that are known for a subscription: whether their throttle events are evidence."""

from __future__ import annotations

SENTENCES = {
    "known_limits.not_observed": "Limit not observed: whether its throttle events are evidence is not known.",
    "known_limits.of_replicator": "Nothing counts a replicator's throttling: its use shows whether the limit holds it.",
    "known_limits.none": "No limit: no events.",
    "known_limits.evidence": "Its throttle events are evidence: one period allows {period}, at least one full read ({planned}).",
    "known_limits.no_evidence": (
        "Its throttle events prove nothing: one period allows {period}, less than one full read ({planned})."
    ),
}
