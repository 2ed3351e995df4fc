"""Forecasts: what happens, what retention keeps, and what a forecast rests on."""

from __future__ import annotations

_LOST = "Its consumers never get them."
_RESET = "until then resetting the cursor brings them back."

SENTENCES = {
    # When it happens; times are texts of the reader's zone.
    "forecast.when.drain": "The backlog is gone in {length_s:duration}, at {at} (90 % interval: {interval}).",
    "forecast.when.ttl": "Message TTL drops messages in {length_s:duration}, at {at} (90 % interval: {interval}).",
    "forecast.when.quota_size": "The backlog quota by size is reached in {length_s:duration}, at {at} (90 % interval: {interval}).",
    "forecast.when.quota_age": "The backlog quota by age is reached in {length_s:duration}, at {at} (90 % interval: {interval}).",
    "forecast.never.drain": "At the current rate the backlog will not drain.",
    "forecast.never.ttl": "At the current rate message TTL drops no message.",
    "forecast.never.quota_size": "At the current rate the backlog quota by size is not reached.",
    "forecast.never.quota_age": "At the current rate the backlog quota by age is not reached.",
    "forecast.not_before": "In 9 of 10 cases not before {at}.",
    "forecast.unknown.drain": "When the backlog is gone is not known yet: there is no trend.",
    "forecast.unknown.ttl": "When message TTL drops messages is not known yet: there is no trend.",
    "forecast.unknown.quota_size": "When the backlog quota by size is reached is not known yet: there is no trend.",
    "forecast.unknown.quota_age": "When the backlog quota by age is reached is not known yet: there is no trend.",
    # What happens.
    "forecast.drain.expected": "The ready backlog is gone.",
    "forecast.drain.never": "At the current rate the backlog will not drain.",
    "forecast.drain.unknown": "The limiting factor has just changed, the backlog goes up and down, or its newest sample is old.",
    "forecast.drain.capacity_unknown": (
        "The capacity of the consumers was never observed; the start of the interval is the earliest time."
    ),
    "forecast.ttl": "The broker drops every message older than {limit_s:exact_duration}. The consumers never get them.",
    "forecast.quota.producer_request_hold": (
        "The broker disconnects the producers of the topic partition and holds back those that connect again: sending blocks or times "
        "out until the backlog is below the quota. No message of the backlog is lost."
    ),
    "forecast.quota.producer_exception": (
        "The broker disconnects the producers of the topic partition and refuses those that connect again: sending fails until the "
        "backlog is below the quota. No message of the backlog is lost."
    ),
    "forecast.quota.consumer_backlog_eviction": (
        f"The broker skips the oldest messages of the slowest subscription until the backlog is at 90 % of the quota. {_LOST}"
    ),
    "forecast.quota.eviction_by_ledger": (
        "The broker moves the slowest subscription past every ledger that was closed longer ago than the quota. Its consumers never "
        "get the messages in them."
    ),
    "forecast.quota.policy_unknown": "The quota is exceeded; the policy that says what the broker does then was not recorded.",
    # What retention keeps of dropped messages.
    "forecast.retention.unknown": "Whether retention keeps them on disk is not known.",
    "forecast.retention.none": "No retention keeps them: they are gone once no subscription needs their ledger.",
    "forecast.retention.endless": "Retention keeps them on disk without end: resetting the cursor brings them back.",
    "forecast.retention.time": f"Retention keeps them on disk for {{keep_s:exact_duration}}: {_RESET}",
    "forecast.retention.size": (
        f"Retention keeps them on disk as long as the topic partition keeps less than {{keep_mb:,}} MB: {_RESET}"
    ),
    "forecast.retention.time_and_size": (
        "Retention keeps them on disk for {keep_s:exact_duration} and as long as the topic partition keeps less than {keep_mb:,} MB: "
        + _RESET
    ),
    # What a forecast rests on.
    "forecast.basis.too_few": "Fewer than {least} samples since the last change.",
    "forecast.basis.line": "A line through {points} samples of {span_s:,.0f} s.",
    "forecast.basis.not_straight": "It falls, but not in a straight line, or the newest sample rose.",
    "forecast.basis.interval": (
        "The interval is how far {forecasts} forecasts of this reach were off, on {recordings} recordings of a real broker."
    ),
    "forecast.basis.open_end": (
        "It looks {reach:.1f} times as far ahead as it has seen; recordings show {farthest_reach:.1f} times, so its end is open."
    ),
    "forecast.basis.age_unknown": (
        "The backlog is older than the known arrivals: the age of its oldest message is not known."
    ),
    "forecast.basis.age": (
        "Age of the oldest message from the arrivals, known to {step_s:g} s; consumers go on at {usual:,.4g} entries/s ({slow:,.4g} to "
        "{fast:,.4g} in the minutes of the newest stretch); a check every {check_s:g} s."
    ),
    "forecast.basis.size_unknown": "The topic's backlog in bytes was not scraped (pulsar_storage_backlog_size).",
    "forecast.basis.size_exceeded": "The quota is exceeded now; a check every {check_s:g} s.",
    "forecast.basis.size_no_trend": "There is no trend of the topic's backlog in bytes yet.",
    "forecast.basis.size_not_growing": "The topic's backlog in bytes does not grow.",
    "forecast.basis.size": (
        "A line through {points} values; how far such lines were off on drains of other recordings; a check every {check_s:g} s."
    ),
    "forecast.basis.ledger_open": (
        "The broker counts from the time when the oldest message's ledger is closed, and it is still open: it is closed at the latest "
        "{rollover_min:g} min after it was begun."
    ),
    "forecast.basis.ledger_moving": (
        "Time since the oldest message's ledger was closed, as the broker reports it; consumers may reach the next ledger before; a "
        "check every {check_s:g} s."
    ),
    "forecast.basis.ledger_idle": (
        "Time since the oldest message's ledger was closed, as the broker reports it; nothing is acknowledged; a check every "
        "{check_s:g} s."
    ),
    "forecast.basis.policies_later": "The policies were observed later than this.",
    "forecast.basis.replay": (
        "Replay with the present limits and consumers, limited by {factor:factor}: from the best to the worst that the samples allow, "
        "not calibrated. Looked {horizon_h:g} h ahead at most."
    ),
}
