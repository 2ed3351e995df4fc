"""Array layout of the kernel. In: a world and a machine. Out: the kernel's totals by name.

Containers start small; where one overflows, the run says which, it is doubled, and the run starts again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from throttlescope.models.throttling.columns import COUNTS, EVENTS, GAUGES
from throttlescope.models.throttling.kernel.fields import (
    DONE,
    ENGINE_A,
    ENGINE_A0,
    ENGINE_B,
    ENGINE_C,
    HANG,
    JOIN,
    JOINS_AT_START,
    KEY_SHARED,
    LEAVE,
    LIST_FULL,
    NEVER,
    PROCESSING,
    QUEUE_FULL,
    RATES,
    RESUME,
    RING_FULL,
    SEEK,
    SHARED,
    SINGLE,
    UNLOAD,
    C,
    D,
    E,
    F,
    G,
    H,
    LogSegment,
    LogSize,
    M,
    N,
    P,
    Q,
    R,
    S,
    T,
    W,
    X,
)
from throttlescope.models.throttling.kernel.simulation import run_packed
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.world import Rates, World

_ENGINES = {"A0": ENGINE_A0, "A": ENGINE_A, "B": ENGINE_B, "C": ENGINE_C}
_KINDS = {"single": SINGLE, "shared": SHARED, "key_shared": KEY_SHARED}
_STEPS = {
    "rates": RATES,
    "processing": PROCESSING,
    "join": JOIN,
    "leave": LEAVE,
    "hang": HANG,
    "resume": RESUME,
    "unload": UNLOAD,
    "seek": SEEK,
}
#: A world of more bytes than this is refused: it holds more at the same time than a machine can.
MAX_BYTES = 4 * 2**30


def run_kernel(world: World, machine: Machine, every_us: int = 1_000_000) -> dict[str, np.ndarray]:
    """Simulate with the compiled kernel; the same answer as :func:`twin.run_twin`.

    Parameters
    ----------
    world
        The laid out scenario.
    machine
        Latencies.
    every_us
        Distance of the samples.

    Returns
    -------
    dict
        Arrays of int64, samples x dispatchers, one per name of ``columns.COLUMNS``; counts are totals.

    Raises
    ------
    MemoryError
        What waits at the same time does not fit.
    """
    return run_counted(world, machine, every_us)[0]


def run_counted(
    world: World, machine: Machine, every_us: int = 1_000_000
) -> tuple[dict[str, np.ndarray], int]:
    """As :func:`run_kernel`, with the number of events that the clock stopped at."""
    queue, lists, ring = first_sizes(world)
    samples = world.duration_us // every_us
    while True:
        packed = pack(world, machine, every_us, queue, lists, ring)
        out = np.zeros((samples, len(world.dispatchers), S.WIDTH), np.int64)
        status, events = run_packed(packed, out)
        if status == DONE:
            names = (*COUNTS, *GAUGES)
            return {name: out[:, :, number] for number, name in enumerate(names)}, events
        queue *= 2 if status == QUEUE_FULL else 1
        lists *= 2 if status == LIST_FULL else 1
        ring *= 2 if status == RING_FULL else 1


def first_sizes(world: World) -> tuple[int, int, int]:
    """Sizes of queues, lists and rings to begin with."""
    exact = any(item.exact for item in world.dispatchers)
    queue = 64
    if exact:
        queue = max(
            (sum(world.ports[p].queue + 128 for p in worker.ports) for worker in world.workers), default=64
        )
    return min(1 << (queue - 1).bit_length(), 1 << 20), 1 << 12, 1 << 6


def pack(world: World, machine: Machine, every_us: int, queue: int, lists: int, ring: int) -> np.ndarray:
    """Lay a world out in one array: rules and clock, places, tables, containers."""
    rules = _rules(world, machine, every_us)
    workers, dispatchers = len(world.workers), len(world.dispatchers)
    batch = int(rules[R.READ_BATCH])
    logs, segments, listed, sizes = _logs(world)
    dispatcher_rows, ports_of = _dispatchers(world)
    worker_rows, ports_of_worker = _workers(world)
    header = np.zeros(H.WIDTH, np.int64)
    header[: R.NOW] = rules
    tables = {
        H.METERS: _meters(world),
        H.LIMITER_LOG: np.array([item.log for item in world.limiters], np.int64),
        H.LOGS: logs,
        H.SEGMENTS: segments,
        H.LISTED: listed,
        H.SIZES: sizes,
        H.DISPATCHERS: dispatcher_rows,
        H.TOTALS: np.zeros(dispatchers * T.WIDTH, np.int64),
        H.PORTS: _ports(world),
        H.DISPATCHER_PORTS: ports_of,
        H.WORKERS: worker_rows,
        H.WORKER_PORTS: ports_of_worker,
        H.CURRENT: np.full(workers * Q.WIDTH, -1, np.int64),
        H.STEPS: _steps(world),
    }
    containers = {
        H.QUEUES: workers * queue * Q.WIDTH,
        H.FLOWS: workers * ring * F.WIDTH,
        H.NACKS: workers * lists * N.WIDTH,
        H.AGAIN: dispatchers * lists * E.WIDTH,
        H.REPLAY: dispatchers * lists * E.WIDTH,
        H.DELAYED: dispatchers * lists * E.WIDTH,
        H.NEVER_ACKED: dispatchers * lists * E.WIDTH,
        H.ACKED_LATE: dispatchers * lists * E.WIDTH,
        H.DRAINING: dispatchers * lists * E.WIDTH,
        H.RETRIED: sum(log.is_retry for log in world.logs) * lists,
        H.ATTEMPTS: sum(log.is_retry for log in world.logs) * lists,
        H.READING: (dispatchers + 1) * batch * E.WIDTH,
        H.REPLAYING: dispatchers * batch * E.WIDTH,
        H.SENDS: dispatchers * ring * C.WIDTH,
        H.SCRATCH: len(world.ports) + batch + 1,
    }
    if sum(containers.values()) * 8 > MAX_BYTES:
        raise MemoryError(
            f"the simulation would hold {max(queue, lists)} entries of every subscription partition at the same time;"
            " lower queues, delays, consumers or partitions"
        )
    at = len(header)
    for place, table in tables.items():
        header[place] = at
        at += table.size
    for place, size in containers.items():
        header[place] = at
        at += size
    header[H.LIMITER_COUNT], header[H.LOG_COUNT] = len(world.limiters), len(world.logs)
    header[H.DISPATCHER_COUNT], header[H.PORT_COUNT] = dispatchers, len(world.ports)
    header[H.WORKER_COUNT], header[H.STEP_COUNT] = workers, len(world.steps)
    header[H.QUEUE_SIZE], header[H.RING_SIZE], header[H.LIST_SIZE] = queue, ring, lists
    header[H.READ_SIZE], header[H.SPARE_READ] = batch, dispatchers
    for row in logs:
        if row[G.ATTEMPTS] >= 0:
            # Read like other listed times; they lie in a container, because they become more.
            row[G.FIRST_LISTED] = header[H.RETRIED] + row[G.ATTEMPTS] * lists - header[H.LISTED]
    packed = np.zeros(at, np.int64)
    packed[: len(header)] = header
    for place, table in tables.items():
        packed[header[place] : header[place] + table.size] = table.reshape(-1)
    return packed


def _rules(world: World, machine: Machine, every_us: int) -> np.ndarray:
    rules = world.rules
    values = {
        R.ENGINE: _ENGINES[rules.engine],
        R.READ_BATCH: rules.read_batch,
        R.READ_BYTES: rules.read_bytes,
        R.ROUND_ROBIN: rules.round_robin,
        R.PRECISE: rules.precise,
        R.PER_ENTRY: rules.per_entry,
        R.LIMITS_CAUGHT_UP: rules.limits_caught_up,
        R.ESTIMATE_EXTRA_BYTES: rules.estimate_extra_bytes,
        R.RETRY_BACKOFF: rules.retry_backoff,
        R.DELAY_TICK_US: rules.delay_tick_us,
        R.STATS_US: rules.stats_us,
        R.EXPIRY_US: rules.expiry_us,
        R.BACKLOGGED_ENTRIES: rules.backlogged_entries,
        R.KEEPS_CURSOR_ACTIVE: rules.keeps_cursor_active,
        R.DRAINS_HASHES: rules.drains_hashes,
        R.LOOK_AHEAD_PER_CONSUMER: rules.look_ahead_per_consumer,
        R.LOOK_AHEAD: rules.look_ahead,
        R.SECOND_PASS_BELOW: machine.second_pass_below if rules.redelivery_requests_flow else 0,
        R.PASS_US: machine.pass_us if rules.merges_reads else 0,
        R.READ_US: machine.read_us,
        R.READ_ENTRY_US: machine.read_entry_us,
        R.NOTIFY_US: machine.notify_us,
        R.SEND_US: machine.send_us,
        R.FLOW_US: machine.flow_us,
        R.TIMER_LATE_US: machine.timer_late_us,
        R.RECONNECT_US: machine.reconnect_us,
        R.DURATION_US: world.duration_us,
        R.EVERY_US: every_us,
        R.ANY_TTL: any(log.ttl_us for log in world.logs),
        R.ANONYMOUS: is_anonymous(world),
        R.CACHE_US: rules.cache_us,
        R.CACHED_READ_US: machine.young[0],
        R.CACHED_ENTRY_US: machine.young[1],
    }
    return np.array([int(values[index]) for index in range(R.NOW)], np.int64)


def is_anonymous(world: World) -> bool:
    """Whether it never matters which entries a client has: none is redelivered, none expires there, none is delayed."""
    return (
        not any(item.exact for item in world.dispatchers)
        and not any(step.kind in ("leave", "unload", "seek") for step in world.steps)
        and not any(log.ttl_us or log.deliver_after_us or not log.persistent for log in world.logs)
    )


def _meters(world: World) -> np.ndarray:
    """Meters as they are set; :func:`run_packed` fills them."""
    rows = np.zeros((len(world.limiters), 2, M.WIDTH), np.int64)
    for row, limiter in zip(rows, world.limiters, strict=True):
        rates = limiter.rates
        row[:, M.CONFIGURED] = rates.msg, rates.bytes
        row[:, M.RELATIVE], row[:, M.PERIOD_US] = rates.relative, rates.period_us
    return rows


def _logs(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.logs), G.WIDTH), np.int64)
    segments: list[tuple[int, int, int]] = []
    sizes: list[tuple[int, int]] = []
    listed: list[np.ndarray] = []
    filled = retries = 0
    for row, log in zip(rows, world.logs, strict=True):
        row[G.MSGS], row[G.ESTIMATE_BYTES], row[G.KEYS] = log.msgs, log.estimate_bytes, log.keys
        row[G.DELIVER_AFTER_US], row[G.PERSISTENT], row[G.TTL_US] = (
            log.deliver_after_us,
            log.persistent,
            log.ttl_us,
        )
        row[G.SALT], row[G.END_AT], row[G.ENTRY_COUNT] = log.salt, log.end_us, log.published(log.end_us)
        row[G.TICK_US] = log.tick_us
        row[G.FIRST_SEGMENT], row[G.SEGMENT_COUNT] = len(segments), len(log.segments)
        segments += [(item.start_us, item.first, item.per_1000_s) for item in log.segments]
        row[G.FIRST_SIZE], row[G.SIZE_COUNT] = len(sizes), len(log.sizes)
        sizes += log.sizes
        row[G.FIRST_LISTED], row[G.LISTED_COUNT] = filled, -1
        row[G.ATTEMPTS] = -1
        if log.is_retry:
            row[G.LISTED_COUNT], row[G.ATTEMPTS] = 0, retries
            retries += 1
        if log.listed_us is not None:
            row[G.LISTED_COUNT] = len(log.listed_us)
            listed.append(np.asarray(log.listed_us, np.int64))
            filled += len(log.listed_us)
    times = np.concatenate(listed) if listed else np.zeros(1, np.int64)
    return rows, _table(segments, LogSegment.WIDTH), times, _table(sizes, LogSize.WIDTH)


def _dispatchers(world: World) -> tuple[np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.dispatchers), D.WIDTH), np.int64)
    ports: list[int] = []
    for row, item in zip(rows, world.dispatchers, strict=True):
        row[D.KIND], row[D.LOG] = _KINDS[item.kind], item.log
        row[D.BROKER_LIMITER], row[D.TOPIC_LIMITER], row[D.SUBSCRIPTION_LIMITER] = item.limiters
        row[D.MAX_UNACKED_CONSUMER], row[D.MAX_UNACKED_SUBSCRIPTION] = (
            item.max_unacked_consumer,
            item.max_unacked_subscription,
        )
        row[D.NACK_BELOW], row[D.NACK_TIMES] = item.nack_below, item.nack_times
        row[D.NACK_TIMER_US] = item.nack_timer_us
        row[D.NACK_DELAY_US], row[D.MAX_REDELIVER] = item.nack_delay_us, item.max_redeliver
        row[D.ACKS], row[D.BATCH_INDEX_ACK] = item.acks, item.batch_index_ack
        row[D.CUMULATIVE] = item.cumulative
        # A non-persistent topic sends nothing again.
        row[D.ACK_TIMEOUT_US] = item.ack_timeout_us if world.logs[item.log].persistent else 0
        row[D.RETRY_BELOW], row[D.RETRY_TIMES] = item.retry_below, item.retry_times
        row[D.MAX_RECONSUME], row[D.RETRY_DISPATCHER] = item.max_reconsume, item.retry_dispatcher
        row[D.REQUEST_TURN] = 1
        row[D.EXACT], row[D.ACTIVE_OFFSET] = item.exact, item.active_offset
        row[D.FIRST_PORT], row[D.PORT_COUNT] = len(ports), len(item.ports)
        row[D.ACTIVE], row[D.BACKOFF_US] = 1, 1_000
        row[D.POSITION] = row[D.GONE] = item.first
        for field in (
            D.READING_DONE_AT, D.REPLAYING_DONE_AT, D.ARMED_DONE_AT, D.TIMER_AT, D.TICK_AT, D.POLL_AT, D.NEXT_AT,
            D.FOLLOW_UP_AT,
        ):  # fmt: skip
            row[field] = NEVER
        ports += item.ports
    return rows, _array(ports)


def _ports(world: World) -> np.ndarray:
    rows = np.zeros((len(world.ports), P.WIDTH), np.int64)
    for row, item in zip(rows, world.ports, strict=True):
        row[P.WORKER], row[P.DISPATCHER], row[P.QUEUE] = item.worker, item.dispatcher, item.queue
        row[P.RECONNECT_AT] = row[P.NACK_TIMER_AT] = NEVER
    return rows


def _workers(world: World) -> tuple[np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.workers), W.WIDTH), np.int64)
    ports: list[int] = []
    for row, item in zip(rows, world.workers, strict=True):
        row[W.PROCESSING_US], row[W.EXPONENTIAL] = item.processing_us, item.exponential
        row[W.JOINED] = JOINS_AT_START if item.joined else 0
        row[W.FIRST_PORT], row[W.PORT_COUNT] = len(ports), len(item.ports)
        row[W.NEXT_AT] = row[W.TIMEOUT_AT] = NEVER
        ports += item.ports
    return rows, _array(ports)


def _steps(world: World) -> np.ndarray:
    rows = np.zeros((len(world.steps), X.WIDTH), np.int64)
    for row, step in zip(rows, world.steps, strict=True):
        rates: Rates = step.rates
        row[:] = (
            step.at_us, _STEPS[step.kind], step.number, step.value, rates.msg, rates.bytes, rates.period_us,
            rates.relative,
        )  # fmt: skip
    return rows


def _array(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)


def _table(rows: Sequence[tuple[int, ...]], columns: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, columns)


assert len(COUNTS) == T.WIDTH, "columns.COUNTS and the kernel's totals must agree"
assert S.WIDTH == len(COUNTS) + len(GAUGES) == S.TOKENS + len(EVENTS)
