"""Missing evidence in English. In: nothing. Out: for each what was not seen, in one or more situations, and how to supply it (``fix``)."""

from __future__ import annotations

SENTENCES = {
    "missing.coverage.what": "only {seen:share} of the samples are there",
    "missing.coverage.fix": (
        "look for failed or late scrapes of the broker in Prometheus: up, scrape_duration_seconds"
    ),
    "missing.serving_broker.what": "which of several brokers that show this subscription at the same time serves it",
    "missing.serving_broker.fix": (
        "give each cluster a label cluster of its own (--cluster NAME for each source), or read one of them with --match"
    ),
    "missing.backlog.what": "the backlog of the subscription (pulsar_subscription_back_log_no_delayed)",
    "missing.backlog.fix": (
        "set exposeTopicLevelMetricsInPrometheus=true on the brokers, and let ingest match the metric"
    ),
    "missing.throttle_counters.what": "the throttle counters (pulsar_subscription_dispatch_throttled_*_events)",
    "missing.throttle_counters.fix": (
        "Pulsar 4.0.4, 4.1.0 or newer has them, with exposeTopicLevelMetricsInPrometheus=true"
    ),
    "missing.limits.what": "the {levels} limits: no metric carries them",
    "missing.limits.fix": "give --pulsar-admin URL of this cluster, so that the effective limits are read",
    "missing.backlog_age.what": (
        "the age of the subscription's own oldest message; the topic's is that of its slowest subscription"
    ),
    "missing.backlog_age.fix": (
        "give --pulsar-admin URL, or set exposeSubscriptionBacklogAgeInPrometheus=true on the brokers: Pulsar 4.0.14, 4.2.5, "
        "5.0 or newer"
    ),
    "missing.limits_in_window.what": "the limits as they were in this window; they were first read after it",
    "missing.limits_in_window.fix": "run ingest with --pulsar-admin regularly, for example every hour",
    "missing.recent_limits.before": (
        "the limits that were in force in this window: they were read {age_s:duration} before the window's end"
    ),
    "missing.recent_limits.after": (
        "the limits that were in force in this window: they were read {age_s:duration} after the window's end"
    ),
    "missing.recent_limits.fix": "read them again with --pulsar-admin, and regularly, for example every hour",
    "missing.contradicted_limit.what": (
        "the {limiter} limit in force: its counter contradicts the one that is known"
    ),
    "missing.contradicted_limit.before": (
        "the {limiter} limit in force: its counter contradicts the one that is known; it was read {age_s:duration} before the "
        "window's end"
    ),
    "missing.contradicted_limit.after": (
        "the {limiter} limit in force: its counter contradicts the one that is known; it was read {age_s:duration} after the "
        "window's end"
    ),
    "missing.contradicted_limit.fix": (
        "read the limits again with --pulsar-admin, and let ingest match all that shares the limit"
    ),
    "missing.topic_traffic.what": (
        "only part of this topic's traffic was read; all of it uses the topic's limit"
    ),
    "missing.topic_traffic.share": (
        "only part of this topic's traffic was read: {read:share} of its subscriptions; all of it uses the topic's limit"
    ),
    "missing.topic_traffic.fix": "run without --match, or with one that names no subscription",
    "missing.broker_rate.what": (
        "how much of this broker's traffic was read: its own figure (pulsar_broker_rate_out) is not there"
    ),
    "missing.broker_rate.fix": "let ingest match pulsar_broker_rate_out",
    "missing.broker_traffic.what": (
        "only part of this broker's traffic was read: {read:share}; all of it uses the broker's limit"
    ),
    "missing.broker_traffic.fix": "run without --match, or with one that leaves no namespace of the broker out",
    "missing.enforced_limit.what": "the limit that the broker really enforces",
    "missing.enforced_limit.fix": (
        "read the limits again with --pulsar-admin; limits may have been set on the broker itself"
    ),
    "missing.consumer_ages.ahead": (
        "how long ago consumers requested and acknowledged messages: the broker's clock is at least {off_s:duration} ahead"
    ),
    "missing.consumer_ages.behind": (
        "how long ago consumers requested and acknowledged messages: the broker's clock is at least {off_s:duration} behind"
    ),
    "missing.consumer_ages.fix": "set the clocks of brokers and Prometheus by the same time servers (NTP)",
    "missing.broker_reads.what": "whether the broker reads at all, and whether the backlog is real",
    "missing.broker_reads.fix": (
        "look at `pulsar-admin topics stats-internal`; set exposePreciseBacklogInPrometheus=true"
    ),
    "missing.permits.what": "the permits of the consumers (pulsar_consumer_available_permits)",
    "missing.permits.fix": (
        "set exposeConsumerLevelMetricsInPrometheus=true on the brokers: nine more series per consumer; or give --pulsar-admin "
        "URL to run --follow or now, which sample them from the topics' stats"
    ),
    "missing.permits_at_scrapes.what": (
        "the permits of the consumers at every scrape (pulsar_consumer_available_permits); the admin API's stats show {samples} moments"
    ),
    "missing.permits_at_scrapes.fix": (
        "set exposeConsumerLevelMetricsInPrometheus=true on the brokers: nine more series per consumer"
    ),
    "missing.unacked.what": (
        "how much the consumers hold: Exclusive and Failover subscriptions count no unacked messages"
    ),
    "missing.unacked.fix": "consumer metrics show permits instead; see above",
    "missing.subscription_type.what": "the subscription's type: no metric carries it",
    "missing.subscription_type.fix": "give --pulsar-admin URL, it is in the stats",
}
