"""Long series lose points and nothing that is seen: the fast way compared with its slow twin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.app.web.test_limits import minutes as signal_minutes
from tests.examples import seeds
from tests.naive import thin as naive
from throttlescope.app.presentation import figures
from throttlescope.app.presentation.figures.chart import PACKED_FROM, known, numbers, packed
from throttlescope.app.presentation.figures.downsampling import BUCKETS, MOST_POINTS, fullest, kept
from throttlescope.ingest.core.times import MINUTE_MS

WEEK = 7 * 24 * 60


def series(seed: int, count: int) -> np.ndarray:
    """A walk with spikes, plateaus and gaps of every length."""
    random = np.random.default_rng(seed)
    values = np.cumsum(random.normal(size=count)).round(random.integers(0, 3))
    values[random.integers(0, count, 5)] += 1000
    values[random.integers(0, count, 5)] -= 1000
    for _ in range(random.integers(0, 6)):
        start = random.integers(0, count)
        values[start : start + random.integers(1, max(2, count // 4))] = np.nan
    values[random.random(count) < random.choice([0.0, 0.02, 0.5])] = np.nan
    return values


@pytest.mark.parametrize("seed", seeds(range(60)))
def test_downsampling_matches_naive_implementation(seed):
    random = np.random.default_rng(1000 + seed)
    count, buckets, most = (
        int(random.integers(1, 400)),
        int(random.integers(1, 60)),
        int(random.integers(0, 80)),
    )
    values = series(seed, count)
    assert list(kept(values, buckets=buckets, most=most)) == naive.kept(
        list(values), buckets=buckets, most=most
    ), f"seed {seed}"
    totals = np.abs(values)
    assert list(fullest(totals, buckets=buckets)) == naive.fullest(list(totals), buckets=buckets), (
        f"seed {seed}"
    )


def test_a_day_of_minutes_is_drawn_whole():
    assert list(kept(np.arange(1440.0))) == list(range(1440))


def test_week_is_thinned_and_keeps_spikes():
    """Two points per pixel."""
    values = np.full(WEEK, 5.0) + np.arange(WEEK) % 3
    spikes = [7, 3000, 3001, 9999]
    values[spikes] = [900.0, 800.0, -50.0, 700.0]
    at = kept(values)
    assert len(at) <= 2 * BUCKETS + 2
    assert set(spikes) <= set(at), "each is the least or the greatest of its bucket"
    assert at[0] == 0
    assert at[-1] == WEEK - 1


def test_week_keeps_a_one_minute_gap():
    values = np.ones(WEEK)
    values[5000] = np.nan
    at = list(kept(values))
    assert at[at.index(5000) - 1 : at.index(5000) + 2] == [4999, 5000, 5001]


def week_of_minutes(**columns) -> pd.DataFrame:
    one = signal_minutes({"minute_ms": 0})
    frame = one.iloc[np.zeros(WEEK, dtype=int)].reset_index(drop=True)
    frame["minute_ms"] = np.arange(WEEK) * MINUTE_MS
    for name, values in columns.items():
        frame[name] = values
    return frame


def test_week_charts_have_bounded_points():
    backlog = np.arange(WEEK, dtype=float)
    backlog[4321] = 1e6
    frame = week_of_minutes(backlog_entries=backlog, backlog_ready_entries=backlog, delayed_entries=0.0)
    figure = figures.backlog_figure(frame, start_ms=0, end_ms=WEEK * MINUTE_MS)
    (trace,) = figure.data
    assert len(trace.x) <= MOST_POINTS
    assert max(trace.y) == 1e6
    assert trace.x[list(trace.y).index(1e6)] == 4322 * MINUTE_MS, "at its own minute's end"


def test_week_bars_show_the_fullest_minute():
    broker, topic = np.zeros(WEEK), np.zeros(WEEK)
    broker[100], topic[101] = 5.0, 40.0
    frame = week_of_minutes(throttled_msg_events_broker_delta=broker, throttled_msg_events_topic_delta=topic)
    figure = figures.events_figure(frame, start_ms=0, end_ms=WEEK * MINUTE_MS)
    drawn = {(x, y): trace.name for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True) if y}
    assert drawn == {(101 * MINUTE_MS + MINUTE_MS // 2, 40.0): "topic message limit is not known: unproven"}
    assert figure.data[0].width == 14 * MINUTE_MS


def test_packed_series_keeps_its_values():
    random = np.random.default_rng(3)
    values = random.random(900) * 10.0 ** random.integers(-3, 6, 900)
    values[[5, 6, 500]] = np.nan
    column = pd.Series(values)
    short, long = numbers(column[: PACKED_FROM - 1]), packed(column)
    assert isinstance(packed(column[: PACKED_FROM - 1]), list)
    assert long.dtype == np.float32
    both = [(one, float(other)) for one, other in zip(numbers(column), long, strict=True)]
    assert all((one is None) == np.isnan(other) for one, other in both)
    assert all(one == pytest.approx(other, rel=2e-5) for one, other in both if one is not None)
    assert short[5] is None
    assert list(known(long)) == list(long[~np.isnan(long)])
    assert len(known([1.0, None, 2])) == 2
    assert len(known(["a", "b"])) == len(known(None)) == 0


def test_packed_series_moves_with_zone(monkeypatch):
    """Small counts keep whole steps."""
    frame = week_of_minutes(
        backlog_entries=np.arange(WEEK) % 3 * 1.0, backlog_ready_entries=np.nan, delayed_entries=0.0
    )
    before = figures.backlog_figure(frame, start_ms=0, end_ms=WEEK * MINUTE_MS)
    monkeypatch.setattr(
        "throttlescope.app.presentation.figures.chart.time_zone.offset_ms", lambda _: 7_200_000
    )
    after = figures.backlog_figure(frame, start_ms=0, end_ms=WEEK * MINUTE_MS)
    assert list(after.data[0].x - before.data[0].x) == [7_200_000] * len(before.data[0].x)
    assert before.layout.yaxis.dtick == 1
