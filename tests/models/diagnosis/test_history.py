"""What the hours before a window say: compared with the slow twin, on histories with gaps and unknown values."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.examples import seeds
from tests.models.diagnosis.scenes import KEY, START_MS
from tests.naive import history as naive
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.history import burst_before, capacity_seen, unconnected_since_ms
from throttlescope.models.diagnosis.window import MinuteColumns, Window

NAMES = (
    "minute_ms", "consumers", "permits_exhausted_share", "stats_starved_share", "out_msg_delta", "delta_span_ms", "in_msg_delta",
    "in_span_ms", "ack_msg_rate", "backlog_ready_entries", "subscription_type", *naive.RHO,
)  # fmt: skip


def rows_of(rng: random.Random, minutes: int) -> list[dict]:
    kind = rng.choice(["Shared", "Failover", None])
    bursty = rng.random() < 0.5
    rows = []
    for i in range(minutes):
        if rng.random() < 0.03:
            continue
        high = bursty and minutes - rng.choice([6, 12]) <= i
        row = {
            "minute_ms": START_MS + (i - minutes + 5) * MINUTE_MS,
            "consumers": rng.choice([2.0, 2.0, 2.0, 2.0, 3.0, None]),
            "permits_exhausted_share": rng.choice([0.0, 0.3, 0.6, 1.0, 1.0, None]),
            "stats_starved_share": rng.choice([0.0, 1.0, 1.0, None, None]),
            "out_msg_delta": rng.choice([6000.0, 7200.0, None]) if rng.random() < 0.2 else 6000.0,
            "delta_span_ms": rng.choice([60_000, 45_000, 60_000, 75_000, 60_000, None]),
            "in_span_ms": rng.choice([60_000] * 20 + [120_000, None]),
            "in_msg_delta": None if rng.random() < 0.05 else 60 * rng.uniform(90, 110) * (4 if high else 1),
            "ack_msg_rate": rng.choice([None, 0.0, 90.0, 100.0, rng.uniform(80, 300)]),
            "backlog_ready_entries": rng.choice([None, rng.uniform(0, 5000)]),
            "subscription_type": kind,
        }
        row |= {
            name: rng.choice([None, 0.1, 0.1, 0.1, 0.85]) if rng.random() < 0.1 else None
            for name in naive.RHO
        }
        rows.append(row)
    rows[-1]["consumers"] = rng.choice([2.0, 2.0, 0.0])
    return rows


def window_of(rows: list[dict], dense: bool) -> Window:
    table = pa.Table.from_pylist([{name: row[name] for name in NAMES} for row in rows])
    low = next((i for i, row in enumerate(rows) if row["minute_ms"] >= START_MS), len(rows))
    columns = MinuteColumns(table) if dense else {name: table.column(name).to_pylist() for name in NAMES}
    return Window(KEY, START_MS, START_MS + 5 * MINUTE_MS, columns, low, len(rows))


@pytest.mark.parametrize("seed", seeds(range(60)))
def test_capacity_and_burst_equal_slow_twin(seed):
    rng = random.Random(seed)  # noqa: S311 - repeats, keeps no secret
    rows = rows_of(rng, rng.choice([4, 20, 40, 200]))
    window = window_of(rows, dense=seed % 2 == 0)
    day = [row for row in rows if row["minute_ms"] >= START_MS - 1440 * MINUTE_MS]
    consumers = next(
        (row["consumers"] for row in reversed(rows[window.low :]) if row["consumers"] is not None), None
    )
    expected = naive.capacity(day, consumers, rows[-1]["subscription_type"]) if consumers else None
    found = capacity_seen(window)
    assert (found and (pytest.approx(found.msg_per_s), found.seen_ms)) == expected
    burst, said = burst_before(window), naive.burst(day, window.end_ms)
    assert (burst and (pytest.approx(burst.msg_per_s), burst.start_ms, burst.end_ms)) == said


def test_the_seeds_hold_both_answers():
    seen = set()
    for seed in range(60):
        rng = random.Random(seed)  # noqa: S311 - repeats, keeps no secret
        window = window_of(rows_of(rng, rng.choice([4, 20, 40, 200])), dense=True)
        seen |= {("capacity", capacity_seen(window) is None), ("burst", burst_before(window) is None)}
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("consumers", "minutes_ago"),
    [([2.0, 0.0, 0.0], 2), ([0.0, None, 0.0], 3), ([0.0, 0.0, 2.0], None), ([None, None, None], None)],
)
def test_since_when_nobody_is_there(consumers, minutes_ago):
    rows = [
        dict.fromkeys(NAMES)
        | {"minute_ms": START_MS + (i - len(consumers) + 5) * MINUTE_MS, "consumers": count}
        for i, count in enumerate(consumers)
    ]
    window = window_of(rows, dense=True)
    expected = None if minutes_ago is None else window.end_ms - minutes_ago * MINUTE_MS
    assert unconnected_since_ms(window) == expected
