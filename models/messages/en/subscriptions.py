"""The table of all subscriptions: hints of its columns, and how many there are."""

from __future__ import annotations

SENTENCES = {
    "subscriptions.search": "search subscription, topic, cluster",
    "subscriptions.column.partition": "partition; {none} : not partitioned",
    "subscriptions.column.cause.now": "cause of the newest window",
    "subscriptions.column.cause.recent": (
        "cause with the longest total duration in its cluster's newest {length}"
    ),
    "subscriptions.column.confidence.now": "probability that the cause is right",
    "subscriptions.column.confidence.recent": "probability that the cause is right, mean over its windows",
    "subscriptions.column.backlog": "ready entries (batches), not messages",
    "subscriptions.column.trend": (
        "ready backlog over the newest {length} of its cluster, from zero to its largest; empty: it never left its floor"
    ),
    "subscriptions.cell.backlog": "backlog since {start}: at most {high} entries",
    "subscriptions.cell.no_backlog": "no backlog above its floor",
    "subscriptions.column.growth": "change of the backlog over the verdict's window, entries",
    "subscriptions.column.duration.now": "how long this cause has lasted; ≥ : it may be longer",
    "subscriptions.column.duration.recent": "how long this cause has lasted in total",
    "subscriptions.column.other.now": (
        "main cause in its cluster's newest {length}, where it differs from the current cause; a click opens it"
    ),
    "subscriptions.column.other.recent": "cause of the newest window; a click opens it",
    "subscriptions.column.naive": (
        "shown where it differs; backlog > 1000 entries: a limit if there was any throttle event, else the consumers"
    ),
    "subscriptions.cell.last_seen": "; last seen {at}",
    "subscriptions.status.no_match": "No subscription matches these filters.",
    "subscriptions.status.no_match_why": (
        "{number} subscriptions are in the lake; none matches the search, causes and clusters."
    ),
    "subscriptions.status.show_all": "Show all of them",
    "subscriptions.status.filtered.one": "{shown} of {number} subscription.",
    "subscriptions.status.filtered.many": "{shown} of {number} subscriptions.",
    "subscriptions.status.all.one": "{shown} subscription, worst first. Enter or a click opens one.",
    "subscriptions.status.all.many": "{shown} subscriptions, worst first. Enter or a click opens one.",
    "subscriptions.status.hidden": "{number} healthy subscriptions of Pulsar's own topics are hidden.",
    "subscriptions.cell.ended": " (ended)",
    "subscriptions.cell.held.since": "since {at}{ended}",
    "subscriptions.cell.held.since_at_least": "since ≥ {at}{ended}",
    "subscriptions.status.show_hidden": "Show them",
    "subscriptions.card.now": "{number} now",
    "subscriptions.card.recent": "{number} in {length}",
}
