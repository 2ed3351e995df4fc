"""Recommendations: what to change, what it costs, how to check it, and what does not help."""

from __future__ import annotations

SENTENCES = {
    # What to do.
    "advice.limit.raise": "Raise the {limiter:limiter} from {now:limit} to {value:limit}.",
    "advice.limit.lower": "The {limiter:limiter} could be lowered from {now:limit} to {value:limit}.",
    "advice.limit.keep": "Keep the {limiter:limiter} at {now:limit}: a lower one would not have met the objective.",
    "advice.period.lengthen": "Keep the mean rate of the {limiter:limiter} and lengthen its period from {now} s to {value} s: {rate:limit}.",
    "advice.partitions.add": "Give the topic {value} partitions instead of {now}: each partition has the whole {limiter:limiter}.",
    "advice.consumers.connect_one": "Connect 1 consumer: none is connected.",
    "advice.consumers.connect": "Connect {value:number} consumers: none is connected.",
    "advice.consumers.change": "Run {value:number} consumers instead of {now:number}, each as fast as the present ones.",
    "advice.consumers.keep": "Keep the {now:number} consumers: fewer would not have met the objective.",
    "advice.processing.faster": (
        "Make each consumer faster: {value:number} ms per message instead of {now:number} ms. "
        "More consumers could not work at the same time."
    ),
    "advice.together": "One change alone is not enough.",
    # What the change achieves; see also Recommendation.
    "advice.age": "The age would have been at most {p99_age_s:age} in the objective's share of the minutes.",
    # What it costs.
    "advice.risk.load_on_broker": (
        "While the backlog drains, the broker reads and sends {after:number} msg/s instead of {before:number}, from the bookies "
        "where its cache does not have the entries."
    ),
    "advice.risk.faster_drain": "While a backlog drains, the broker reads and sends up to {after:number} msg/s instead of {before:number}.",
    "advice.risk.slower_drain": "A backlog drains at {after:number} msg/s instead of {before:number}: on a busier day messages wait longer.",
    "advice.risk.shared_topic_limit": "Other subscriptions share the limit and may use it too: {others:names}.",
    "advice.risk.shared_broker_limit": "Every subscription of every broker shares the limit.",
    "advice.risk.burst_msg": "Up to {value:number} msg may be dispatched at once.",
    "advice.risk.burst_bytes": "Up to {value:number} B may be dispatched at once.",
    "advice.risk.burst": "All messages of a period may be dispatched at once.",
    "advice.risk.downstream": "Whatever the consumers call (databases, services) has to take the load.",
    "advice.risk.backlog_stays": "The present backlog stays in its partitions; only new messages are spread.",
    "advice.risk.keys_move": "Keys move to other partitions, and the number of partitions cannot be reduced.",
    # How to check it: what the query should show.
    "advice.check.backlog_gone": "should fall by {entries_per_s:number} entries/s and reach zero in {drain_s:duration}",
    "advice.check.backlog_falls": "should fall",
    "advice.check.dispatched": "should be about {msg_per_s:number} msg/s",
    "advice.check.replicated": "should be about {entries_per_s:number} entries/s",
    "advice.check.dispatched_draining": "should be about {msg_per_s:number} msg/s while a backlog drains",
    "advice.check.age": (
        "should stay at or below {target_s:number} (the oldest message of the topic's backlog, over all its subscriptions)"
    ),
    # What does not help.
    "advice.no_help.consumers": "Adding consumers will not help: the backlog is limited by {factor:factor}, however fast they are.",
    "advice.no_help.limit": "Raising the {limiter:limiter} will not help: without it the backlog is limited by {factor:factor}.",
    "advice.not_enough.consumers": (
        "More consumers alone would not have met the objective: limited by {factor:factor}, the age would have been up to {p99_age_s:age} "
        "in its share of the minutes."
    ),
    "advice.not_enough.limit": (
        "A higher {limiter:limiter} alone would not have met the objective: limited by {factor:factor}, the age would have been up to "
        "{p99_age_s:age} in its share of the minutes."
    ),
    # Commands: what they change, and what else they do.
    "advice.place.subscription": "subscription {subscription} of {topic}",
    "advice.place.all_subscriptions": "all subscriptions of {topic}",
    "advice.place.replicators": "replicators of {topic}, to all remote clusters",
    "advice.place.topic": "topic {topic}, shared by all its subscriptions",
    "advice.place.namespace": "every topic of the namespace {namespace}",
    "advice.place.brokers": "every broker of the cluster",
    "advice.note.per_segment": "The limit counts in each segment and partition of every topic of the namespace by itself.",
    "advice.note.overrides_namespace": "The present limit is set by the namespace; this policy overrides it here only.",
    "advice.note.overrides_broker_dynamic": (
        "The present limit is set by the dynamic configuration of the brokers; this policy overrides it here only."
    ),
    "advice.note.overrides_broker_file": "The present limit is set by the configuration file of the brokers; this policy overrides it here only.",
    "advice.note.buckets_refill": "Any change of a policy refills the topic's token buckets: expect a burst of one period.",
    "advice.note.every_broker": "Applies to every broker of the cluster; each broker has the whole limit.",
    "advice.note.override_until_restart": (
        "A deleted override stays in force until the broker restarts: set the old value to roll back at once."
    ),
    "advice.no_command": "No pulsar-admin command does this: change it, and roll it back, where the consumers run.",
    "advice.no_roll_back": "No command rolls this back.",
    # What the replays say as a whole.
    "advice.primary.limiter": "A limiter is the limiting factor: lifting it drains most.",
    "advice.primary.consumers": "The consumers are the limiting factor: faster ones drain most.",
    "advice.primary.both": "Limiter and consumers both limit it: neither change alone drains it, both together do.",
    "advice.primary.none": "None of the levers that were tried changes the backlog measurably.",
    "advice.primary.small": "Each change gains less than 5 % of what is dispatched in that time: growth is slow, and which change gains most is not certain.",
    "advice.not_modelled.blocked_on_unacked": (
        "The broker dispatches nothing more, as too many messages are unacknowledged. A replay takes messages for acknowledged once they are processed, so it "
        "cannot compare changes."
    ),
    "advice.not_modelled.redelivery": (
        "Much of what is dispatched is redelivered. A replay delivers every message once, so it cannot compare changes."
    ),
    "advice.none_not_modelled.blocked_on_unacked": (
        "No change of limits or of the number of consumers is recommended. First find out why the consumers do not acknowledge; restarting them "
        "redelivers what they hold."
    ),
    "advice.none_not_modelled.redelivery": (
        "No change of limits or of the number of consumers is recommended. First find out why messages are redelivered: negative acknowledgements, a timeout of acknowledgement that is "
        "too short, or consumers that reconnect."
    ),
    "advice.none_drained": "There is no backlog to drain at this moment. Choose an earlier one (--at TIME on the command line) to see what would have drained it then.",
    "advice.none_found": "No change that was tried drains it within {target_s:duration}.",
    "advice.far_off": "The replay is too far from what was recorded to compare changes.",
    "advice.none_far_off": (
        "No change is recommended, because the replay is too far from what was recorded. Conditions changed within the window, or "
        "something that is not in the samples limits the backlog. Choose another window or moment."
    ),
    "advice.replay_error": "On average, the replay of the last {window_s:duration} misses the recorded backlog by {percent:.1f} % of its peak.",
    # When the backlog is gone with a change.
    "advice.gone.open": "a time that depends on the consumers: their speed was not observed",
    "advice.gone.earliest": "{low_s:duration} at the earliest, if the consumers can take it",
    "advice.gone.likely_no_end": "{likely_s:duration} ({low_s:duration} at the earliest)",
    "advice.gone.interval": "{likely_s:duration} ({low_s:duration} to {high_s:duration})",
    "advice.gone.exact": "{likely_s:duration}",
    # What a replay took away.
    "advice.lever.limiter": "the {limiter:limiter}",
    "advice.lever.consumers": "the processing time of the consumers",
    "advice.lever.together": "all limits and the processing time of the consumers",
    # The age objective over weeks.
    "advice.slo.minutes_missing": (
        "{percent:.1f} % of the minutes are missing: they count as the same minute of other days, and in no percentile."
    ),
    "advice.slo.capacity_unknown": (
        "The consumers were never observed at their capacity: they are assumed to keep up, so their number is not judged."
    ),
    "advice.slo.producers_limited": "A publish limit slowed the producers down: more would have been published.",
    "advice.slo.partitions_together": "The partitions are taken together: one with more traffic than the others waits longer.",
    "advice.slo.fluid": (
        "The weeks are modelled as a fluid in steps of one minute, with the present limits and consumers ({minutes:,} minutes); "
        "bursts of seconds are not modelled."
    ),
    "advice.slo.no_backlog": "No backlog was recorded: there is nothing to compare the fluid with.",
    "advice.slo.worst_not_replayed": "The half hour of the largest backlog, until {until}, cannot be replayed: {reason}.",
}
