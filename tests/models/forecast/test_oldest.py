"""The age of the oldest message: compared with a queue that moves every entry, and at the ends of what is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.examples import seeds
from tests.naive.forecast_oldest import oldest_age, seconds_until
from throttlescope.models.forecast.oldest import oldest_age_s, seconds_until_age
from throttlescope.models.forecast.trace import Trace


def trace_of(came_s: list[float], backlog: int, now_s: float, step_s: float = 60.0) -> Trace:
    edges = np.arange(now_s - 40 * step_s, now_s + 1e-6, step_s)
    counts = np.r_[0.0, np.histogram(came_s, edges)[0]]
    flat = np.full(len(edges), float(backlog))
    return Trace((edges * 1000).astype(np.int64), flat, flat, counts)


@pytest.mark.parametrize("seed", seeds(range(40)))
def test_it_is_what_the_queue_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    now_s = 100_000.0
    # Rates that differ from minute to minute, even within one.
    rates = rng.integers(20, 400, 40)
    came = [
        now_s - 2400 + 60 * minute + 60 * (n + 0.5) / rate
        for minute, rate in enumerate(rates.tolist())
        for n in range(rate)
    ]
    backlog = int(rng.integers(1, len(came)))
    trace = trace_of(came, backlog, now_s)
    # An entry's own spacing is all that a minute's count hides.
    assert oldest_age_s(trace) == pytest.approx(oldest_age(came, backlog, now_s), abs=3.1)
    age_s, acked = float(rng.integers(60, 4000)), float(rng.choice([0.0, 0.3, 1.0, 3.0, 10.0]))
    in_per_s = float(rng.choice([0.0, 2.0, 4.0]))
    expected = seconds_until(came, backlog, now_s, age_s, acked, in_per_s, 0.5)
    found = seconds_until_age(trace, age_s, acked, in_per_s)
    if expected is None:
        # The queue may be called empty one entry earlier or later, and is not looked at for ever.
        assert found >= min(backlog / acked - 12, 10 * age_s - 20)
    else:
        slack_s = 15 + 0.02 * expected
        assert found == pytest.approx(expected, abs=slack_s) or (
            found == math.inf and expected > backlog / acked - 12
        )


def test_what_comes_later_is_too_old_where_consumers_do_not_keep_up() -> None:
    """100 entries at 1 per second; 2 come each second: the entry of time y waits 100 + y."""
    trace = trace_of([100_000.0 - 100 + n for n in range(100)], 100, 100_000.0)
    assert seconds_until_age(trace, 300, 1.0, 2.0) == pytest.approx(500, abs=2)
    assert seconds_until_age(trace, 300, 1.0, 1.0) == math.inf


def test_without_consumption_it_is_the_rest_of_the_time() -> None:
    trace = trace_of([100_000.0 - 600 + n for n in range(600)], 600, 100_000.0)
    assert seconds_until_age(trace, 900, 0.0) == pytest.approx(300, abs=2)
    assert seconds_until_age(trace, 60, 0.0) == 0


def test_before_the_history_arrivals_are_taken_to_be_like_in_it() -> None:
    """600 entries came in 40 minutes; 900 wait."""
    trace = trace_of([100_000.0 - 2400 + 4 * n for n in range(600)], 900, 100_000.0)
    assert oldest_age_s(trace) == pytest.approx(3600, abs=10)


def test_a_backlog_of_more_than_twice_the_known_arrivals_has_no_known_age() -> None:
    trace = trace_of([100_000.0 - 2400 + 4 * n for n in range(600)], 1201, 100_000.0)
    assert oldest_age_s(trace) is None
    assert seconds_until_age(trace, 900, 1.0) is None


def test_arrivals_that_were_not_counted_end_the_history() -> None:
    """Three known minutes of 60 each, as much again before them, and no more."""
    came = [100_000.0 - 600 + n for n in range(600)]
    for backlog, age_s in ((150, 150), (300, 300), (361, None)):
        trace = trace_of(came, backlog, 100_000.0)
        trace.in_entries[-4] = math.nan
        assert oldest_age_s(trace) == (None if age_s is None else pytest.approx(age_s, abs=2))


def test_nothing_waits() -> None:
    trace = trace_of([100_000.0 - 600 + n for n in range(600)], 0, 100_000.0)
    assert oldest_age_s(trace) == 0
    assert seconds_until_age(trace, 900, 0.0) == math.inf
