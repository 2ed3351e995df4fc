"""An episode that is continued by run after run is the one that a single look finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.models.episodes.scenes import DAY, episodes, minutes, verdicts
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.models.episodes.apply import judged_range, reaching
from throttlescope.models.episodes.find import BEFORE_MS

DAYS = 3


def backlog(seed):
    """Three days: calm, growth and drain in turn, with gaps of less than an hour."""
    rng = np.random.default_rng(seed)
    entries, now = [], 5.0
    while len(entries) < DAYS * 1440:
        length = int(rng.choice([3, 20, 90, 400, 900]))
        slope = float(rng.choice([0, 0, 40, 300, -200]))
        for _ in range(length):
            now = max(float(rng.integers(0, 60)), now + slope)
            entries.append(now)
        if rng.random() < 0.3:
            entries += [None] * int(rng.integers(1, 40))
        if rng.random() < 0.4:
            now = 5.0
    return entries[: DAYS * 1440]


def story(seed):
    rng = np.random.default_rng(seed)
    letters = "".join(
        str(letter) * int(count)
        for letter, count in zip(rng.choice(list("TSPhu "), 400), rng.integers(1, 6, 400), strict=True)
    )
    entries = backlog(seed)
    changed = {int(i): True for i in rng.integers(0, len(entries), 20)}
    rows = minutes(
        entries,
        limits_changed=changed,
        limit_topic_msg={i: i // 500 for i in range(len(entries))},
        backlog_age_s={int(i): float(i) for i in rng.integers(0, len(entries), 9)},
        broker={i: f"broker-{i // 1000}" for i in range(len(entries))},
    )
    return rows, verdicts(letters)[: DAYS * 288]


def run(stored, rows, said, start_ms, end_ms):
    """One run over [start_ms, end_ms), when nothing later is known, as the command does it."""
    from_ms, until_ms = judged_range(stored, start_ms, end_ms)
    assert until_ms == end_ms
    seen = [row for row in rows if from_ms - BEFORE_MS <= row["minute_ms"] < end_ms]
    heard = [
        row for row in said if row["window_end_ms"] > from_ms - BEFORE_MS and row["window_end_ms"] <= end_ms
    ]
    open_rows = reaching(stored, from_ms)
    found = episodes(seen, heard, from_ms=from_ms, until_ms=end_ms, stored=open_rows) if seen else []
    ids = {row["episode_id"] for row in found} | {row["episode_id"] for row in open_rows}
    return [row for row in stored if row["start_ms"] < from_ms and row["episode_id"] not in ids] + found


def settled(rows):
    """Without what says only when it was written, and with floats that were added in another order made equal."""
    return [
        {
            name: round(value, 9) if isinstance(value, float) and math.isfinite(value) else value
            for name, value in row.items()
            if name != "judged_until_ms"
        }
        for row in sorted(rows, key=lambda row: row["start_ms"])
    ]


@pytest.mark.long
@examples(10)
@given(st.integers(0, 100_000), st.lists(st.integers(1, 36), min_size=2, max_size=5))
def test_consecutive_runs_equal_one_run(seed, hours):
    rows, said = story(seed)
    stored, at = [], 0
    for step in hours:
        before, at = at, min(DAYS * 24, at + step)
        if before < at:
            stored = run(stored, rows, said, DAY + before * BLOCK_MS, DAY + at * BLOCK_MS)
    end_ms = DAY + at * BLOCK_MS
    once = episodes(
        [row for row in rows if row["minute_ms"] < end_ms],
        [row for row in said if row["window_end_ms"] <= end_ms],
        from_ms=DAY,
        until_ms=end_ms,
    )
    assert once or not stored
    assert settled(stored) == settled(once)


@pytest.mark.long
def test_a_run_that_is_repeated_changes_nothing():
    rows, said = story(7)
    stored = run([], rows, said, DAY, DAY + 30 * BLOCK_MS)
    assert stored
    for first in (0, 20, 29):
        assert run(stored, rows, said, DAY + first * BLOCK_MS, DAY + 30 * BLOCK_MS) == stored


@pytest.mark.long
def test_a_month_is_continued_from_its_midnight():
    start_ms = DAY
    entries = [100 + 0.5 * i for i in range(1, 4 * 1440)]
    rows, said = minutes(entries), verdicts("N" * (4 * 288))
    stored = []
    for day in range(1, 5):
        stored = run(stored, rows, said, start_ms + (day - 1) * DAY_MS, start_ms + day * DAY_MS)
    (one,) = stored
    assert one["start_ms"] == start_ms
    assert one["end_ms"] is None
    assert len(one["causes"]) == 4
    assert sum(row["windows"] for row in one["causes"]) == 4 * 288
    assert one["backlog_step_ms"] == 128 * MINUTE_MS


def test_changed_hours_are_judged_again():
    """What was removed is not looked for."""
    hour = DAY + 30 * BLOCK_MS
    gone = {"end_ms": DAY, "judged_until_ms": DAY + BLOCK_MS}
    still = {"end_ms": None, "judged_until_ms": DAY + 12 * BLOCK_MS}
    assert judged_range([], hour, hour + BLOCK_MS) == (DAY + DAY_MS, hour + BLOCK_MS)
    assert judged_range([gone], hour, hour + BLOCK_MS) == (DAY + DAY_MS, hour + BLOCK_MS)
    # Between what was judged of an open one and this run there may be hours that no run has seen.
    assert judged_range([gone, still], hour, hour + BLOCK_MS) == (DAY, hour + BLOCK_MS)
    later = gone | {"judged_until_ms": DAY + 40 * BLOCK_MS}
    assert judged_range([later], hour, hour + BLOCK_MS) == (DAY + DAY_MS, DAY + 40 * BLOCK_MS)
