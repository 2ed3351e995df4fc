"""The exported alerts and recording rules: annotations of alerts, by the alert's name, and comments of the rules files.

``{subject}`` is the subscription, topic, broker or cluster that an alert is about. Values are filled in by Prometheus.
"""

from __future__ import annotations

SENTENCES = {
    # Causes.
    "exported_rules.alert.PulsarSubscriptionThrottled.summary": "{subject} is throttled by the {limiter}",
    "exported_rules.alert.PulsarSubscriptionThrottled.description": (
        "A rate limiter of the broker causes the backlog: {share} of the {limiter} is used, by all that share it, and the limiter "
        "keeps throttling reads. Adding consumers will not help."
    ),
    "exported_rules.alert.PulsarSubscriptionThrottled.first_action": (
        "Check whether this limit is intended for this subscription. If not, raise it; if a neighbour uses it up, give it a limit of "
        "its own."
    ),
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.summary": (
        "{subject} is at the {limiter}, and its consumers are at their capacity too"
    ),
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.description": (
        "{share} of the {limiter} is used while the consumers' queues are full. Raising one alone changes little."
    ),
    "exported_rules.alert.PulsarSubscriptionThrottledAndSlow.first_action": (
        "Plan both: a higher limit, and faster or more consumers."
    ),
    "exported_rules.alert.PulsarSubscriptionNoConsumers.summary": "{subject} has no consumers",
    "exported_rules.alert.PulsarSubscriptionNoConsumers.description": (
        "{count} entries are waiting and no consumer is connected."
    ),
    "exported_rules.alert.PulsarSubscriptionNoConsumers.first_action": (
        "Find out why no consumer is connected: logs, deployment, permissions. If the subscription is no longer needed, delete it."
    ),
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.summary": (
        "{subject} is blocked on unacknowledged messages"
    ),
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.description": (
        "{count} entries are waiting. Pulsar stopped dispatching until consumers acknowledge messages."
    ),
    "exported_rules.alert.PulsarSubscriptionBlockedOnUnacked.first_action": (
        "Look for consumers that receive messages and do not acknowledge them; restart or fix them."
    ),
    "exported_rules.alert.PulsarSubscriptionRedelivering.summary": "{subject} mostly redelivers messages",
    "exported_rules.alert.PulsarSubscriptionRedelivering.description": (
        "{count} entries are waiting while most of the dispatched messages are redeliveries."
    ),
    "exported_rules.alert.PulsarSubscriptionRedelivering.first_action": (
        "Look for messages that fail repeatedly, and for acknowledgement timeouts that are too short; consider a dead letter topic."
    ),
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.summary": "{subject}: its consumers cannot keep up",
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.description": (
        "{count} entries are waiting, and no dispatch limit is limiting: the consumers process less than is published."
    ),
    "exported_rules.alert.PulsarSubscriptionSlowConsumers.first_action": (
        "Add consumers or make them faster. An Exclusive or Failover subscription takes one consumer per partition: add partitions."
    ),
    "exported_rules.alert.PulsarReplicatorDisconnected.summary": "{subject} is not connected to its remote cluster",
    "exported_rules.alert.PulsarReplicatorDisconnected.description": (
        "{count} entries are waiting to be replicated and the producer of the remote cluster is not connected."
    ),
    "exported_rules.alert.PulsarReplicatorDisconnected.first_action": (
        "Check that the remote cluster runs and can be reached, that the topic is there, and that no backlog quota there is full."
    ),
    # Symptoms.
    "exported_rules.alert.PulsarReplicationBacklogGrows.summary": "{subject}: less is replicated than is published",
    "exported_rules.alert.PulsarReplicationBacklogGrows.description": (
        "{count} entries more than {window} ago. The replicator's own limit, a publish limit of the remote cluster, or a slow way there may "
        "hold it back."
    ),
    "exported_rules.alert.PulsarReplicationBacklogGrows.first_action": (
        "Open the page: it names the cause. Do not raise the limit before it is known."
    ),
    "exported_rules.alert.PulsarBacklogOld.summary": "{subject}: the oldest entry of its backlog has waited {duration}",
    "exported_rules.alert.PulsarBacklogOld.description": (
        "By the broker the oldest entry is {duration} old, more than the objective of {objective}. However few wait, consumers have not "
        "come to it."
    ),
    "exported_rules.alert.PulsarBacklogOld.first_action": (
        "Open the page: it says why there is a backlog. A small old backlog is often one message that no consumer acknowledges."
    ),
    "exported_rules.alert.PulsarTopicBacklogOld.summary": "{subject}: the oldest entry of its backlog has waited {duration}",
    "exported_rules.alert.PulsarTopicBacklogOld.description": (
        "By the broker the oldest entry that a subscription has not acknowledged is {duration} old, more than the objective of "
        "{objective}. The broker gives only the topic's age: it is that of its slowest subscription."
    ),
    "exported_rules.alert.PulsarTopicBacklogOld.first_action": (
        "Open the page and find the subscription with the old backlog. From Pulsar 4.0.14, 4.2.5 and 5.0 on, "
        "exposeSubscriptionBacklogAgeInPrometheus=true gives the age of each subscription."
    ),
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.summary": "{subject}: the backlog grows for an unknown reason",
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.description": (
        "{count} entries more than {window} ago. Neither a limiter nor the consumers can be identified as the cause from these metrics."
    ),
    "exported_rules.alert.PulsarBacklogGrowsUnexplained.first_action": (
        "Open the page: it lists the missing evidence. Do not add consumers before the cause is known."
    ),
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.summary": (
        "{subject}: reads are throttled while the backlog grows"
    ),
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.description": (
        "{count} reads per second are throttled by some limiter. This alone proves nothing: a small limit throttles reads of a healthy "
        "subscription too."
    ),
    "exported_rules.alert.PulsarThrottlingWhileBacklogGrows.first_action": (
        "Wait for an alert with a cause, and open the page."
    ),
    "exported_rules.alert.PulsarDispatchThrottled.summary": (
        "{subject} is throttled from time to time by the {limiter}"
    ),
    "exported_rules.alert.PulsarDispatchThrottled.description": (
        "{count} reads per second are throttled by the {limiter}. The limit is larger than one read, so in some seconds it was used "
        "up, however low the mean of the minute is."
    ),
    "exported_rules.alert.PulsarDispatchThrottled.first_action": (
        "If messages must not wait for the next period, raise the limit or lengthen its period."
    ),
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.summary": "{subject} uses {share} of the {limiter}",
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.description": (
        "Consumption is at {share} of the {limiter}. No backlog yet because of it."
    ),
    "exported_rules.alert.PulsarDispatchLimitNearlyUsed.first_action": (
        "Raise the limit before the traffic grows, or accept that it will throttle."
    ),
    "exported_rules.alert.PulsarPublishThrottled.summary": "Producers of {subject} are throttled by the broker",
    "exported_rules.alert.PulsarPublishThrottled.description": (
        "The broker paused the connections of its producers up to {count} times in a minute of the last {window}, as it does when a "
        "publish limit is exceeded. A pause counts for every topic that has a producer on the connection. Messages that are not "
        "published are in no backlog."
    ),
    "exported_rules.alert.PulsarPublishThrottled.first_action": (
        "Check the publish limits of this topic, its namespace and the broker, and of topics whose producers share a client with it."
    ),
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.summary": "Nothing is published to {subject}: its backlog quota is full",
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.description": (
        "The topic's backlog has reached its quota, {value} bytes wait, and nothing is published: the quota holds or refuses producers "
        "(producer_request_hold, producer_exception). That is no lack of traffic."
    ),
    "exported_rules.alert.PulsarBacklogQuotaStopsProducers.first_action": (
        "Find the subscription with the largest backlog of this topic; consume it, or skip it if it is not needed."
    ),
    # Limits that throttlescope reads.
    "exported_rules.alert.ThrottlescopeLimitsMissing.summary": "The dispatch limits of {subject} are not known",
    "exported_rules.alert.ThrottlescopeLimitsMissing.description": (
        "{value} subscription partitions are scraped but their cluster has no throttlescope_dispatch_limit: no alert can distinguish "
        "a limiter from slow consumers."
    ),
    "exported_rules.alert.ThrottlescopeLimitsMissing.first_action": (
        "Let this Prometheus scrape throttlescope serve, and let throttlescope run read the admin API."
    ),
    "exported_rules.alert.ThrottlescopeLimitsOld.summary": "The dispatch limits of {subject} are out of date",
    "exported_rules.alert.ThrottlescopeLimitsOld.description": (
        "They were read {duration} ago and may have changed since."
    ),
    "exported_rules.alert.ThrottlescopeLimitsOld.first_action": (
        "Check why throttlescope run no longer reads the admin API."
    ),
    # Specified capacity: the first action differs by scope.
    "exported_rules.alert.PulsarSpecificationNearlyUsed.summary": "{flow} of {subject} is at {share} of its specification",
    "exported_rules.alert.PulsarSpecificationNearlyUsed.description": (
        "{flow} is at {share} of the {rate} in the configuration."
    ),
    "exported_rules.alert.PulsarSpecificationNearlyUsed.first_action.cluster": (
        "Scale the cluster up before it throttles its clients, or move load away. The mean of a minute hides the busiest second: "
        "check the throttle counts as well."
    ),
    "exported_rules.alert.PulsarSpecificationNearlyUsed.first_action.topic_partition": (
        "Add partitions to the topic before this one is throttled; first check whether only one partition is hot."
    ),
    # Words inside these.
    "exported_rules.limiter": "{level}'s {message_or_byte} limit",
    "exported_rules.broker": "A broker of {cluster}",
    "exported_rules.rate": "{messages_or_bytes} per second",
    # Comments of the rules file.
    "exported_rules.file.rules": (
        "Live rules of throttlescope, written by `throttlescope rules export`: why a Pulsar subscription has a backlog.\n"
        "Load it with rule_files. It reads Pulsar's own metrics and throttlescope_dispatch_limit, which `throttlescope serve` "
        "exposes at /metrics: scrape that with honor_labels: true. Do not edit it; export it again."
    ),
    "exported_rules.file.inhibit": (
        "Inhibition rules of throttlescope: add them to inhibit_rules of Alertmanager's configuration."
    ),
    "exported_rules.file.one_alert": "One alert of the export; it reads the export's recording rules.",
    "exported_rules.rule.alert_without_comparison": (
        "No comparison is missing: the recorded series exist only while their own condition is true."
    ),
    "exported_rules.rule.read_entries": (
        "What one read can clear is no backlog; messages are counted where entries are batches."
    ),
    "exported_rules.rule.undelivered_entries": (
        "Unacked messages are in Pulsar's backlog, but they are delivered already. Internal topics and subscriptions are excluded."
    ),
    "exported_rules.rule.backlog": (
        "Has a value only while more is waiting than one read clears, and than a few seconds of publishing."
    ),
    "exported_rules.rule.backlog_gone_in": "Has a value only while the backlog shrinks.",
    "exported_rules.rule.consumers_starved": (
        "1: the broker waits for permits. Shared subscriptions have unacked messages; of the others one consumer is active."
    ),
    "exported_rules.rule.dispatch_limit_set": (
        "Limits that are set; one that counts entries is converted to messages. max by: several servers may export the same limit."
    ),
    "exported_rules.rule.dispatch_limit": "Per second. A limit relative to the publish rate is added to that rate.",
    "exported_rules.rule.dispatch_use": (
        "Use of a limiter by all that share it, per second: subscription, topic partition, broker."
    ),
    "exported_rules.rule.rho": "No series where no limit is set, or none is known.",
    "exported_rules.rule.own_rho": "The subscription's own part of a shared limit.",
    "exported_rules.rule.throttling_limiters": (
        "Use / limit of limiters that throttle reads as often as a limiting one: about once per period of a second. Above the upper "
        "bound the known limit is not the one in force."
    ),
    "exported_rules.rule.limiter_binds": (
        "Neighbours that use up a shared limit do not limit consumers whose own queues are full."
    ),
    "exported_rules.rule.limiter_open": (
        "Limiters that may cause the backlog and cannot be excluded: the consumers are then not blamed."
    ),
    "exported_rules.rule.limiters_known": "{limiters} where every limiter was read, including those without a limit.",
    "exported_rules.rule.no_consumers": "A backlog of any size, and no consumer is connected.",
    "exported_rules.rule.slow_consumers": (
        "Every limiter is known and excluded, and the backlog does not drain. Counters at zero prove nothing if the broker did not read."
    ),
    "exported_rules.rule.flow_rate": "Published and dispatched per second.",
    "exported_rules.rule.specification_use": "No series where the configuration has no figure for the cluster.",
    "exported_rules.inhibit.throttled": (
        "Throttled inhibits alerts whose action is to add consumers: that would not help. Give your own alerts the same label."
    ),
    "exported_rules.inhibit.cause": "A cause inhibits alerts on symptoms.",
    "exported_rules.inhibit.limit_nearly_used": (
        "If a limit throttles a subscription, the alert that it is nearly used adds nothing."
    ),
    # Completes "a firing is real where the verdict then names ...".
    "exported_rules.real_if.limit": "a dispatch limit as the cause of the backlog (side throttle or both)",
    "exported_rules.real_if.consumers": "the consumers as the cause of the backlog (side consumer_capacity or both)",
    "exported_rules.real_if.both": "a limit and the consumers at once (side both)",
    "exported_rules.real_if.any": "any trouble: every cause but healthy",
    "exported_rules.real_if.cause": "the cause {cause}",
}
