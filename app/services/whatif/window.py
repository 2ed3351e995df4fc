"""A window of a lake, made ready for many replays. In: a lake, a subscription, a range. Out: a :class:`Ground`.

What the consumers can do is looked for in a day, how fast the broker reads in the last half hour: replaying a day at several speeds takes
minutes.
"""

from __future__ import annotations

import contextlib

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import Ground, read_observed

HISTORY_MS, FITTED_MS = DAY_MS, 30 * MINUTE_MS


def read_ground(lake: Lake, selector: str, cluster: str, start_ms: int, end_ms: int) -> Ground:
    """Read [start_ms, end_ms) and the longer history that is needed with it.

    Raises
    ------
    InputError
        Nothing is there, or there are too few samples.
    """
    observed = history = read_observed(lake, selector, start_ms, end_ms, cluster)
    if end_ms - HISTORY_MS < start_ms:
        history = read_observed(lake, selector, end_ms - HISTORY_MS, end_ms, cluster)
    fitted_on = None
    if end_ms - FITTED_MS > start_ms:
        # Where nothing was scraped in its last half hour, all of it is taken.
        with contextlib.suppress(InputError):
            fitted_on = read_observed(lake, selector, end_ms - FITTED_MS, end_ms, cluster)
    return Ground(observed, history, fitted_on=fitted_on, with_bursts=True)
