"""A fluid queue and the age of its oldest message. In: arrivals per step, a service rate. Out: backlogs and ages at the steps' ends.

Messages come evenly within a step and are served in their order at a constant rate. The slow twin, which moves parcels of
messages one by one, is ``tests/naive/fluid_age.py``.
"""

from __future__ import annotations

import numpy as np


def backlog_msg(arrived_msg: np.ndarray, served_msg: float) -> np.ndarray:
    """What waits at each step's end when up to ``served_msg`` are served in a step; nothing waits at the start.

    Parameters
    ----------
    arrived_msg : ndarray of float64, shape (steps,)

    Returns
    -------
    ndarray of float64, shape (steps,)
    """
    if np.isinf(served_msg):
        return np.zeros(len(arrived_msg))
    surplus = np.cumsum(arrived_msg - served_msg)
    # Lindley's recursion, max(0, before + arrived - served), all at once.
    return surplus - np.minimum(0.0, np.minimum.accumulate(surplus))


def oldest_age_s(arrived_msg: np.ndarray, backlog_msg: np.ndarray, step_s: float) -> np.ndarray:
    """Age of the oldest message that waits at each step's end; 0 where none does.

    What waits is what came last. A backlog of more than ever came is as old as the first step.

    Parameters
    ----------
    arrived_msg, backlog_msg : ndarray of float64, shape (steps,)
    """
    came = np.r_[0.0, np.cumsum(arrived_msg)]
    gone = np.maximum(came[1:] - backlog_msg, 0.0)
    # A part of a message is none: sums of fractions are never quite 0.
    waits = backlog_msg > 1e-6 * np.maximum(1.0, came[1:])
    # The first message that came after those that are gone: in the step behind the last end with no more than they.
    step = np.minimum(np.searchsorted(came, gone, side="right") - 1, len(arrived_msg) - 1)
    size = np.where(arrived_msg[step] > 0, arrived_msg[step], 1.0)
    began_s = (step + np.clip((gone - came[step]) / size, 0.0, 1.0)) * step_s
    ends_s = np.arange(1, len(arrived_msg) + 1) * step_s
    return np.where(waits, np.maximum(ends_s - began_s, 0.0), 0.0)
