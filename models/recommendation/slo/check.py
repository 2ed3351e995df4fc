"""The fluid compared with the replay. In: the half hour with the largest backlog, at scrape resolution. Out: how far they are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.recommendation.slo.age import backlog_msg
from throttlescope.models.recommendation.slo.service import service_msg_per_s
from throttlescope.models.throttling.replay import Change, Ground


@dataclass(frozen=True)
class SloCheck:
    """Half an hour by the fluid, by the replay, and as it was recorded.

    Attributes
    ----------
    start_ms, end_ms : int
        First and last scrape.
    peak_msg : float
        Largest backlog that was recorded.
    fluid_error_share : float or None
        Mean distance of the fluid's backlog from the replay's, over that peak; None: there was no backlog.
    replay_error_share : float
        Mean distance of the replay's backlog from the recorded one, over that peak.
    """

    start_ms: int
    end_ms: int
    peak_msg: float
    fluid_error_share: float | None
    replay_error_share: float


def check(ground: Ground) -> SloCheck:
    """Compare the fluid with the replay of a window, second by second, from the backlog that the window began with."""
    observed = ground.observed
    per_entry = observed.messages_per_entry
    speed = ground.speed()
    replayed = speed.backlog_entries * per_entry
    came = np.sum([observed.partitions[number].in_msg for number in observed.selected], axis=0)
    elapsed_s = (observed.times_ms - observed.times_ms[0]) / 1000
    seconds = np.arange(1, len(replayed) + 1)
    arrived = np.diff(np.interp(np.r_[0, seconds], elapsed_s, np.cumsum(came)))
    # What waits at the start has come within the first step.
    arrived = np.r_[observed.backlog_entries[0] * per_entry, arrived]
    served = service_msg_per_s(ground, Change())
    waits = _from_full(arrived, served)
    peak = float(observed.backlog_entries.max()) * per_entry
    error = float(np.mean(np.abs(waits - replayed))) / peak if peak else None
    return SloCheck(int(observed.times_ms[0]), int(observed.times_ms[-1]), peak, error, speed.error_share)


def _from_full(arrived: np.ndarray, served: float) -> np.ndarray:
    """Backlogs behind the first step, in which nothing is served."""
    return backlog_msg(np.r_[arrived[0] + served, arrived[1:]], served)[1:]
