"""Causes in English. In: nothing. Out: for each its label, its answer, the first step, what not to do, and why a rule named it."""

from __future__ import annotations

SENTENCES = {
    # Throttled
    "cause.throttled.label": "Throttled",
    "cause.throttled.answer": "A dispatch limit throttles this subscription",
    "cause.throttled.first": "Check whether the limit is intended: who set it, and what it protects.",
    "cause.throttled.never": "Do not add consumers: they would share the same limit.",
    # Throttled in bursts
    "cause.micro_burst_throttled.label": "Throttled in bursts",
    "cause.micro_burst_throttled.answer": "Short bursts reach a dispatch limit although the mean rate stays below it",
    "cause.micro_burst_throttled.first": "Look at peaks shorter than a minute, and at the limit's period.",
    "cause.micro_burst_throttled.never": "Do not add consumers, and do not judge the limit by averages per minute.",
    "cause.micro_burst_throttled.because.bursts": "short bursts exhaust the limit",
    # Limit and consumers
    "cause.both.label": "Limit and consumers",
    "cause.both.answer": "A dispatch limit binds, and without it the consumers could not keep up either",
    "cause.both.first": "Plan both steps together: more consumer capacity and a higher limit.",
    "cause.both.never": "Do not change one side alone: the other one takes over at once.",
    "cause.both.because.capacity_short": "{limit}; without it the consumers would not keep up either",
    "cause.both.because.never_idle": "{limit}; the consumers always hold messages, so they do not wait for the limiter alone",
    # Slow consumers
    "cause.slow_consumers.label": "Slow consumers",
    "cause.slow_consumers.answer": "The consumers cannot keep up",
    "cause.slow_consumers.first": "Look at the processing time per message and at the number of consumers.",
    "cause.slow_consumers.never": "Do not raise a limit: no limit is the cause.",
    "cause.slow_consumers.because.acks_behind": "messages are delivered as fast as published, but acknowledged slower",
    "cause.slow_consumers.because.acknowledge_only": "nothing is dispatched while consumers acknowledge what they hold",
    "cause.slow_consumers.because.never_idle": "{limit}; the consumers always hold messages",
    "cause.slow_consumers.because.storage_faster": "{limit}; storage can deliver more than that",
    # Hung consumers
    "cause.hung_consumers.label": "Hung consumers",
    "cause.hung_consumers.answer": "Consumers are connected but make no progress",
    "cause.hung_consumers.first": "Look at what the consumer processes are doing: a thread dump, a dependency that hangs.",
    "cause.hung_consumers.never": "Do not raise a limit: no limit is the cause.",
    "cause.hung_consumers.because.queues_full": "consumers hold messages and neither request, take nor acknowledge any",
    "cause.hung_consumers.because.nothing_moves": "consumers neither request, take nor acknowledge messages",
    # No consumers
    "cause.no_consumers.label": "No consumers",
    "cause.no_consumers.answer": "No consumer is connected",
    "cause.no_consumers.first": "Check whether the application runs and can connect; then whether the subscription is still needed.",
    "cause.no_consumers.never": "Do not change limits: no consumer is there to receive. Message expiry and backlog quotas still apply.",
    "cause.no_consumers.because.not_connected": "entries wait and no consumer is connected",
    "cause.no_consumers.because.abandoned": "entries wait and no consumer has been connected for a day or longer",
    # Blocked on unacked
    "cause.blocked_on_unacked.label": "Blocked on unacked",
    "cause.blocked_on_unacked.answer": "The broker stopped dispatching: too many messages are unacknowledged",
    "cause.blocked_on_unacked.first": "Find out why acknowledgements do not come back.",
    "cause.blocked_on_unacked.never": "Do not raise a dispatch limit: the cap on unacknowledged messages is what stops the broker.",
    "cause.blocked_on_unacked.because.subscription_limit": "Pulsar stopped dispatching until messages are acknowledged",
    "cause.blocked_on_unacked.because.consumer_limit": "every consumer has reached its own limit of unacked messages",
    # Redelivery
    "cause.redelivery.label": "Redelivery",
    "cause.redelivery.answer": "The same messages are delivered again and again",
    "cause.redelivery.first": "Find the messages that fail: negative acknowledgements, ack timeouts, the dead letter topic.",
    "cause.redelivery.never": "Do not add consumers: they would receive the same failing messages.",
    "cause.redelivery.because.mostly_again": "most of the dispatching is spent on messages that come back",
    # Key_Shared blocked
    "cause.key_shared_blocked.label": "Key_Shared blocked",
    "cause.key_shared_blocked.answer": "Ordering by key blocks delivery",
    "cause.key_shared_blocked.first": "Find the consumer with the oldest unacknowledged messages, and the hashes that are draining.",
    "cause.key_shared_blocked.never": "Do not add or restart consumers in a hurry: every change moves keys and can block more of them.",
    "cause.key_shared_blocked.because.one_consumer": (
        "entries wait for consumers that own their keys and have no permits; other consumers have spare capacity"
    ),
    # Delayed on purpose
    "cause.delayed_delivery.label": "Delayed on purpose",
    "cause.delayed_delivery.answer": "The messages are not due yet",
    "cause.delayed_delivery.first": "Compare the delayed entries with what the producers schedule.",
    "cause.delayed_delivery.never": "Do not scale consumers: these messages wait for their time.",
    "cause.delayed_delivery.because.not_due": "what waits is not due yet",
    # Publish burst
    "cause.publish_burst.label": "Publish burst",
    "cause.publish_burst.answer": "More is published than usual",
    "cause.publish_burst.first": "Find out which producer published more, and whether it lasts.",
    "cause.publish_burst.never": "Do not change limits or consumers for a burst that already drains.",
    "cause.publish_burst.because.began_with_burst": "the backlog began with a burst of publishing",
    "cause.publish_burst.because.keep_up_with_usual": (
        "the backlog began with a burst of publishing; the consumers keep up with the usual rate"
    ),
    # Cold reads
    "cause.cold_reads.label": "Cold reads",
    "cause.cold_reads.answer": "The backlog is read from storage, and that is the slow part",
    "cause.cold_reads.first": "Look at the bookies' read latency and the cache misses of this broker.",
    "cause.cold_reads.never": "Do not add consumers: they would wait for the same reads.",
    "cause.cold_reads.because.from_storage": "the consumers have spare capacity and no limit is near, but most entries come from storage",
    # Broker read limit
    "cause.read_limit.label": "Broker read limit",
    "cause.read_limit.answer": "The broker's cap on reads in flight limits dispatch",
    "cause.read_limit.first": "Look at the broker's in-flight read usage and its direct memory.",
    "cause.read_limit.never": "Do not raise a dispatch limit: this cap comes before it.",
    "cause.read_limit.because.memory_used_up": "the consumers have spare capacity, and the broker's memory for reads is used up",
    # Connection paused
    "cause.connection_paused.label": "Connection paused",
    "cause.connection_paused.answer": "The broker pauses the consumers' connection because a producer on it exceeds a publish limit",
    "cause.connection_paused.first": (
        "Give producers and consumers clients of their own, so that they do not share a connection; or look at the publish limit of the topic that "
        "the evidence names."
    ),
    "cause.connection_paused.never": (
        "Do not add consumers to the same client, and do not raise a dispatch limit: acknowledgements and requests wait behind what is published."
    ),
    "cause.connection_paused.because.waits": (
        "the consumers have no permits left, and the broker pauses the connection that they share with a producer"
    ),
    "cause.connection_paused.because.takes_less": (
        "no dispatch limit is near, and the broker pauses the connection that the consumers share with a producer"
    ),
    # Remote publish limit
    "cause.remote_publish_limit.label": "Remote publish limit",
    "cause.remote_publish_limit.answer": "A publish limit of the remote cluster throttles this replicator",
    "cause.remote_publish_limit.first": "Look at the publish limits of this topic in the remote cluster: who set them, and what they protect.",
    "cause.remote_publish_limit.never": "Do not raise the replicator's own limit: it sends faster than the remote cluster accepts.",
    "cause.remote_publish_limit.because.paused": "what was sent waits for an answer, and the remote cluster pauses publishing to the topic",
    # Remote slow
    "cause.remote_slow.label": "Remote too slow",
    "cause.remote_slow.answer": "The remote cluster, or the network to it, cannot keep up",
    "cause.remote_slow.first": "Measure delay and bandwidth to the remote cluster, and the publish latency there.",
    "cause.remote_slow.never": "Do not raise a limit: no limit is the cause.",
    "cause.remote_slow.because.answers_late": "what was sent waits for an answer, and the remote cluster pauses no producer",
    # Remote quota
    "cause.remote_quota.label": "Remote quota full",
    "cause.remote_quota.answer": "The remote cluster refuses messages: a backlog there has reached its quota",
    "cause.remote_quota.first": "Find the subscription in the remote cluster that is not read, and its backlog quota.",
    "cause.remote_quota.never": "Do not raise the replicator's limit: the remote cluster takes nothing.",
    "cause.remote_quota.because.full": "nothing is sent, and the topic's backlog in the remote cluster has reached its quota",
    # Remote disconnected
    "cause.remote_disconnected.label": "Remote disconnected",
    "cause.remote_disconnected.answer": "The replicator is not connected to the remote cluster",
    "cause.remote_disconnected.first": "Check that the remote cluster runs and can be reached from this broker, that the topic is there with as many "
    "partitions, and that no backlog quota there is full.",
    "cause.remote_disconnected.never": "Do not change limits: nothing can be sent. Message expiry and backlog quotas keep counting.",
    "cause.remote_disconnected.because.not_connected": "entries wait, and the producer of the remote cluster is not connected",
    # Refused by the remote
    "cause.schema_refused.label": "Refused by the remote",
    "cause.schema_refused.answer": "The remote cluster refuses what is sent to it",
    "cause.schema_refused.first": "Look for 'message schema incompatible' in the broker's log, and compare the topic's schemas in both clusters. When the remote "
    "cluster accepts the schema, unload the topic here.",
    "cause.schema_refused.never": "Do not raise a limit: the same entries would be sent more often.",
    "cause.schema_refused.because.takes_nothing": "the remote cluster is connected and pauses no producer, and nothing that was sent leaves the backlog",
    # Replicator stuck
    "cause.replicator_stuck.label": "Replicator stuck",
    "cause.replicator_stuck.answer": "The replicator is connected and has stopped sending",
    "cause.replicator_stuck.first": "Read the broker's log for errors of this replicator, then unload the topic: that starts it again.",
    "cause.replicator_stuck.never": "Do not wait for it: it does not start again by itself.",
    "cause.replicator_stuck.because.reads_nothing": "it is connected, sends nothing, and waits for no answer",
    # Permit drift
    "cause.permit_drift.label": "Permit drift",
    "cause.permit_drift.answer": "The broker has lost count of the consumers' permits",
    "cause.permit_drift.first": "Unload the topic: its dispatcher counts from zero. Then update the broker to a version with the fix.",
    "cause.permit_drift.never": "Do not add consumers and do not raise a limit: the broker dispatches less than they request.",
    "cause.permit_drift.because.unacked_negative": "the broker counts fewer than no unacknowledged messages, which it subtracted twice",
    "cause.permit_drift.because.permits_lost": (
        "all consumers owe more permits than they hold messages, although they request more"
    ),
    "cause.permit_drift.because.dispatch_below_before": (
        "consumers have permits and no limiter is in use, and since they reconnected less is dispatched than they did before"
    ),
    # Dispatch contention
    "cause.dispatch_contention.label": "Dispatch contention",
    "cause.dispatch_contention.answer": "Publishing and dispatching of one hot topic wait for the same thread of the broker",
    "cause.dispatch_contention.first": "Spread the traffic over more partitions, or publish in larger batches: each partition has its own thread.",
    "cause.dispatch_contention.never": "Do not add consumers and do not raise a limit: those that are there could take more.",
    "cause.dispatch_contention.because.hot_topic": (
        "very much is published to one topic partition and little of it is dispatched, from the cache, to consumers that have permits"
    ),
    # Snapshot markers
    "cause.snapshot_markers.label": "Snapshot markers",
    "cause.snapshot_markers.answer": "Snapshots of a replicated subscription fill the backlog, not messages",
    "cause.snapshot_markers.first": (
        "Have throttlescope analyze-backlog count the markers; then read the subscription, stop replicating it, or delete it."
    ),
    "cause.snapshot_markers.never": "Do not add consumers or change limits for it: no message waits.",
    "cause.snapshot_markers.because.nothing_published": (
        "nothing is published, and the backlog of a replicated subscription grows"
    ),
    # Topic moved
    "cause.segment_blocked.label": "Waits for its parent segments",
    "cause.segment_blocked.answer": "The segment waits for the segments that it came from",
    "cause.segment_blocked.first": "Look at the sealed segments of the topic: what holds their backlog delays this one.",
    "cause.segment_blocked.never": "Do not add consumers or raise limits for this segment: it is read when its parents are drained.",
    "cause.segment_blocked.because.parents_wait": (
        "no consumer is connected to the segment, and segments that it came from still have a backlog"
    ),
    "cause.segment_blocked.because.parents_drained": (
        "no consumer is connected to the segment, and the segments that it came from ended at most 15 minutes ago"
    ),
    "cause.topic_moved.label": "Topic moved",
    "cause.topic_moved.answer": "The topic moved or its broker restarted",
    "cause.topic_moved.first": "Wait for the topic to settle; see whether it moves again.",
    "cause.topic_moved.never": "Do not act on the minutes around the move: counters restarted in them.",
    "cause.topic_moved.because.unloaded": "the topic was unloaded or moved, and nothing else explains the backlog",
    # Filter rejects
    "cause.filter_rejects.label": "Filter rejects",
    "cause.filter_rejects.answer": "An entry filter on the broker rejects or reschedules entries",
    "cause.filter_rejects.first": "Look at the filter's rejected and rescheduled counts.",
    "cause.filter_rejects.never": "Do not add consumers: the entries do not get as far as them.",
    "cause.filter_rejects.because.mostly_rejected": "most of what is read is rejected or rescheduled by entry filters",
    # Gone by expiry
    "cause.healed_by_loss.label": "Gone by expiry",
    "cause.healed_by_loss.answer": "The backlog fell because messages expired, not because they were consumed",
    "cause.healed_by_loss.first": "Find out which messages were lost and whether they can be published again.",
    "cause.healed_by_loss.never": "Do not close this as recovered.",
    "cause.healed_by_loss.because.quota_evicted": "the backlog quota removed entries that were never consumed",
    "cause.healed_by_loss.because.expired": "the backlog fell by expiry, not by consumption",
    # Phantom backlog
    "cause.phantom_backlog.label": "Phantom backlog",
    "cause.phantom_backlog.answer": "The backlog figure is not real",
    "cause.phantom_backlog.first": "Compare it with the precise backlog of the admin API.",
    "cause.phantom_backlog.never": "Do not scale or unthrottle for it.",
    "cause.phantom_backlog.because.stays": (
        "the consumers have spare capacity, take all that is published, and the backlog stays: it may not be there"
    ),
    # Unknown
    "cause.unknown.label": "Unknown",
    "cause.unknown.answer": "The evidence does not decide",
    "cause.unknown.first": "Supply what is missing: it is listed below, each with its fix.",
    "cause.unknown.never": "Do not change limits or consumers on this alone.",
    "cause.unknown.because.little_seen": "too little of the window was seen",
    "cause.unknown.because.served_twice": "several brokers show the subscription at the same time",
    "cause.unknown.because.backlog_not_measured": "the backlog was not measured",
    "cause.unknown.because.limits_old": "the limits were read too long before or after the window to exclude one",
    "cause.unknown.because.partly_read": "only part of this {level}'s traffic was read, so the use of its limit is not known",
    "cause.unknown.because.dispatch_stuck": (
        "consumers have permits and nothing is dispatched: the broker's dispatching is stuck, or the backlog is not there"
    ),
    "cause.unknown.because.hang_or_stuck": (
        "nothing is dispatched: either the consumers hang, or the broker's dispatching is stuck; permits of the consumers would show which"
    ),
    "cause.unknown.because.dispatch_stopped": "nothing is dispatched, and not because consumers are full or a limit is used up",
    "cause.unknown.because.consumers_or_storage": (
        "either the consumers or the reads from storage are slow: permits of the consumers would show which"
    ),
    "cause.unknown.because.bursts_under_unread_limit": (
        "bursts come and go while reads are throttled: without the limit it is not known whether it causes them"
    ),
    "cause.unknown.because.room_unused": (
        "the consumers have spare capacity and no limiter is near: the broker lost count of permits, or its reads are slow"
    ),
    "cause.unknown.because.no_cause": "no cause explains the backlog",
    "cause.unknown.because.remote_not_seen": (
        "what was sent waits for the remote cluster, of which nothing was read: a publish limit there, or a slow network or cluster"
    ),
    "cause.unknown.because.segment_left": (
        "the segment is sealed and has no consumer, while the segments that came from it have some: "
        "a queue consumer may have left its last entries here until clients connect again"
    ),
    "cause.unknown.because.unlikely": "{cause} is possible, but too uncertain to name",
    # Healthy
    "cause.healthy.label": "Healthy",
    "cause.healthy.answer": "No problem was found with this subscription",
    "cause.healthy.first": "Nothing to do.",
    "cause.healthy.never": "Do not act on throttle events alone: small limits cause them even when nothing is wrong.",
    "cause.healthy.because.no_backlog": "there is no backlog to explain",
    "cause.healthy.because.of_pulsar_itself": "this subscription is Pulsar's own: what waits on it is read when Pulsar needs it",
    "cause.healthy.because.draining": "the backlog is draining and no limiter throttles it",
}
