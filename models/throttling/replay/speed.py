"""Read speed of a broker, estimated from a window. In: the window and what is assumed about it. Out: a :class:`Speed`.

No metric says how long a read takes, and it decides how much of a limit is lost between two reads and how fast a backlog is read
that nothing else limits. The latencies that were fitted to a lab of two busy cores are the slowest that are tried; every speed that
replays the window as well as the best one is considered possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from throttlescope.models.throttling.machine import Machine
from throttlescope.models.throttling.replay.observed import Observed
from throttlescope.models.throttling.replay.rebuild import Assumed, selected_dispatchers, window_world
from throttlescope.models.throttling.simulate import run

#: Latencies that are tried, as shares of the machine's.
TRIED = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.03, 0.0)
#: A window is replayed as well when its error is larger by no more than this share of the peak.
AS_WELL_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Speed:
    """Machines that replay a window, and how well.

    Attributes
    ----------
    fitted : Machine
        The slowest that replays the window as well as the best: the one nearest to what was measured on a real broker.
    fastest : Machine
        The fastest that does.
    fitted_share, fastest_share : float
        Their latencies as shares of the machine's that was given.
    backlog_entries : ndarray of int64
        The backlog with ``fitted`` at the end of every second of the window.
    error_share : float
        Its mean distance from the recorded backlog over the recorded peak.
    """

    fitted: Machine
    fastest: Machine
    fitted_share: float
    fastest_share: float
    backlog_entries: np.ndarray
    error_share: float


def fit_speed(observed: Observed, assumed: Assumed, machine: Machine, engine: str) -> Speed:
    """Replay a window at several speeds and take those that fit."""
    tried = []
    for share in TRIED:
        scaled = _scaled(machine, share)
        if not tried or scaled != tried[-1][1]:
            tried.append((share, scaled, *_replayed(observed, assumed, scaled, engine)))
    least = min(error for *_, error in tried)
    good = [item for item in tried if item[-1] <= least + AS_WELL_SHARE]
    slow, fast = good[0], good[-1]
    return Speed(slow[1], fast[1], slow[0], fast[0], slow[2], slow[3])


def _scaled(machine: Machine, share: float) -> Machine:
    names = (
        "read_us",
        "read_entry_us",
        "cached_read_us",
        "cached_entry_us",
        "notify_us",
        "send_us",
        "flow_us",
    )
    given = {name: getattr(machine, name) for name in names}
    return replace(machine, **{name: round(share * us) for name, us in given.items() if us is not None})


def _replayed(
    observed: Observed, assumed: Assumed, machine: Machine, engine: str
) -> tuple[np.ndarray, float]:
    """Backlog at every second of the window, and how far it is from the recorded one."""
    world = window_world(observed, assumed, machine)
    mine = selected_dispatchers(world, observed.partition)
    backlog = run(world, machine, 1, engine)["backlog_entries"][:, mine].sum(axis=1)
    recorded = observed.backlog_entries
    seconds = ((observed.times_ms - observed.times_ms[0]) // 1000).astype(int)
    at = np.clip(seconds[1:] - 1, 0, len(backlog) - 1)
    peak = float(recorded.max())
    return backlog, float(np.mean(np.abs(backlog[at] - recorded[1:])) / peak) if peak else 0.0
