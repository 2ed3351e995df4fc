"""What is in a backlog: before it is read, and what was counted."""

from __future__ import annotations

SENTENCES = {
    "analyze_backlog.reads_storage": (
        "The broker reads the backlog from storage, up to 10,000 entries or 2 min of each partition unless it is configured otherwise."
    ),
    "analyze_backlog.title": "Backlog of {subscription} on {cluster}",
    "analyze_backlog.all": "all",
    "analyze_backlog.not_partitioned": "not partitioned",
    "analyze_backlog.read": "Read in {took}; nothing was acknowledged. An entry is a batch of messages.",
    "analyze_backlog.aborted": (
        "The broker stopped before the end of the backlog (subscriptionBacklogScanMaxEntries, subscriptionBacklogScanMaxTimeMs): >= marks "
        "a lower bound."
    ),
    "analyze_backlog.left_out": "The deadline left {partitions} unread; the sum is a lower bound.",
    "analyze_backlog.failed": "Partition {partition} was not read: {why}.",
    "analyze_backlog.markers": (
        "{markers} entries ({share}) are markers of Pulsar itself, such as snapshots of replicated subscriptions: no consumer gets them, and "
        "they go when the subscription is read, no longer replicated, or deleted."
    ),
    "analyze_backlog.filters": (
        "The subscription's entry filters do not accept all of it: rejected messages are acknowledged without delivery, rescheduled ones "
        "are delivered later."
    ),
    "analyze_backlog.button": "What is in it",
    "analyze_backlog.running": "Reading the backlog...",
    "analyze_backlog.hint": (
        "Has the broker read this backlog from storage and count its entries, messages and markers: up to 10,000 entries of each partition, "
        "at most {deadline_s:g} s. Nothing is acknowledged. Closing the page stops it."
    ),
    "analyze_backlog.no_source": "needs the admin API: pulsar_admin.urls of this cluster in throttlescope.toml",
    "analyze_backlog.label": "what is in the backlog",
}
