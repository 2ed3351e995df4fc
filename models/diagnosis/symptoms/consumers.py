"""What do the consumers do? In: a window. Out: symptoms."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.clock import clock_off_s, clock_words
from throttlescope.models.diagnosis.consumers import QueueReading, tracks_unacked
from throttlescope.models.diagnosis.stats_samples import StatsReading, read_stats
from throttlescope.models.diagnosis.symptoms.symptom import Symptom
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.rounded import duration, number, share


def no_consumers(window: Window) -> Symptom:
    """No consumer is connected, now and for most of the window."""
    name, query = "no_consumers", promql.gauge(window.key, "pulsar_subscription_consumers_count")
    away = window.share("consumers", lambda consumers: consumers <= 0)
    if away is None:
        return Symptom(name, None, "The number of consumers was not measured.", promql=query)
    count = window.last("consumers")
    holds = away >= t.MAJORITY_SHARE and count <= 0
    text = (
        f"No consumer is connected ({share(away)} of the window)."
        if holds
        else f"{number(count)} consumer{'' if count == 1 else 's'} connected at the window's end."
    )
    return Symptom(name, holds, text, count, 0.0, "consumers", window.end_ms, query)


def blocked_on_unacked(window: Window) -> Symptom:
    """The subscription reached its limit of unacked messages and is blocked."""
    metric = "pulsar_subscription_blocked_on_unacked_messages"
    name, query = "blocked_on_unacked", promql.gauge(window.key, metric)
    blocked = window.share("blocked_on_unacked", lambda flag: flag > 0)
    if blocked is None:
        return Symptom(name, None, "Whether unacked messages block it was not measured.", promql=query)
    holds = blocked >= t.MAJORITY_SHARE
    unacked = window.last("unacked_msg")
    held = f" with {number(unacked)} unacked messages" if unacked is not None else ""
    text = (
        f"Pulsar blocks the subscription{held} until consumers acknowledge ({share(blocked)} of the window)."
        if holds
        else "Unacked messages do not block the subscription."
    )
    return Symptom(name, holds, text, blocked, t.MAJORITY_SHARE, "share", window.end_ms, query)


def consumer_queue_full(window: Window, queue: QueueReading) -> Symptom:
    """The consumers' queues are full: the broker waits for them."""
    name, query = "consumer_queue_full", promql.permits(window.key)
    if queue.queue == "unknown":
        return Symptom(name, None, "How full the consumers' queues are was not measured.", promql=query)
    value, threshold, unit, words = _queue_numbers(window, queue, full=True)
    holds = queue.queue == "full"
    text = f"The broker waits for the consumers: {words}." if holds else f"Queues are not full: {words}."
    at_ms, query = _queue_seen(window, queue, query)
    return Symptom(name, holds, text, value, threshold, unit, at_ms, query)


def consumer_queue_empty(window: Window, queue: QueueReading) -> Symptom:
    """The consumers have room for more than they are given."""
    name, query = "consumer_queue_empty", promql.permits(window.key)
    if queue.queue == "unknown":
        return Symptom(name, None, "How empty the consumers' queues are was not measured.", promql=query)
    value, threshold, unit, words = _queue_numbers(window, queue, full=False)
    holds = queue.queue == "empty"
    text = f"The consumers have room: {words}." if holds else f"The consumers have little room: {words}."
    at_ms, query = _queue_seen(window, queue, query)
    return Symptom(name, holds, text, value, threshold, unit, at_ms, query)


def _queue_seen(window: Window, queue: QueueReading, query: str) -> tuple[int, str | None]:
    """When what decided was seen, and the query that shows it; none shows the admin API's snapshots."""
    if queue.stats is not None and queue.shown_by in ("starved", "fill"):
        return queue.stats.newest_ms or window.end_ms, None
    return window.end_ms, query


def from_stats(window: Window, stats: StatsReading) -> str:
    """Where snapshots come from, how many there are, and how near the newest is to the window's end."""
    count = f"admin API, {stats.samples} sample{'' if stats.samples == 1 else 's'}"
    if stats.newest_ms is None:
        return count
    apart_s = (window.end_ms - stats.newest_ms) / SECOND_MS
    when = f"{duration(abs(apart_s))} {'before' if apart_s >= 0 else 'after'} the window's end"
    return f"{count}, newest {when}"


def consumers_busy(window: Window, queue: QueueReading) -> Symptom:
    """The consumers are never idle, and they are dispatched to at a constant rate."""
    name, query = "consumers_busy", promql.gauge(window.key, "pulsar_subscription_unacked_messages")
    if queue.idle_share is None:
        return Symptom(name, None, "Unacknowledged messages were not measured.", promql=query)
    if queue.busy_minutes is None:
        return Symptom(
            name, False, "The consumers were idle at times, or not seen for long enough.", promql=query
        )
    text = (
        f"The consumers are never idle: they held unacknowledged messages at the end of each of {queue.busy_minutes} minutes "
        f"and took {number(window.rate('out_msg_delta'))} msg/s, at a constant rate."
    )
    return Symptom(
        name, True, text, float(queue.busy_minutes), t.BUSY_MINUTES, "minutes", window.end_ms, query
    )


def _queue_numbers(window: Window, queue: QueueReading, full: bool) -> tuple[float, float, str, str]:
    if queue.shown_by == "starved":
        threshold = t.STARVED_FULL_SHARE if full else t.STARVED_EMPTY_SHARE
        words = f"no permits in {share(queue.starved_share)} of the samples{_by_stats(window, queue)}"
        return queue.starved_share, threshold, "share", words
    if queue.shown_by == "fill":
        threshold = t.FILL_FULL_SHARE if full else t.FILL_EMPTY_SHARE
        words = (
            f"their queues are {share(queue.fill_share)} full of unacked messages{_by_stats(window, queue)}"
        )
        return queue.fill_share, threshold, "share", words
    if queue.queue == "busy":
        words = f"they held unacknowledged messages at the end of each of {queue.busy_minutes} minutes"
        return queue.idle_share, t.IDLE_SHARE, "share", words
    if queue.shown_by == "idle":
        words = f"they hold no unacked message at the end of {share(queue.idle_share)} of the minutes"
        return queue.idle_share, t.IDLE_SHARE, "share", words
    unacked = window.mean("unacked_msg")
    threshold = t.FILL_FULL_SHARE * t.RECEIVER_QUEUE_MSG * window.mean("consumers")
    return unacked, threshold, "msg", f"they hold {number(unacked)} unacked messages"


def _by_stats(window: Window, queue: QueueReading) -> str:
    return f" ({from_stats(window, queue.stats)})" if queue.stats is not None else ""


def unacked_steady(window: Window) -> Symptom:
    """Consumers always hold more than a limiter lets through at once, and never much less: they are not waiting for it.

    A client asks for more when half of its queue is used up, so consumers at their capacity hold between half and all of it.
    What a limiter lets through at once is gone before its next period where consumers are faster than the limit.
    """
    name, query = "unacked_steady", promql.gauge(window.key, "pulsar_subscription_unacked_messages")
    held, out = window.known("unacked_msg"), window.rate("out_msg_delta")
    if not tracks_unacked(window) or len(held) < t.CAPACITY_MINUTES or not out:
        return Symptom(
            name, None, "What consumers hold was not measured, or nothing is dispatched.", promql=query
        )
    least, most = min(held), max(held)
    text = f"Consumers hold {number(least)} to {number(most)} unacknowledged messages, at least {duration(least / out)} of dispatching."
    holds = least > t.UNACKED_S * out and least >= t.UNACKED_STEADY_SHARE * most
    return Symptom(name, holds, text, least, t.UNACKED_S * out, "msg", window.end_ms, query)


def redelivering(window: Window) -> Symptom:
    """Much of what is dispatched was dispatched before."""
    name, query = "redelivering", promql.gauge(window.key, "pulsar_subscription_msg_rate_redeliver")
    pairs = [
        (again, delta / span_ms * SECOND_MS)
        for again, delta, span_ms in zip(
            *(window.column(name) for name in ("redeliver_msg_rate", "out_msg_delta", "delta_span_ms")),
            strict=True,
        )
        if again is not None and delta is not None and span_ms is not None and span_ms > 0
    ]
    if not pairs:
        return Symptom(name, None, "Redeliveries were not measured.", promql=query)
    shares = [min(1.0, again / out) if out > 0 else float(again > 0) for again, out in pairs]
    part = sum(shares) / len(shares)
    lasting = sum(1 for s in shares if s > t.REDELIVERY_SHARE) >= t.MAJORITY_SHARE * len(shares)
    text = f"{share(part)} of what is dispatched is redelivered."
    return Symptom(
        name, part > t.REDELIVERY_SHARE and lasting, text, part, t.REDELIVERY_SHARE, "share",
        window.end_ms, query,
    )  # fmt: skip


def acks_behind(window: Window) -> Symptom:
    """The backlog grows although as much is dispatched as published: delivered messages are not acknowledged."""
    name, query = "acks_behind", promql.gauge(window.key, "pulsar_subscription_msg_ack_rate")
    published, out = window.rate("in_msg_delta"), window.rate("out_msg_delta")
    acked = window.mean("ack_msg_rate")
    if None in (published, out, acked):
        return Symptom(name, None, "Acknowledgements were not measured.", promql=query)
    part = acked / out if out > 0 else 1.0
    keeps_up = out > 0 and out >= (1 - t.GROWTH_SHARE) * published
    holds = keeps_up and part < t.ACK_SHARE
    text = (
        f"As much is dispatched as published ({number(out)} msg/s), but only {number(acked)} msg/s are acknowledged."
        if holds
        else f"{number(out)} msg/s are dispatched and {number(acked)} msg/s acknowledged."
    )
    return Symptom(name, holds, text, part, t.ACK_SHARE, "acked / dispatched", window.end_ms, query)


def _before_move(window: Window) -> Window:
    """The minutes before the topic moved, if since then no more was dispatched than fills the consumers' queues anew; else all.

    Consumers that hang connect again all the same, ask once for as much as they can hold, and get it.
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
    """Nothing at all was dispatched in the window, but for what filled queues anew after a move."""
    window = _before_move(window)
    name, query = "dispatch_stopped", promql.use(window.key, "subscription", "msg", None, window.length_ms)
    known, out = window.known("out_msg_delta"), window.rate("out_msg_delta")
    if out is None or len(known) * 2 < window.minutes:
        return Symptom(name, None, "Dispatched messages were not counted.", promql=query)
    text = "Nothing was dispatched." if out == 0 else f"{number(out)} msg/s are dispatched."
    return Symptom(name, out == 0, text, out, 0.0, "msg/s", window.end_ms, query)


def acks_stopped(window: Window) -> Symptom:
    """No message was acknowledged in the window, or in its part before the topic moved."""
    window = _before_move(window)
    name = "acks_stopped"
    query = promql.age(window.key, "pulsar_subscription_last_acked_timestamp")
    age_s, rate = window.last("last_ack_age_s"), window.mean("ack_msg_rate")
    if clock_off_s(window) is not None:
        age_s = None
    if age_s is None and rate is None:
        return Symptom(name, None, "Acknowledgements were not measured.", promql=query)
    if age_s is None:
        text = "Nothing was acknowledged." if rate == 0 else f"{number(rate)} msg/s are acknowledged."
        return Symptom(name, rate == 0, text, rate, 0.0, "msg/s", window.end_ms, query)
    text = f"The last acknowledgement was {duration(age_s)} ago."
    return Symptom(name, age_s >= window.length_s, text, age_s, window.length_s, "s", window.end_ms, query)


def flow_stopped(window: Window) -> Symptom:
    """No consumer asked for messages in the window, or in its part before the topic moved."""
    window = _before_move(window)
    name = "flow_stopped"
    query = promql.age(window.key, "pulsar_subscription_last_consumed_flow_timestamp")
    age_s, off_s = window.last("last_flow_age_s"), clock_off_s(window)
    if off_s is not None:
        text = f"When consumers last asked for messages is not known: the broker's clock is {clock_words(off_s)}."
        return Symptom(name, None, text, promql=query)
    if age_s is None:
        return Symptom(name, None, "When consumers last asked for messages was not measured.", promql=query)
    text = f"A consumer last asked for messages {duration(age_s)} ago."
    return Symptom(name, age_s >= window.length_s, text, age_s, window.length_s, "s", window.end_ms, query)


def dispatch_flat(window: Window) -> Symptom:
    """The dispatch rate hardly varies between minutes, as it does under a limit. Supporting evidence only."""
    name, query = "dispatch_flat", promql.use(window.key, "subscription", "msg", None, window.length_ms)
    rates = [delta / span_s for delta, span_s in window.spans_s("out_msg_delta")]
    middle = sum(rates) / len(rates) if rates else 0.0
    if len(rates) < 3 or middle <= 0:
        return Symptom(name, None, "Too few minutes with dispatched messages to compare.", promql=query)
    variation = sqrt(sum((rate - middle) ** 2 for rate in rates) / len(rates)) / middle
    text = f"The dispatch rate varies by {share(variation)} between minutes, around {number(middle)} msg/s."
    return Symptom(
        name, variation <= t.FLAT_CV, text, variation, t.FLAT_CV, "deviation / mean", window.end_ms, query
    )


def consumers_blocked(window: Window) -> Symptom:
    """Every consumer reached its own limit of unacked messages; Pulsar's flag of the subscription stays 0 then."""
    metric = "pulsar_consumer_blocked_on_unacked_messages"
    name, query = "consumers_blocked", f"sum by (subscription) ({promql.gauge(window.key, metric)})"
    pairs = [
        (blocked, consumers)
        for blocked, consumers in zip(
            window.column("consumers_blocked_on_unacked"), window.column("consumers"), strict=True
        )
        if blocked is not None and consumers
    ]
    if not pairs:
        return _blocked_in_stats(window, name, query)
    part = sum(1 for blocked, consumers in pairs if blocked >= consumers) / len(pairs)
    blocked, consumers = pairs[-1]
    text = (
        f"{number(blocked)} of {number(consumers)} consumers are blocked until they acknowledge "
        f"(all of them in {share(part)} of the window)."
        if blocked
        else "No consumer is blocked on unacked messages."
    )
    return Symptom(
        name, part >= t.MAJORITY_SHARE, text, part, t.MAJORITY_SHARE, "share", window.end_ms, query
    )


def _blocked_in_stats(window: Window, name: str, query: str) -> Symptom:
    """The same from snapshots of the admin API's stats."""
    stats = read_stats(window)
    part = stats.blocked_share
    if part is None:
        return Symptom(name, None, "Whether consumers are blocked was not measured.", promql=query)
    text = (
        f"Every consumer is blocked until it acknowledges in {share(part)} of the samples"
        if part
        else "Consumers are not all blocked on unacked messages"
    )
    return Symptom(
        name, part >= t.MAJORITY_SHARE, f"{text} ({from_stats(window, stats)}).", part, t.MAJORITY_SHARE, "share",
        stats.newest_ms,
    )  # fmt: skip


def consumers_uneven(window: Window) -> Symptom:
    """One consumer, or a few, do far less than the fastest."""
    name = "consumers_uneven"
    query = f"bottomk(3, {promql.gauge(window.key, 'pulsar_consumer_msg_ack_rate')})"
    slowest, fastest = window.mean("consumer_ack_msg_rate_min"), window.mean("consumer_ack_msg_rate_max")
    if slowest is None and fastest is None:
        slowest, fastest = window.mean("stats_ack_msg_rate_min"), window.mean("stats_ack_msg_rate_max")
        query = None
    if slowest is None or fastest is None or (window.last("consumers") or 0) < 2 or fastest <= 0:
        return Symptom(
            name,
            None,
            "What each consumer acknowledges was not measured, or there are not two.",
            promql=query,
        )
    text = f"The slowest consumer acknowledges {number(slowest)} msg/s, the fastest {number(fastest)}."
    return Symptom(
        name, slowest / fastest < t.UNEVEN_SHARE, text, slowest / fastest, t.UNEVEN_SHARE, "slowest / fastest",
        window.end_ms, query,
    )  # fmt: skip


def hash_blocked(window: Window) -> Symptom:
    """Key_Shared: entries wait in the redelivery queue for a consumer without permits, while others have room."""
    name, query = "hash_blocked", promql.gauge(window.key, "pulsar_subscription_in_replay")
    if window.last("subscription_type") not in (None, "Key_Shared"):
        return Symptom(
            name, False, "Entries of one key wait for one consumer only on Key_Shared subscriptions."
        )
    replay, consumers = window.mean("replay_entries"), window.mean("consumers")
    if window.last("subscription_type") is None or replay is None or consumers is None:
        return Symptom(
            name, None, "The subscription's type or its redelivery queue was not measured.", promql=query
        )
    waiting = replay > (window.last("read_batch_entries") or t.READ_BATCH_ENTRIES)
    uneven, words = _some_without_permits(window, consumers)
    holds = False if not waiting else uneven
    return Symptom(
        name, holds, f"{number(replay)} entries wait in the redelivery queue{words}.", replay,
        t.READ_BATCH_ENTRIES, "entries", window.end_ms, query,
    )  # fmt: skip


def _some_without_permits(window: Window, consumers: float) -> tuple[bool | None, str]:
    """Whether some consumers have no permits while others have some, as scraped or as the admin API's stats show."""
    without, most = window.mean("consumers_without_permits"), window.share("permits_max", lambda p: p > 0)
    if without is not None and most is not None:
        words = f" while {number(without)} of {number(consumers)} consumers have no permits"
        return 0 < without < consumers and most >= t.MAJORITY_SHARE, words
    stats = read_stats(window)
    if stats.uneven_share is None:
        return None, "; which consumer they wait for was not measured"
    words = f" while some consumers have no permits and others have room in {share(stats.uneven_share)} of the samples"
    if stats.draining_share:
        words += f", and hashes are draining in {share(stats.draining_share)}"
    return stats.uneven_share >= t.MAJORITY_SHARE, f"{words} ({from_stats(window, stats)})"
