"""The pages of limits: what is in force, which policy applies, and what changed. Times, counts and names are texts of the page."""

from __future__ import annotations

SENTENCES = {
    # The page.
    "limits.page.search": "search broker, topic, subscription",
    "limits.page.search_label": "search broker, topic, subscription, cluster",
    "limits.policies.never_read": "policies: never read",
    "limits.policies.read": "policies read up to {at}",
    "limits.policies.read_before_data": "policies read up to {at}, {before} before the newest data",
    # The table: hints of its column heads.
    "limits.column.rate": "as configured, per period; sorted per second",
    "limits.column.set_by": "the policy that applies; it applies as a whole",
    "limits.column.share": (
        "largest use / limit of a minute in the newest {length}, use summed over all that share it"
    ),
    "limits.column.near": (
        "minutes with at least {near} of it used, of those that are known, in the newest {length}"
    ),
    "limits.column.near_head": "Time at {near} or more",
    "limits.column.proof": "whether throttle events of this limit prove that it was exhausted",
    "limits.column.shared_by": "subscription partitions that share it",
    "limits.column.observed": "when the admin API answered last",
    "limits.cell.broker_unknown": "a broker that is not known",
    "limits.cell.subscription_on_topic": "{subscription} on {topic}",
    "limits.cell.relative": "{speed}, relative to the publish rate",
    "limits.cell.read_at": "read at {at}",
    # Links that filter the table.
    "limits.use.all": "every limit that is known",
    "limits.use.often": "{near} or more used in a minute in the newest {length}, most minutes first",
    "limits.use.never": "below {loose} in every minute that is known in the newest {length}",
    "limits.without": "levels without a limit too",
    "limits.without_hint": "levels that were read and have no limit",
    # How many there are, or why there are none.
    "limits.not_read.title": "No limits were read yet.",
    "limits.not_read.why": "No metric carries a limit: they are resolved from what the admin API answers.",
    "limits.not_read.fix": (
        "Give it to a run: throttlescope run --prometheus URL --pulsar-admin URL --lake DIR."
    ),
    "limits.none_set.title": "No dispatch limit is in force.",
    "limits.none_set.why": "The admin API was read, and no limit is set on any level.",
    "limits.none_set.link": "Show the levels that were read",
    "limits.no_match.title": "No limit matches these filters.",
    "limits.no_match.use.all": "{known} limits are known; none matches the search and the filters.",
    "limits.no_match.use.often": (
        "No limit that matches these filters was nearly used up in the range that was read."
    ),
    "limits.no_match.use.never": (
        "Every limit that matches these filters and whose use is known was at least half used."
    ),
    "limits.no_match.link": "Show all limits",
    "limits.status.one": "1 limiter. Enter or a click shows which policy applies, and what was read.",
    "limits.status.many": "{number} limiters. Enter or a click shows which policy applies, and what was read.",
    "limits.unknown.level": "the {level} limit of {number}",
    "limits.unknown": (
        "Not known: {levels:names} of {subscriptions} subscription partitions. Either the admin API was not queried for them, or an answer "
        "that they depend on is missing (a broker's runtime configuration, a policy that may not be read). An unknown limit is not the "
        "absence of one. Limits of publishing are below."
    ),
    # The limits of one subscription.
    "limits.in_force.unread": "No limit of this subscription was read.",
    "limits.in_force.unread_why": (
        "The admin API did not answer for it in the newest day of answers, or was not queried: throttlescope run --pulsar-admin URL."
    ),
    "limits.in_force.unread_means": "An unknown limit is not the absence of one.",
    "limits.in_force.unknown_levels": (
        "Not known: {levels:names} limit. An answer that it depends on is missing; the table below says which."
    ),
    "limits.in_force.exempt": (
        "This broker exempts subscriptions that have caught up (dispatchThrottlingOnNonBacklogConsumerEnabled is false)."
    ),
    "limits.in_force.events": "Throttle events",
    "limits.in_force.broker": "per topic partition; owner broker {broker}",
    "limits.in_force.broker_unknown": "per topic partition; owner broker not known",
    "limits.in_force.segments": "per segment, {segments} segments; only namespace and broker can set them; owner broker {broker}",
    "limits.in_force.segments_broker_unknown": (
        "per segment, {segments} segments; only namespace and broker can set them; owner broker not known"
    ),
    "limits.in_force.relative": "{amount}, on top of the publish rate",
    "limits.in_force.left_out": "not set by the {set_by}, which applies as a whole",
    "limits.in_force.first_read": "also at {at}, the first of these answers",
    "limits.record.title": "Which policy applies",
    "limits.record.note": (
        "in the broker's order of precedence; the first policy with a rate applies as a whole, and all three levels apply at the same time"
    ),
    "limits.record.unreadable": "The answers cannot be read.",
    "limits.record.none_read": "No policies of it were read.",
    "limits.record.wins": "✓ applies",
    "limits.record.not_read": "not read",
    "limits.record.not_read_not_needed": "not read; the {winner} applies anyway",
    "limits.record.hidden": "overridden by the {winner}",
    "limits.record.nothing_hidden": "not set",
    "limits.record.undecided": "not known: the {unread} was not read",
    "limits.record.sets_nothing": "sets nothing",
    "limits.record.sets_nothing_next": "sets nothing: the next one is checked",
    "limits.record.sets_nothing_last": "sets nothing: this level has no limit",
    "limits.record.no_answer": "no answer",
    "limits.record.says_nothing": "nothing (both rates 0 or less count as not set)",
    "limits.record.absolute.msg": "{msg} per {period} s; bytes not limited",
    "limits.record.absolute.bytes": "{bytes} per {period} s; messages not limited",
    "limits.record.absolute.both": "{msg} and {bytes} per {period} s",
    "limits.record.relative.msg": "{msg} per {period} s, on top of the publish rate; bytes not limited",
    "limits.record.relative.bytes": "{bytes} per {period} s, on top of the publish rate; messages not limited",
    "limits.record.relative.both": "{msg} and {bytes} per {period} s, on top of the publish rate",
    "limits.answers.title": "Answers of the admin API",
    "limits.answers.none": "No answers are stored for it.",
    "limits.answers.note": (
        "{number} answers, read between {oldest} and {newest}; an answer is used for a day"
    ),
    "limits.answers.empty_note": "nothing is set",
    "limits.answers.empty": "Nothing is set there.",
    "limits.answers.read": "{size} · read at {at}",
    "limits.answers.cut": "The first {shown} characters of {number}.",
    # Changes.
    "limits.changes.title": "Changes in this range",
    "limits.changes.none": (
        "None was seen. Limits are compared between answers of the admin API: that needs two of them, of which the later is in this range."
    ),
    "limits.changes.note.all": "{number}, the newest first",
    "limits.changes.note.newest": "the newest {shown} of {number}",
    "limits.changes.note.all_cut": (
        "{number}, the newest first; more limits changed than were read here: filter by cluster or namespace"
    ),
    "limits.changes.note.newest_cut": (
        "the newest {shown} of {number}; more limits changed than were read here: filter by cluster or namespace"
    ),
    "limits.changes.compared": "Before and after of",
    "limits.changes.foot": (
        "Seen: the first answer of the admin API with the new limit; it changed at some time since the previous answer. Before and after: up "
        "to {length} each, of the subscription with the largest backlog among those that it affected; ~ marks minutes for which no answer "
        "confirms that the limit was still the same. A comparison is not a proof: traffic may have changed as well. Events alone prove "
        "nothing."
    ),
    "limits.changes.seen": "{at}; the previous answer was read at {before}",
    "limits.changes.set_by": "set by: {now}",
    "limits.changes.set_by_other": "set by: {before} before, now {now}",
    "limits.changes.affected.one_topic": "{limits} on 1 topic",
    "limits.changes.affected.topics": "{limits} on {topics} topics",
    "limits.subject": "Limits of ",
    "limits.answers.of": "{scope} of {name}",
    "limits.changes.kind.raised": "raised",
    "limits.changes.kind.set": "set",
    "limits.changes.kind.removed": "removed",
    "limits.changes.kind.lowered": "lowered",
    "limits.changes.kind.redefined": "redefined",
}
