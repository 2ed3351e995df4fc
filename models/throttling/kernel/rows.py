"""Rows of the kernel's tables. In: numbers. Out: the place in the array where a row begins; see :mod:`fields`."""

from __future__ import annotations

from throttlescope.models.throttling.kernel.compilation import compiled
from throttlescope.models.throttling.kernel.fields import C, D, E, F, G, H, M, N, P, Q, T, W, X


@compiled
def meter_at(a, limiter, unit):
    """A limiter's meter of messages (0) or bytes (1)."""
    return a[H.METERS] + (limiter * 2 + unit) * M.WIDTH


@compiled
def log_at(a, g):
    """A log, by its number."""
    return a[H.LOGS] + g * G.WIDTH


@compiled
def dispatcher_at(a, d):
    """A dispatcher, by its number."""
    return a[H.DISPATCHERS] + d * D.WIDTH


@compiled
def log_of(a, dispatcher):
    """The log that a dispatcher reads."""
    return log_at(a, a[dispatcher + D.LOG])


@compiled
def totals_at(a, d):
    """The totals of a dispatcher."""
    return a[H.TOTALS] + d * T.WIDTH


@compiled
def port_at(a, p):
    """A port, by its number."""
    return a[H.PORTS] + p * P.WIDTH


@compiled
def ports_of(a, dispatcher):
    """Places of the numbers of a dispatcher's ports: ``for place in ports_of(a, dispatcher): p = a[place]``."""
    first = a[H.DISPATCHER_PORTS] + a[dispatcher + D.FIRST_PORT]
    return range(first, first + a[dispatcher + D.PORT_COUNT])


@compiled
def ports_of_worker(a, worker):
    """Places of the numbers of a client's ports."""
    first = a[H.WORKER_PORTS] + a[worker + W.FIRST_PORT]
    return range(first, first + a[worker + W.PORT_COUNT])


@compiled
def worker_at(a, w):
    """A client, by its number."""
    return a[H.WORKERS] + w * W.WIDTH


@compiled
def current_at(a, w):
    """The item that a client works on."""
    return a[H.CURRENT] + w * Q.WIDTH


@compiled
def queue_at(a, w, number):
    """An item of a client's queue, counted from the start of the run."""
    return a[H.QUEUES] + (w * a[H.QUEUE_SIZE] + (number & (a[H.QUEUE_SIZE] - 1))) * Q.WIDTH


@compiled
def flow_at(a, w, number):
    """A request of a client, counted from the start of the run."""
    return a[H.FLOWS] + (w * a[H.RING_SIZE] + (number & (a[H.RING_SIZE] - 1))) * F.WIDTH


@compiled
def nack_at(a, w, number):
    """A negative acknowledgement of a client, counted from the start of the run."""
    return a[H.NACKS] + (w * a[H.LIST_SIZE] + (number & (a[H.LIST_SIZE] - 1))) * N.WIDTH


@compiled
def send_at(a, d, number):
    """A write of a dispatcher, counted from the start of the run."""
    return a[H.SENDS] + (d * a[H.RING_SIZE] + (number & (a[H.RING_SIZE] - 1))) * C.WIDTH


@compiled
def list_at(a, table, d, number):
    """A row of a dispatcher's list in one of the tables ``H.AGAIN``, ``H.REPLAY``, ``H.DELAYED`` and ``H.NEVER_ACKED``."""
    return a[table] + (d * a[H.LIST_SIZE] + number) * E.WIDTH


@compiled
def read_at(a, table, d, number):
    """A row of what a dispatcher's read brings, in ``H.READING`` or ``H.REPLAYING``."""
    return a[table] + (d * a[H.READ_SIZE] + number) * E.WIDTH


@compiled
def step_at(a, number):
    """A step of the timeline."""
    return a[H.STEPS] + number * X.WIDTH


@compiled
def copy_row(a, to, source, width):
    """Copy a row over another one."""
    for number in range(width):
        a[to + number] = a[source + number]
