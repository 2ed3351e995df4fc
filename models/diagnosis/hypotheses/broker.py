"""Is it the broker or what it reads from? In: symptoms. Out: standings for consumers that have room under no limit."""

from __future__ import annotations

from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.hypotheses.standing import Standing
from throttlescope.models.diagnosis.symptoms import Symptoms


def filter_rejects(s: Symptoms) -> Standing | None:
    """What is read does not reach the consumers, because entry filters refuse it."""
    if not s.backlog_held or not s.holds("filtering"):
        return None
    return Standing("filter_rejects", "B", "most of what is read is rejected or put off by entry filters")


def read_limit(s: Symptoms) -> Standing | None:
    """Consumers have room, and reads wait for the broker's memory."""
    if not s.backlog_held or not s.holds("reads_wait") or not room_unused(s):
        return None
    return Standing(
        "read_limit", "B", "the consumers have room, and the broker's memory for reads is used up"
    )


def cold_reads(s: Symptoms) -> Standing | None:
    """Consumers have room, and what they could take comes slowly from storage."""
    if not s.backlog_held or not s.holds("cold_reads") or not room_unused(s):
        return None
    if (s.by_name["backlog_present"].value or 0.0) < t.INACTIVE_ENTRIES:
        return None
    why = "the consumers have room and no limit is near, but most entries come from storage"
    return Standing("cold_reads", "C", why)


def phantom_backlog(s: Symptoms) -> Standing | None:
    """As much is dispatched as published, the consumers have room, and still the backlog stays as it is."""
    if not s.backlog_held or s.holds("backlog_growing") or s.holds("backlog_draining"):
        return None
    if s.holds("backlog_old"):
        # The broker knows the age of the oldest message, so there is one.
        return None
    if s.holds("dispatch_stopped") is not False or s.holds("acks_behind") is not False or not room_unused(s):
        return None
    if s.holds("cold_reads") or s.holds("counters_restarted") or s.holds("redelivering"):
        return None
    why = "the consumers have room, take all that is published, and the backlog stays: it may not be there"
    return Standing("phantom_backlog", "C", why)


def room_unused(s: Symptoms) -> bool:
    """The consumers have room, and no limiter is used up or counts as one that is."""
    return s.queue.queue == "empty" and not any(
        limiter.zone in ("at", "near") or limiter.activity == "continuous" for limiter in s.limiters
    )
