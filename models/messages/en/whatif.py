"""Replays: the question, the answer, and what makes it less sure. Values of type text are formatted by the front end."""

from __future__ import annotations

SENTENCES = {
    # What differs in a run, one clause per setting.
    "whatif.change.limit": "{setting} is {value} instead of {now}",
    "whatif.change.limit_lifted": "{setting} is lifted instead of {now}",
    "whatif.change.consumers": "{value} consumers are connected instead of {now}",
    "whatif.change.processing": "a consumer needs {value} for a message",
    "whatif.change.rate": "{value} are published to the topic",
    "whatif.change.load": "{value:g} times as much is published",
    "whatif.change.batching": "an entry holds {value} messages instead of {now}",
    "whatif.change.nothing": "nothing changes",
    "whatif.headline": "What if {changes}?",
    # When the backlog is gone.
    "whatif.gone.nothing_to_drain": "nothing to drain",
    "whatif.gone.after": "{after}",
    "whatif.gone.at_the_earliest": "{after} at the earliest",
    "whatif.gone.never": "not within {horizon}",
    "whatif.gone.never_growing": "not within {horizon}, grows by {rate}",
    "whatif.gone.never_falling": "not within {horizon}, falls by {rate}",
    "whatif.gone.never_steady": "not within {horizon}, stays the same",
    # What limits the drain.
    "whatif.limited_by.consumers": "the consumers",
    "whatif.limited_by.no_consumer": "no consumer is connected",
    "whatif.limited_by.reads": "the read speed of the broker",
    "whatif.limited_by.arrivals": "nothing: there is no backlog to drain",
    "whatif.limited_by.limit": "the {limiter:limiter} of {value}",
    "whatif.next_limit": "{factor}, from {rate} on",
    "whatif.next_limit_unknown": "not known: the consumers were never observed at their limit",
    # What the change does.
    "whatif.effect.open": (
        "It may help. How much depends on the capacity of the consumers, which was never observed: set processing_ms."
    ),
    "whatif.effect.no_backlog": "It makes no difference: there is no backlog to drain.",
    "whatif.effect.none": "It makes no difference: limited by {factor} either way.",
    "whatif.effect.helps": "It helps: {then}. As it is: {now}.",
    "whatif.effect.not_enough": "It is not enough: {then}. As it is: {now}.",
    "whatif.effect.worse": "It makes it worse: {then}. As it is: {now}.",
    "whatif.drained_after": "drained after {after}",
    # What it is based on.
    "whatif.arrivals.exact": "{rate}",
    "whatif.arrivals.interval": "{rate} ({low} to {high} from minute to minute)",
    "whatif.arrivals.lower_bound": "at least {rate} ({low} to {high} from minute to minute): a publish limit slowed the producers down",
    "whatif.capacity.any": "any rate, as assumed by processing_ms for {consumers:consumers}",
    "whatif.capacity.given": "{rate}, as assumed by processing_ms for {consumers:consumers}",
    "whatif.capacity.unknown": "never observed",
    "whatif.capacity.at_least": "at least {low}; never observed at its limit",
    "whatif.capacity.now": "{rate} ({low} to {high}) of {consumers:consumers}, saturated up to the end of the window",
    "whatif.capacity.before": "{rate} ({low} to {high}) of {consumers:consumers}, saturated until {seen}, {age} before the end",
    "whatif.capacity.bursts": (
        "{rate} ({low} to {high}) of {consumers:consumers}, estimated from the time that they need for a burst; never observed at its limit"
    ),
    "whatif.error.small": "misses the recorded backlog by less than 1 % of its peak on average",
    "whatif.error.share": "misses the recorded backlog by {share} of its peak on average",
    # Notes.
    "whatif.replay_far_off": (
        "The replay is off by {percent:.0f} % of the window's peak: a factor that is not in the samples limited the backlog, or "
        "conditions changed within the window (a shorter window may help)."
    ),
    "whatif.capacity_never_seen": (
        "The consumers were never observed at their limit in {seen_s:span}: their capacity is not known. Set processing_ms to assume a "
        "processing time per message."
    ),
    "whatif.capacity_at_least": (
        "The consumers were never observed at their limit in {seen_s:span}: they process at least {msg_per_s:,.0f} msg/s, maybe far more. "
        "Set processing_ms to assume a processing time per message."
    ),
    "whatif.capacity_from_bursts": (
        "The consumers were never observed at their limit: their capacity is estimated from the time between the limiter's last dispatch "
        "and their last acknowledgement. Set processing_ms to assume a processing time per message instead."
    ),
    "whatif.capacity_of_others": (
        "{then} consumers were connected when their capacity was observed, {now} are now: each is assumed to process the same."
    ),
    "whatif.limit_unchanged": "{setting}={value} is the present value.",
    "whatif.no_limit_to_lift": "There is no {setting} limit to lift.",
    "whatif.limit_cannot_bind": "{setting}={value} cannot bind: the consumers process {msg_per_s:,.0f} msg/s at most.",
    "whatif.partitions_limit_cannot_bind": (
        "{setting}={value} on each of {partitions} partitions cannot bind: the consumers process {msg_per_s:,.0f} msg/s at most."
    ),
    "whatif.type_serves_fewer": "A subscription of type {type} serves {active} of {consumers} consumers.",
    "whatif.batching": (
        "Waiting messages are assumed to be batched by {batch_msg:,} as well; backlogs are counted in the entries that were recorded."
    ),
    "whatif.limits_per_partition": "Limits of topic and subscription apply to each of the {partitions} partitions.",
    "whatif.other_topics": (
        "Other topics of the broker use {msg_per_s:,.0f} msg/s of its limit, the average of the window."
    ),
    "whatif.gap": (
        "The window's samples have a gap of {missing_s:,.0f} s: what was published then is spread evenly over it."
    ),
    "whatif.gaps": (
        "The window's samples have {gaps} gaps of {missing_s:,.0f} s in all: what was published then is spread evenly over them."
    ),
    "whatif.restarts": (
        "Counters restarted at {times:names} UTC (an unload, a move or a restart of the broker): what was counted between the last scrape "
        "and the restart is missing."
    ),
    "whatif.many_restarts": (
        "Counters restarted at {times:names} and {more} times more UTC (unloads, moves or restarts of the broker): what was counted "
        "between the last scrape and a restart is missing."
    ),
    "whatif.producers_limited": (
        "A publish limit slowed the producers down: the arrivals are a lower bound, more messages may wait in the producers."
    ),
    "whatif.producers_unknown": (
        "Whether a publish limit slowed the producers down was not recorded; if it did, the arrivals are a lower bound."
    ),
    "whatif.delayed": "{entries:,.0f} entries wait for their delivery time: they are assumed to be deliverable.",
    "whatif.expired": "{entries:,.0f} entries expired in the window: in a replay none does.",
    "whatif.blocked": (
        "At the window's end the broker dispatches nothing, as too many messages are unacknowledged: a replay takes them for acknowledged once they are processed, "
        "so it drains what in fact waits."
    ),
    "whatif.redelivered": "{msg_per_s:.1f} msg/s were redelivered: a replay delivers every message once.",
    "whatif.batches_vary": "Entries hold {messages:.2f} messages on average: in a replay all are alike.",
    "whatif.limits_never_read": (
        "Limits were never read (no admin API answers in the lake): no limit is assumed."
    ),
    "whatif.limits_read_later": "Limits were read only after the window: they are assumed to apply within it.",
    "whatif.throttling_not_counted": (
        "This broker does not count its throttling: whether a limiter binds is derived from how much of it is used."
    ),
    "whatif.replicator": (
        "A replicator is simulated as an Exclusive subscription: its one consumer is the remote cluster, its limit counts entries, and what it"
        " sent is known as a mean over a minute only."
    ),
    "whatif.type_unknown": "The subscription's type was not read: Shared is assumed.",
    "whatif.version_unknown": "The broker's version was not read: a current one is assumed.",
}
