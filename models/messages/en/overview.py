"""The first page: notes and hints of its tables, and what it says where one is empty. Times and counts are texts of the page."""

from __future__ import annotations

SENTENCES = {
    "overview.run.done": "{command} {status} at {at}",
    "overview.run.failed": "{command} {status} at {at}; last success {success}",
    "overview.run.never_done": "{command} {status} at {at}; no run has succeeded yet",
    "overview.cards.label": "subscriptions by cause",
    "overview.cards.compared": "{number} subscription partitions; compared with 24 h earlier.",
    "overview.cards.not_compared": (
        "{number} subscription partitions; no verdicts from 24 h earlier to compare with."
    ),
    # Upcoming message loss.
    "overview.losses.title": "Upcoming message loss",
    "overview.losses.note": "if nothing changes, earliest first",
    "overview.losses.no_forecasts": "No forecasts yet.",
    "overview.losses.no_forecasts_why": (
        "Deadlines come from forecasts: throttlescope forecast --store --lake DIR, or the next run."
    ),
    "overview.losses.none": "No loss is expected: no TTL or backlog quota is reached at the current rate.",
    "overview.losses.kind.ttl": "messages expire",
    "overview.losses.kind.quota_size": "backlog quota by size",
    "overview.losses.kind.quota_age": "backlog quota by age",
    "overview.losses.made": "{at}; forecast made at {made}",
    # Shared incidents.
    "overview.incidents.note": "several open backlogs with one limiter or broker in common",
    "overview.incidents.no_episodes": "No episodes yet.",
    "overview.incidents.no_episodes_why": (
        "The next run computes them, or: throttlescope episodes --store --lake DIR."
    ),
    "overview.incidents.none": "No limiter or broker affects several subscriptions at once.",
    "overview.incidents.affected.one_topic": "{subscriptions} on 1 topic",
    "overview.incidents.affected.topics": "{subscriptions} on {topics} topics",
    # Open backlogs and the largest of the last hours.
    "overview.backlogs.none": "Every backlog is drained.",
    "overview.backlogs.all": "not drained, {number} in all; ready entries (batches)",
    "overview.backlogs.largest": "not drained, the largest {shown} of {number}; ready entries (batches)",
    "overview.backlogs.not_seen": "not seen since {at}",
    "overview.recent.title": "Largest backlogs, last {length}",
    "overview.recent.note": "newest {length} of each cluster; ready entries (batches)",
}
