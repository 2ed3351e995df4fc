"""What do the consumers do? In: a window. Out: symptoms."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.clock import clock_off_s
from throttlescope.models.diagnosis.consumer_queues import QueueReading, tracks_unacked
from throttlescope.models.diagnosis.stats_samples import origin, read_stats
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message

NO_CONSUMERS = SymptomKind("no_consumers", ("not_measured", "none", "one", "several"), "consumers")
PARENT_SEGMENTS = SymptomKind("parent_segments", ("none", "wait", "drained"), "entries")
SUCCESSORS_READ = SymptomKind("successors_read", ("none", "read", "not_read"), "consumers")
BLOCKED_ON_UNACKED = SymptomKind(
    "blocked_on_unacked", ("not_measured", "blocked", "blocked_with", "not_blocked"), "share"
)
CONSUMER_QUEUE_FULL = SymptomKind(
    "consumer_queue_full",
    (
        "not_measured",
        "yes.starved", "yes.starved_in_stats", "yes.fill", "yes.fill_in_stats", "yes.unacked",
        "no.starved", "no.starved_in_stats", "no.fill", "no.fill_in_stats", "no.idle", "no.busy",
    ),
    "share",
)  # fmt: skip
CONSUMER_QUEUE_EMPTY = SymptomKind(
    "consumer_queue_empty",
    (
        "not_measured",
        "yes.starved", "yes.starved_in_stats", "yes.fill", "yes.fill_in_stats", "yes.idle",
        "no.starved", "no.starved_in_stats", "no.fill", "no.fill_in_stats", "no.unacked", "no.busy",
    ),
    "share",
)  # fmt: skip
CONSUMERS_BUSY = SymptomKind("consumers_busy", ("not_measured", "idle_at_times", "never_idle"), "minutes")
UNACKED_STEADY = SymptomKind("unacked_steady", ("not_measured", "unacked"), "msg")
REDELIVERING = SymptomKind("redelivering", ("not_measured", "redelivered"), "share")
ACKS_BEHIND = SymptomKind("acks_behind", ("not_measured", "behind", "not_behind"), "acked / dispatched")
DISPATCH_STOPPED = SymptomKind("dispatch_stopped", ("not_measured", "nothing", "dispatched"), "msg/s")
ACKS_STOPPED = SymptomKind("acks_stopped", ("not_measured", "nothing", "acknowledged", "last"), "s")
FLOW_STOPPED = SymptomKind("flow_stopped", ("not_measured", "clock_ahead", "clock_behind", "last"), "s")
DISPATCH_FLAT = SymptomKind("dispatch_flat", ("not_measured", "varies"), "deviation / mean")
CONSUMERS_BLOCKED = SymptomKind(
    "consumers_blocked",
    ("not_measured", "blocked", "none_blocked", "all_blocked_in_stats", "not_all_blocked_in_stats"),
    "share",
)
CONSUMERS_UNEVEN = SymptomKind("consumers_uneven", ("not_measured", "rates"), "slowest / fastest")
HASH_BLOCKED = SymptomKind(
    "hash_blocked",
    (
        "not_key_shared", "not_measured", "waiting", "waiting_without_permits", "waiting_in_stats",
        "waiting_and_draining_in_stats",
    ),
    "entries",
)  # fmt: skip


def no_consumers(window: Window) -> Symptom:
    """No consumer is connected, now and for most of the window."""
    query = promql.gauge(window.key, "pulsar_subscription_consumers_count")
    away = window.share("consumers", lambda consumers: consumers <= 0)
    if away is None:
        return NO_CONSUMERS.unknown("not_measured", query)
    count = window.last("consumers")
    holds = away >= t.MAJORITY_SHARE and count <= 0
    finding = (
        NO_CONSUMERS.says("none", away=away)
        if holds
        else NO_CONSUMERS.says("one" if count == 1 else "several", consumers=count)
    )
    return NO_CONSUMERS.answer(holds, finding, count, 0.0, window.end_ms, query)


def parent_segments(window: Window) -> Symptom:
    """Segments that a scalable topic's segment came from have a backlog; not known where there are none."""
    query = promql.of_segments(window.key, "pulsar_subscription_back_log")
    held = window.last("parent_backlog_entries")
    if held is None:
        return PARENT_SEGMENTS.unknown("none", query)
    finding = PARENT_SEGMENTS.says("wait", entries=held) if held > 0 else PARENT_SEGMENTS.says("drained")
    return PARENT_SEGMENTS.answer(held > 0, finding, held, 0.0, window.end_ms, query)


def successors_read(window: Window) -> Symptom:
    """Consumers read the segments that came from a scalable topic's segment; not known where there are none."""
    query = promql.of_segments(window.key, "pulsar_subscription_consumers_count")
    count = window.last("successor_consumers")
    if count is None:
        return SUCCESSORS_READ.unknown("none", query)
    finding = SUCCESSORS_READ.says("read", consumers=count) if count > 0 else SUCCESSORS_READ.says("not_read")
    return SUCCESSORS_READ.answer(count > 0, finding, count, 0.0, window.end_ms, query)


def blocked_on_unacked(window: Window) -> Symptom:
    """The subscription reached its limit of unacked messages and is blocked."""
    query = promql.gauge(window.key, "pulsar_subscription_blocked_on_unacked_messages")
    blocked = window.share("blocked_on_unacked", lambda flag: flag > 0)
    if blocked is None:
        return BLOCKED_ON_UNACKED.unknown("not_measured", query)
    holds = blocked >= t.MAJORITY_SHARE
    unacked = window.last("unacked_msg")
    if not holds:
        finding = BLOCKED_ON_UNACKED.says("not_blocked")
    elif unacked is None:
        finding = BLOCKED_ON_UNACKED.says("blocked", blocked=blocked)
    else:
        finding = BLOCKED_ON_UNACKED.says("blocked_with", blocked=blocked, unacked=unacked)
    return BLOCKED_ON_UNACKED.answer(holds, finding, blocked, t.MAJORITY_SHARE, window.end_ms, query)


def consumer_queue_full(window: Window, queue: QueueReading) -> Symptom:
    """The consumers' queues are full: the broker waits for them."""
    return _of_queue(CONSUMER_QUEUE_FULL, window, queue, full=True)


def consumer_queue_empty(window: Window, queue: QueueReading) -> Symptom:
    """The consumers have spare capacity: they could take more than they are given."""
    return _of_queue(CONSUMER_QUEUE_EMPTY, window, queue, full=False)


def _of_queue(kind: SymptomKind, window: Window, queue: QueueReading, *, full: bool) -> Symptom:
    """Whether the queues are full, or whether they are empty, by what showed it."""
    query = promql.permits(window.key)
    if queue.queue == "unknown":
        return kind.unknown("not_measured", query)
    holds = queue.queue == ("full" if full else "empty")
    yes = "yes" if holds else "no"
    at_ms, query = _queue_seen(window, queue, query)
    if queue.shown_by == "starved":
        threshold = t.STARVED_FULL_SHARE if full else t.STARVED_EMPTY_SHARE
        finding = _in_samples(kind, f"{yes}.starved", window, queue, share=queue.starved_share)
        return kind.answer(holds, finding, queue.starved_share, threshold, at_ms, query)
    if queue.shown_by == "fill":
        threshold = t.FILL_FULL_SHARE if full else t.FILL_EMPTY_SHARE
        finding = _in_samples(kind, f"{yes}.fill", window, queue, share=queue.fill_share)
        return kind.answer(holds, finding, queue.fill_share, threshold, at_ms, query)
    if queue.queue == "busy":
        finding = kind.says("no.busy", minutes=queue.busy_minutes)
        return kind.answer(holds, finding, queue.idle_share, t.IDLE_SHARE, at_ms, query)
    if queue.shown_by == "idle":
        finding = kind.says(f"{yes}.idle", idle=queue.idle_share)
        return kind.answer(holds, finding, queue.idle_share, t.IDLE_SHARE, at_ms, query)
    unacked = window.mean("unacked_msg")
    threshold = t.FILL_FULL_SHARE * t.RECEIVER_QUEUE_MSG * window.mean("consumers")
    finding = kind.says(f"{yes}.unacked", unacked=unacked)
    return kind.answer(holds, finding, unacked, threshold, at_ms, query, unit="msg")


def _in_samples(
    kind: SymptomKind, situation: str, window: Window, queue: QueueReading, share: float
) -> Message:
    """A share of scraped samples, or of the snapshots of the admin API's stats."""
    if queue.stats is None:
        return kind.says(situation, share=share)
    return kind.says(f"{situation}_in_stats", share=share, origin=origin(window, queue.stats))


def _queue_seen(window: Window, queue: QueueReading, query: str) -> tuple[int, str | None]:
    """When what decided was seen, and the query that shows it; none shows the admin API's snapshots."""
    if queue.stats is not None and queue.shown_by in ("starved", "fill"):
        return queue.stats.newest_ms or window.end_ms, None
    return window.end_ms, query


def consumers_busy(window: Window, queue: QueueReading) -> Symptom:
    """The consumers are never idle, and they are dispatched to at a constant rate."""
    query = promql.gauge(window.key, "pulsar_subscription_unacked_messages")
    if queue.idle_share is None:
        return CONSUMERS_BUSY.unknown("not_measured", query)
    if queue.busy_minutes is None:
        return CONSUMERS_BUSY.answer(False, CONSUMERS_BUSY.says("idle_at_times"), promql=query)
    finding = CONSUMERS_BUSY.says("never_idle", minutes=queue.busy_minutes, rate=window.rate("out_msg_delta"))
    return CONSUMERS_BUSY.answer(
        True, finding, float(queue.busy_minutes), t.BUSY_MINUTES, window.end_ms, query
    )


def unacked_steady(window: Window) -> Symptom:
    """Consumers always hold more than a limiter lets through at once, and never much less: they are not waiting for it.

    A client asks for more when half of its queue is used up, so consumers at their capacity hold between half and all of it.
    What a limiter lets through at once is gone before its next period where consumers are faster than the limit.
    """
    query = promql.gauge(window.key, "pulsar_subscription_unacked_messages")
    unacked, out = window.known("unacked_msg"), window.rate("out_msg_delta")
    if not tracks_unacked(window) or len(unacked) < t.CAPACITY_MINUTES or not out:
        return UNACKED_STEADY.unknown("not_measured", query)
    least, most = min(unacked), max(unacked)
    finding = UNACKED_STEADY.says("unacked", least=least, most=most, dispatching_s=least / out)
    holds = least > t.UNACKED_S * out and least >= t.UNACKED_STEADY_SHARE * most
    return UNACKED_STEADY.answer(holds, finding, least, t.UNACKED_S * out, window.end_ms, query)


def redelivering(window: Window) -> Symptom:
    """Much of what is dispatched was dispatched before."""
    query = promql.gauge(window.key, "pulsar_subscription_msg_rate_redeliver")
    pairs = [
        (again, delta / span_ms * SECOND_MS)
        for again, delta, span_ms in zip(
            *(window.column(name) for name in ("redeliver_msg_rate", "out_msg_delta", "delta_span_ms")),
            strict=True,
        )
        if again is not None and delta is not None and span_ms is not None and span_ms > 0
    ]
    if not pairs:
        return REDELIVERING.unknown("not_measured", query)
    shares = [min(1.0, again / out) if out > 0 else float(again > 0) for again, out in pairs]
    part = sum(shares) / len(shares)
    lasting = sum(1 for s in shares if s > t.REDELIVERY_SHARE) >= t.MAJORITY_SHARE * len(shares)
    holds, finding = part > t.REDELIVERY_SHARE and lasting, REDELIVERING.says("redelivered", part=part)
    return REDELIVERING.answer(holds, finding, part, t.REDELIVERY_SHARE, window.end_ms, query)


def acks_behind(window: Window) -> Symptom:
    """The backlog grows although as much is dispatched as published: delivered messages are not acknowledged."""
    query = promql.gauge(window.key, "pulsar_subscription_msg_ack_rate")
    published, out = window.rate("in_msg_delta"), window.rate("out_msg_delta")
    acked = window.mean("ack_msg_rate")
    if None in (published, out, acked):
        return ACKS_BEHIND.unknown("not_measured", query)
    part = acked / out if out > 0 else 1.0
    keeps_up = out > 0 and out >= (1 - t.GROWTH_SHARE) * published
    holds = keeps_up and part < t.ACK_SHARE
    finding = ACKS_BEHIND.says("behind" if holds else "not_behind", dispatched=out, acked=acked)
    return ACKS_BEHIND.answer(holds, finding, part, t.ACK_SHARE, window.end_ms, query)


def _before_move(window: Window) -> Window:
    """The minutes before the topic moved, if since then no more was dispatched than fills the consumers' queues again; else all.

    Consumers that hang connect again all the same, request once as much as they can hold, and get it.
    """
    marks = zip(window.column("broker_changed"), window.column("counter_resets"), strict=True)
    moved = next((n for n, (changed, resets) in enumerate(marks) if changed or resets), None)
    if moved is None or moved < t.BEFORE_MOVE_MINUTES:
        return window
    room = window.highest("permits_max")
    refill = (window.last("consumers") or 0) * (room.value if room else t.RECEIVER_QUEUE_MSG)
    since = sum(delta for delta in window.column("out_msg_delta")[moved:] if delta is not None)
    if since > refill:
        return window
    return replace(window, end_ms=window.column("minute_ms")[moved], high=window.low + moved)


def dispatch_stopped(window: Window) -> Symptom:
    """Nothing at all was dispatched in the window, except what filled the queues again after a move."""
    window = _before_move(window)
    query = promql.use(window.key, "subscription", "msg", None, window.length_ms)
    known, out = window.known("out_msg_delta"), window.rate("out_msg_delta")
    if out is None or len(known) * 2 < window.minutes:
        return DISPATCH_STOPPED.unknown("not_measured", query)
    finding = DISPATCH_STOPPED.says("nothing") if out == 0 else DISPATCH_STOPPED.says("dispatched", rate=out)
    return DISPATCH_STOPPED.answer(out == 0, finding, out, 0.0, window.end_ms, query)


def acks_stopped(window: Window) -> Symptom:
    """No message was acknowledged in the window, or in its part before the topic moved."""
    window = _before_move(window)
    query = promql.age(window.key, "pulsar_subscription_last_acked_timestamp")
    age_s, rate = window.last("last_ack_age_s"), window.mean("ack_msg_rate")
    if clock_off_s(window) is not None:
        age_s = None
    if age_s is None and rate is None:
        return ACKS_STOPPED.unknown("not_measured", query)
    if age_s is None:
        finding = ACKS_STOPPED.says("nothing") if rate == 0 else ACKS_STOPPED.says("acknowledged", rate=rate)
        return ACKS_STOPPED.answer(rate == 0, finding, rate, 0.0, window.end_ms, query, unit="msg/s")
    finding = ACKS_STOPPED.says("last", age_s=age_s)
    return ACKS_STOPPED.answer(
        age_s >= window.length_s, finding, age_s, window.length_s, window.end_ms, query
    )


def flow_stopped(window: Window) -> Symptom:
    """No consumer requested messages in the window, or in its part before the topic moved."""
    window = _before_move(window)
    query = promql.age(window.key, "pulsar_subscription_last_consumed_flow_timestamp")
    age_s, off_s = window.last("last_flow_age_s"), clock_off_s(window)
    if off_s is not None:
        clock = "clock_ahead" if off_s > 0 else "clock_behind"
        return FLOW_STOPPED.unknown(clock, query, off_s=abs(off_s))
    if age_s is None:
        return FLOW_STOPPED.unknown("not_measured", query)
    finding = FLOW_STOPPED.says("last", age_s=age_s)
    return FLOW_STOPPED.answer(
        age_s >= window.length_s, finding, age_s, window.length_s, window.end_ms, query
    )


def dispatch_flat(window: Window) -> Symptom:
    """The dispatch rate hardly varies between minutes, as it does under a limit. Supporting evidence only."""
    query = promql.use(window.key, "subscription", "msg", None, window.length_ms)
    rates = [delta / span_s for delta, span_s in window.spans_s("out_msg_delta")]
    middle = sum(rates) / len(rates) if rates else 0.0
    if len(rates) < 3 or middle <= 0:
        return DISPATCH_FLAT.unknown("not_measured", query)
    variation = sqrt(sum((rate - middle) ** 2 for rate in rates) / len(rates)) / middle
    finding = DISPATCH_FLAT.says("varies", variation=variation, rate=middle)
    return DISPATCH_FLAT.answer(variation <= t.FLAT_CV, finding, variation, t.FLAT_CV, window.end_ms, query)


def consumers_blocked(window: Window) -> Symptom:
    """Every consumer reached its own limit of unacked messages; Pulsar's flag of the subscription stays 0 then."""
    metric = "pulsar_consumer_blocked_on_unacked_messages"
    query = f"sum by (subscription) ({promql.gauge(window.key, metric)})"
    pairs = [
        (blocked, consumers)
        for blocked, consumers in zip(
            window.column("consumers_blocked_on_unacked"), window.column("consumers"), strict=True
        )
        if blocked is not None and consumers
    ]
    if not pairs:
        return _blocked_in_stats(window, query)
    part = sum(1 for blocked, consumers in pairs if blocked >= consumers) / len(pairs)
    blocked, consumers = pairs[-1]
    finding = (
        CONSUMERS_BLOCKED.says("blocked", blocked=blocked, consumers=consumers, part=part)
        if blocked
        else CONSUMERS_BLOCKED.says("none_blocked")
    )
    return CONSUMERS_BLOCKED.answer(
        part >= t.MAJORITY_SHARE, finding, part, t.MAJORITY_SHARE, window.end_ms, query
    )


def _blocked_in_stats(window: Window, query: str) -> Symptom:
    """The same from snapshots of the admin API's stats."""
    stats = read_stats(window)
    part = stats.blocked_share
    if part is None:
        return CONSUMERS_BLOCKED.unknown("not_measured", query)
    finding = (
        CONSUMERS_BLOCKED.says("all_blocked_in_stats", part=part, origin=origin(window, stats))
        if part
        else CONSUMERS_BLOCKED.says("not_all_blocked_in_stats", origin=origin(window, stats))
    )
    return CONSUMERS_BLOCKED.answer(
        part >= t.MAJORITY_SHARE, finding, part, t.MAJORITY_SHARE, stats.newest_ms
    )


def consumers_uneven(window: Window) -> Symptom:
    """One consumer, or a few, do far less than the fastest."""
    query = f"bottomk(3, {promql.gauge(window.key, 'pulsar_consumer_msg_ack_rate')})"
    slowest, fastest = window.mean("consumer_ack_msg_rate_min"), window.mean("consumer_ack_msg_rate_max")
    if slowest is None and fastest is None:
        slowest, fastest = window.mean("stats_ack_msg_rate_min"), window.mean("stats_ack_msg_rate_max")
        query = None
    if slowest is None or fastest is None or (window.last("consumers") or 0) < 2 or fastest <= 0:
        return CONSUMERS_UNEVEN.unknown("not_measured", query)
    part, finding = slowest / fastest, CONSUMERS_UNEVEN.says("rates", slowest=slowest, fastest=fastest)
    return CONSUMERS_UNEVEN.answer(part < t.UNEVEN_SHARE, finding, part, t.UNEVEN_SHARE, window.end_ms, query)


def hash_blocked(window: Window) -> Symptom:
    """Key_Shared: entries wait in the redelivery queue for a consumer without permits, while others have spare capacity."""
    query = promql.gauge(window.key, "pulsar_subscription_in_replay")
    if window.last("subscription_type") not in (None, "Key_Shared"):
        return HASH_BLOCKED.answer(False, HASH_BLOCKED.says("not_key_shared"))
    replay, consumers = window.mean("replay_entries"), window.mean("consumers")
    if window.last("subscription_type") is None or replay is None or consumers is None:
        return HASH_BLOCKED.unknown("not_measured", query)
    waiting = replay > (window.last("read_batch_entries") or t.READ_BATCH_ENTRIES)
    uneven, finding = _some_without_permits(window, replay, consumers)
    return HASH_BLOCKED.answer(
        uneven if waiting else False, finding, replay, t.READ_BATCH_ENTRIES, window.end_ms, query
    )


def _some_without_permits(window: Window, replay: float, consumers: float) -> tuple[bool | None, Message]:
    """Whether some consumers have no permits while others have some, as scraped or as the admin API's stats show."""
    without, most = window.mean("consumers_without_permits"), window.share("permits_max", lambda p: p > 0)
    if without is not None and most is not None:
        finding = HASH_BLOCKED.says(
            "waiting_without_permits", replay=replay, without=without, consumers=consumers
        )
        return 0 < without < consumers and most >= t.MAJORITY_SHARE, finding
    stats = read_stats(window)
    if stats.uneven_share is None:
        return None, HASH_BLOCKED.says("waiting", replay=replay)
    uneven, draining, by = stats.uneven_share, stats.draining_share, origin(window, stats)
    finding = (
        HASH_BLOCKED.says(
            "waiting_and_draining_in_stats", replay=replay, uneven=uneven, draining=draining, origin=by
        )
        if draining
        else HASH_BLOCKED.says("waiting_in_stats", replay=replay, uneven=uneven, origin=by)
    )
    return uneven >= t.MAJORITY_SHARE, finding
