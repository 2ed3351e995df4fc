"""The most of a minute, found for all spans at once, is what the slow twins find span by span."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from throttlescope.models.throttling.replay.binding import _MINUTE_S, _over_a_minute
from throttlescope.models.throttling.replay.capacity import CHUNK_S, _most_of_a_minute


def samples(seed: int):
    """Spans of uneven length, some of them a long gap; consumers come and go."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 80))
    steps_s = rng.choice([5, 10, 15, 15, 15, 60, 61, 300], count)
    steps_s[0] = 0
    times_ms = 1_795_046_400_000 + 1000 * np.cumsum(steps_s)
    consumers = rng.choice([0, 1, 2, 4], count, p=[0.1, 0.3, 0.3, 0.3])
    return SimpleNamespace(
        times_ms=times_ms,
        seconds=steps_s.astype(float),
        active=lambda subscription, number: min(number, 3),
        consumers=consumers,
        acked=rng.uniform(0, 1000, count) * (rng.random(count) < 0.8),
        known=rng.random(count) < 0.95,
    )


def slow_rates(added, observed):
    seconds = (observed.times_ms - observed.times_ms[0]) / 1000
    total = np.cumsum(added)
    last = np.minimum(np.searchsorted(seconds, seconds + _MINUTE_S), len(seconds) - 1)
    highest = np.zeros(len(total))
    for first, until in enumerate(last):
        if until > first:
            rate = (total[until] - total[first]) / (seconds[until] - seconds[first])
            for span in range(first + 1, until + 1):
                highest[span] = max(highest[span], rate)
    return highest


def slow_most(observed):
    seconds, messages = np.cumsum(observed.seconds), np.cumsum(observed.acked)
    most = 0.0
    for first in range(len(seconds)):
        until = np.searchsorted(seconds, seconds[first] + min(CHUNK_S, seconds[-1]))
        if until == len(seconds):
            continue
        active = observed.active("s", observed.consumers[first : until + 1].max())
        if active and observed.known[first + 1 : until + 1].all():
            rate = (messages[until] - messages[first]) / (seconds[until] - seconds[first])
            most = max(most, rate / active)
    count = int(observed.consumers.max())
    return most * observed.active("s", count), count


@pytest.mark.parametrize("seed", range(40))
def test_rates_over_a_minute_are_the_slow_twins(seed):
    observed = samples(seed)
    assert _over_a_minute(observed.acked, observed).tolist() == slow_rates(observed.acked, observed).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_most_of_a_minute_is_the_slow_twins(seed):
    observed = samples(seed)
    found = _most_of_a_minute(observed, "s", observed.known, observed.consumers, observed.acked)
    assert found == slow_most(observed)
