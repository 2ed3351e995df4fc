"""Simpler rules that the verdicts have to beat. In: a window, or the true causes. Out: the side that a rule names.

``naive rule``
    :mod:`throttlescope.models.diagnosis.naive`: a backlog above 1,000 entries with any throttle event is throttled, without one
    the consumers are slow.
``rho alone``
    A limit that is used to 90 % means throttled; else a backlog above 1,000 entries means slow consumers.
``Burrow's rules``
    LinkedIn's Burrow (``core/internal/evaluator/caching.go``) asks a sliding window of committed offsets. It knows no limiter:
    WARN, STALL and STOP all blame the consumer, OK blames none.
``majority``
    Always the most frequent true cause of what is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis.thresholds import NAIVE_BACKLOG_ENTRIES, RHO_AT_LIMIT
from throttlescope.models.diagnosis.window import Window

#: Sides of Burrow's four statuses.
BURROW_SIDE = {
    "OK": "neither",
    "WARN": "consumer_capacity",
    "STALL": "consumer_capacity",
    "STOP": "consumer_capacity",
}

#: The cause that a rule means which only knows sides.
CAUSE_OF_SIDE = {
    "throttle": "throttled",
    "consumer_capacity": "slow_consumers",
    "both": "both",
    "neither": "healthy",
    "unknown": "unknown",
}


def baseline_sides(window: Window) -> dict[str, str]:
    """What the rules of this module say that need nothing but a window."""
    return {"rho alone": rho_alone(window), "Burrow's rules": burrow(window)}


def rho_alone(window: Window) -> str:
    """Mean use of any limit from 0.9 on: throttle; else a backlog above 1,000 entries: consumer_capacity; else neither.

    ``unknown`` where the backlog is missing, and where there is one and no limit was ever read.
    """
    used = [
        rho for level in LEVELS for unit in UNITS if (rho := window.mean(f"rho_{level}_{unit}")) is not None
    ]
    if used and max(used) >= RHO_AT_LIMIT:
        return "throttle"
    backlog = window.last("backlog_ready_entries")
    if backlog is None:
        return "unknown"
    if backlog <= NAIVE_BACKLOG_ENTRIES:
        return "neither"
    return "consumer_capacity" if window.any("limits_observed") else "unknown"


def burrow(window: Window) -> str:
    """The side of Burrow's status; ``unknown`` where the backlog is missing."""
    status = burrow_status(window)
    return "unknown" if status is None else BURROW_SIDE[status]


def burrow_status(window: Window) -> str | None:
    """Burrow's rules over a window's minutes, for Pulsar's words.

    Returns
    -------
    str or None
        ``OK``, ``WARN``, ``STALL`` or ``STOP``; None where the backlog was never measured.

    Notes
    -----
    In Burrow's order: a backlog that was zero at any minute's end is OK. Nothing committed for a whole window is STOP. Commits
    at an offset that never moves are STALL. A backlog that never falls from one minute to the next is WARN. The rest is OK.
    The committed offset is Pulsar's mark-delete position, a commit an acknowledgement; their ages say when they last moved.
    Without any acknowledgement ever, or with no consumer left, dispatching counts as commits. Burrow's rule for an offset that goes back has
    no counterpart: a cursor that was reset does not show in the metrics.
    """
    backlog = window.known("backlog_entries")
    if not backlog:
        return None
    if min(backlog) <= 0:
        return "OK"
    ack_age_s, moved_age_s = window.last("last_ack_age_s"), window.last("mark_delete_age_s")
    committed = bool(window.total("out_msg_delta")) if ack_age_s is None else ack_age_s <= window.length_s
    if not committed:
        return "STOP"
    if moved_age_s is not None and moved_age_s > window.length_s:
        return "STALL"
    if all(later >= earlier for earlier, later in pairwise(backlog)):
        return "WARN"
    return "OK"


def majority(true_causes: Iterable[str]) -> str:
    """The most frequent cause; of equally frequent ones the first in the alphabet.

    It knows the truth that it is evaluated with, which favours it.
    """
    counts = Counter(true_causes)
    return min(counts, key=lambda cause: (-counts[cause], cause))
