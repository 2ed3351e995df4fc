"""Age of the oldest message in the backlog. In: a window with its history. Out: the symptom ``backlog_old``.

The subscription's own age says it, where the broker exposes it. The topic's age is that of its oldest subscription and may be a
neighbour's: it bounds our own, and counts only where nothing was dispatched or acknowledged here for as long. The admin API
says whose it is. Without any age, messages that were published in half an hour in which none was dispatched show that the
backlog is there and does not move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core.system_names import is_reader
from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.clock import clock_off_s
from throttlescope.models.diagnosis.consumer_queues import low_entries, tracks_unacked, undelivered_entries
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window
from throttlescope.models.messages.catalogue import Message

BACKLOG_OLD = SymptomKind(
    "backlog_old",
    (
        "not_measured", "hardly_any", "some_delayed", "of_reader", "own_age", "dispatch_not_measured", "moved",
        "still_by_stats", "still_by_topic", "still_by_history", "age_not_measured",
    ),
    "s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stillness:
    """What is known of the age of a backlog.

    Attributes
    ----------
    is_old : bool or None
        None where it is not known.
    age_s : float or None
        The age that decided.
    own_age_s : float or None
        Of the subscription's own oldest message, as the broker has it.
    """

    is_old: bool | None
    finding: Message
    age_s: float | None = None
    own_age_s: float | None = None


def backlog_old(window: Window) -> Symptom:
    """However few entries wait, they have waited for long: by their age, or because nothing moved while they did."""
    still = stillness(window)
    query = promql.gauge(window.key, "pulsar_subscription_storage_backlog_age_seconds")
    if still.own_age_s is None:
        query = f"pulsar_storage_backlog_age_seconds{promql.of_topic(window.key)}"
    return BACKLOG_OLD.answer(still.is_old, still.finding, still.age_s, t.OLD_S, window.end_ms, query)


def stillness(window: Window) -> Stillness:
    """Say whether what waits has waited for :data:`~thresholds.OLD_S` or longer."""
    own_age_s, topic_age_s = window.last("subscription_backlog_age_s"), window.last("backlog_age_s")
    waiting = always_waiting_entries(window)
    if waiting is None:
        return Stillness(None, BACKLOG_OLD.says("not_measured"), None, own_age_s)
    if not waiting > t.LEAST_ENTRIES:
        return Stillness(False, BACKLOG_OLD.says("hardly_any"), own_age_s, own_age_s)
    if window.any("delayed_entries"):
        return Stillness(None, BACKLOG_OLD.says("some_delayed"), own_age_s, own_age_s)
    if is_reader(window.key.subscription):
        return Stillness(False, BACKLOG_OLD.says("of_reader"), own_age_s, own_age_s)
    if own_age_s is not None:
        # Messages that consumers hold make a busy subscription old as well: a few seconds of publishing are no backlog.
        busy = t.HELD_S * (window.rate("in_msg_delta") or 0.0) / (_per_entry(window) or 1.0)
        finding = BACKLOG_OLD.says("own_age", age_s=own_age_s, waiting=waiting)
        return Stillness(own_age_s >= t.OLD_S and waiting > busy, finding, own_age_s, own_age_s)
    moved = _moved(window)
    if moved is None:
        return Stillness(None, BACKLOG_OLD.says("dispatch_not_measured"), topic_age_s)
    if moved:
        return Stillness(False, BACKLOG_OLD.says("moved"), topic_age_s)
    stats_age_s = window.last("stats_backlog_age_s")
    if stats_age_s is not None:
        finding = BACKLOG_OLD.says("still_by_stats", age_s=stats_age_s, waiting=waiting)
        return Stillness(stats_age_s >= t.OLD_S, finding, stats_age_s)
    if topic_age_s is None:
        return _by_history(window, waiting)
    finding = BACKLOG_OLD.says("still_by_topic", age_s=topic_age_s, waiting=waiting)
    return Stillness(topic_age_s >= t.OLD_S, finding, topic_age_s)


def always_waiting_entries(window: Window) -> float | None:
    """Entries that no consumer holds, at the scrape of the window with the fewest; None where none was measured.

    Where messages per entry are not known, each unacknowledged message may be an entry.
    """
    with_consumers = window.column("unacked_msg")
    if not tracks_unacked(window) or _per_entry(window):
        # Deducted already, or not to be.
        with_consumers = [None] * len(with_consumers)
    known = [
        left - (unacked or 0.0)
        for minutes in (low_entries(window), undelivered_entries(window))
        for left, unacked in zip(minutes, with_consumers, strict=True)
        if left is not None
    ]
    return min(known) if known else None


def _per_entry(window: Window) -> float | None:
    per_entry = window.last("messages_per_entry")
    return per_entry if per_entry and per_entry > 0 else None


def _moved(window: Window) -> bool | None:
    """Whether what waits moved in the window or in half an hour before it, as far as that is known."""
    out = window.known("out_msg_delta")
    if len(out) * 2 < window.minutes:
        return None
    ages_s = [window.last(name) for name in ("mark_delete_age_s", "last_ack_age_s")]
    if clock_off_s(window) is not None:
        ages_s = []
    if (
        any(out)
        or window.mean("ack_msg_rate")
        or any(age_s is not None and age_s < t.OLD_S for age_s in ages_s)
    ):
        return True
    if window.total("counter_resets") or window.any("broker_changed"):
        # A topic that came back a moment ago had no time to move anything.
        return None
    before = window.before(t.OLD_S * SECOND_MS)
    ready = before.array("backlog_ready_entries")
    return bool((before.array("out_msg_delta") > 0).any() or (ready <= t.LEAST_ENTRIES).any())


def _by_history(window: Window, waiting: float) -> Stillness:
    """Without any age: nothing dispatched for half an hour, in which more than a few entries were published."""
    seen = window.before(t.OLD_S * SECOND_MS, also_within=True)
    known_s = int((~np.isnan(seen.array("out_msg_delta"))).sum()) * MINUTE_MS / SECOND_MS
    per_entry = _per_entry(window)
    if known_s < t.COVERAGE_FULL_SHARE * t.OLD_S or per_entry is None:
        return Stillness(None, BACKLOG_OLD.says("age_not_measured"))
    published = float(np.nansum(seen.array("in_msg_delta")))
    finding = BACKLOG_OLD.says("still_by_history", known_s=known_s, waiting=waiting, published=published)
    # Without those the backlog may not be there: imprecise counts keep what is gone.
    return Stillness(published / per_entry > t.LEAST_ENTRIES, finding, known_s)
