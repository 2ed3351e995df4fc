"""Symptoms in English. In: nothing. Out: what each symptom shows, one whole sentence for each of its situations."""

from __future__ import annotations

SENTENCES = {
    # Is there a backlog, and which way does it go?
    "symptom.coverage.seen": "{seen:share} of the expected samples were seen.",
    "symptom.coverage.never_measured": "The backlog without delayed entries was never measured.",
    "symptom.served_twice.not_measured": "How many brokers show the subscription is not known.",
    "symptom.served_twice.one": "One broker shows the subscription.",
    "symptom.served_twice.several": (
        "{brokers:number} brokers show the subscription at the same time in {twice:share} of the minutes, as two clusters "
        "under one label cluster do."
    ),
    "symptom.backlog_present.not_measured": "The backlog was not measured.",
    "symptom.backlog_present.waiting": "{waiting:entries} undelivered entries wait at the window's end.",
    "symptom.backlog_present.waiting_of_publishing": (
        "{waiting:entries} undelivered entries wait at the window's end, equal to {publishing_s:duration} of publishing."
    ),
    "symptom.backlog_old.not_measured": "The backlog was not measured.",
    "symptom.backlog_old.hardly_any": "The backlog is nearly empty at times.",
    "symptom.backlog_old.some_delayed": "Some of the waiting entries are delayed, and may not be due.",
    "symptom.backlog_old.of_reader": "A reader takes messages when its application wants them.",
    "symptom.backlog_old.own_age": (
        "The oldest message of the subscription is {age_s:duration} old, and {waiting:entries} entries wait."
    ),
    "symptom.backlog_old.dispatch_not_measured": (
        "Whether messages are dispatched was not measured for long enough."
    ),
    "symptom.backlog_old.moved": "Messages were dispatched or acknowledged within half an hour.",
    "symptom.backlog_old.still_by_stats": (
        "Nothing was dispatched or acknowledged while {waiting:entries} entries wait, the oldest for {age_s:duration}."
    ),
    "symptom.backlog_old.still_by_topic": (
        "Nothing was dispatched or acknowledged while {waiting:entries} entries wait; the oldest message of the topic's "
        "backlog is {age_s:duration} old."
    ),
    "symptom.backlog_old.still_by_history": (
        "Nothing was dispatched for {known_s:duration} while {waiting:entries} entries waited and {published:number} messages "
        "were published."
    ),
    "symptom.backlog_old.age_not_measured": "How long it has waited was not measured.",
    "symptom.backlog_growing.not_measured": "Too few samples to show whether the backlog grows.",
    "symptom.backlog_growing.growing": "The backlog grows by {growth:entries} entries in {length_s:duration}.",
    "symptom.backlog_growing.little_growth": (
        "The backlog grows by no more than noise (+{growth:entries} entries in {length_s:duration})."
    ),
    "symptom.backlog_growing.not_growing": (
        "The backlog does not grow ({growth:entries} entries in {length_s:duration})."
    ),
    "symptom.backlog_draining.not_measured": "Too few samples to show whether the backlog drains.",
    "symptom.backlog_draining.draining": (
        "The backlog falls and would be gone in {left_s:duration} at this speed."
    ),
    "symptom.backlog_draining.not_draining": "The backlog does not drain.",
    "symptom.backlog_draining.nothing_left": "There is nothing left to drain.",
    "symptom.backlog_sawtooth.not_measured": "Too few samples to see bursts.",
    "symptom.backlog_sawtooth.bursts": (
        "The backlog rises to {peak:entries} entries and is gone again within the window."
    ),
    "symptom.backlog_sawtooth.no_bursts": "The backlog does not come and go in bursts.",
    "symptom.backlog_delayed.not_measured": "Delayed entries were not measured.",
    "symptom.backlog_delayed.delayed": (
        "{delayed:entries} of {backlog:entries} entries in the backlog are delayed and not due yet."
    ),
    "symptom.expiring.not_measured": "Expiry was not measured.",
    "symptom.expiring.nothing": "Nothing expired.",
    "symptom.expiring.fell": (
        "{expired:entries} entries expired unread while the backlog fell by {fall:entries}."
    ),
    "symptom.expiring.level_kept": (
        "{expired:entries} entries expired unread; without that the backlog would have changed by {change:entries}."
    ),
    "symptom.evicting.not_measured": "Evictions were not measured.",
    "symptom.evicting.not_counted": "What was published and dispatched was not counted.",
    "symptom.evicting.nothing": "No backlog quota evicted anything.",
    "symptom.evicting.evicted": (
        "The topic's backlog quota evicted; {lost:entries} entries left the backlog undelivered."
    ),
    # What do the consumers do?
    "symptom.no_consumers.not_measured": "The number of consumers was not measured.",
    "symptom.no_consumers.none": "No consumer is connected ({away:share} of the window).",
    "symptom.no_consumers.one": "{consumers:number} consumer connected at the window's end.",
    "symptom.no_consumers.several": "{consumers:number} consumers connected at the window's end.",
    "symptom.parent_segments.none": "No segments are known that it came from.",
    "symptom.parent_segments.wait": "The segments that it came from hold {entries:number} entries and are read first.",
    "symptom.parent_segments.drained": "The segments that it came from are drained; the broker may not know it yet.",
    "symptom.successors_read.none": "No segments are known that came from it.",
    "symptom.successors_read.read": "{consumers:number} consumers are connected to the segments that came from it.",
    "symptom.successors_read.not_read": "No consumer is connected to the segments that came from it either.",
    "symptom.blocked_on_unacked.not_measured": "Whether unacked messages block it was not measured.",
    "symptom.blocked_on_unacked.blocked": (
        "Pulsar blocks the subscription until consumers acknowledge ({blocked:share} of the window)."
    ),
    "symptom.blocked_on_unacked.blocked_with": (
        "Pulsar blocks the subscription with {unacked:number} unacked messages until consumers acknowledge ({blocked:share} of "
        "the window)."
    ),
    "symptom.blocked_on_unacked.not_blocked": "Unacked messages do not block the subscription.",
    "symptom.consumer_queue_full.not_measured": "How full the consumers' queues are was not measured.",
    "symptom.consumer_queue_full.yes.starved": (
        "The broker waits for the consumers: they are out of permits in {share:share} of the samples."
    ),
    "symptom.consumer_queue_full.yes.starved_in_stats": (
        "The broker waits for the consumers: they are out of permits in {share:share} of the samples ({origin})."
    ),
    "symptom.consumer_queue_full.yes.fill": (
        "The broker waits for the consumers: their queues are {share:share} full of unacked messages."
    ),
    "symptom.consumer_queue_full.yes.fill_in_stats": (
        "The broker waits for the consumers: their queues are {share:share} full of unacked messages ({origin})."
    ),
    "symptom.consumer_queue_full.yes.unacked": (
        "The broker waits for the consumers: they hold {unacked:number} unacked messages."
    ),
    "symptom.consumer_queue_full.no.starved": (
        "Queues are not full: consumers are out of permits in {share:share} of the samples."
    ),
    "symptom.consumer_queue_full.no.starved_in_stats": (
        "Queues are not full: consumers are out of permits in {share:share} of the samples ({origin})."
    ),
    "symptom.consumer_queue_full.no.fill": ("Queues are not full: {share:share} full of unacked messages."),
    "symptom.consumer_queue_full.no.fill_in_stats": (
        "Queues are not full: {share:share} full of unacked messages ({origin})."
    ),
    "symptom.consumer_queue_full.no.idle": (
        "Queues are not full: no unacknowledged messages in {idle:share} of the minutes."
    ),
    "symptom.consumer_queue_full.no.busy": (
        "Queues are not full: there were unacknowledged messages at the end of each of {minutes} minutes."
    ),
    "symptom.consumer_queue_empty.not_measured": "How empty the consumers' queues are was not measured.",
    "symptom.consumer_queue_empty.yes.starved": (
        "Consumers have spare capacity: they are out of permits in {share:share} of the samples."
    ),
    "symptom.consumer_queue_empty.yes.starved_in_stats": (
        "Consumers have spare capacity: they are out of permits in {share:share} of the samples ({origin})."
    ),
    "symptom.consumer_queue_empty.yes.fill": (
        "Consumers have spare capacity: their queues are {share:share} full of unacked messages."
    ),
    "symptom.consumer_queue_empty.yes.fill_in_stats": (
        "Consumers have spare capacity: their queues are {share:share} full of unacked messages ({origin})."
    ),
    "symptom.consumer_queue_empty.yes.idle": (
        "Consumers have spare capacity: no unacknowledged messages in {idle:share} of the minutes."
    ),
    "symptom.consumer_queue_empty.no.starved": (
        "Consumers have little spare capacity: they are out of permits in {share:share} of the samples."
    ),
    "symptom.consumer_queue_empty.no.starved_in_stats": (
        "Consumers have little spare capacity: they are out of permits in {share:share} of the samples ({origin})."
    ),
    "symptom.consumer_queue_empty.no.fill": (
        "Consumers have little spare capacity: their queues are {share:share} full of unacked messages."
    ),
    "symptom.consumer_queue_empty.no.fill_in_stats": (
        "Consumers have little spare capacity: their queues are {share:share} full of unacked messages ({origin})."
    ),
    "symptom.consumer_queue_empty.no.unacked": (
        "Consumers have little spare capacity: they hold {unacked:number} unacked messages."
    ),
    "symptom.consumer_queue_empty.no.busy": (
        "Consumers have little spare capacity: there were unacknowledged messages at the end of each of {minutes} minutes."
    ),
    "symptom.consumers_busy.not_measured": "Unacknowledged messages were not measured.",
    "symptom.consumers_busy.idle_at_times": (
        "The consumers were idle at times, or not seen for long enough."
    ),
    "symptom.consumers_busy.never_idle": (
        "The consumers are never idle: they had unacknowledged messages at the end of each of {minutes} minutes and took "
        "{rate:number} msg/s, at a constant rate."
    ),
    "symptom.connection_paused.not_measured": (
        "Whether the broker pauses the consumers' connections is not known: the admin API's stats of this window would show who shares one."
    ),
    "symptom.connection_paused.not_paused": "No consumer shares a connection with producers that the broker pauses.",
    "symptom.connection_paused.paused": (
        "{part:share} of the consumers share a connection with producers of {topic}, and the broker paused it {pauses:number} times within a "
        "minute: their acknowledgements and requests wait."
    ),
    "symptom.connection_paused.paused_at_times": (
        "{part:share} of the consumers, on average, share a connection with producers of {topic} that the broker paused up to {pauses:number} times "
        "within a minute."
    ),
    "symptom.unacked_steady.not_measured": (
        "What consumers hold was not measured, or nothing is dispatched."
    ),
    "symptom.unacked_steady.unacked": (
        "Consumers hold {least:number} to {most:number} unacknowledged messages, equal to at least {dispatching_s:duration} of "
        "dispatching."
    ),
    "symptom.redelivering.not_measured": "Redeliveries were not measured.",
    "symptom.redelivering.redelivered": "{part:share} of what is dispatched is redelivered.",
    "symptom.acks_behind.not_measured": "Acknowledgements were not measured.",
    "symptom.acks_behind.behind": (
        "As much is dispatched as published ({dispatched:number} msg/s), but only {acked:number} msg/s are acknowledged."
    ),
    "symptom.acks_behind.not_behind": (
        "{dispatched:number} msg/s are dispatched and {acked:number} msg/s acknowledged."
    ),
    "symptom.dispatch_stopped.not_measured": "Dispatched messages were not counted.",
    "symptom.dispatch_stopped.nothing": "Nothing was dispatched.",
    "symptom.dispatch_stopped.dispatched": "{rate:number} msg/s are dispatched.",
    "symptom.acks_stopped.not_measured": "Acknowledgements were not measured.",
    "symptom.acks_stopped.nothing": "Nothing was acknowledged.",
    "symptom.acks_stopped.acknowledged": "{rate:number} msg/s are acknowledged.",
    "symptom.acks_stopped.last": "The last acknowledgement was {age_s:duration} ago.",
    "symptom.flow_stopped.not_measured": "When consumers last requested messages was not measured.",
    "symptom.flow_stopped.clock_ahead": (
        "When consumers last requested messages is not known: the broker's clock is at least {off_s:duration} ahead."
    ),
    "symptom.flow_stopped.clock_behind": (
        "When consumers last requested messages is not known: the broker's clock is at least {off_s:duration} behind."
    ),
    "symptom.flow_stopped.last": "A consumer last requested messages {age_s:duration} ago.",
    "symptom.dispatch_flat.not_measured": "Too few minutes with dispatched messages to compare.",
    "symptom.dispatch_flat.varies": (
        "The dispatch rate varies by {variation:share} between minutes, around {rate:number} msg/s."
    ),
    "symptom.consumers_blocked.not_measured": "Whether consumers are blocked was not measured.",
    "symptom.consumers_blocked.blocked": (
        "{blocked:number} of {consumers:number} consumers are blocked until they acknowledge (all of them in {part:share} of "
        "the window)."
    ),
    "symptom.consumers_blocked.none_blocked": "No consumer is blocked on unacked messages.",
    "symptom.consumers_blocked.all_blocked_in_stats": (
        "Every consumer is blocked until it acknowledges in {part:share} of the samples ({origin})."
    ),
    "symptom.consumers_blocked.not_all_blocked_in_stats": (
        "Consumers are not all blocked on unacked messages ({origin})."
    ),
    "symptom.consumers_uneven.not_measured": (
        "What each consumer acknowledges was not measured, or there are not two."
    ),
    "symptom.consumers_uneven.rates": (
        "The slowest consumer acknowledges {slowest:number} msg/s, the fastest {fastest:number}."
    ),
    "symptom.hash_blocked.not_key_shared": (
        "Entries of one key wait for one consumer only on Key_Shared subscriptions."
    ),
    "symptom.hash_blocked.not_measured": (
        "The subscription's type or its redelivery queue was not measured."
    ),
    "symptom.hash_blocked.waiting": (
        "{replay:number} entries wait in the redelivery queue; which consumer they wait for was not measured."
    ),
    "symptom.hash_blocked.waiting_without_permits": (
        "{replay:number} entries wait in the redelivery queue while {without:number} of {consumers:number} consumers have no "
        "permits."
    ),
    "symptom.hash_blocked.waiting_in_stats": (
        "{replay:number} entries wait in the redelivery queue while some consumers have no permits and others have spare "
        "capacity in {uneven:share} of the samples ({origin})."
    ),
    "symptom.hash_blocked.waiting_and_draining_in_stats": (
        "{replay:number} entries wait in the redelivery queue while some consumers have no permits and others have spare "
        "capacity in {uneven:share} of the samples, and hashes are draining in {draining:share} ({origin})."
    ),
    # Where shares of snapshots come from
    "snapshots.at_no_known_time": "admin API, {samples} samples",
    "snapshots.before_end": (
        "admin API, {samples} samples, newest {apart_s:duration} before the window's end"
    ),
    "snapshots.after_end": "admin API, {samples} samples, newest {apart_s:duration} after the window's end",
    # What do the limiters do?
    "symptom.limiter_at_limit.no_limit": "No limit is set.",
    "symptom.limiter_at_limit.not_known": "How much of a limit is used is not known.",
    "symptom.limiter_at_limit.used": "The {level}'s {kind} limit ({limit:limit}) is {rho:share} used.",
    "symptom.limiter_at_limit.used_shared": (
        "The {level}'s {kind} limit ({limit:limit}) is {rho:share} used by the subscriptions that were read, {own:share} by "
        "this one."
    ),
    "symptom.limits_far.no_limit": ("No dispatch limit is set on the subscription, its topic or its broker."),
    "symptom.limits_far.not_known": "The dispatch limits are not known.",
    "symptom.limits_far.used_most": (
        "The {level}'s {kind} limit ({limit:limit}) is the most used one: {rho:share}."
    ),
    "symptom.throttle_events.no_counters": "The broker exposes no throttle counters.",
    "symptom.throttle_events.none": "No limiter throttled a read.",
    "symptom.throttle_events.none_of_limiter": "The {level} {kind} limit throttled no read.",
    "symptom.throttle_events.sparse": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s), fewer than a limiter that binds."
    ),
    "symptom.throttle_events.in_bursts": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s), in too few of the scrape intervals: a "
        "limiter that binds throttles reads in nearly every one."
    ),
    "symptom.throttle_events.every_period": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s), about one per period: it is exhausted in "
        "every period."
    ),
    "symptom.throttle_events.often_every_period": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s), at least two per period: it is exhausted in "
        "every period."
    ),
    "symptom.throttle_events.as_if_exhausted": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s), as many as a limiter that is exhausted in "
        "every period."
    ),
    "symptom.throttle_events.every_read": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s). This proves nothing: a period allows less "
        "than one full read, so every read of a healthy subscription is throttled too."
    ),
    "symptom.throttle_events.limit_old": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s); the limit was read too long ago to say "
        "whether that means anything."
    ),
    "symptom.throttle_events.batch_not_read": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s); whether that means anything depends on "
        "dispatcherMaxReadBatchSize, which was not read."
    ),
    "symptom.throttle_events.limit_not_read": (
        "The {level} {kind} limit throttled {events:number} reads ({rate:number}/s); without the limit it is not known whether "
        "that means anything."
    ),
    "symptom.limit_changed.changed": (
        "A dispatch limit was changed in this window; the broker then starts with a full period of tokens."
    ),
    "symptom.limit_changed.unchanged": "No dispatch limit was changed.",
    "symptom.limit_observed_later.not_read": "The limits were not read.",
    "symptom.limit_observed_later.in_time": "The limits were read before or in this window.",
    "symptom.limit_observed_later.later": (
        "The limits were read after this window; they may have been different then."
    ),
    "symptom.limits_old.not_read": "The limits were not read.",
    "symptom.limits_old.before": "The limits were read {age_s:duration} before the window's end.",
    "symptom.limits_old.after": "The limits were read {age_s:duration} after the window's end.",
    "symptom.limit_not_in_force.none": "No limit was exceeded for the length of the window.",
    "symptom.limit_not_in_force.exceeded": (
        "The {level}'s {kind} limit ({limit:limit}) was exceeded {rho:number} times over the whole window, so it is not what "
        "the broker enforces."
    ),
    # What do the hours before the window show?
    "symptom.capacity_short.not_seen": "The capacity of the consumers was not observed in the last day.",
    "symptom.capacity_short.nothing_published": "Nothing is published.",
    "symptom.capacity_short.seen_now": (
        "{consumers:consumers} processed {capacity:number} msg/s at full capacity in this window; {published:number} "
        "msg/s are published."
    ),
    "symptom.capacity_short.seen_before": (
        "{consumers:consumers} processed {capacity:number} msg/s at full capacity {ago_s:duration} before the "
        "window's end, at {at}; {published:number} msg/s are published."
    ),
    "symptom.publishing_burst.none": "No burst of publishing: no more than usual is published.",
    "symptom.publishing_burst.lasting": (
        "{rate:number} msg/s are published from {start} on; {usual:number} msg/s are usual (median of {minutes} minutes)."
    ),
    "symptom.publishing_burst.over": (
        "{rate:number} msg/s were published from {start} to {end}; {usual:number} msg/s are usual (median of {minutes} "
        "minutes)."
    ),
    "symptom.abandoned.connected": "A consumer was connected in the last day.",
    "symptom.abandoned.away": "No consumer has been seen for {away_s:duration}.",
    # What else happened?
    "symptom.cold_reads.not_measured": "Cache misses were not measured.",
    "symptom.cold_reads.misses": (
        "{misses:number} entries/s are read from storage instead of the broker's cache."
    ),
    "symptom.storage_faster.not_measured": "What is read from storage was not measured.",
    "symptom.storage_faster.faster_before": (
        "Storage delivered {before:number} entries/s to this subscription before; now {now:number} entries/s are dispatched."
    ),
    "symptom.storage_faster.length_of_read": (
        "{now:number} entries/s are dispatched: if storage were the bottleneck, one read of {entries:number} entries would take "
        "{read_s:number} s."
    ),
    "symptom.replication_markers.not_read": (
        "Whether the subscription is replicated is not known: the admin API was not queried."
    ),
    "symptom.replication_markers.not_replicated": "The subscription is not replicated.",
    "symptom.replication_markers.not_measured": "Whether anything is published was not measured.",
    "symptom.replication_markers.replicated": (
        "The subscription is replicated; {published:number} msg/s are published while its backlog grows by {growth:number} "
        "entries. Snapshot markers of replicated subscriptions are entries of the backlog."
    ),
    "symptom.unacked_negative.not_measured": "Unacknowledged messages were not measured.",
    "symptom.unacked_negative.least": "The broker counts {unacked:number} unacknowledged messages at the least.",
    "symptom.permits_lost.not_measured": (
        "Permits, unacknowledged messages (of Shared or Key_Shared) and requests of consumers were not measured together."
    ),
    "symptom.permits_lost.requests_stopped": "The consumers last requested messages {age_s:duration} ago.",
    "symptom.permits_lost.all_below_zero": (
        "In every minute the consumers request messages, and the one with most permits has {permits:number}, while only {unacked:number} "
        "messages are unacknowledged."
    ),
    "symptom.permits_lost.not_all": "The consumer with most permits has up to {permits:number}.",
    "symptom.dispatch_below_before.not_measured": (
        "How much the consumers take when the broker waits for them, and their permits now, are not known together."
    ),
    "symptom.dispatch_below_before.few_reconnects": "The number of consumers changed {changes} times since their capacity was seen.",
    "symptom.dispatch_below_before.rates": (
        "Every consumer has permits and {now:number} msg/s are dispatched; before, the consumers took {before:number} msg/s. Their number "
        "changed {changes} times since."
    ),
    "symptom.dispatch_contention.not_measured": "Publishing, dispatching, reads from storage and permits were not measured together.",
    "symptom.dispatch_contention.not_hot": "{written:number} entries/s are written to the topic partition.",
    "symptom.dispatch_contention.rates": (
        "{written:number} entries/s are written to the topic partition and {dispatched:number} entries/s dispatched, {misses:number} of "
        "them read from storage."
    ),
    "symptom.counters_restarted.stayed": "The topic did not move, and its counters did not restart.",
    "symptom.counters_restarted.moved": (
        "The topic moved to {broker} in this window; its counters restarted."
    ),
    "symptom.counters_restarted.moved_elsewhere": (
        "The topic moved to another broker in this window; its counters restarted."
    ),
    "symptom.counters_restarted.restarted": (
        "The topic's counters restarted in this window: it was unloaded or its broker restarted."
    ),
    "symptom.filtering.not_measured": "Entry filters were not measured.",
    "symptom.filtering.none": "Entry filters reject nothing.",
    "symptom.filtering.filtered": (
        "Entry filters reject {rejected:number} and reschedule {postponed:number} of {processed:number} entries/s."
    ),
    "symptom.reads_wait.no_limit": "The broker exposes no limit on reads in flight.",
    "symptom.reads_wait.free": "{free:share} of the broker's memory for reads in flight is free.",
    # Replicators
    "symptom.replicator_disconnected.no_replicator": "This is no replicator.",
    "symptom.replicator_disconnected.not_measured": "Whether the remote cluster is connected was not measured.",
    "symptom.replicator_disconnected.connected": "The remote cluster is connected.",
    "symptom.replicator_disconnected.disconnected": "The remote cluster was not connected in {away:share} of the minutes.",
    "symptom.sends_wait.no_replicator": "This is no replicator.",
    "symptom.sends_wait.not_measured": "How long sends wait for an answer was not measured.",
    "symptom.sends_wait.answered": "The oldest send has waited {delay_s:number} s for an answer.",
    "symptom.sends_wait.waiting": "The oldest send has waited {delay_s:number} s for the remote cluster's answer.",
    "symptom.sends_nothing.no_replicator": "This is no replicator.",
    "symptom.sends_nothing.not_measured": "How much is sent was not measured.",
    "symptom.sends_nothing.nothing": "Nothing is sent to the remote cluster.",
    "symptom.sends_nothing.sends": "Up to {rate:number} entries/s are sent to the remote cluster.",
    "symptom.unanswered.no_replicator": "This is no replicator.",
    "symptom.unanswered.not_measured": "Whether any send is answered was not measured.",
    "symptom.unanswered.between": "Whether any send is answered cannot be known from the age of the oldest.",
    "symptom.unanswered.none": "No send was answered in the last {passed_s:duration}: the age of the oldest rises with the clock.",
    "symptom.unanswered.some": "Some sends are answered: the age of the oldest rises more slowly than the clock.",
    "symptom.remote_pauses.no_replicator": "This is no replicator.",
    "symptom.remote_pauses.remote_not_seen": "Nothing was read of the topic in the remote cluster.",
    "symptom.remote_pauses.pauses": "The remote cluster paused publishing to the topic in {paused:share} of the minutes.",
    "symptom.remote_pauses.none": "The remote cluster did not pause publishing to the topic.",
    "symptom.remote_quota_full.no_replicator": "This is no replicator.",
    "symptom.remote_quota_full.remote_not_seen": "Nothing was read of the topic's backlog quota in the remote cluster.",
    "symptom.remote_quota_full.full": "The topic's backlog in the remote cluster has reached its quota ({used:share}).",
    "symptom.remote_quota_full.room": "The topic's backlog in the remote cluster takes {used:share} of its quota.",
    # The rule by which no cause is named, or a backlog is no incident
    "symptom.rule.no_cause": "No cause is named: {why}.",
    "symptom.rule.no_incident": "This is no incident: {why}.",
}
