"""Array layout of the kernel. In: a world and a machine. Out: the kernel's totals by name.

Containers start small; where one overflows, the run says which, it is doubled, and the run starts again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from throttlescope.models.throttling.columns import COUNTS, EVENTS, GAUGES
from throttlescope.models.throttling.kernel import engine as k
from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.world import Rates, World

_ENGINES = {"A0": k.ENGINE_A0, "A": k.ENGINE_A, "B": k.ENGINE_B, "C": k.ENGINE_C}
_KINDS = {"single": k.SINGLE, "shared": k.SHARED, "key_shared": k.KEY_SHARED}
_STEPS = {
    "rates": k.RATES,
    "processing": k.PROCESSING,
    "join": k.JOIN,
    "leave": k.LEAVE,
    "hang": k.HANG,
    "resume": k.RESUME,
    "unload": k.UNLOAD,
    "seek": k.SEEK,
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
        out = np.zeros((samples, len(world.dispatchers), k.S_COUNT), np.int64)
        status, events = k.run_packed(packed, out)
        if status == k.DONE:
            names = (*COUNTS, *GAUGES)
            return {name: out[:, :, number] for number, name in enumerate(names)}, events
        queue *= 2 if status == k.QUEUE_FULL else 1
        lists *= 2 if status == k.LIST_FULL else 1
        ring *= 2 if status == k.RING_FULL else 1


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
    batch = int(rules[k.R_BATCH])
    logs, segments, listed, sizes = _logs(world)
    dispatcher_rows, ports_of = _dispatchers(world)
    worker_rows, ports_of_worker = _workers(world)
    header = np.zeros(k.H_COUNT, np.int64)
    header[: k.R_COUNT + 1] = rules
    tables = {
        k.H_METERS: np.zeros(len(world.limiters) * 2 * k.M_COUNT, np.int64),
        k.H_LIMITER_LOG: np.array([item.log for item in world.limiters], np.int64),
        k.H_LOGS: logs,
        k.H_SEGMENTS: segments,
        k.H_LISTED: listed,
        k.H_SIZES: sizes,
        k.H_DISPATCHERS: dispatcher_rows,
        k.H_TOTALS: np.zeros(dispatchers * k.T_COUNT, np.int64),
        k.H_PORTS: _ports(world),
        k.H_PORTS_OF: ports_of,
        k.H_WORKERS: worker_rows,
        k.H_PORTS_OF_WORKER: ports_of_worker,
        k.H_CURRENT: np.full(workers * k.I_COUNT, -1, np.int64),
        k.H_STEPS: _steps(world),
    }
    containers = {
        k.H_QUEUE: workers * queue * k.I_COUNT,
        k.H_FLOWS: workers * ring * k.FLOW_COUNT,
        k.H_BACKS: workers * lists * k.BACK_COUNT,
        k.H_AGAIN: dispatchers * lists * k.E_COUNT,
        k.H_REPLAY: dispatchers * lists * k.E_COUNT,
        k.H_DELAYED: dispatchers * lists * k.E_COUNT,
        k.H_HELD: dispatchers * lists * k.E_COUNT,
        k.H_READING: (dispatchers + 1) * batch * k.E_COUNT,
        k.H_REPLAYING: dispatchers * batch * k.E_COUNT,
        k.H_SENDS: dispatchers * ring * k.SEND_COUNT,
        k.H_SCRATCH: len(world.ports) + batch + 1,
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
    header[k.H_N_LIMITERS], header[k.H_N_LOGS] = len(world.limiters), len(world.logs)
    header[k.H_N_DISPATCHERS], header[k.H_N_PORTS] = dispatchers, len(world.ports)
    header[k.H_N_WORKERS], header[k.H_N_STEPS] = workers, len(world.steps)
    header[k.H_QUEUE_SIZE], header[k.H_RING], header[k.H_LISTS] = queue, ring, lists
    header[k.H_READ_SIZE], header[k.H_SPARE] = batch, dispatchers
    packed = np.zeros(at, np.int64)
    packed[: len(header)] = header
    for place, table in tables.items():
        packed[header[place] : header[place] + table.size] = table.reshape(-1)
    for number, limiter in enumerate(world.limiters):
        rates = limiter.rates
        for unit, rate in enumerate((rates.msg, rates.bytes)):
            meter = int(header[k.H_METERS]) + (number * 2 + unit) * k.M_COUNT
            k.renew(packed, meter, rules[k.R_ENGINE], rate, int(rates.relative), 0, rates.period_us, 0, True)
    return packed


def _rules(world: World, machine: Machine, every_us: int) -> np.ndarray:
    rules = world.rules
    values = {
        k.R_ENGINE: _ENGINES[rules.engine],
        k.R_BATCH: rules.read_batch,
        k.R_BYTES: rules.read_bytes,
        k.R_ROBIN: rules.round_robin,
        k.R_PRECISE: rules.precise,
        k.R_PER_ENTRY: rules.per_entry,
        k.R_CAUGHT_UP: rules.limits_caught_up,
        k.R_EXTRA: rules.estimate_extra_bytes,
        k.R_RETRY: rules.retry_backoff,
        k.R_TICK: rules.delay_tick_us,
        k.R_STATS: rules.stats_us,
        k.R_EXPIRY: rules.expiry_us,
        k.R_BACKLOGGED: rules.backlogged_entries,
        k.R_KEEPS_ACTIVE: rules.keeps_cursor_active,
        k.R_READ: machine.read_us,
        k.R_READ_ENTRY: machine.read_entry_us,
        k.R_NOTIFY: machine.notify_us,
        k.R_SEND: machine.send_us,
        k.R_FLOW: machine.flow_us,
        k.R_LATE: machine.timer_late_us,
        k.R_RECONNECT: machine.reconnect_us,
        k.R_DURATION: world.duration_us,
        k.R_EVERY: every_us,
        k.R_ANY_TTL: any(log.ttl_us for log in world.logs),
        k.R_ANONYMOUS: is_anonymous(world),
        k.R_CACHE: rules.cache_us,
        k.R_CACHED: machine.young[0],
        k.R_CACHED_ENTRY: machine.young[1],
    }
    # One place more: the kernel keeps its clock there.
    return np.array([int(values[index]) for index in range(k.R_COUNT)] + [0], np.int64)


def is_anonymous(world: World) -> bool:
    """Whether it never matters which entries a client has: none is redelivered, none expires there, none is delayed."""
    return (
        not any(item.exact for item in world.dispatchers)
        and not any(step.kind in ("leave", "unload", "seek") for step in world.steps)
        and not any(log.ttl_us or log.deliver_after_us or not log.persistent for log in world.logs)
    )


def _logs(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.logs), k.G_COUNT), np.int64)
    segments: list[tuple[int, int, int]] = []
    sizes: list[tuple[int, int]] = []
    listed: list[np.ndarray] = []
    filled = 0
    for row, log in zip(rows, world.logs, strict=True):
        row[k.G_MSGS], row[k.G_ESTIMATE], row[k.G_KEYS] = log.msgs, log.estimate_bytes, log.keys
        row[k.G_DELAY], row[k.G_PERSISTENT], row[k.G_TTL] = log.deliver_after_us, log.persistent, log.ttl_us
        row[k.G_SALT], row[k.G_END], row[k.G_TOTAL] = log.salt, log.end_us, log.published(log.end_us)
        row[k.G_TICK] = log.tick_us
        row[k.G_SEGMENT], row[k.G_SEGMENTS] = len(segments), len(log.segments)
        segments += [(item.start_us, item.first, item.per_1000_s) for item in log.segments]
        row[k.G_SIZE], row[k.G_SIZES] = len(sizes), len(log.sizes)
        sizes += log.sizes
        row[k.G_LISTED], row[k.G_LISTED_COUNT] = filled, -1
        if log.listed_us is not None:
            row[k.G_LISTED_COUNT] = len(log.listed_us)
            listed.append(np.asarray(log.listed_us, np.int64))
            filled += len(log.listed_us)
    times = np.concatenate(listed) if listed else np.zeros(1, np.int64)
    return rows, _table(segments, 3), times, _table(sizes, 2)


def _dispatchers(world: World) -> tuple[np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.dispatchers), k.D_COUNT), np.int64)
    ports: list[int] = []
    for row, item in zip(rows, world.dispatchers, strict=True):
        row[k.D_KIND], row[k.D_LOG] = _KINDS[item.kind], item.log
        row[k.D_BROKER], row[k.D_TOPIC], row[k.D_SUBSCRIPTION] = item.limiters
        row[k.D_MAX_CONSUMER], row[k.D_MAX_UNACKED] = item.max_unacked_consumer, item.max_unacked_subscription
        row[k.D_NACK_BELOW], row[k.D_NACK_TIMES] = item.nack_below, item.nack_times
        row[k.D_NACK_TIMER] = item.nack_timer_us
        row[k.D_NACK_DELAY], row[k.D_MAX_REDELIVER] = item.nack_delay_us, item.max_redeliver
        row[k.D_ACKS], row[k.D_INDEX_ACK] = item.acks, item.batch_index_ack
        row[k.D_EXACT], row[k.D_OFFSET] = item.exact, item.active_offset
        row[k.D_PORT], row[k.D_PORTS] = len(ports), len(item.ports)
        row[k.D_ACTIVE], row[k.D_BACKOFF] = 1, 1_000
        row[k.D_POSITION] = row[k.D_GONE] = item.first
        for field in (
            k.D_READ_AT, k.D_REPLAY_AT, k.D_ARM_AT, k.D_TIMER_AT, k.D_TICK_AT, k.D_POLL_AT, k.D_NEXT,
        ):  # fmt: skip
            row[field] = k.NEVER
        ports += item.ports
    return rows, _array(ports)


def _ports(world: World) -> np.ndarray:
    rows = np.zeros((len(world.ports), k.P_COUNT), np.int64)
    for row, item in zip(rows, world.ports, strict=True):
        row[k.P_WORKER], row[k.P_DISPATCHER], row[k.P_QUEUE] = item.worker, item.dispatcher, item.queue
        row[k.P_RECONNECT_AT] = row[k.P_NACK_AT] = k.NEVER
    return rows


def _workers(world: World) -> tuple[np.ndarray, np.ndarray]:
    rows = np.zeros((len(world.workers), k.W_COUNT), np.int64)
    ports: list[int] = []
    for row, item in zip(rows, world.workers, strict=True):
        row[k.W_PROCESSING], row[k.W_EXPONENTIAL] = item.processing_us, item.exponential
        # 2 says: connects at the start.
        row[k.W_JOINED] = 2 if item.joined else 0
        row[k.W_PORT], row[k.W_PORTS] = len(ports), len(item.ports)
        row[k.W_NEXT] = k.NEVER
        ports += item.ports
    return rows, _array(ports)


def _steps(world: World) -> np.ndarray:
    rows = np.zeros((len(world.steps), k.X_COUNT), np.int64)
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


assert len(COUNTS) == k.T_COUNT, "columns.COUNTS and the kernel's totals must agree"
assert k.S_COUNT == len(COUNTS) + len(GAUGES) == k.S_TOKENS + len(EVENTS)
