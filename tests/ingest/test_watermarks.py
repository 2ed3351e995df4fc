"""Watermarks: they move only over what was read without a hole, a crash leaves them too old, and a clock that stepped back is reported."""

from __future__ import annotations

import random

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull.watermarks import (
    OVERLAP_MS,
    SourceKey,
    advance,
    begin_ms,
    check_clock,
    watermark,
)

KEY = SourceKey("http://prometheus:9090", "", "prod")
HOUR_MS = 60 * MINUTE_MS


def moved(lake, start_ms, end_ms, metrics=("a", "b"), key=KEY, **options):
    advance(lake, key, metrics, start_ms, end_ms, now_ms=end_ms, run_id="run", **options)
    found = watermark(lake, key)
    return found.since_ms, found.complete_until_ms


def test_watermark_stops_at_a_hole(tmp_path):
    lake = Lake(tmp_path)
    assert watermark(lake, KEY) is None
    assert moved(lake, 100, 200) == (100, 200)
    assert moved(lake, 100, 200) == (100, 200)
    assert moved(lake, 150, 260) == (100, 260)
    assert moved(lake, 300, 400) == (100, 260)
    assert moved(lake, 50, 100) == (50, 260)
    assert moved(lake, 260, 400) == (50, 400)


def test_hole_beyond_retention_is_passed(tmp_path):
    lake = Lake(tmp_path)
    moved(lake, 100, 200)
    assert moved(lake, 900, 1000, kept_since_ms=150) == (100, 200)
    assert moved(lake, 900, 1000, kept_since_ms=250) == (900, 1000)


def test_slowest_metric_sets_the_watermark(tmp_path):
    """A metric that the source no longer has does not."""
    lake = Lake(tmp_path)
    moved(lake, 0, 100, metrics=("a", "b"))
    assert moved(lake, 100, 200, metrics=("a", "c")) == (100, 200)
    rows = {row["metric_name"]: row["complete_until_ms"] for row in lake.read("watermarks").to_pylist()}
    assert rows == {"a": 200, "b": 200, "c": 200}


def test_sources_and_selectors_are_apart(tmp_path):
    lake = Lake(tmp_path)
    narrow = [parse_selector('{namespace="a/b"}'), parse_selector("pulsar_rate_in")]
    one, same = (SourceKey.of("http://u:secret@host:1", order, "prod") for order in (narrow, narrow[::-1]))
    assert one == same
    assert "secret" not in one.source
    moved(lake, 0, 100, key=one)
    assert watermark(lake, KEY) is None
    assert watermark(lake, SourceKey(one.source, one.selectors, "*")).cluster == "prod"
    assert watermark(lake, SourceKey(one.source, one.selectors, "other")) is None


def test_next_read_overlaps_the_watermark(tmp_path):
    """But it does not begin before the first read."""
    lake = Lake(tmp_path)
    moved(lake, 0, 3 * HOUR_MS)
    assert begin_ms(watermark(lake, KEY)) == 3 * HOUR_MS - OVERLAP_MS
    moved(lake, 10 * HOUR_MS, 10 * HOUR_MS + 1, reset=True)
    assert begin_ms(watermark(lake, KEY)) == 10 * HOUR_MS


def test_future_watermark_is_refused_until_reset(tmp_path):
    lake = Lake(tmp_path)
    check_clock(lake, KEY, 0)
    moved(lake, 0, 10 * HOUR_MS)
    check_clock(lake, KEY, 10 * HOUR_MS - MINUTE_MS)
    with pytest.raises(InputError, match="clock stepped back") as told:
        check_clock(lake, KEY, 9 * HOUR_MS)
    assert "--reset-watermark" in str(told.value)
    assert moved(lake, 8 * HOUR_MS, 9 * HOUR_MS, reset=True) == (8 * HOUR_MS, 9 * HOUR_MS)
    check_clock(lake, KEY, 9 * HOUR_MS)


@pytest.mark.long
def test_watermark_equals_slow_twin(tmp_path):
    """The twin keeps a set of minutes and walks along it."""
    seed = 20261122
    draw = random.Random(seed)  # noqa: S311
    lake = Lake(tmp_path)
    start, end = 500, 520
    moved(lake, start, end)
    for _ in range(40):
        low = draw.randrange(400, 700)
        high = low + draw.randrange(1, 60)
        if low <= end and high >= start:
            read = set(range(start, end)) | set(range(low, high))
            start, end = min(read), max(read) + 1
            assert len(read) == end - start
        assert moved(lake, low, high) == (start, end), seed
