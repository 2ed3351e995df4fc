"""Is there a backlog, and which way does it go? In: a window. Out: symptoms."""

from __future__ import annotations

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.consumer_queues import low_entries, peak_entries, undelivered_entries
from throttlescope.models.diagnosis.limiters import LimiterReading
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message

COVERAGE = SymptomKind("coverage", ("seen", "never_measured"), "share")
SERVED_TWICE = SymptomKind("served_twice", ("not_measured", "one", "several"), "share of minutes")
BACKLOG_PRESENT = SymptomKind(
    "backlog_present", ("not_measured", "waiting", "waiting_of_publishing"), "entries"
)
BACKLOG_GROWING = SymptomKind(
    "backlog_growing", ("not_measured", "growing", "little_growth", "not_growing"), "entries"
)
BACKLOG_DRAINING = SymptomKind(
    "backlog_draining", ("not_measured", "draining", "not_draining", "nothing_left"), "s"
)
BACKLOG_SAWTOOTH = SymptomKind("backlog_sawtooth", ("not_measured", "bursts", "no_bursts"), "entries")
BACKLOG_DELAYED = SymptomKind("backlog_delayed", ("not_measured", "delayed"), "share")
EXPIRING = SymptomKind("expiring", ("not_measured", "nothing", "fell", "level_kept"), "entries")
EVICTING = SymptomKind("evicting", ("not_measured", "not_counted", "nothing", "evicted"), "entries")


def coverage_share(window: Window) -> float:
    """Share of the expected samples that the window has; a minute without a row has none."""
    return sum(window.known("coverage_share")) / window.minutes


def coverage(window: Window) -> Symptom:
    """Enough samples of the backlog were seen to say anything."""
    seen = coverage_share(window)
    measured = len(window.known("backlog_ready_entries"))
    holds = seen >= t.COVERAGE_MIN_SHARE and measured > 0
    finding = COVERAGE.says("never_measured") if seen and not measured else COVERAGE.says("seen", seen=seen)
    query = promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    return COVERAGE.answer(holds, finding, seen, t.COVERAGE_MIN_SHARE, window.end_ms, query)


def served_twice(window: Window) -> Symptom:
    """Several brokers show the subscription at the same time: their counters are added up, and mean nothing together."""
    twice = window.share("brokers_serving", lambda brokers: brokers > 1)
    if twice is None:
        return SERVED_TWICE.unknown("not_measured")
    most = window.highest("brokers_serving")
    finding = (
        SERVED_TWICE.says("several", brokers=most.value, twice=twice) if twice else SERVED_TWICE.says("one")
    )
    return SERVED_TWICE.answer(twice >= t.MAJORITY_SHARE, finding, twice, t.MAJORITY_SHARE, most.at_ms)


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
    query = promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    waiting = next(
        (entries for entries in reversed(undelivered_entries(window)) if entries is not None), None
    )
    if waiting is None:
        return BACKLOG_PRESENT.unknown("not_measured", query)
    floor, publish = backlog_floor_entries(window), publish_entry_rate(window)
    # What was gone within the last minute was a burst that the end of the window met.
    low = window.last("backlog_ready_low_entries")
    holds = waiting > floor and (low is None or low > gone_entries(window))
    return BACKLOG_PRESENT.answer(
        holds, waiting_finding(waiting, publish), waiting, floor, window.end_ms, query
    )


def waiting_finding(waiting: float, publish: float | None) -> Message:
    """How many entries wait, and how much publishing that is if it is a second or more."""
    if publish and waiting / publish >= 1:
        return BACKLOG_PRESENT.says("waiting_of_publishing", waiting=waiting, publishing_s=waiting / publish)
    return BACKLOG_PRESENT.says("waiting", waiting=waiting)


def backlog_growing(window: Window) -> Symptom:
    """The backlog grows by more than noise."""
    query = promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    growth = backlog_growth_entries(window)
    if growth is None:
        return BACKLOG_GROWING.unknown("not_measured", query)
    threshold = growth_threshold_entries(window)
    # What one read clears has not grown into a backlog, whatever its slope says.
    holds = growth >= threshold and window.last("backlog_ready_entries") > read_entries(window)
    low_growth = window.growth("backlog_ready_low_entries") if holds else None
    # Ends of minutes that meet a burst later and later look like growth; what lies below the bursts does not grow.
    holds = holds and (low_growth is None or low_growth >= threshold)
    finding = (
        BACKLOG_GROWING.says("growing", growth=growth, length_s=window.length_s)
        if holds
        else not_growing_finding(growth, window.length_s)
    )
    return BACKLOG_GROWING.answer(holds, finding, growth, threshold, window.end_ms, query)


def not_growing_finding(growth: float, length_s: float) -> Message:
    """By how much the backlog changed where that is no growth."""
    situation = "little_growth" if growth > 0 else "not_growing"
    return BACKLOG_GROWING.says(situation, growth=growth, length_s=length_s)


def backlog_draining(window: Window) -> Symptom:
    """There is a backlog, and it falls fast enough to be gone soon."""
    query = promql.flow(window.key, window.length_ms)
    growth, last = backlog_growth_entries(window), window.last("backlog_ready_entries")
    if growth is None or last is None:
        return BACKLOG_DRAINING.unknown("not_measured", query)
    if growth >= 0 or last <= backlog_floor_entries(window):
        finding = BACKLOG_DRAINING.says("not_draining" if growth >= 0 else "nothing_left")
        return BACKLOG_DRAINING.answer(False, finding, None, t.DRAIN_TARGET_S, window.end_ms, query)
    left_s = last / (-growth / window.length_s)
    finding = BACKLOG_DRAINING.says("draining", left_s=left_s)
    return BACKLOG_DRAINING.answer(
        left_s <= t.DRAIN_TARGET_S, finding, left_s, t.DRAIN_TARGET_S, window.end_ms, query
    )


def backlog_sawtooth(window: Window, limiters: tuple[LimiterReading, ...]) -> Symptom:
    """Within the window the backlog rises above what a limiter's period lets through, and is gone again."""
    query = promql.gauge(window.key, "pulsar_subscription_back_log_no_delayed")
    pairs = [
        (peak, low)
        for peak, low in zip(peak_entries(window), low_entries(window), strict=True)
        if peak is not None and low is not None
    ]
    heights, lows = [peak for peak, _ in pairs], [low for _, low in pairs]
    if len(heights) < 3:
        return BACKLOG_SAWTOOTH.unknown("not_measured", query)
    floor = backlog_floor_entries(window)
    per_entry = window.last("messages_per_entry") or 1.0
    periods = [limiter.limit / per_entry for limiter in limiters if limiter.unit == "msg" and limiter.limit]
    floor = max([floor, *periods])
    peak = max(heights)
    # Low before and low after: a backlog that was there and drained, or that came and stays, is no burst.
    holds = peak > floor and lows[-1] <= floor and min(lows[: heights.index(peak) + 1]) <= floor / 2
    # What stays at the window's end has come to stay, for all that is known.
    holds = holds and not backlog_present(window).holds
    finding = BACKLOG_SAWTOOTH.says("bursts", peak=peak) if holds else BACKLOG_SAWTOOTH.says("no_bursts")
    seen = window.highest("backlog_ready_peak_entries") or window.highest("backlog_ready_entries")
    return BACKLOG_SAWTOOTH.answer(holds, finding, peak, floor, seen.at_ms, query)


def backlog_delayed(window: Window) -> Symptom:
    """Most of the backlog is not due yet."""
    query = promql.gauge(window.key, "pulsar_subscription_delayed")
    delayed, backlog = window.last("delayed_entries"), window.last("backlog_entries")
    if delayed is None or backlog is None:
        return BACKLOG_DELAYED.unknown("not_measured", query)
    part = delayed / backlog if backlog > 0 else 0.0
    holds = delayed > t.READ_BATCH_ENTRIES and part >= t.DELAYED_SHARE
    finding = BACKLOG_DELAYED.says("delayed", delayed=delayed, backlog=backlog)
    return BACKLOG_DELAYED.answer(holds, finding, part, t.DELAYED_SHARE, window.end_ms, query)


def expiring(window: Window) -> Symptom:
    """The backlog fell, or did not grow, because entries expired and not because they were consumed."""
    query = (
        f"increase(pulsar_subscription_total_msg_expired{promql.of_subscription(window.key)}"
        f"[{window.length_ms // 60_000}m])"
    )
    # The broker counts expired entries, whatever the metric's name says.
    expired = window.total("expired_msg_delta")
    points = window.points("backlog_ready_entries")
    if expired is None or len(points) < 2:
        return EXPIRING.unknown("not_measured", query)
    fall = max(0.0, max(point.value for point in points) - points[-1].value)
    floor = read_entries(window)
    part = min(1.0, expired / fall) if fall > 0 else 0.0
    growth, threshold = backlog_growth_entries(window) or 0.0, growth_threshold_entries(window)
    fell = fall > floor and part >= t.EXPIRED_SHARE
    kept_level = expired > floor and growth < threshold <= growth + expired
    if not expired:
        finding = EXPIRING.says("nothing")
    elif fell:
        finding = EXPIRING.says("fell", expired=expired, fall=fall)
    else:
        finding = EXPIRING.says("level_kept", expired=expired, change=growth + expired)
    return EXPIRING.answer(fell or kept_level, finding, expired, float(floor), window.end_ms, query)


def evicting(window: Window) -> Symptom:
    """The topic's backlog quota took entries from the slowest subscription."""
    metric = "pulsar_storage_backlog_quota_exceeded_evictions_total"
    query = f"increase({metric}{promql.of_topic(window.key)}[{window.length_ms // 60_000}m])"
    times = window.highest("quota_evictions_5m")
    if times is None:
        return EVICTING.unknown("not_measured", query)
    lost, threshold = lost_entries(window), growth_threshold_entries(window)
    if lost is None:
        return EVICTING.unknown("not_counted", query)
    # The counter is the topic's: only a subscription from which entries are missing was the slowest.
    finding = EVICTING.says("evicted", lost=max(0.0, lost)) if times.value > 0 else EVICTING.says("nothing")
    holds = times.value > 0 and lost > threshold
    return EVICTING.answer(holds, finding, lost, threshold, times.at_ms, query)


def lost_entries(window: Window) -> float | None:
    """Entries that are missing from the balance: published, not dispatched, and not in the backlog either.

    What is dispatched again counts as dispatched, so redeliveries make it smaller, never larger.
    """
    published, out = window.rate("in_msg_delta"), window.rate("out_msg_delta")
    growth, per_entry = backlog_growth_entries(window), window.last("messages_per_entry")
    if None in (published, out, growth) or not per_entry or per_entry <= 0:
        return None
    return (published - out) / per_entry * window.length_s - growth
