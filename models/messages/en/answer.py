"""The answer on top of a subscription's page: what, since when, and how sure."""

from __future__ import annotations

SENTENCES = {
    "answer.no_cause": "no cause is named",
    "answer.confidence": "{share} confidence",
    "answer.cause": "{cause}.",
    "answer.cause_and_limiter": "{cause}: the {limiter}.",
    "answer.limited": "The {limiter} throttles this subscription.",
    "answer.limited_replicator": "The {limiter} throttles this replicator.",
    "answer.limited_replicator_until": "Until {time} the {limiter} throttled this replicator.",
    "answer.limited_until": "Until {time} the {limiter} throttled this subscription.",
    "answer.backlog_unknown": "Backlog not measured.",
    "answer.backlog": "{entries} wait.",
    "answer.backlog_unchanged": "{entries} wait, unchanged over {length}.",
    "answer.backlog_changed": "{entries} wait; trend: {change} per {length}.",
    "answer.messages": "About {messages}.",
    "answer.messages_and_bytes": "About {messages}, {bytes}.",
    "answer.since": "Since {start}, for {length}.",
    "answer.since_at_least": "Since at least {start}, for {length}.",
}
