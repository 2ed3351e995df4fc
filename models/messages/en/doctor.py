"""Checks of ``throttlescope doctor``: what was found, and how to fix it."""

from __future__ import annotations

_RESTART = "in broker.conf and restart the brokers"
_CHECK_TARGETS = "check that the brokers' targets are up"

SENTENCES = {
    "doctor.note": (
        "ok; warning: verdicts have less evidence; failed: no verdicts until it is fixed; skipped: could not be checked. Times are UTC."
    ),
    # Configuration.
    "doctor.configuration.file": "{file} is valid",
    "doctor.configuration.no_file": "no file; flags and defaults",
    "doctor.configuration.no_source": "no source to examine",
    "doctor.configuration.no_source.fix": "add --prometheus URL, or a [clusters.NAME.prometheus] table to throttlescope.toml",
    "doctor.configuration.no_admin": "no admin API: limits, subscription types and messages per entry stay unknown",
    "doctor.configuration.no_admin.fix": "add --pulsar-admin URL, or [clusters.NAME.pulsar_admin]",
    "doctor.configuration.no_path": "{path} is not there",
    "doctor.configuration.no_path.fix": "correct the path",
    "doctor.configuration.not_verified": "the server's certificate is not checked",
    "doctor.configuration.not_verified.fix": "give its authority with ca_file and drop verify = false",
    "doctor.configuration.no_tls": "a secret is sent without TLS",
    "doctor.configuration.no_tls.fix": "use an https:// address",
    # Spark.
    "doctor.spark.not_needed": "starts no Spark: {subscriptions:,} subscription partitions, up to {most:,} are computed in one process",
    "doctor.spark.started": "starts Spark, on Java {version} of {found_in}",
    "doctor.spark.named": "starts Spark on {master}",
    "doctor.spark.no_java": "starts Spark, which needs Java 17 or newer; found: {got}",
    # This machine.
    "doctor.machine.compiled": "all functions are compiled, in {folder}",
    "doctor.machine.not_compiled": "{functions} functions are not compiled yet, in {folder}: a first query, run or replay takes up to a minute longer",
    "doctor.machine.not_compiled.fix": "optional: python -m throttlescope.app.services.compile_ahead compiles them now",
    "doctor.machine.not_kept": "no cache folder can be written: every process compiles for itself, for up to a minute",
    "doctor.machine.not_kept.fix": "set THROTTLESCOPE_CACHE to a folder that can be written",
    # Prometheus: access.
    "doctor.prometheus.reachable": "{url}, version {version}",
    "doctor.prometheus.clock": "within {seconds} s of this machine's",
    "doctor.prometheus.clock_differs": "its clock differs from this machine's by {skew_s:+.0f} s",
    "doctor.prometheus.clock_differs.fix": "synchronise both clocks; relative times such as -6h count from this machine's",
    "doctor.prometheus.remote_read": "offered: samples are streamed, staleness markers are kept",
    "doctor.prometheus.remote_read_unused": 'not checked: reader = "api"',
    "doctor.prometheus.no_remote_read": "not offered: samples come as JSON, slower and without staleness markers",
    "doctor.prometheus.no_remote_read.fix.auto": "allow POST /api/v1/read in the proxy before it",
    "doctor.prometheus.no_remote_read.fix.remote_read": 'allow POST /api/v1/read in the proxy before it or set reader = "auto"',
    # Prometheus: content.
    "doctor.prometheus.names": "{names} names begin with pulsar_",
    "doctor.prometheus.no_names": "no series begins with pulsar_",
    "doctor.prometheus.no_names.fix": (
        "scrape the brokers' /metrics/ on their web port (8080), or configure the Prometheus that does"
    ),
    "doctor.prometheus.topic_level": "{subscriptions:,.0f} subscription partitions have a backlog",
    "doctor.prometheus.no_samples": "{metric} has had no sample with a subscription for 5 minutes",
    "doctor.prometheus.no_samples.fix": f"{_CHECK_TARGETS} and that topics are loaded; or correct the label mapping",
    "doctor.prometheus.only_sums": "only sums are exposed: there is no series of a subscription",
    "doctor.prometheus.only_sums.fix": f"set exposeTopicLevelMetricsInPrometheus=true {_RESTART}",
    "doctor.missing_metric.backlog": "missing {metrics}: no backlog, so no verdict",
    "doctor.missing_metric.dispatch": "missing {metrics}: no dispatch rate, so use / limit is unknown",
    "doctor.missing_metric.publish": "missing {metrics}: no publish rate: growth cannot be explained",
    "doctor.missing_metric.acks": "missing {metrics}: no ack rate: consumption is only seen as dispatch",
    "doctor.missing_metric.consumers": "missing {metrics}: no_consumers cannot be distinguished from slow_consumers",
    "doctor.missing_metric.unacked": "missing {metrics}: queue fill of Shared subscriptions stays unknown",
    "doctor.missing_metric.writes": "missing {metrics}: messages per entry only from the admin API",
    "doctor.prometheus.missing_metric.fix": "check that no metric_relabel_configs drops it",
    "doctor.prometheus.throttle_counters": "present (Pulsar 4.0.4, 4.1.0 or newer)",
    "doctor.prometheus.no_throttle_counters": "missing {metrics}; brokers' version: {versions}",
    "doctor.prometheus.no_throttle_counters.fix": (
        "upgrade the brokers to 4.0.4, 4.1.0 or newer; until then only use / limit can prove a limiter"
    ),
    "doctor.prometheus.consumer_level": "permits of consumers are exposed",
    "doctor.prometheus.no_consumer_level": (
        "permits of consumers are hidden: a full client queue is seen only in samples of the admin API's stats"
    ),
    "doctor.prometheus.no_consumer_level.fix": (
        f"set exposeConsumerLevelMetricsInPrometheus=true {_RESTART} (9 more series per consumer)"
    ),
    "doctor.prometheus.backlog_age": "the age of each subscription's oldest message is exposed",
    "doctor.prometheus.no_backlog_age": (
        "no age per subscription: it is off by default, and absence does not tell old brokers from the switch"
    ),
    "doctor.prometheus.no_backlog_age.fix": (
        f"set exposeSubscriptionBacklogAgeInPrometheus=true {_RESTART} (Pulsar 4.0.14, 4.2.5, 5.0 or newer), or name the admin API, whose"
        " stats have it too"
    ),
    "doctor.prometheus.freshness": "newest sample is {age} old",
    "doctor.prometheus.old.fix": _CHECK_TARGETS,
    "doctor.prometheus.too_few_samples": "fewer than two samples in the last 10 minutes",
    "doctor.prometheus.scrape_interval": "{interval_s:.0f} s",
    "doctor.prometheus.lost_scrapes": "{interval_s:.0f} s, {lost} of {scrapes} scrapes late or lost",
    "doctor.prometheus.slow_scrapes.fix": (
        "scrape the brokers every 15 to 60 s; slower, brief throttling and restarts are not seen"
    ),
    "doctor.prometheus.lost_scrapes.fix": "raise scrape_timeout, or see what keeps the brokers from answering",
    "doctor.labels.both": "both shapes: brokers differ in splitTopicAndPartitionLabelInPrometheus",
    "doctor.labels.split": "split: topic in {topic}, partition in {partition}",
    "doctor.labels.joined": "joined: the partition is part of {topic}",
    "doctor.labels.not_partitioned": "topic in {topic}, no partitioned topic seen",
    "doctor.labels.namespace": "{namespaces} namespaces in {label}",
    "doctor.labels.no_namespace": "contains {found}, not tenant/namespace",
    "doctor.labels.no_namespace.fix": "set honor_labels: true in the scrape configuration",
    "doctor.labels.exported_namespace.fix": (
        "set honor_labels: true in the scrape configuration, "
        'or namespace = "exported_namespace" in [clusters.{cluster}.labels]'
    ),
    "doctor.labels.no_cluster": "missing; filled with the configured name, {cluster}",
    "doctor.labels.other_cluster": "contains {found}, not the configured {cluster}",
    "doctor.labels.other_cluster.fix": "name the table in throttlescope.toml (or --cluster) as the label says",
    "doctor.prometheus.no_duplicates": "no subscription is scraped twice",
    "doctor.prometheus.duplicates": "a subscription has {most:.0f} series at once",
    "doctor.prometheus.duplicates.fix": (
        "scrape each broker once, and give each cluster a label of its own; a topic that has just moved is there twice for up to 5 minutes"
    ),
    "doctor.specification.dispatch": "brokers dispatch {used:,.0f} of {rate:,.0f} {unit} ({percent:.0f} %)",
    "doctor.specification.publish": "brokers take in {used:,.0f} of {rate:,.0f} {unit} ({percent:.0f} %)",
    "doctor.prometheus.specification.fix": "raise the cluster's specification or move load away",
    # Admin API.
    "doctor.admin.reachable": "{urls}, Pulsar {version}",
    "doctor.admin.version": "{version} has the throttle counters",
    "doctor.admin.old_version": "{version} has no throttle counters",
    "doctor.admin.old_version.fix": (
        "upgrade to 4.0.4, 4.1.0 or newer; until then only use / limit can prove a limiter"
    ),
    "doctor.switch.exposeTopicLevelMetricsInPrometheus": "false: no subscription has a series",
    "doctor.switch.exposeConsumerLevelMetricsInPrometheus": "false: permits of consumers are hidden",
    "doctor.switch.exposePreciseBacklogInPrometheus": "false: the backlog is two counters subtracted; it can be wrong for hours",
    "doctor.switch.metricsBufferResponse": "true: scrapes inside a minute return the same values",
    "doctor.switch.topicLevelPoliciesEnabled": "false: limits can only be set per namespace and broker",
    "doctor.switch_fix.exposeTopicLevelMetricsInPrometheus": f"set exposeTopicLevelMetricsInPrometheus=true {_RESTART}",
    "doctor.switch_fix.exposeConsumerLevelMetricsInPrometheus": (
        f"set exposeConsumerLevelMetricsInPrometheus=true {_RESTART} (9 more series per consumer)"
    ),
    "doctor.switch_fix.exposePreciseBacklogInPrometheus": (
        f"set exposePreciseBacklogInPrometheus=true {_RESTART} (slower scrapes)"
    ),
    "doctor.switch_fix.metricsBufferResponse": f"set metricsBufferResponse=false {_RESTART}",
    "doctor.switch_fix.topicLevelPoliciesEnabled": (
        f"set topicLevelPoliciesEnabled=true {_RESTART}, if topics need limits of their own"
    ),
    "doctor.admin.switches": "none of the broker's switches hides evidence",
    "doctor.admin.caught_up_exempt": "false: caught-up subscriptions are exempt from limits; verdicts take it into account",
    "doctor.admin.rate_gauges": "refreshed every {seconds} s (statsUpdateFrequencyInSecs)",
    "doctor.admin.other_cluster": "the admin API says {listed}, the metrics say {scraped}",
    "doctor.admin.other_cluster.fix": (
        "check that both addresses belong to the same cluster; its limits are joined by the configured name"
    ),
    "doctor.admin.brokers_listed": "{listed} listed",
    "doctor.admin.brokers": "{listed} listed, as many are scraped",
    "doctor.admin.fewer_scraped": "{scraped} of {listed} brokers are scraped",
    "doctor.admin.fewer_scraped.fix": "scrape every broker: topics of the others have no verdicts",
    "doctor.admin.more_scraped": "{scraped} brokers are scraped, the admin API lists {listed}",
    "doctor.admin.more_scraped.fix": (
        "check that both addresses belong to the same cluster, and that no two clusters share a label cluster"
    ),
    "doctor.admin.tenants": "may list tenants ({tenants}); no topic known for further checks",
    "doctor.admin.policies": "may read the policies of {namespace}",
    "doctor.admin.no_topic": "no topic known from Prometheus",
    "doctor.admin.topic_stats": "may read {topic}: {subscriptions} subscriptions",
    "doctor.admin.no_counts": "{topic}: no throttle counts in the answer",
    "doctor.admin.no_counts.fix": "upgrade to 4.0.4, 4.1.0 or newer",
    "doctor.admin.not_allowed.fix": "grant the token the permission to read it",
}
