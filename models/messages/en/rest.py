"""The REST API: what its fields and parameters mean, its problems, and the text of its OpenAPI document."""

from __future__ import annotations

SENTENCES = {
    "rest.api.summary": "Why Apache Pulsar subscriptions have a backlog: a rate limiter, or their consumers",
    "rest.api.description": (
        "Results of throttlescope: verdicts, backlogs, incidents, limits, forecasts and recommendations, read from its lake. "
        "Times are UTC epoch milliseconds and end in _ms, ranges are [start, end), a unit ends a name. Absence is null, and never 0. "
        "Nothing is written. An answer is of one version of the lake, which its ETag names; a cursor pages through that version."
    ),
    "rest.api.basic": "Only where the server was started with a file of users.",
    "rest.page": "One page of the resource {name}.",
    # Resources.
    "rest.resource.verdicts": "Verdicts: the cause of a subscription's backlog in one window, with its evidence; the newest window first",
    "rest.resource.subscriptions": (
        "Subscriptions: the newest verdict of each subscription partition and its main cause of the last 6 hours; the largest backlog first"
    ),
    "rest.resource.episodes": "Episodes: backlogs from their start to their drain, with their causes over time; the newest first",
    "rest.resource.incidents": "Incidents: several backlogs at once that share a limiter or a broker; the newest first",
    "rest.resource.limits": "Limits: limiters in force with their use in the last hours; the most used first",
    "rest.resource.forecasts": "Forecasts: when a backlog is drained, or loses messages by TTL or quota; the newest first",
    "rest.resource.recommendations": (
        "Recommendations: the smallest change that drains one subscription's backlog, by replay; nothing is executed"
    ),
    # Answers.
    "rest.answer.200": "A page.",
    "rest.answer.304": "The lake has not changed since the answer that If-None-Match names.",
    "rest.answer.401": "The server has a login, and the request has no valid name and password.",
    "rest.answer.403": "The server accepts requests from its proxy only.",
    "rest.answer.414": "The address has more than 8,190 characters.",
    "rest.answer.etag": "Names the version of the lake, the resource and the parameters.",
    "rest.answer.retry_after": "Seconds after which the request may be repeated.",
    # Problems.
    "rest.problem.invalid_parameter": "A parameter is not valid",
    "rest.problem.not_found": "Not found",
    "rest.problem.method_not_allowed": "Method not allowed",
    "rest.problem.not_computable": "It cannot be computed from this lake",
    "rest.problem.busy": "Too many requests at once",
    "rest.problem.timeout": "The request took too long",
    "rest.problem.lake_unavailable": "The lake cannot be read",
    "rest.problem.internal": "Internal error",
    "rest.detail.not_found": "There is no such resource; expected {known}.",
    "rest.detail.method": "{method} is not supported; expected GET or HEAD: this API only reads.",
    "rest.detail.busy": "Too many requests are at work. Fix: repeat it after Retry-After.",
    "rest.detail.timeout": "The request was stopped at its deadline. Fix: select one cluster, one topic or a shorter range.",
    "rest.detail.internal": "The request failed; the server's log says why.",
    "rest.detail.lake": "The lake is not there, or files of it are missing. Fix: repeat it after Retry-After; the server's log says what is missing.",
    "rest.detail.no_subscription": "No subscription {selector} was judged in the last 24 hours of its cluster.",
    "rest.detail.nearest": "The nearest: {names}.",
    # Parameters.
    "rest.parameter.limit": "Items of a page.",
    "rest.parameter.cursor": (
        "next_cursor of the page before, with the same filters. A cursor of a version that the lake no longer keeps is an error: "
        "leave it out to start again."
    ),
    "rest.parameter.if_none_match": "ETag of an earlier answer: 304 while it is still valid.",
    "rest.parameter.cluster": "Only these clusters; repeat it for several.",
    "rest.parameter.one_cluster": "The cluster, where several have the subscription.",
    "rest.parameter.tenant": "Only these tenants; repeat it for several.",
    "rest.parameter.namespace": "Only these namespaces (tenant/namespace); repeat it for several.",
    "rest.parameter.topic": "Only these topics (persistent://tenant/namespace/name, with or without -partition-N); repeat it for several.",
    "rest.parameter.partition": "Only this partition; -1: the topic is not partitioned.",
    "rest.parameter.subscription": "Only subscriptions of these names; repeat it for several.",
    "rest.parameter.selector": (
        "One subscription as the command line names it: persistent://tenant/namespace/topic[-partition-N]#subscription; "
        "without -partition-N every partition."
    ),
    "rest.parameter.cause": "Only these causes; repeat it for several.",
    "rest.parameter.main_cause": "Only these main causes of the last 6 hours; repeat it for several.",
    "rest.parameter.side": "Only causes of these sides; repeat it for several.",
    "rest.parameter.limiter": "Only with these limiters; repeat it for several.",
    "rest.parameter.min_backlog_entries": (
        "Only with at least this backlog: at the end of the window, of episodes and incidents the largest one."
    ),
    "rest.parameter.min_confidence": "Only verdicts of at least this confidence.",
    "rest.parameter.window_end_ms": "Only windows that end exactly then.",
    "rest.parameter.start_ms": (
        "Start of the range [start_ms, end_ms): windows, episodes and incidents that touch it, forecasts that were made in it."
    ),
    "rest.parameter.end_ms": "End of that range, exclusive.",
    "rest.parameter.search": "Words that must be in the subscription's names.",
    "rest.parameter.troubled_only": "Only subscriptions whose newest verdict is not healthy.",
    "rest.parameter.own_topics": "Healthy subscriptions of Pulsar's own topics too (__change_events and the like).",
    "rest.parameter.order": "now: the largest backlog first; recent: the largest backlog of the last 6 hours first.",
    "rest.parameter.open_only": "Only what has not ended.",
    "rest.parameter.incident_kind": "Only incidents whose members share this; repeat it for several.",
    "rest.parameter.forecast_kind": "Only forecasts of this; repeat it for several.",
    "rest.parameter.method": "Only forecasts by these methods; repeat it for several.",
    "rest.parameter.state": "Only forecasts in these states; repeat it for several.",
    "rest.parameter.predicted_before_ms": "Only what is expected before this moment.",
    "rest.parameter.limit_subscription": "Only subscription limits of subscriptions of these names; repeat it for several.",
    "rest.parameter.broker": "Only broker limits of these brokers; repeat it for several.",
    "rest.parameter.level": "Only limiters of these levels; repeat it for several.",
    "rest.parameter.unit": "Only limits of these units; repeat it for several.",
    "rest.parameter.set_by": "Only limits that these records set; repeat it for several.",
    "rest.parameter.min_use_share": "Only limiters with at least this largest use / limit of a minute.",
    "rest.parameter.include_unset": "Limiters that were observed without a limit too.",
    "rest.parameter.at_ms": "The moment to look at; the end of the newest verdict by default.",
    "rest.parameter.target_s": "Seconds within which the backlog has to drain.",
    # Fields.
    "rest.field.items": "The items of this page.",
    "rest.field.next_cursor": "Parameter cursor of the next page; null: this is the last one.",
    "rest.field.freshness": "How new the answer is.",
    "rest.field.freshness.clusters": "Every cluster of the lake.",
    "rest.field.freshness.verdicts_until_ms": "End of its newest verdict's window.",
    "rest.field.freshness.table_versions": (
        "Version of each table that the answer was read from. null: the table was never written, "
        "so nothing was found yet, or it was never computed."
    ),
    "rest.field.selector": "Whole name of the subscription, as the command line takes it.",
    "rest.field.page": "Path of its web page on this server.",
    "rest.field.stale": "The newest verdict is more than 10 minutes older than the newest of its cluster: it is not current.",
    "rest.field.own_topic": "The topic or the subscription is Pulsar's own.",
    "rest.field.cluster": "Pulsar cluster, or the name of a recording.",
    "rest.field.limiter": "Level and unit of the limiter; null: none.",
    "rest.field.level": "Whose limiter it is.",
    "rest.field.unit": "What it limits.",
    "rest.field.limit.broker": "Broker of a broker's limiter; null: another level, or not known.",
    "rest.field.limit.topic": "Topic of a topic's or a subscription's limiter, else null.",
    "rest.field.limit.partition": "Its partition, -1 where it has none; null for a broker's limiter.",
    "rest.field.limit.subscription": "Subscription of a subscription's limiter, else null.",
    "rest.field.limit.namespaces": "Namespaces of the subscriptions that it limits.",
    "rest.field.limit.rate_per_period": "Messages, entries or bytes in each period; null: no limit is set.",
    "rest.field.limit.period_s": "Length of the period.",
    "rest.field.limit.rate_per_s": "rate_per_period / period_s; null: no limit is set.",
    "rest.field.limit.counts": "What the rate counts.",
    "rest.field.limit.relative_to_publish": "The publish rate is added to the rate.",
    "rest.field.limit.set_by": "The policy that applies.",
    "rest.field.limit.observed_ms": "When the admin API said so.",
    "rest.field.limit.shared_by_subscriptions": "Subscription partitions that share it.",
    "rest.field.limit.use_share_max": (
        "Largest use / limit of a minute in the last hours, use summed over all that share it; null: not known."
    ),
    "rest.field.limit.near_limit_minutes": "Minutes in the last hours with a use of at least 0.9 of the limit.",
    "rest.field.limit.known_minutes": "Minutes in the last hours whose use is known.",
    "rest.field.limit.page": "Path of the web page of the limits of one subscription that it limits.",
    "rest.field.recommendation.lever": "What is changed.",
    "rest.field.recommendation.text": "What to do, in words.",
    "rest.field.recommendation.change": "The same as throttlescope whatif --set takes it; null: a replay cannot try it.",
    "rest.field.recommendation.earliest_drain_s": "Seconds until the backlog is gone, at the earliest; null: not known, or not within the target.",
    "rest.field.recommendation.likely_drain_s": "The same, most likely.",
    "rest.field.recommendation.latest_drain_s": "The same, at the latest.",
    "rest.field.recommendation.next_limiting_factor": "What limits the drain then: a limiter, consumers or reads.",
    "rest.field.recommendation.apply_command": "Command that makes the change; it was not executed. null: there is none.",
    "rest.field.recommendation.roll_back_command": "Command that undoes it; null: there is none.",
    "rest.field.recommendation.risks": "What it costs.",
    "rest.field.recommendation.checks": "How to see that it works.",
    "rest.field.recommendation.next_cursor": "Always null: there is one page.",
    "rest.field.recommendation.at_ms": "The moment that was looked at.",
    "rest.field.recommendation.target_s": "Seconds within which the backlog has to drain.",
    "rest.field.recommendation.backlog_entries": "Ready backlog at that moment.",
    "rest.field.recommendation.primary_lever": "Whose removal drains most; null: no lever changes anything measurable.",
    "rest.field.recommendation.replay_error_share": (
        "How far the replay of the recorded window was from what was recorded, over its largest backlog."
    ),
    "rest.field.recommendation.counterfactuals": "What each cause's removal would drain, most first.",
    "rest.field.recommendation.not_helping": "Changes that do not help, in words.",
    "rest.field.recommendation.notes": "What makes the answer less sure.",
    "rest.field.counterfactual.lever": "What the replay took away.",
    "rest.field.counterfactual.left_low_entries": "Backlog at the end of the target, at least.",
    "rest.field.counterfactual.left_high_entries": "The same, at most.",
    "rest.field.problem.type": "URN of the kind of problem.",
    "rest.field.problem.title": "The kind of problem, in words.",
    "rest.field.problem.status": "HTTP status.",
    "rest.field.problem.detail": "What is wrong, what was found, what was expected, and the fix, in one line.",
    "rest.field.problem.parameter": "The parameter that is wrong, where one is.",
}
