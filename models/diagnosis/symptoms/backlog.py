"""Is there a backlog, and which way does it go? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumers import low_entries, peak_entries, undelivered_entries
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.stillness import stillness
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import duration, entries, number, share


def coverage_share(window: Window) -> float:
    """Share of the expected samples that the window has; a minute without a row has none."""
    return sum(window.known("coverage_share")) / window.minutes


def coverage(window: Window) -> Symptom:
    """Enough samples of the backlog were seen to say anything."""
    seen = coverage_share(window)
    measured = len(window.known("backlog_ready_entries"))
    holds = seen >= t.COVERAGE_MIN_SHARE and measured > 0
    text = f"{share(seen)} of the expected samples were seen."
    if seen and not measured:
        text = "The backlog without delayed entries was never measured."
    return Symptom(
        "coverage", holds, text, seen, t.COVERAGE_MIN_SHARE, "share", window.end_ms,
        promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed"),
    )  # fmt: skip


def served_twice(window: Window) -> Symptom:
    """Several brokers show the subscription at the same time: their counters are added up, and mean nothing together."""
    twice = window.share("brokers_serving", lambda brokers: brokers > 1)
    if twice is None:
        return Symptom("served_twice", None, "How many brokers show the subscription is not known.")
    most = window.highest("brokers_serving")
    text = (
        f"{number(most.value)} brokers show the subscription at the same time in {share(twice)} of the minutes, "
        "as two clusters under one label cluster do."
        if twice
        else "One broker shows the subscription."
    )
    return Symptom(
        "served_twice",
        twice >= t.MAJORITY_SHARE,
        text,
        twice,
        t.MAJORITY_SHARE,
        "share of minutes",
        most.at_ms,
    )


def publish_entry_rate(window: Window) -> float | None:
    """Entries/s written to the topic partition: published messages over messages per entry, else the broker's gauge."""
    published, per_entry = window.rate("in_msg_delta"), window.last("messages_per_entry")
    if published is not None and per_entry is not None and per_entry > 0:
        return published / per_entry
    return window.mean("write_entry_rate")


def read_entries(window: Window) -> float:
    """Entries of one read, which are no backlog: counted in messages where entries are known to be batches.

    A read batch of 100 entries of one message is soon consumed, 100 entries of a thousand are not. The fewest messages per entry
    of the window count: the quotient of two rates is off for a minute when the rates change.
    """
    batch = window.last("read_batch_entries") or t.READ_BATCH_ENTRIES
    per_entry = window.lowest("messages_per_entry")
    if per_entry is None or not per_entry.value > 1:
        return batch
    return max(min(batch, t.LEAST_ENTRIES), batch / per_entry.value)


def backlog_floor_entries(window: Window) -> float:
    """A backlog up to this is none: one read clears it, or it is a few seconds of publishing."""
    return max(read_entries(window), t.HELD_S * (publish_entry_rate(window) or 0.0))


def gone_entries(window: Window) -> float:
    """A backlog that has been as small as this was gone: one read clears it, or it is what a limiter's cycle leaves."""
    return max(read_entries(window), t.GONE_S * (publish_entry_rate(window) or 0.0))


def backlog_growth_entries(window: Window) -> float | None:
    """Change of the ready backlog over the window; None with fewer than two samples."""
    return window.growth("backlog_ready_entries")


def growth_threshold_entries(window: Window) -> float:
    """Growth of less than this is noise: what one read clears, or a small share of what was published."""
    published = (publish_entry_rate(window) or 0.0) * window.length_s
    return max(read_entries(window), t.GROWTH_SHARE * published)


def backlog_present(window: Window) -> Symptom:
    """More undelivered entries wait at the window's end than a read or a few seconds of publishing."""
    name, query = "backlog_present", promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    waiting = next(
        (entries for entries in reversed(undelivered_entries(window)) if entries is not None), None
    )
    if waiting is None:
        return Symptom(name, None, "The backlog was not measured.", unit="entries", promql=query)
    floor, publish = backlog_floor_entries(window), publish_entry_rate(window)
    # What was gone within the last minute was a burst that the end of the window met.
    low = window.last("backlog_ready_low_entries")
    holds = waiting > floor and (low is None or low > gone_entries(window))
    text = waiting_text(waiting, publish)
    return Symptom(name, holds, text, waiting, floor, "entries", window.end_ms, query)


def waiting_text(waiting: float, publish: float | None) -> str:
    text = f"{entries(waiting)} undelivered entries wait at the window's end"
    if publish and waiting / publish >= 1:
        text += f", {duration(waiting / publish)} of publishing"
    return text + "."


def backlog_old(window: Window) -> Symptom:
    """However few entries wait, they have waited for long: by their age, or because nothing moved while they did."""
    name = "backlog_old"
    still = stillness(window)
    query = promql.gauge(window.key, "pulsar_subscription_storage_backlog_age_seconds")
    if still.own_age_s is None:
        query = f"pulsar_storage_backlog_age_seconds{promql.of_topic(window.key)}"
    return Symptom(name, still.is_old, still.text, still.age_s, t.OLD_S, "s", window.end_ms, query)


def backlog_growing(window: Window) -> Symptom:
    """The backlog grows by more than noise."""
    name, query = "backlog_growing", promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    growth = backlog_growth_entries(window)
    if growth is None:
        return Symptom(name, None, "Too few samples to tell whether the backlog grows.", promql=query)
    threshold = growth_threshold_entries(window)
    # What one read clears has not grown into a backlog, whatever its slope says.
    holds = growth >= threshold and window.last("backlog_ready_entries") > read_entries(window)
    low_growth = window.growth("backlog_ready_low_entries") if holds else None
    # Ends of minutes that meet a burst later and later look like growth; what lies below the bursts does not grow.
    holds = holds and (low_growth is None or low_growth >= threshold)
    text = (
        f"The backlog grows by {entries(growth)} entries in {duration(window.length_s)}."
        if holds
        else not_growing_text(growth, window.length_s)
    )
    return Symptom(name, holds, text, growth, threshold, "entries", window.end_ms, query)


def not_growing_text(growth: float, length_s: float) -> str:
    sign = "+" if growth > 0 else ""
    return f"The backlog does not grow ({sign}{entries(growth)} entries in {duration(length_s)})."


def backlog_draining(window: Window) -> Symptom:
    """There is a backlog, and it falls fast enough to be gone soon."""
    name, query = "backlog_draining", promql.flow(window.key, window.length_ms)
    growth, last = backlog_growth_entries(window), window.last("backlog_ready_entries")
    if growth is None or last is None:
        return Symptom(name, None, "Too few samples to tell whether the backlog drains.", promql=query)
    if growth >= 0 or last <= backlog_floor_entries(window):
        text = "The backlog does not drain." if growth >= 0 else "There is nothing left to drain."
        return Symptom(name, False, text, None, t.DRAIN_TARGET_S, "s", window.end_ms, query)
    left_s = last / (-growth / window.length_s)
    text = f"The backlog falls and would be gone in {duration(left_s)} at this speed."
    return Symptom(
        name, left_s <= t.DRAIN_TARGET_S, text, left_s, t.DRAIN_TARGET_S, "s", window.end_ms, query
    )


def backlog_sawtooth(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Within the window the backlog rises above what a limiter's period lets through, and is gone again."""
    name, query = "backlog_sawtooth", promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    pairs = [
        (peak, low)
        for peak, low in zip(peak_entries(window), low_entries(window), strict=True)
        if peak is not None and low is not None
    ]
    heights, lows = [peak for peak, _ in pairs], [low for _, low in pairs]
    if len(heights) < 3:
        return Symptom(name, None, "Too few samples to see bursts.", unit="entries", promql=query)
    floor = backlog_floor_entries(window)
    per_entry = window.last("messages_per_entry") or 1.0
    periods = [limiter.limit / per_entry for limiter in limiters if limiter.unit == "msg" and limiter.limit]
    floor = max([floor, *periods])
    peak = max(heights)
    # Low before and low after: a backlog that was there and drained, or that came and stays, is no burst.
    holds = peak > floor and lows[-1] <= floor and min(lows[: heights.index(peak) + 1]) <= floor / 2
    # What stays at the window's end has come to stay, for all that is known.
    holds = holds and not backlog_present(window).holds
    text = (
        f"The backlog rises to {entries(peak)} entries and is gone again within the window."
        if holds
        else "The backlog does not come and go in bursts."
    )
    seen = window.highest("backlog_ready_peak_entries") or window.highest("backlog_ready_entries")
    at_ms = seen.at_ms
    return Symptom(name, holds, text, peak, floor, "entries", at_ms, query)


def backlog_delayed(window: Window) -> Symptom:
    """Most of the backlog is not due yet."""
    name, query = "backlog_delayed", promql.gauge(window.key, "pulsar_subscription_delayed")
    delayed, backlog = window.last("delayed_entries"), window.last("backlog_entries")
    if delayed is None or backlog is None:
        return Symptom(name, None, "Delayed entries were not measured.", promql=query)
    part = delayed / backlog if backlog > 0 else 0.0
    holds = delayed > t.READ_BATCH_ENTRIES and part >= t.DELAYED_SHARE
    text = f"{entries(delayed)} of {entries(backlog)} entries in the backlog are delayed and not due yet."
    return Symptom(name, holds, text, part, t.DELAYED_SHARE, "share", window.end_ms, query)


def expiring(window: Window) -> Symptom:
    """The backlog fell, or did not grow, because entries expired and not because they were consumed."""
    name = "expiring"
    query = (
        f"increase(pulsar_subscription_total_msg_expired{promql.of_subscription(window.key)}"
        f"[{window.length_ms // 60_000}m])"
    )
    # The broker counts expired entries, whatever the metric's name says.
    expired = window.total("expired_msg_delta")
    points = window.points("backlog_ready_entries")
    if expired is None or len(points) < 2:
        return Symptom(name, None, "Expiry was not measured.", promql=query)
    fall = max(0.0, max(point.value for point in points) - points[-1].value)
    floor = read_entries(window)
    part = min(1.0, expired / fall) if fall > 0 else 0.0
    growth, threshold = backlog_growth_entries(window) or 0.0, growth_threshold_entries(window)
    fell = fall > floor and part >= t.EXPIRED_SHARE
    kept_level = expired > floor and growth < threshold <= growth + expired
    if not expired:
        text = "Nothing expired."
    elif fell:
        text = f"{entries(expired)} entries expired unread while the backlog fell by {entries(fall)}."
    else:
        text = f"{entries(expired)} entries expired unread; without that the backlog would have changed by {entries(growth + expired)}."
    return Symptom(name, fell or kept_level, text, expired, float(floor), "entries", window.end_ms, query)


def evicting(window: Window) -> Symptom:
    """The topic's backlog quota took entries from the slowest subscription."""
    name = "evicting"
    metric = "pulsar_storage_backlog_quota_exceeded_evictions_total"
    query = f"increase({metric}{promql.of_topic(window.key)}[{window.length_ms // 60_000}m])"
    times = window.highest("quota_evictions_5m")
    if times is None:
        return Symptom(name, None, "Evictions were not measured.", promql=query)
    lost, threshold = lost_entries(window), growth_threshold_entries(window)
    if lost is None:
        return Symptom(name, None, "What was published and dispatched was not counted.", promql=query)
    # The counter is the topic's: only a subscription from which entries are missing was the slowest.
    text = (
        f"The topic's backlog quota evicted; {entries(max(0.0, lost))} entries left the backlog undelivered."
        if times.value > 0
        else "No backlog quota evicted anything."
    )
    holds = times.value > 0 and lost > threshold
    return Symptom(name, holds, text, lost, threshold, "entries", times.at_ms, query)


def lost_entries(window: Window) -> float | None:
    """Entries that are missing from the balance: published, not dispatched, and not in the backlog either.

    What is dispatched again counts as dispatched, so redeliveries make it smaller, never larger.
    """
    published, out = window.rate("in_msg_delta"), window.rate("out_msg_delta")
    growth, per_entry = backlog_growth_entries(window), window.last("messages_per_entry")
    if None in (published, out, growth) or not per_entry or per_entry <= 0:
        return None
    return (published - out) / per_entry * window.length_s - growth
