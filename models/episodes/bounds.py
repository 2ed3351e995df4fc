"""From when to when. In: minutes that are above the floor or not. Out: stretches, each one backlog."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from throttlescope.models.episodes import thresholds as t


@dataclass(frozen=True, slots=True)
class BacklogStretch:
    """Places ``first`` to ``last``, both included, of the minutes above the floor that are one backlog.

    Attributes
    ----------
    over_minutes : int
        How many of them are above the floor.
    drained : bool
        Enough calm minutes follow to say that it is gone.
    """

    first: int
    last: int
    over_minutes: int
    drained: bool


def stretches(over: np.ndarray) -> list[BacklogStretch]:
    """Minutes above the floor with fewer than ``CALM_MINUTES`` known minutes between them belong together.

    Parameters
    ----------
    over : numpy.ndarray of bool
        Of each known minute, oldest first. A gap has no minutes, so it ends nothing.

    Returns
    -------
    list of Stretch
        Those of a single minute too; the caller knows whether it continues something.
    """
    places = np.flatnonzero(over)
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > t.CALM_MINUTES) + 1
    calm_at_end = len(over) - 1 - places[-1]
    groups = np.split(places, cuts)
    return [
        BacklogStretch(
            int(group[0]),
            int(group[-1]),
            len(group),
            drained=i < len(groups) - 1 or bool(calm_at_end >= t.CALM_MINUTES),
        )
        for i, group in enumerate(groups)
    ]
