"""Symptoms, each alone: yes, no and unknown."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import START_MS, growing, scene
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.symptoms import SYMPTOMS, examine, replicators

BURSTY = {"limits": {"subscription.msg": {"limit": 300, "rho": 0.5, "events": 0.5}}}

KEY_SHARED = {"kind": "Key_Shared"}
WITH_BACKLOG = {"backlog": growing(5000, 20)}
#: Three minutes in which the two consumers do 120 msg/s and the broker waits for them.
SATURATED = [{"out_rate": 120.0, "permits": 0.0, "starved": 0.97}] * 3
#: A few entries wait, and nothing was dispatched or acknowledged for a day.
STILL = {
    "backlog": 95.0, "in_rate": 0.0, "out_rate": 0.0, "ack_rate": 0.0, "flow_age_s": 9e4, "ack_age_s": 9e4,
    "mark_delete_age_s": 9e4,
}  # fmt: skip
#: Two consumers that hold messages and have room for as many.
HALF_FULL = {"permits": 500.0, "unacked": 1000.0}
AT_LIMIT = {"topic.msg": {"limit": 121, "rho": 0.99, "events": 1.0}}

#: symptom, scene, answer
GROWS = {"backlog": growing(5000, 35), "in_rate": 100.0}
#: Ten minutes at their capacity of 100 msg/s, then consumers come and go.
STORM = [{"out_rate": 100.0, "permits": 0.0, "starved": 1.0, "unacked": 2000.0}] * 10 + [
    {"consumers": consumers} for consumers in (2.0, 1.0, 2.0, 0.0, 2.0)
]

CASES = [
    ("coverage", {}, True),
    ("coverage", {"coverage": 0.4}, False),
    ("coverage", {"backlog": [None] * 5}, False),
    # In: 100 entries/s, so ten seconds of publishing are 1,000 entries.
    ("backlog_present", {"backlog": 1001.0}, True),
    ("backlog_present", {"backlog": 999.0}, False),
    ("backlog_present", {"backlog": 99.0, "in_rate": 1.0}, False),
    ("backlog_present", {"backlog": 101.0, "in_rate": 1.0}, True),
    ("backlog_present", {"backlog": 101.0, "in_rate": None, "per_entry": None}, True),
    # 1,000 messages in 100 entries/s: the floor is in entries.
    ("backlog_present", {"backlog": 1001.0, "in_rate": 1000.0, "per_entry": 10.0}, True),
    # All of it is in the consumers' hands.
    ("backlog_present", {"backlog": 5000.0, "unacked": 4990.0}, False),
    ("backlog_present", {"backlog": [5000.0, 5000.0, 5000.0, 5000.0, 0.0]}, False),
    ("backlog_present", {"backlog": [None] * 5}, None),
    # Entries of a hundred messages: 100 messages are one entry, but ten entries are a scrape's moment.
    ("backlog_present", {"backlog": 11.0, "in_rate": 50.0, "per_entry": 100.0}, True),
    ("backlog_present", {"backlog": 10.0, "in_rate": 50.0, "per_entry": 100.0}, False),
    ("backlog_present", {"backlog": 51.0, "in_rate": 1.0, "per_entry": 2.0}, True),
    ("backlog_present", {"backlog": 49.0, "in_rate": 1.0, "per_entry": 2.0}, False),
    # A quotient of two rates that is off while they change.
    ("backlog_present", {"backlog": 90.0, "in_rate": 1.0, "per_entry": [8.0, 4.0, 2.0, 1.0, 9.0]}, False),
    ("backlog_growing", {"backlog": growing(0, 0.1), "in_rate": 100.0, "per_entry": 100.0}, True),
    ("backlog_growing", {"backlog": growing(0, 0.03), "in_rate": 100.0, "per_entry": 100.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0}, True),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "mark_delete_age_s": None, "ack_age_s": None}, True),
    ("backlog_old", {**STILL, "topic_age_s": 900.0}, False),
    # The topic's oldest message may be a neighbour's: here something moved, or came a moment ago.
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "out_rate": [0.0, 0.0, 0.1, 0.0, 0.0]}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "mark_delete_age_s": 600.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "ack_age_s": 600.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "before": [{**STILL, "backlog": 2.0}] * 9}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "backlog": [0.0, 95.0, 95.0, 95.0, 95.0]}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "low": 5.0}, False),
    # Hardly anything, what a tail leaves behind, what is not due, and what consumers hold.
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "backlog": 10.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "backlog": 3.0, "delayed": 2.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "delayed": 20.0}, None),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "unacked": 95.0}, False),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "unacked": 95.0, "per_entry": None}, False),
    # A topic that was away a moment ago; nothing measured; no age at all.
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "resets": [0, 3, 0, 0, 0]}, None),
    ("backlog_old", {**STILL, "topic_age_s": 86_400.0, "out_rate": None}, None),
    ("backlog_old", STILL, None),
    # A count that does not move while nothing is published may be wrong; with messages that came it is not.
    ("backlog_old", {**STILL, "before": [STILL] * 30}, False),
    ("backlog_old", {**STILL, "in_rate": 0.1, "before": [{**STILL, "in_rate": 0.1}] * 30}, True),
    ("backlog_old", {**STILL, "in_rate": 0.1, "before": [{**STILL, "in_rate": 0.1}] * 15}, None),
    # The subscription's own age needs no stillness, but more than the seconds of publishing that are always under way.
    ("backlog_old", {"backlog": 95.0, "own_age_s": 7200.0, "in_rate": 0.1, "out_rate": 0.1}, True),
    ("backlog_old", {"backlog": 95.0, "own_age_s": 7200.0}, False),
    ("backlog_old", {**STILL, "own_age_s": 60.0, "topic_age_s": 86_400.0}, False),
    # The admin API says whose the topic's oldest message is.
    ("backlog_old", {**STILL, "stats_age_s": 7200.0}, True),
    ("backlog_old", {**STILL, "stats_age_s": 60.0, "topic_age_s": 86_400.0}, False),
    ("backlog_old", {**STILL, "stats_age_s": 7200.0, "out_rate": 1.0}, False),
    ("backlog_growing", {"backlog": growing(0, 10)}, True),
    # 2 % of 30,000 published entries are 600.
    ("backlog_growing", {"backlog": growing(0, 1.9)}, False),
    ("backlog_growing", {"backlog": growing(0, 2.1)}, True),
    ("backlog_growing", {"backlog": growing(0, 0.4), "in_rate": 1.0}, True),
    ("backlog_growing", {"backlog": growing(0, 0.3), "in_rate": 1.0}, False),
    ("backlog_growing", {"backlog": [3.0, 180.0, 1.0, 150.0, 90.0]}, False),
    ("backlog_growing", {"backlog": [None, None, None, None, 9.0]}, None),
    # The window's end meets a burst that was gone within the minute.
    ("backlog_present", {"backlog": [5.0, 5.0, 5.0, 5.0, 4000.0], "low": 5.0}, False),
    # Two seconds of publishing (200 entries) are what a limiter's cycles leave.
    ("backlog_present", {"backlog": [5.0, 5.0, 5.0, 5.0, 4000.0], "low": 199.0}, False),
    ("backlog_present", {"backlog": [5.0, 5.0, 5.0, 5.0, 4000.0], "low": 201.0}, True),
    ("backlog_growing", {"backlog": [5.0, 900.0, 1800.0, 2700.0, 3600.0], "low": 5.0}, False),
    ("backlog_draining", {"backlog": growing(50_000, -50)}, True),
    ("backlog_draining", {"backlog": growing(1_000_000, -50)}, False),
    ("backlog_draining", {"backlog": growing(0, 10)}, False),
    ("backlog_draining", {"backlog": [40.0, 30.0, 20.0, 10.0, 5.0]}, False),
    ("backlog_draining", {"backlog": [None] * 4 + [7.0]}, None),
    ("backlog_sawtooth", {"backlog": [0.0, 4000.0, 0.0, 3500.0, 5.0], **BURSTY}, True),
    ("backlog_sawtooth", {"backlog": [0.0, 900.0, 0.0, 900.0, 5.0], **BURSTY}, False),
    ("backlog_sawtooth", {"backlog": [0.0, 4000.0, 0.0, 3500.0, 3000.0], **BURSTY}, False),
    ("backlog_sawtooth", {"backlog": [8000.0, 4000.0, 90.0, 0.0, 5.0], **BURSTY}, False),
    # Between the ends of minutes, and in a window that ends in a burst.
    ("backlog_sawtooth", {"backlog": 5.0, "peak": [5.0, 4000.0, 5.0, 3500.0, 5.0], **BURSTY}, True),
    ("backlog_sawtooth", {"backlog": [5.0, 5.0, 5.0, 5.0, 4000.0], "low": 5.0, "peak": 4000.0, **BURSTY}, True),
    ("backlog_sawtooth", {"backlog": [5.0, 5.0, 5.0, 5.0, 4000.0], "low": 400.0, "peak": 4000.0, **BURSTY}, False),
    ("backlog_sawtooth", {"backlog": [None, None, None, 4000.0, 5.0]}, None),
    ("backlog_delayed", {"backlog": 5000.0, "delayed": 4000.0}, True),
    ("backlog_delayed", {"backlog": 5000.0, "delayed": 1000.0}, False),
    ("backlog_delayed", {"backlog": 90.0, "delayed": 90.0}, False),
    ("backlog_delayed", {"delayed": None}, None),
    ("no_consumers", {"consumers": 0.0}, True),
    ("no_consumers", {"consumers": [2.0, 2.0, 0.0, 0.0, 0.0]}, True),
    ("no_consumers", {"consumers": [0.0, 0.0, 0.0, 0.0, 2.0]}, False),
    ("no_consumers", {"consumers": [2.0, 2.0, 2.0, 2.0, 0.0]}, False),
    ("no_consumers", {"consumers": None}, None),
    ("blocked_on_unacked", {"blocked": 1.0}, True),
    ("blocked_on_unacked", {"blocked": [1.0, 0.0, 0.0, 0.0, 1.0]}, False),
    ("blocked_on_unacked", {"blocked": None}, None),
    ("consumer_queue_full", {"permits": 0.0, "starved": 1.0, "unacked": 2000.0}, True),
    ("consumer_queue_full", {}, False),
    ("consumer_queue_full", {"permits": None, "starved": None, "kind": "Exclusive"}, None),
    ("consumer_queue_empty", {}, True),
    ("consumer_queue_empty", {"permits": 0.0, "starved": 1.0, "unacked": 2000.0}, False),
    ("consumer_queue_empty", {"permits": None, "starved": None, "kind": "Exclusive"}, None),
    ("consumers_busy", {**HALF_FULL, "before": [HALF_FULL] * 5}, True),
    ("consumers_busy", {**HALF_FULL, "before": [HALF_FULL] * 4}, False),
    ("consumers_busy", {**HALF_FULL, "before": [HALF_FULL] * 3 + [{**HALF_FULL, "unacked": 0.0}] * 2}, False),
    ("consumers_busy", {**HALF_FULL, "before": [{**HALF_FULL, "consumers": 3.0}] * 5}, False),
    ("consumers_busy", {"kind": "Exclusive", "consumers": 1.0}, None),
    ("redelivering", {"redeliver_rate": 40.0}, True),
    ("redelivering", {"redeliver_rate": [100.0, 90.0, 0.0, 0.0, 0.0]}, False),
    ("redelivering", {"redeliver_rate": None}, None),
    ("acks_behind", {"ack_rate": 50.0}, True),
    ("acks_behind", {"ack_rate": 95.0}, False),
    ("acks_behind", {"ack_rate": 50.0, "out_rate": 90.0}, False),
    ("acks_behind", {"ack_rate": None}, None),
    ("dispatch_stopped", {"out_rate": 0.0}, True),
    ("dispatch_stopped", {"out_rate": [0.0, 0.0, 0.0, 0.0, 1.0]}, False),
    ("dispatch_stopped", {"out_rate": [0.0, 0.0, None, None, None]}, None),
    ("acks_stopped", {"ack_age_s": 301.0, "ack_rate": 0.0}, True),
    ("acks_stopped", {"ack_age_s": 10.0}, False),
    ("acks_stopped", {"ack_age_s": None, "ack_rate": 0.0}, True),
    ("acks_stopped", {"ack_age_s": None, "ack_rate": None}, None),
    ("flow_stopped", {"flow_age_s": 301.0}, True),
    ("flow_stopped", {"flow_age_s": 10.0}, False),
    ("flow_stopped", {"flow_age_s": None}, None),
    ("dispatch_flat", {"out_rate": [99.0, 101.0, 100.0, 100.0, 100.0]}, True),
    ("dispatch_flat", {"out_rate": [50.0, 150.0, 100.0, 20.0, 200.0]}, False),
    ("dispatch_flat", {"out_rate": [None, None, None, 1.0, 1.0]}, None),
    ("limiter_at_limit", {"limits": {"topic.bytes": {"limit": 10**6, "rho": 0.95}}}, True),
    ("limiter_at_limit", {"limits": {"topic.bytes": {"limit": 10**6, "rho": 0.85}}}, True),
    ("limiter_at_limit", {"limits": {"topic.bytes": {"limit": 10**6, "rho": 0.5}}}, False),
    ("limiter_at_limit", {}, False),
    ("limiter_at_limit", {"limits_observed": False}, None),
    ("limits_far", {}, True),
    ("limits_far", {"limits": {"topic.msg": {"limit": 500, "rho": 0.3}}}, True),
    ("limits_far", {"limits": {"topic.msg": {"limit": 500, "rho": 0.6}}}, False),
    ("limits_far", {"limits_observed": False}, None),
    ("throttle_events", {}, False),
    ("throttle_events", {"limits": {"broker.msg": {"limit": 500, "rho": 0.3, "events": 0.01}}}, True),
    ("throttle_events", {"counters": False}, None),
    ("limit_changed", {"limit_changed": [False, True, False, False, False]}, True),
    ("limit_changed", {}, False),
    ("limit_observed_later", {"observed_later": True}, True),
    ("limit_observed_later", {}, False),
    ("limit_observed_later", {"limits_observed": False}, None),
    ("served_twice", {"brokers": [1, 2, 2, 2, 2]}, True),
    ("served_twice", {"brokers": [2, 1, 1, 1, 1]}, False),
    ("served_twice", {"brokers": None}, None),
    ("limits_old", {"limits_age_s": 90_000.0}, True),
    ("limits_old", {"limits_age_s": -90_000.0}, True),
    ("limits_old", {}, False),
    ("limits_old", {"limits_observed": False}, None),
    ("limit_not_in_force", {"limits": {"topic.msg": {"limit": 50, "rho": 2.0}}}, True),
    ("limit_not_in_force", {"limits": {"topic.msg": {"limit": 50, "rho": 1.1}}}, False),
    ("expiring", {"backlog": [9000.0, 9000.0, 9000.0, 100.0, 100.0], "expired": [0.0, 0.0, 0.0, 8900.0, 0.0]}, True),
    ("expiring", {"backlog": [9000.0, 9000.0, 9000.0, 100.0, 100.0], "expired": 0.0}, False),
    ("expiring", {"backlog": growing(0, 10), "expired": 50.0}, False),
    ("expiring", {"expired": None}, None),
    # Expiry keeps the level: without it the backlog would have grown.
    ("expiring", {"backlog": growing(9000, 0.5), "expired": 1800.0}, True),
    # 60 msg/s come, 30 are dispatched, and the backlog does not change: 30 entries/s are missing.
    ("evicting", {"backlog": 9000.0, "in_rate": 60.0, "out_rate": 30.0, "evictions": 4.2}, True),
    # The counter is the topic's; from this subscription nothing is missing.
    ("evicting", {"backlog": 9000.0, "evictions": 1.2}, False),
    ("evicting", {"backlog": growing(9000, 30), "in_rate": 60.0, "out_rate": 30.0, "evictions": 4.2}, False),
    ("evicting", {"backlog": 9000.0, "in_rate": 60.0, "out_rate": 30.0}, False),
    ("evicting", {"evictions": None}, None),
    ("evicting", {"in_rate": None, "evictions": 1.2}, None),
    ("abandoned", {"consumers": 0.0, "mark_delete_age_s": 90_000.0}, True),
    ("abandoned", {"consumers": 0.0, "before": [{"consumers": 0.0}] * 1440}, True),
    ("abandoned", {"consumers": 0.0, "before": [{"consumers": 0.0}] * 60}, False),
    ("abandoned", {"mark_delete_age_s": 90_000.0}, False),
    ("consumers_blocked", {"consumers_blocked": 2.0}, True),
    ("consumers_blocked", {"consumers_blocked": 1.0}, False),
    ("consumers_blocked", {"consumers_blocked": None}, None),
    ("consumers_uneven", {"slowest_acks": 5.0}, True),
    ("consumers_uneven", {"slowest_acks": 30.0}, False),
    ("consumers_uneven", {"consumers": 1.0}, None),
    ("consumers_uneven", {"slowest_acks": None, "fastest_acks": None}, None),
    ("hash_blocked", {**KEY_SHARED, "replay": 400.0, "without_permits": 1.0}, True),
    ("hash_blocked", {**KEY_SHARED, "replay": 20.0, "without_permits": 1.0}, False),
    ("hash_blocked", {**KEY_SHARED, "replay": 400.0, "without_permits": 2.0, "permits": 0.0}, False),
    ("hash_blocked", {"replay": 400.0, "without_permits": 1.0}, False),
    ("hash_blocked", {**KEY_SHARED, "replay": 400.0, "without_permits": None}, None),
    ("publishing_burst", {**WITH_BACKLOG, "in_rate": 400.0, "before": [{}] * 20}, True),
    # Over, and it explains what drains.
    ("publishing_burst", {**WITH_BACKLOG, "before": [*[{}] * 20, *[{"in_rate": 400.0}] * 5]}, True),
    ("publishing_burst", {**WITH_BACKLOG, "in_rate": 140.0, "before": [{}] * 20}, False),
    # Too few minutes to know what is usual; and half an hour of it is demand.
    ("publishing_burst", {**WITH_BACKLOG, "in_rate": 400.0, "before": [{}] * 4}, False),
    ("publishing_burst", {**WITH_BACKLOG, "in_rate": 400.0, "before": [*[{}] * 60, *[{"in_rate": 400.0}] * 25]}, False),
    # Where the rate swings anyhow, as much more is usual.
    ("publishing_burst", {**WITH_BACKLOG, "in_rate": 160.0, "before": [{"in_rate": r} for r in (40.0, 160.0, 100.0) * 8]}, False),
    ("capacity_short", {**WITH_BACKLOG, "in_rate": 300.0, "before": SATURATED}, True),
    ("capacity_short", {**WITH_BACKLOG, "in_rate": 100.0, "before": SATURATED}, False),
    ("capacity_short", {**WITH_BACKLOG, "in_rate": 300.0, "consumers": 3.0, "before": SATURATED}, None),
    ("capacity_short", {**WITH_BACKLOG, "before": [{**minute, "limits": AT_LIMIT} for minute in SATURATED]}, None),
    ("capacity_short", {"in_rate": 300.0, "before": SATURATED}, None),
    ("connection_paused", {"paused": 1.0}, True),
    ("connection_paused", {"paused": 0.2}, False),
    ("connection_paused", {"paused": 0.0}, False),
    ("connection_paused", {"paused": None}, None),
    ("parent_segments", {"parents": 40.0}, True),
    ("parent_segments", {"parents": 0.0}, False),
    ("parent_segments", {"parents": None}, None),
    ("successors_read", {"successors": 2.0}, True),
    ("successors_read", {"successors": 0.0}, False),
    ("successors_read", {"successors": None}, None),
    ("filtering", {"filtered": (100.0, 40.0, 20.0)}, True),
    ("filtering", {"filtered": (100.0, 40.0, 0.0)}, False),
    ("filtering", {}, False),
    ("filtering", {"filtered": (None, None, None)}, None),
    ("reads_wait", {"reads_inflight": 99e6, "reads_free": 1e6}, True),
    ("reads_wait", {"reads_inflight": 50e6, "reads_free": 50e6}, False),
    ("reads_wait", {"reads_inflight": -1.0, "reads_free": -1.0}, None),
    ("reads_wait", {}, None),
    ("cold_reads", {"misses": 90.0}, True),
    ("cold_reads", {"misses": 5.0}, False),
    ("cold_reads", {"misses": None}, None),
    # A read of a batch would have to take 2 s; it was 1,000 entries/s from storage once; and not known.
    ("storage_faster", {"out_rate": 50.0}, True),
    ("storage_faster", {"out_rate": 400.0, "before": [{"out_rate": 1000.0, "misses": 990.0}]}, True),
    ("storage_faster", {"out_rate": 400.0, "before": [{"out_rate": 1000.0, "misses": 3.0}]}, False),
    ("storage_faster", {"out_rate": 6.0, "message_bytes": 1e6}, False),
    ("storage_faster", {"out_rate": None}, None),
    ("replication_markers", {"replicated": True, "in_rate": 0.0, "backlog": growing(500, 1)}, True),
    ("replication_markers", {"replicated": True, "backlog": growing(500, 1)}, False),
    ("replication_markers", {"replicated": False, "in_rate": 0.0, "backlog": growing(500, 1)}, False),
    ("replication_markers", {}, None),
    # Worked examples after apache/pulsar#26422, #26416, #26288 and #26620; none of these was provoked.
    ("unacked_negative", {"unacked": [3.0, 0.0, -2.0, 1.0, 1.0]}, True),
    ("unacked_negative", {"unacked": 0.0}, False),
    ("unacked_negative", {"unacked": None}, None),
    ("permits_lost", {"permits": -177_300.0, "unacked": 5.0}, True),
    # A large batch was taken: what is below zero is in the consumers' hands.
    ("permits_lost", {"permits": -900.0, "unacked": 1900.0}, False),
    ("permits_lost", {"permits": [-900.0, -900.0, 100.0, -900.0, -900.0], "unacked": 5.0}, False),
    ("permits_lost", {"permits": 0.0, "unacked": 0.0}, False),
    # They hang: nothing is requested.
    ("permits_lost", {"permits": -900.0, "unacked": 5.0, "flow_age_s": 900.0}, False),
    ("permits_lost", {"permits": -900.0, "unacked": 5.0, "kind": "Failover"}, None),
    ("permits_lost", {"permits": [-900.0, None, None, None, -900.0], "unacked": 5.0}, None),
    ("dispatch_below_before", {**GROWS, "out_rate": 65.0, "before": STORM}, True),
    ("dispatch_below_before", {**GROWS, "out_rate": 95.0, "before": STORM}, False),
    ("dispatch_below_before", {**GROWS, "out_rate": 20.0, "before": STORM}, False),
    ("dispatch_below_before", {**GROWS, "out_rate": 65.0, "before": STORM[:12]}, False),
    ("dispatch_below_before", {**GROWS, "out_rate": 65.0, "permits": 0.0, "before": STORM}, None),
    ("dispatch_below_before", {**GROWS, "out_rate": 65.0}, None),
    ("dispatch_contention", {"written": 140_000.0, "out_rate": 5_700.0}, True),
    ("dispatch_contention", {"written": 140_000.0, "out_rate": 130_000.0}, False),
    ("dispatch_contention", {"written": 140_000.0, "out_rate": 5_700.0, "misses": 5_600.0}, False),
    ("dispatch_contention", {"written": 140_000.0, "out_rate": 5_700.0, "permits": 0.0}, False),
    ("dispatch_contention", {"written": 200.0, "out_rate": 5.0}, False),
    ("dispatch_contention", {}, None),
    ("unacked_steady", {"unacked": [700.0, 500.0, 800.0, 900.0, 600.0]}, True),
    ("unacked_steady", {"unacked": [700.0, 300.0, 800.0, 900.0, 600.0]}, False),
    # As much as a limiter lets through in a second may be met at the same moment of each period.
    ("unacked_steady", {"unacked": 90.0}, False),
    ("unacked_steady", {"unacked": 900.0, "kind": "Failover"}, None),
    ("counters_restarted", {"resets": [0, 0, 8, 0, 0]}, True),
    ("counters_restarted", {"moved": [False, True, False, False, False]}, True),
    ("counters_restarted", {}, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "answer"), CASES)
def test_symptom(name, changes, answer):
    symptom = examine(scene(**changes)).by_name[name]
    assert symptom.holds is answer
    assert symptom.text.endswith(".")
    assert "None" not in symptom.text
    assert "nan" not in symptom.text.split()


def test_symptoms_have_cases_for_each_answer():
    answered = {(name, answer) for name, _, answer in CASES}
    # Those of replicators are in test_replicators.
    for name in set(SYMPTOMS) - {"rule"} - {kind.name for kind in replicators.KINDS}:
        assert {(name, True), (name, False)} <= answered, name
    assert set(examine(scene()).by_name) == set(SYMPTOMS) - {"rule"}


@pytest.mark.parametrize(
    ("changes", "name", "sentence"),
    [
        (
            {"backlog": 12_480.0},
            "backlog_present",
            "12,480 undelivered entries wait at the window's end, equal to 2 min of publishing.",
        ),
        (
            {"backlog": growing(0, 20)},
            "backlog_growing",
            "The backlog grows by 6,000 entries in 5 min.",
        ),
        (
            {"limits": {"topic.msg": {"limit": 500, "rho": 0.99, "events": 1.0}}, "out_rate": 60.0},
            "limiter_at_limit",
            "The topic's message limit (500 msg/s) is 99 % used by the subscriptions that were read, 12 % by this one.",
        ),
        (
            {"limits": {"subscription.msg": {"limit": 50, "rho": 0.1, "events": 5.0}}},
            "throttle_events",
            "The subscription message limit throttled 1,500 reads (5/s). This proves nothing: a period allows less than "
            "one full read, so every read of a healthy subscription is throttled too.",
        ),
        (
            {"limits": {"broker.bytes": {"limit": 60_000_000, "period_s": 60, "rho": 0.1}}},
            "limiter_at_limit",
            "The broker's byte limit (60,000,000 B per 60 s) is 10 % used by the subscriptions that were read, "
            "10 % by this one.",
        ),
    ],
)
def test_sentences(changes, name, sentence):
    assert examine(scene(**changes)).by_name[name].text == sentence


def test_a_symptom_says_when_it_was_strongest():
    s = examine(scene(limits={"topic.msg": {"limit": 500, "rho": [0.7, 0.99, 0.8, 0.8, 0.8], "events": 1.0}}))
    assert s.by_name["limiter_at_limit"].at_ms == START_MS + 2 * MINUTE_MS
