"""The incident report: what it says next to the verdict, the forecasts and the recommendations, and the comments in its files."""

from __future__ import annotations

_READ_LIMITS = "Fix: give --pulsar-admin URL to throttlescope run."

SENTENCES = {
    # The head.
    "incident.as_of.no_verdict": (
        "As of {at}. Data up to {until}. All times are UTC. Backlogs count entries (batches), rates messages or bytes. Nothing here "
        "was executed."
    ),
    "incident.as_of.verdict": (
        "As of {at}. Data up to {until}. The verdict is of the window {start} to {end}. All times are UTC. Backlogs count entries "
        "(batches), rates messages or bytes. Nothing here was executed."
    ),
    "incident.link": "this subscription and this range in throttlescope",
    # What.
    "incident.backlog.not_measured": "The backlog at {at} was not measured.",
    "incident.backlog.ready": "Backlog: {entries} ready for delivery at {at}.",
    "incident.backlog.ready_and_growth": (
        "Backlog: {entries} ready for delivery at {at}; trend over the window: {growth} per {length:duration}."
    ),
    "incident.backlog.end_of_data": "{at} (the end of the data)",
    "incident.backlog.entry_is_message": "An entry is a batch, here of one message.",
    "incident.backlog.entry_is_batch": "An entry is a batch, here of about {messages} messages.",
    "incident.backlog.delayed": "{entries} more are delayed on purpose.",
    "incident.backlog.age": "The oldest message of the topic's backlog is {age:duration} old.",
    "incident.newest.backlog": "At the end of the data: {entries} ready at {at}.",
    "incident.newest.backlog_and_verdict": (
        "At the end of the data: {entries} ready at {at}. Newest verdict: {cause}."
    ),
    # Since when.
    "incident.since.no_episode": "No episode of a backlog covers this moment.",
    "incident.since.began": "{at}, for {length:duration} ({how}).",
    "incident.since.began_before": "{at} or earlier, for at least {length:duration} ({how}).",
    "incident.since.how.change_point": "detected as a change in its growth",
    "incident.since.how.first_minute": (
        "the first minute with a larger backlog than normal; no clear change before it"
    ),
    "incident.since.how.start_of_data": (
        "it was already growing in the first minute of the data, so it may have started earlier"
    ),
    "incident.since.drained": "Drained at {at}.",
    "incident.since.not_drained": "Not drained at {at}.",
    "incident.since.no_data": "Not drained at its newest sample; there is no data after it.",
    "incident.since.normal": (
        "The backlog is in the normal range since {at}, which is too short to call it drained."
    ),
    "incident.since.peak": "Largest: {entries} ready entries at {at}.",
    "incident.since.cause": "This cause: since {at}, for {length:duration}.",
    "incident.since.cause_before": "This cause: since {at} or earlier, for at least {length:duration}.",
    "incident.since.other_causes": "Other verdicts during this backlog: {causes}.",
    # Why, and how sure.
    "incident.why.no_verdict": "Not judged: the lake has no verdict of this subscription up to this moment.",
    "incident.why.rule": "{answer} The rule: {why}.",
    "incident.why.known_bug": "Known bug of this broker version: {bug}",
    "incident.why.consumers": "Consumers: {consumers}",
    "incident.why.main_cause": "Main cause of the whole episode: {cause}.",
    "incident.why.main_cause_and_limiter": "Main cause of the whole episode: {cause} ({limiter}).",
    "incident.sure.no_verdict": "There is no verdict.",
    "incident.sure.rules": "{confidence}, rules {rules}.",
    "incident.sure.against": "Against it: {evidence}",
    "incident.recomputed.same": "Recomputed from the same minutes with rules {rules}: the same.",
    "incident.recomputed.different": "Recomputed from the same minutes with rules {rules}: {changes:names}.",
    "incident.recomputed.change": "{name} {then} then, {now} now",
    "incident.recomputed.repaired": "The lake has repaired those minutes since.",
    # The limiter.
    "incident.limiter.set": "{limiter}: {limit}.",
    "incident.limiter.set_by": "{amount}, set by {who}",
    "incident.limiter.used": "{limit}, highest use {share}",
    "incident.limiter.lifted": "It was lifted at {at}.",
    "incident.limiter.not_observed": "{limiter}; how large it is was not observed.",
    "incident.limiter.not_read": "No limiter is named; limits were not read.",
    "incident.limiter.none_named": "No limiter is named. Set: {limits}.",
    "incident.limiter.none_limiting": "No limiter is limiting. Set: {limits}.",
    # Deadlines.
    "incident.deadlines.heading": "Deadlines",
    "incident.deadlines.not_computed": "Not computed: {why}.",
    "incident.deadlines.not_read": (
        "Whether message TTL or a backlog quota applies is not known: their policies were not read."
    ),
    "incident.deadlines.list": "TTL and backlog quotas: {deadlines:names}.",
    "incident.deadlines.unknown": "{name} is not known",
    "incident.deadlines.not_set": "{name} is not set",
    "incident.deadlines.set": "{name} is {value} ({set_by})",
    "incident.deadlines.drained": (
        "This was the forecast at the reported time. The backlog was drained at {at}."
    ),
    # Do first.
    "incident.first.no_verdict": "Compute verdicts: throttlescope run --lake DIR.",
    "incident.first.change": "Smallest change: {change}",
    "incident.first.gone_in": "The backlog is then gone in {gone_in}.",
    "incident.first.command": "Command and rollback: see What to change.",
    # Missing.
    "incident.missing.evidence": "{what} Fix: {fix}",
    "incident.missing.minutes": "Minutes: the lake has no signals of this range.",
    "incident.missing.limits": f"Limits: none was read from the admin API. {_READ_LIMITS}",
    "incident.missing.cut": (
        "The episode is longer than the range of the files, which holds 7 days around the moment."
    ),
    "incident.missing.replay": (
        "An accurate replay: it is off by {share} of the largest backlog, so no change is recommended."
    ),
    "incident.missing.picture": "A picture of the plots (plots.png): {why}.",
    "incident.missing.chromium": (
        "A picture of the plots (plots.png): it needs Chromium and Playwright where the bundle is made."
    ),
    # Parts that could not be computed, and why.
    "incident.not_computed.forecasts": "Forecasts could not be computed: {why}.",
    "incident.not_computed.advice": "Counterfactuals and recommendations could not be computed: {why}.",
    "incident.not_computed.counterfactuals": "Counterfactuals could not be computed: {why}.",
    "incident.not_computed.recommendations": "Recommendations could not be computed: {why}.",
    "incident.not_computed.deadlines": "Message TTL and backlog quotas could not be computed: {why}.",
    "incident.not_computed.neighbours": "Who shares the limit could not be computed: {why}.",
    "incident.not_computed.consumers": "The consumers by name could not be computed: {why}.",
    "incident.not_computed.again": "The verdict under today's rules could not be computed: {why}.",
    "incident.no_advice.time_limit": "it took longer than {limit:duration}",
    "incident.no_advice.process_ended": "its process ended with code {code}",
    "incident.no_advice.no_minute": "no minute with a backlog is known before it",
    "incident.no_advice.healthy": "the subscription is healthy at that moment",
    # Timeline.
    "incident.timeline.range": "From {start} to {end}.",
    "incident.timeline.minutes_from": "Minutes are known from {at} on.",
    "incident.timeline.episode": "Causes are those of the episode: a cause that flapped for a window or two is left out.",
    "incident.event.report": "Time of this report.",
    "incident.event.begins": "The backlog starts to grow ({how}).",
    "incident.event.peak": "The backlog reaches its maximum: {entries} entries ready.",
    "incident.event.drained": "The backlog is drained: normal from here on.",
    "incident.event.mark.gap": "Nothing was measured: {what}.",
    "incident.event.mark.limit_changed": "A limit changed: {what}.",
    "incident.event.mark.counter_reset": (
        "The topic was unloaded, its broker restarted or it got a new dispatcher: {what}."
    ),
    "incident.event.mark.moved": "The topic moved to another broker: {what}.",
    "incident.event.expired": "{messages} messages expired by message TTL.",
    "incident.event.evicted": "The backlog quota of the topic evicted messages.",
    "incident.event.consumers": "Connected consumers: {before} before, {after} from here on.",
    "incident.event.more_consumers": "{changes} more changes of consumers: see signals.csv.",
    # An answer of the admin API that differs from the one before.
    "incident.policy.of.broker_configuration_runtime": (
        "An answer of the admin API changed, the configuration that runs on broker {named}:"
    ),
    "incident.policy.of.broker_dynamic_configuration": (
        "An answer of the admin API changed, the dynamic configuration seen by broker {named}:"
    ),
    "incident.policy.of.broker_version": "An answer of the admin API changed, the version of broker {named}:",
    "incident.policy.of.namespace": "An answer of the admin API changed, the policies of namespace {named}:",
    "incident.policy.of.topic_owner": "An answer of the admin API changed, the owner of topic {named}:",
    "incident.policy.of.partition_count": (
        "An answer of the admin API changed, the number of partitions of topic {named}:"
    ),
    "incident.policy.of.other": "An answer of the admin API changed, the policy {scope} of {named}:",
    "incident.policy.field": "{field} before {before}, after {after}",
    "incident.policy.whole": "before {before}, after {after}",
    "incident.policy.more_fields": "{count} more fields differ, see policies.jsonl",
    "incident.policy.when": "It was changed between {start} and {end}.",
    "incident.policy.unreadable": "an answer that cannot be read",
    # Plots.
    "incident.plots.caption": (
        "Top to bottom: the verdict over time, the backlog in entries, messages in, out and acknowledged with every known limit, "
        "bytes, throttle events, and unacknowledged messages and permits, each where it was measured. Times are UTC; the dotted line is the "
        "time of this report."
    ),
    "incident.plots.no_data": "There is no data to plot in this range.",
    # Evidence.
    "incident.evidence.none": "There is no verdict, so there is no evidence.",
    "incident.evidence.window": "Window {start} to {end}, rules {rules}. Strongest first.",
    "incident.evidence.weight.for": "Evidence for it",
    "incident.evidence.weight.against": "Evidence against it",
    "incident.evidence.weight.neutral": "Seen, but neither for nor against",
    "incident.evidence.promql": "The same in Prometheus",
    "incident.evidence.promql_hint": "Each query shows one of the values above at the given time.",
    "incident.evidence.naive_agrees": (
        "The naive rule (a ready backlog above 1000 entries: a limit if any throttle event was counted, otherwise the consumers) says "
        "the same: {side}."
    ),
    "incident.evidence.naive_differs": (
        "The naive rule (a ready backlog above 1000 entries: a limit if any throttle event was counted, otherwise the consumers) says "
        "something different: {side}."
    ),
    "incident.evidence.contributing": "Contributing cause: {cause} ({confidence} confidence): {why}.",
    # Limits, and who uses them.
    "incident.limits.not_read": (
        f"Not read: the lake has no limit of this subscription from the admin API. {_READ_LIMITS}"
    ),
    "incident.limits.most_use": "Highest use / limit in the range",
    "incident.limits.lifted": "{amount}; lifted at {at}",
    "incident.limits.changed": "{amount}; changed in this range",
    "incident.limits.none_set": "No limit set: {limits:names}.",
    "incident.limits.unobserved": "Not observed: {limits:names}.",
    "incident.limits.observed_later": (
        "Limits were first read after some of these minutes; the first reading is assumed for those."
    ),
    "incident.users.heading": "Who shares the limit",
    "incident.users.shared": "The {limiter} is shared. In this window {count} subscriptions used it.",
    "incident.users.share": "Share of all use",
    "incident.more_rows": "And {count} more.",
    # Counterfactuals.
    "incident.counterfactuals.heading": "What if a cause were removed",
    "incident.counterfactuals.replay": (
        "The {window_s:duration} before {at} were replayed in a simulator of Pulsar's limiters, then continued for {length:duration} from "
        "{entries} entries, each time without one cause. {primary}"
    ),
    "incident.counterfactuals.backlog": "Backlog {length:duration} later (entries)",
    "incident.counterfactuals.gain": "Reduction (entries)",
    # Forecasts.
    "incident.forecasts.none": "None: there was no backlog to forecast.",
    "incident.forecasts.made": (
        "Made with the data known at {at}. Probability: of a drain, the share of such forecasts that drained at all; of a deadline, "
        "that it comes before the drain."
    ),
    "incident.forecasts.state.never": "not at the current rate",
    "incident.forecasts.state.unknown": "no trend yet",
    "incident.forecasts.kind.drain": "backlog drained",
    "incident.forecasts.kind.ttl": "message TTL",
    "incident.forecasts.kind.quota_size": "backlog quota by size",
    "incident.forecasts.kind.quota_age": "backlog quota by age",
    # What to change.
    "incident.changes.hint": (
        "The smallest changes with which the backlog is gone within {target:duration}, best first. Not executed: throttlescope never "
        "changes a cluster."
    ),
    "incident.changes.not_helping": "What will not help",
    # Other partitions, and the files.
    "incident.partitions.hint": (
        "This report is about partition {partition}, the one with the largest backlog. For another one, select "
        "topic-partition-N#subscription."
    ),
    "incident.files.page": "this page with plots to zoom into; it needs a browser and no network.",
    "incident.files.picture": "the same plots as a picture.",
    "incident.files.verdicts": "every window's verdict and what it is based on.",
    "incident.files.signals": "one row per minute; its column minute is UTC.",
    "incident.files.limits": (
        "limits as they were resolved, and the answers of the admin API that they come from, without secrets."
    ),
    "incident.files.commands": "to copy line by line; nothing in them runs by itself.",
    "incident.files.manifest": "versions, ranges and the SHA-256 of every file.",
    # Comments in the file of queries.
    "incident.queries.head": (
        "# PromQL, one query after the other. The label cluster is left out: your Prometheus may use another name for it.\n"
        "# The range: {start} to {end}."
    ),
    "incident.queries.query.backlog": "the backlog that is ready, entries",
    "incident.queries.query.flow": "published minus dispatched, messages per second",
    "incident.queries.query.events": "throttle events by limiter in 5 minutes",
    "incident.queries.check": "to see whether a change works",
    # Comments in the file of commands.
    "incident.commands.of": "Subscription {subscription}, cluster {cluster}, as of {at}.",
    "incident.commands.executed": (
        "Nothing is executed: every line is a comment. Read and choose before you run anything."
    ),
    "incident.commands.invisible": (
        "A name contains invisible characters; they are shown as escapes here and must be replaced by the real characters."
    ),
    "incident.commands.none": "Change: nothing is recommended, {why}.",
    "incident.commands.roll_back": "To roll it back:",
}
