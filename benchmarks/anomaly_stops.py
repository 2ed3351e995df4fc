"""Whether the anomaly detector sees that few messages stop. In: nothing. Out: a table of stops by what is usual then.

``python -m benchmarks.anomaly_stops``: four weeks of Poisson counts with a daily and a weekly wave, of levels from 2 to 40 per minute; on the twenty-second
day nothing comes for so many hours. A stop is reported if an anomaly overlaps it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.models.anomaly import RULES
from throttlescope.models.anomaly.calendar import Calendar, calendar_of
from throttlescope.models.anomaly.series import judge

_DAY, _DAYS, _AT_DAY = DAY_MS // MINUTE_MS, 28, 22
_LEVELS, _SEEDS, _HOURS = (2, 3, 5, 7, 10, 15, 20, 40), (1, 2), (1, 2, 6, 12)
#: Stops begin at these hours of the day.
_BEGINS = (0, 4, 8, 12, 16, 20)
#: Upper ends of the rows, in messages that are usual per minute.
_ROWS = (2, 4, 6, 8, 12, 20, 1000)
#: A Monday, epoch milliseconds.
_FIRST_MS = 1_704_067_200_000


def main() -> None:
    """Print the table."""
    minutes = np.arange(_DAYS * _DAY)
    wave = 1 + 0.5 * np.sin(2 * np.pi * minutes / _DAY) + 0.2 * np.sin(2 * np.pi * minutes / (7 * _DAY))
    calendar = calendar_of(_FIRST_MS, _FIRST_MS + len(minutes) * MINUTE_MS, "UTC", RULES.weeks)
    outcomes = defaultdict(list)
    for level in _LEVELS:
        for seed in _SEEDS:
            counts = np.random.default_rng([seed, level]).poisson(level * wave).astype(float)
            for hours in _HOURS:
                for begin in _BEGINS:
                    start = _AT_DAY * _DAY + begin * 60
                    usual = level * wave[start : start + hours * 60].mean()
                    row = next(end for end in _ROWS if usual < end)
                    outcomes[row, hours].append(_reported(counts, calendar, start, start + hours * 60))
    print(f"| usual per minute | {' | '.join(f'{hours} h' for hours in _HOURS)} |")
    print("|---|" + "---:|" * len(_HOURS))
    for low, high in zip((0, *_ROWS), _ROWS, strict=False):
        cells = [f"{sum(outcomes[high, hours])} of {len(outcomes[high, hours])}" for hours in _HOURS]
        row = f"{low} to {high}" if high < _ROWS[-1] else f"{low} or more"
        print(f"| {row} | {' | '.join(cells)} |")


def _reported(counts: np.ndarray, calendar: Calendar, start: int, end: int) -> bool:
    stopped = counts.copy()
    stopped[start:end] = 0.0
    found, _ = judge(stopped, calendar, 1, RULES, sides=(-1,))
    return any(one.start < end and start < one.end for one in found)


if __name__ == "__main__":
    main()
