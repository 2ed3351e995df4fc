"""The overview: its headline, what its parts are of, and what they say where there is nothing. Times and counts are texts of the page."""

from __future__ import annotations

SENTENCES = {
    "overview.run.done": "{command} {status} at {at}",
    "overview.run.failed": "{command} {status} at {at}; last success {success}",
    "overview.run.never_done": "{command} {status} at {at}; no run has succeeded yet",
    "overview.cards.label": "subscriptions by cause",
    "overview.behind": "{cluster}: data up to {at}",
    "overview.no_such_cluster": "The lake has no verdicts of these clusters.",
    "overview.no_such_cluster_why": "Choose others in the list at the top right, or none to see all.",
    # The headline and its tiles.
    "overview.when": "at {at}",
    "overview.state.back": "back to the newest",
    "overview.state.none": "No subscription has a problem",
    "overview.state.some": "{troubled} of {judged} subscriptions have a problem",
    "overview.state.one": "1 of {judged} subscriptions has a problem",
    "overview.state.judged": "{judged} subscription partitions with a verdict {when}.",
    "overview.state.ended": (
        "{number} more had a verdict in the last day, but none in its last 10 minutes: they are not counted."
    ),
    "overview.state.worst": "Worst:",
    "overview.state.worst_hint": "the cause of the largest backlog (key w)",
    "overview.state.label": "subscriptions with a problem, by what holds them back",
    "overview.group.limiter": "Rate limiter",
    "overview.group.consumers": "Consumers",
    "overview.group.other": "Other causes",
    "overview.group.unknown": "Unknown cause",
    "overview.group.filter": "List these below; click again to list all",
    "overview.backlog": "Their backlog",
    "overview.backlog.unit": "entries",
    "overview.backlog.over_time": "total backlog over the range: at most {high} entries, {newest} at its end",
    "overview.change.ago": "{change} in {length}",
    "overview.change.since": "{change} since {at}",
    # Over time.
    "overview.timeline.title": "Subscriptions with a problem over time",
    "overview.timeline.note": "each bar is the fullest moment of {step}; click a bar to see that moment",
    "overview.timeline.none": "No subscription had a problem in this range.",
    "overview.timeline.unjudged": "grey: no verdicts",
    "overview.timeline.numbers": "Numbers, by time",
    "overview.timeline.filter": "Show this cause only; click again to show it with the others",
    "overview.timeline.label": "causes in this range, with their number {when}",
    # Where.
    "overview.places.title": "Backlog by",
    "overview.places.note": "ready entries {when}; colour: cause of the largest",
    "overview.places.label": "backlog by {by}, the largest first",
    "overview.places.none": "No ready backlog {when}.",
    "overview.places.tile": (
        "{cluster}: {name}: {entries} entries, {change} in 5 min; "
        "{troubled} of {subscriptions} subscription partitions have a problem"
    ),
    "overview.places.rest": "{number} more",
    "overview.places.rest_title": "{number} more with {entries} entries together",
    "overview.places.no_broker": "broker not known",
    # The worst.
    "overview.worst.title": "Largest backlogs with a problem",
    "overview.worst.filtered": "Largest backlogs: {causes}",
    "overview.worst.note": "the largest {shown} of {number}, {when}; ready entries (batches)",
    "overview.worst.note_all": "{number}, {when}; ready entries (batches)",
    "overview.worst.clear": "Show all causes",
    "overview.worst.all": "All in a table",
    "overview.worst.none": "No subscription has a problem {when}.",
    "overview.worst.none_filtered": "No subscription has one of these causes {when}.",
    "overview.worst.spark": "backlog over the range: at most {high} entries",
    # Limits.
    "overview.limits.title": "Limits close to exhaustion",
    "overview.limits.note": "use / limit, last 5 minutes; {when}",
    "overview.limits.none": "No limit is used above {share} {when}.",
    "overview.limits.more": "{number} limits; the fullest {shown}",
    # Deadlines.
    "overview.losses.title": "Deadlines",
    "overview.losses.note": "if nothing changes; {when}",
    "overview.losses.no_forecasts": "No forecasts yet.",
    "overview.losses.no_forecasts_why": (
        "Deadlines come from forecasts: throttlescope forecast --store --lake DIR, or the next run."
    ),
    "overview.losses.none": "No loss is expected: no TTL or backlog quota is reached at the current rate.",
    "overview.losses.kind.ttl": "messages expire",
    "overview.losses.kind.quota_size": "backlog quota by size",
    "overview.losses.kind.quota_age": "backlog quota by age",
    "overview.losses.kind.drain": "backlog drained",
    "overview.losses.never": "will not drain",
    "overview.losses.made": "{at}; forecast made at {made}",
    # Shared incidents.
    "overview.incidents.title": "Open incidents",
    "overview.incidents.note": "one limiter or broker, several backlogs; {when}",
    "overview.incidents.no_episodes": "No episodes yet.",
    "overview.incidents.no_episodes_why": (
        "The next run computes them, or: throttlescope episodes --store --lake DIR."
    ),
    "overview.incidents.none": "No limiter or broker affects several subscriptions at once.",
    "overview.incidents.affected.one_topic": "{subscriptions} on 1 topic",
    "overview.incidents.affected.topics": "{subscriptions} on {topics} topics",
    # Cells and heads.
    "overview.limits.all": "All limits",
    "overview.losses.what": "What happens",
    "overview.worst.trend": "Backlog over the range",
    "overview.growth": ", {change} in {length}",
    "overview.places.growth": " {change} in {length}",
}
