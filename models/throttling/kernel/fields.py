"""Fields of the kernel's state. In: nothing. Out: the number of a field in a row.

All state is one array of int64, ``a``, that :mod:`layout` fills. It is cut into tables, and a row of a table is the place at which it
begins: ``a[dispatcher + D.BLOCKED]`` is a field of the row ``dispatcher``. (Two dozen arrays in a tuple took minutes to compile and fifty
times as long to run, as every call passed all of them on. One array is still seven words, so functions get the address at which it begins:
:func:`compilation.address_of`.)

Names say what they are, here and in the other modules: ``d``, ``p``, ``w`` and ``g`` are numbers of a dispatcher, a port, a client
("worker") and a log; ``dispatcher``, ``port``, ``worker`` and ``log`` are their rows. ``WIDTH`` is the number of a table's columns. A name that
ends in ``_AT`` is a time and one in ``_US`` a duration, both in microseconds. What has no comment is called as in :mod:`world` and
``twin/state.py``.
"""

from __future__ import annotations

from enum import IntEnum, auto

NEVER = 1 << 62

#: Why a run stops early: a container was too small; the caller doubles it and starts again.
DONE, QUEUE_FULL, LIST_FULL, RING_FULL = range(4)

#: The limiter engines of ``limiters.py``: windows without (A0) and with debt (A), buckets by slots (B) and by periods (C).
ENGINE_A0, ENGINE_A, ENGINE_B, ENGINE_C = range(4)

#: Kinds of dispatchers.
SINGLE, SHARED, KEY_SHARED = range(3)

#: Kinds of steps.
RATES, PROCESSING, JOIN, LEAVE, HANG, RESUME, UNLOAD, SEEK = range(8)

#: The epoch of an entry that a client works on although it gave it back; no connection has it.
GIVEN_BACK = -1

#: A client that connects at the start; later ``W.JOINED`` is 0 or 1.
JOINS_AT_START = 2


# -- rules and tables --------------------------------------------------------------------------


class R(IntEnum):
    """The rules of the broker and the machine, one row at the array's start."""

    ENGINE = 0
    READ_BATCH = auto()
    READ_BYTES = auto()
    ROUND_ROBIN = auto()  # entries that one consumer gets before the next one's turn
    PRECISE = auto()
    PER_ENTRY = auto()  # limiters count entries, not messages
    LIMITS_CAUGHT_UP = auto()
    ESTIMATE_EXTRA_BYTES = auto()
    RETRY_BACKOFF = auto()
    DELAY_TICK_US = auto()
    STATS_US = auto()
    EXPIRY_US = auto()
    BACKLOGGED_ENTRIES = auto()
    KEEPS_CURSOR_ACTIVE = auto()
    DRAINS_HASHES = auto()
    LOOK_AHEAD_PER_CONSUMER = auto()
    LOOK_AHEAD = auto()
    SECOND_PASS_BELOW = auto()  # of 2**32: requests for redelivery that have a second pass
    PASS_US = auto()  # how long a pass of the read routine runs; 0 also where requests are not merged
    READ_US = auto()
    READ_ENTRY_US = auto()
    NOTIFY_US = auto()
    SEND_US = auto()
    FLOW_US = auto()
    TIMER_LATE_US = auto()
    RECONNECT_US = auto()
    DURATION_US = auto()
    EVERY_US = auto()  # distance of the samples
    ANY_TTL = auto()
    ANONYMOUS = auto()  # it never matters which entries a client has, only how many
    CACHE_US = auto()
    CACHED_READ_US = auto()
    CACHED_ENTRY_US = auto()
    NOW = auto()  # the clock


class H(IntEnum):
    """Where tables begin (places in the array), how many rows some have, and how large the containers are.

    Sizes of rings are powers of two.
    """

    METERS = R.NOW + 1  # limiter x (messages, bytes) x field
    LIMITER_LOG = auto()  # the log whose publish rate a limiter may follow
    LOGS = auto()
    SEGMENTS = auto()
    LISTED = auto()  # times of entries, of the logs that list them
    SIZES = auto()
    DISPATCHERS = auto()
    TOTALS = auto()
    PORTS = auto()
    DISPATCHER_PORTS = auto()  # numbers of ports, dispatcher by dispatcher
    WORKERS = auto()
    WORKER_PORTS = auto()  # numbers of ports, client by client
    QUEUES = auto()  # ring of items for each client
    CURRENT = auto()  # the item that each client works on
    FLOWS = auto()  # ring of requests for each client
    NACKS = auto()  # ring of negative acknowledgements for each client
    # lists for each dispatcher: of entries that
    AGAIN = auto()  # are before the read position and are to be read again,
    REPLAY = auto()  # wait to be read by their number,
    DELAYED = auto()  # have a delivery time that has not come,
    READING = auto()  # the current read brings,
    REPLAYING = auto()  # the current replay read brings,
    NEVER_ACKED = auto()  # a client has processed and never answers for
    ACKED_LATE = auto()  # were acknowledged by a client that had given them back
    DRAINING = auto()  # a consumer holds whose key belongs to another one now
    # of each retry-letter topic:
    RETRIED = auto()  # times of its entries,
    ATTEMPTS = auto()  # and how often each had been reconsumed
    SENDS = auto()  # ring of writes for each dispatcher
    STEPS = auto()
    SCRATCH = auto()  # one place for each port, then one for each entry of a read
    LIMITER_COUNT = auto()
    LOG_COUNT = auto()
    DISPATCHER_COUNT = auto()
    PORT_COUNT = auto()
    WORKER_COUNT = auto()
    STEP_COUNT = auto()
    QUEUE_SIZE = auto()
    RING_SIZE = auto()
    LIST_SIZE = auto()
    READ_SIZE = auto()
    SPARE_READ = auto()  # the number of the one list of READING that belongs to no dispatcher
    WIDTH = auto()


# -- the broker --------------------------------------------------------------------------------


class M(IntEnum):
    """A meter of a limiter."""

    RATE = 0  # tokens per period; 0: there is no such meter
    PERIOD_US = auto()
    TOKENS = auto()  # engines A0 and A: used in this period; B and C: available
    PENDING = auto()  # charged, and not yet subtracted from the tokens (B and C)
    ANCHOR_AT = auto()  # A0 and A: end of the period; B and C: the last refill
    REST_US = auto()  # time since the last refill that gave no whole token
    SLOT = auto()  # the slot of 16 ms of the last refill (B)
    CONFIGURED = auto()  # the rate as it was set, to which a relative limit adds the publish rate
    RELATIVE = auto()
    NEXT_RATE = auto()  # A0 and A: the rate from the next tick on, which differs for relative limits alone
    WIDTH = auto()


class G(IntEnum):
    """A log."""

    MSGS = 0
    ESTIMATE_BYTES = auto()
    KEYS = auto()
    DELIVER_AFTER_US = auto()
    PERSISTENT = auto()
    TTL_US = auto()
    SALT = auto()
    END_AT = auto()
    FIRST_SEGMENT = auto()
    SEGMENT_COUNT = auto()
    FIRST_LISTED = auto()
    LISTED_COUNT = auto()  # -1: the log has segments
    ATTEMPTS = auto()  # a retry-letter topic's place in H.ATTEMPTS; -1: the log is none
    FIRST_SIZE = auto()
    SIZE_COUNT = auto()
    ENTRY_COUNT = auto()  # of the whole run
    AVERAGE_MSG = auto()  # average publish rates, for relative limits
    AVERAGE_BYTES = auto()
    TICK_US = auto()
    WIDTH = auto()


class LogSegment(IntEnum):
    """A segment of a log: entries at even distances, as ``world.Segment``."""

    START_AT = 0
    FIRST_ENTRY = auto()
    PER_1000_S = auto()
    WIDTH = auto()


class LogSize(IntEnum):
    """A size of a log's entries, and up to which 32-bit number it is drawn."""

    BYTES = 0
    BELOW = auto()
    WIDTH = auto()


class D(IntEnum):
    """A dispatcher."""

    KIND = 0
    LOG = auto()
    BROKER_LIMITER = auto()
    TOPIC_LIMITER = auto()
    SUBSCRIPTION_LIMITER = auto()
    MAX_UNACKED_CONSUMER = auto()
    MAX_UNACKED_SUBSCRIPTION = auto()
    NACK_BELOW = auto()
    NACK_TIMES = auto()
    NACK_DELAY_US = auto()
    MAX_REDELIVER = auto()
    ACKS = auto()
    CUMULATIVE = auto()
    ACK_TIMEOUT_US = auto()
    RETRY_BELOW = auto()
    RETRY_TIMES = auto()
    MAX_RECONSUME = auto()
    RETRY_DISPATCHER = auto()
    BATCH_INDEX_ACK = auto()
    EXACT = auto()
    FIRST_PORT = auto()
    PORT_COUNT = auto()
    ACTIVE_OFFSET = auto()
    # from here on they change
    POSITION = auto()
    AGAIN_START = auto()
    AGAIN_END = auto()
    REPLAY_COUNT = auto()
    DELAYED_START = auto()
    DELAYED_END = auto()
    READING_COUNT = auto()
    READING_FIRST = auto()  # first entry of the range that is read; -1: rows of H.READING are
    READING_DONE_AT = auto()
    REPLAYING_COUNT = auto()
    REPLAYING_DONE_AT = auto()
    ARMED_COUNT = auto()  # entries that a read wants that waits for new ones; 0: none waits
    ARMED_DONE_AT = auto()
    TIMER_AT = auto()  # the one timer of the rate back-off and the retry back-off
    TICK_AT = auto()  # the timer of delayed delivery
    LAST_TICK_AT = auto()
    BACKOFF_US = auto()
    POLL_AT = auto()  # a requested poll
    ROUND_ROBIN = auto()  # the connected port whose turn is next
    TOTAL_PERMITS = auto()
    UNACKED = auto()
    BLOCKED = auto()
    ACTIVE = auto()
    GONE = auto()  # entries that are no longer in the backlog
    EXPIRED_BELOW = auto()
    SENDS_HEAD = auto()
    SENDS_TAIL = auto()
    NEVER_ACKED_COUNT = auto()
    ACKED_LATE_COUNT = auto()
    DRAINING_COUNT = auto()
    REQUESTS = auto()  # clients that requested redelivery since the last requested poll
    REQUESTS_SO_FAR = auto()
    REQUEST_TURN = auto()  # the number of requested polls
    PASS_UNTIL = auto()
    FOLLOW_UP_AT = auto()  # the one pass for all requests that came while another pass ran
    NEXT_AT = auto()  # the first of all times above
    NACK_TIMER_US = auto()
    PUBLISHED_SEEN = auto()  # published entries when they were last counted
    OLDEST_CACHED = auto()  # the first entry that was in the broker's cache when that was last looked up
    WIDTH = auto()


class C(IntEnum):
    """A write of a single-active dispatcher; the limiters learn of it when it is complete."""

    AT = 0
    ENTRIES = auto()
    SESSION = auto()
    BYTES = auto()
    PORT = auto()
    WIDTH = auto()


class E(IntEnum):
    """An entry in a list."""

    ENTRY = 0
    REDELIVERIES = auto()
    ACKED = auto()
    PORT = auto()
    WIDTH = auto()


class T(IntEnum):
    """Totals of a dispatcher, in the order of ``columns.COUNTS``."""

    PUBLISHED = 0
    OUT_MESSAGES = auto()
    OUT_BYTES = auto()
    OUT_ENTRIES = auto()
    REDELIVERED = auto()
    ACKED = auto()
    EXPIRED = auto()
    DEAD = auto()
    DROPPED = auto()
    POLLS = auto()
    EVENTS = auto()  # throttle events, level x (messages, bytes)
    WIDTH = EVENTS + 6


class S(IntEnum):
    """A sample: the totals, then the gauges in the order of ``columns.GAUGES``."""

    BACKLOG = T.WIDTH
    UNACKED = auto()
    PERMITS = auto()
    REPLAY = auto()
    DELAYED = auto()
    TOKENS = auto()  # level x (messages, bytes)
    WIDTH = TOKENS + 6


# -- the clients -------------------------------------------------------------------------------


class P(IntEnum):
    """A port: one consumer of a client on a dispatcher."""

    WORKER = 0
    DISPATCHER = auto()
    QUEUE = auto()
    CONNECTED = auto()
    PERMITS = auto()
    PARKED = auto()  # permits that a blocked consumer gets when it is unblocked
    UNACKED = auto()
    BLOCKED = auto()
    TAKEN = auto()  # messages that the client took since its last request
    EPOCH = auto()  # items of an older epoch are read again elsewhere
    SESSION = auto()  # requests of an older session have no connection any more
    WAITING = auto()  # messages in the client's queue
    RECONNECT_AT = auto()
    MSGS_PER_ENTRY = auto()
    NACK_TIMER_AT = auto()
    REQUEST_TURN = auto()  # the dispatcher's, when the client last requested redelivery
    WIDTH = auto()


class W(IntEnum):
    """A client."""

    PROCESSING_US = 0
    JOINED = auto()
    HUNG = auto()
    HUNG_LEFT_US = auto()  # what was left of the current message when the client hung
    BUSY = auto()
    BUSY_UNTIL = auto()
    FIRST_PORT = auto()
    PORT_COUNT = auto()
    QUEUE_HEAD = auto()
    QUEUE_TAIL = auto()
    FLOWS_HEAD = auto()
    FLOWS_TAIL = auto()
    NACKS_HEAD = auto()
    NACKS_TAIL = auto()
    NEXT_AT = auto()  # when it does the next thing that another part waits for
    EXPONENTIAL = auto()
    TIMEOUT_AT = auto()  # when the entry that it works on is given back
    WIDTH = auto()


class Q(IntEnum):
    """A range of entries in a client's queue, or the message that a client works on."""

    PORT = 0  # -1: the client works on nothing
    EPOCH = auto()  # GIVEN_BACK: the broker has the entry already
    ENTRY = auto()
    ENTRIES = auto()
    REDELIVERIES = auto()
    ACKED = auto()  # messages that were acknowledged before
    LEFT = auto()  # messages that are left; of the current item 0: this is the entry's last
    WIDTH = auto()


class F(IntEnum):
    """A client's request for messages, on its way to the broker."""

    AT = 0
    PORT = auto()
    MESSAGES = auto()
    SESSION = auto()
    WIDTH = auto()


class N(IntEnum):
    """A negative acknowledgement that a client has not sent yet."""

    DUE_AT = 0
    PORT = auto()
    EPOCH = auto()
    ENTRY = auto()  # -1: a cumulative acknowledgement covered it
    REDELIVERIES = auto()
    ACKED = auto()
    WIDTH = auto()


# -- the timeline ------------------------------------------------------------------------------


class X(IntEnum):
    """A step of the timeline."""

    AT = 0
    KIND = auto()
    NUMBER = auto()
    VALUE = auto()
    MSG = auto()
    BYTES = auto()
    PERIOD_US = auto()
    RELATIVE = auto()
    WIDTH = auto()
