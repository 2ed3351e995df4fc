"""Every number that a rule compares with: its name, its value, its unit, and where it comes from.

In: nothing. Out: :data:`THRESHOLDS`, rendered into ``docs/background/diagnosis.md``, and each value as a constant.
None of them was fitted to a recording: they follow from how the broker works, from published measurements of a model
of one dispatcher, or from a stated judgement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Threshold:
    """One number.

    Attributes
    ----------
    source : str
        ``broker``: read in Pulsar's source; ``engine``: follows from it by arithmetic; ``model``: measured with a
        small model of one dispatcher; ``judgement``: chosen, for the reason that ``meaning`` gives.
    """

    name: str
    value: float
    unit: str
    source: str
    meaning: str


def declare(found: list[Threshold], name: str, value: float, unit: str, source: str, meaning: str) -> float:
    """Add a number to a list of them; returns its value, so that it is a constant as well."""
    found.append(Threshold(name, value, unit, source, meaning))
    return value


_ALL: list[Threshold] = []
_threshold = partial(declare, _ALL)


# -- the gate: is there a backlog at all? ---------------------------------------------------

COVERAGE_MIN_SHARE = _threshold(
    "COVERAGE_MIN_SHARE", 0.5, "share", "judgement",
    "below half of the expected samples no cause is named",
)  # fmt: skip
COVERAGE_FULL_SHARE = _threshold(
    "COVERAGE_FULL_SHARE", 0.8, "share", "judgement",
    "below this the verdict is kept but loses confidence",
)  # fmt: skip
READ_BATCH_ENTRIES = _threshold(
    "READ_BATCH_ENTRIES", 100, "entries", "broker",
    "dispatcherMaxReadBatchSize where it was not observed: what one read clears is no backlog",
)  # fmt: skip
READ_BATCH_ENTRIES_5 = _threshold(
    "READ_BATCH_ENTRIES_5", 500, "entries", "broker",
    "the same from Pulsar 5.0.0 on: where the setting was not observed, events are proof only if they are with either",
)  # fmt: skip
READ_SIZE_BYTES = _threshold(
    "READ_SIZE_BYTES", 5_242_880, "bytes", "broker",
    "dispatcherMaxReadSizeBytes where it was not observed",
)  # fmt: skip
LEAST_ENTRIES = _threshold(
    "LEAST_ENTRIES", 10, "entries", "judgement",
    "fewer are an entry that is written, one that is read and those at work, or what a cursor leaves behind; entries are counted "
    "in messages where they are batches, but never below this",
)  # fmt: skip
OLD_S = _threshold(
    "OLD_S", 1800, "s", "judgement",
    "what has waited for half an hour is a backlog, however few entries it is: no consumer works it off",
)  # fmt: skip
CLOCK_OFF_S = _threshold(
    "CLOCK_OFF_S", 60, "s", "judgement",
    "a broker's clock that differs by more than a minute, the unit of signals, from the scraping server's makes ages meaningless",
)  # fmt: skip
HELD_S = _threshold(
    "HELD_S", 10, "s", "judgement",
    "a backlog of less than this much publishing is a few limiter cycles and the scrape's moment, not a backlog",
)  # fmt: skip
GONE_S = _threshold(
    "GONE_S", 2, "s", "judgement",
    "a backlog that was down to this much publishing, or to one read, was gone: two limiter cycles, of which a scrape may meet any moment",
)  # fmt: skip
GROWTH_SHARE = _threshold(
    "GROWTH_SHARE", 0.02, "share of publishing", "judgement",
    "a window in which more than this share of what was published stays behind grows; a steady backlog swings by a "
    "second or two of publishing, which is under 1 % of five minutes",
)  # fmt: skip
DRAIN_TARGET_S = _threshold(
    "DRAIN_TARGET_S", 1800, "s", "judgement",
    "a backlog that nothing limits and that will be gone within half an hour is being worked off",
)  # fmt: skip

# -- replicators ------------------------------------------------------------------------------

SENDS_WAIT_S = _threshold(
    "SENDS_WAIT_S", 1, "s", "judgement",
    "a remote cluster on the other side of the earth answers within a third of a second",
)  # fmt: skip
UNANSWERED_MINUTES = _threshold(
    "UNANSWERED_MINUTES", 2, "minutes", "judgement",
    "so long the age of the oldest send is followed: a scrape earlier or later is no more than a tenth of it",
)  # fmt: skip
UNANSWERED_SHARE = _threshold(
    "UNANSWERED_SHARE", 0.9, "share of the time", "judgement",
    "the age of the oldest send rises by 1.0 s a second where none is answered",
)  # fmt: skip
ANSWERED_SHARE = _threshold(
    "ANSWERED_SHARE", 0.7, "share of the time", "judgement",
    "and by 0.6 at most where some are; between the two nothing is said",
)  # fmt: skip

# -- limiters ---------------------------------------------------------------------------------

RHO_AT_LIMIT = _threshold(
    "RHO_AT_LIMIT", 0.90, "use / limit", "model",
    "from here a limiter is at its limit (accuracy 0.956 on growing backlogs, 600 random scenarios)",
)  # fmt: skip
RHO_NEAR_LIMIT = _threshold(
    "RHO_NEAR_LIMIT", 0.80, "use / limit", "engine",
    "a saturated limiter of period P that is used up in x seconds delivers P / (P + x) of its limit, because the "
    "dispatcher sleeps a constant second after it: 833 of 1,000 msg/s at x = 0.2 s",
)  # fmt: skip
RHO_POSSIBLE = _threshold(
    "RHO_POSSIBLE", 0.50, "use / limit", "engine",
    "the same at x = P: below, the time in which messages flow is longer than the limiter's pause",
)  # fmt: skip
RHO_NOT_IN_FORCE = _threshold(
    "RHO_NOT_IN_FORCE", 1.25, "use / limit", "engine",
    "debt is carried over, so a limiter cannot let more than its limit through for a whole window, apart from one "
    "period's burst: beyond it (plus period / window) the limit that was read is not the one in force",
)  # fmt: skip
DRIFT_MINUTES = _threshold(
    "DRIFT_MINUTES", 3, "minutes", "judgement",
    "permits are below 0 for a moment after each large batch; with fewer measured minutes nothing is said",
)  # fmt: skip
RECONNECTS = _threshold(
    "RECONNECTS", 3, "changes", "judgement",
    "so many changes of the number of consumers are a storm of reconnects",
)  # fmt: skip
DRIFT_LOW_SHARE = _threshold(
    "DRIFT_LOW_SHARE", 0.5, "share", "judgement",
    "apache/pulsar#26288 reports 30 to 40 % less than before: below this it is something else",
)  # fmt: skip
DRIFT_HIGH_SHARE = _threshold(
    "DRIFT_HIGH_SHARE", 0.75, "share", "judgement",
    "the other end of the same: consumers vary by less than a quarter",
)  # fmt: skip
HOT_ENTRIES_PER_S = _threshold(
    "HOT_ENTRIES_PER_S", 20_000, "entries/s", "judgement",
    "apache/pulsar#26620 and #24695 report 139,000 and 350,000 msg/s to one topic partition",
)  # fmt: skip
CONTENTION_SHARE = _threshold(
    "CONTENTION_SHARE", 0.25, "share", "judgement",
    "dispatched of what is published: the same reports have 3 to 4 %",
)  # fmt: skip
LIMITS_OLD_S = _threshold(
    "LIMITS_OLD_S", 86_400, "s", "judgement",
    "limits that were read more than a day before or after a window may have been others in it: they exclude no limiter",
)  # fmt: skip
READ_SHARE = _threshold(
    "READ_SHARE", 0.8, "dispatched, as read / as the broker says", "judgement",
    "below it only part of a broker was read, so the use of its limit is not known; its own figure is up to a minute old",
)  # fmt: skip
EVENTS_PER_PERIOD = _threshold(
    "EVENTS_PER_PERIOD", 0.7, "events per period", "model",
    "a limiter that binds throttles at least this many reads per period and per full use",
)  # fmt: skip
EVENT_DUTY_SHARE = _threshold(
    "EVENT_DUTY_SHARE", 0.8, "share of scrape intervals", "judgement",
    "and does so in nearly every scrape interval; a restart may hide up to a fifth of a window",
)  # fmt: skip
SHARED_USE_SHARE = _threshold(
    "SHARED_USE_SHARE", 0.80, "own use / limit", "engine",
    "below this the neighbours use up a shared limit, not this subscription",
)  # fmt: skip

# -- consumers --------------------------------------------------------------------------------

STARVED_FULL_SHARE = _threshold(
    "STARVED_FULL_SHARE", 0.5, "share of samples", "broker",
    "with no permits in most samples the broker waits for the consumers; permits are one instant of a fast swing, "
    "so only shares are used",
)  # fmt: skip
STARVED_EMPTY_SHARE = _threshold(
    "STARVED_EMPTY_SHARE", 0.25, "share of samples", "model",
    "with permits in more than three of four samples consumers have spare capacity",
)  # fmt: skip
STATS_SAMPLES = _threshold(
    "STATS_SAMPLES", 3, "snapshots", "judgement",
    "where permits are not scraped, so many snapshots of the admin API's stats in a window make a share of samples",
)  # fmt: skip
FILL_EMPTY_SHARE = _threshold(
    "FILL_EMPTY_SHARE", 0.25, "unacked / (unacked + permits)", "model",
    "consumers' queues less than a quarter full (accuracy 0.983 on growing backlogs)",
)  # fmt: skip
FILL_FULL_SHARE = _threshold(
    "FILL_FULL_SHARE", 0.75, "unacked / (unacked + permits)", "judgement",
    "consumers' queues more than three quarters full",
)  # fmt: skip
RECEIVER_QUEUE_MSG = _threshold(
    "RECEIVER_QUEUE_MSG", 1000, "msg per consumer", "broker",
    "receiverQueueSize of the clients where permits are not scraped; only ever used to call queues full",
)  # fmt: skip
IDLE_SHARE = _threshold(
    "IDLE_SHARE", 0.5, "share of minutes", "engine",
    "consumers that hold no unacked message in half of the samples are not at their capacity: consumers that are "
    "always have one in hand",
)  # fmt: skip
BUSY_MINUTES = _threshold(
    "BUSY_MINUTES", 10, "minutes", "judgement",
    "consumers that hold unacked messages at the end of so many minutes in a row, while they are dispatched to at a constant "
    "rate, are never idle; under a limiter they would be idle in its pauses",
)  # fmt: skip
UNACKED_S = _threshold(
    "UNACKED_S", 1, "s of dispatching", "engine",
    "what a limiter of the usual period lets through at once; consumers that are faster than the limit hold less",
)  # fmt: skip
UNACKED_STEADY_SHARE = _threshold(
    "UNACKED_STEADY_SHARE", 0.5, "least / most", "engine",
    "a client requests more when half of its receiver queue is used up, so what it holds stays within a factor of two",
)  # fmt: skip
ACK_SHARE = _threshold(
    "ACK_SHARE", 0.9, "acked / dispatched", "judgement",
    "messages are delivered as fast as they are published, but a tenth of them is not acknowledged",
)  # fmt: skip
REDELIVERY_SHARE = _threshold(
    "REDELIVERY_SHARE", 0.3, "redelivered / dispatched", "judgement",
    "most of what is dispatched beyond this was dispatched before",
)  # fmt: skip
DELAYED_SHARE = _threshold(
    "DELAYED_SHARE", 0.5, "delayed / backlog", "judgement", "most of the backlog is not due yet"
)
EXPIRED_SHARE = _threshold(
    "EXPIRED_SHARE", 0.5, "expired / decrease", "judgement",
    "most of what left the backlog expired instead of being consumed",
)  # fmt: skip
MAJORITY_SHARE = _threshold(
    "MAJORITY_SHARE", 0.5, "share of minutes", "judgement",
    "a state (no consumers, blocked, a limit in force) counts when it lasted at least half of the window",
)  # fmt: skip
CACHE_MISS_SHARE = _threshold(
    "CACHE_MISS_SHARE", 0.5, "misses / entries dispatched", "judgement",
    "reads that mostly miss the broker's cache are cold: so are those of every backlog that has grown",
)  # fmt: skip
COLD_READ_S = _threshold(
    "COLD_READ_S", 1, "s", "judgement",
    "storage answers a read of one batch in milliseconds to tenths of a second: where it would have to take longer than "
    "this for storage to be what is slow, storage is not what is slow",
)  # fmt: skip
COLD_MORE = _threshold(
    "COLD_MORE", 1.5, "entries read from storage then / now", "judgement",
    "a subscription that was given half more from storage within the last day is not limited by storage now",
)  # fmt: skip
FLAT_CV = _threshold(
    "FLAT_CV", 0.1, "deviation / mean", "judgement",
    "a dispatch rate that varies by less than a tenth between minutes is flat; supporting evidence only",
)  # fmt: skip

# -- what came before -------------------------------------------------------------------------

CAPACITY_MINUTES = _threshold(
    "CAPACITY_MINUTES", 3, "minutes", "judgement",
    "so many minutes in a row at their end and far from every limit show what the consumers can do",
)  # fmt: skip
BEFORE_MOVE_MINUTES = _threshold(
    "BEFORE_MOVE_MINUTES", 2, "minutes", "judgement",
    "so many minutes before a topic moved show whether anything was dispatched, acknowledged or requested",
)  # fmt: skip
CAPACITY_SHORT_SHARE = _threshold(
    "CAPACITY_SHORT_SHARE", 0.95, "capacity / publishing", "judgement",
    "below it the consumers would not keep up without the limit either; capacity was measured to a few percent",
)  # fmt: skip
USUAL_MINUTES = _threshold(
    "USUAL_MINUTES", 10, "minutes", "judgement",
    "from so many known minutes on there is something usual",
)  # fmt: skip
BURST_SHARE = _threshold(
    "BURST_SHARE", 0.5, "of the usual rate", "judgement",
    "publishing is out of the ordinary from half more than usual on",
)  # fmt: skip
BURST_DEVIATIONS = _threshold(
    "BURST_DEVIATIONS", 5, "scaled median deviations", "judgement",
    "and from so many deviations on, where the rate swings",
)  # fmt: skip
BURST_MINUTES = _threshold(
    "BURST_MINUTES", 2, "minutes", "judgement",
    "one minute alone is a counter read late",
)  # fmt: skip
BURST_MAX_S = _threshold(
    "BURST_MAX_S", 1800, "s", "judgement",
    "what lasts longer is demand, and what ended longer ago explains no backlog that drains",
)  # fmt: skip
ABANDONED_S = _threshold(
    "ABANDONED_S", 86_400, "s", "judgement",
    "without a consumer for a day a subscription is abandoned, not restarting",
)  # fmt: skip

# -- entry filters, reads in flight, consumers that differ -----------------------------------------

FILTERED_SHARE = _threshold(
    "FILTERED_SHARE", 0.5, "refused / processed", "judgement",
    "most of what is read never reaches a consumer",
)  # fmt: skip
READ_BUDGET_LEFT_SHARE = _threshold(
    "READ_BUDGET_LEFT_SHARE", 0.05, "available / (available + in flight)", "judgement",
    "so little of the broker's memory for reads is free that reads wait for it",
)  # fmt: skip
UNEVEN_SHARE = _threshold(
    "UNEVEN_SHARE", 0.5, "slowest / fastest", "judgement",
    "a consumer that acknowledges less than half of what the fastest does is the slow one of several",
)  # fmt: skip
INACTIVE_ENTRIES = _threshold(
    "INACTIVE_ENTRIES", 1000, "entries", "broker",
    "managedLedgerCursorBackloggedThreshold: up to it a subscription is caught up, and reads come from the broker's cache",
)  # fmt: skip

# -- the naive rule ---------------------------------------------------------------------------

NAIVE_BACKLOG_ENTRIES = _threshold(
    "NAIVE_BACKLOG_ENTRIES", 1000, "entries", "judgement",
    "the naive rule that is shown next to every verdict: backlog > 1000 with any throttle event",
)  # fmt: skip

THRESHOLDS: tuple[Threshold, ...] = tuple(_ALL)
