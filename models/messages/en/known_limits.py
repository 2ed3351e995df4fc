"""Limits that are known for a subscription: whether their throttle events are evidence."""

from __future__ import annotations

SENTENCES = {
    "known_limits.not_observed": "Not observed: its events cannot be weighed.",
    "known_limits.none": "No limit: no events.",
    "known_limits.evidence": "Its throttle events are evidence: a period ({period}) holds a whole planned read ({planned}).",
    "known_limits.no_evidence": (
        "Its throttle events prove nothing: a period ({period}) holds less than one planned read ({planned})."
    ),
}
