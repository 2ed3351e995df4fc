"""Whatever minutes come: rows that keep the contract, in an order of times that makes sense, and never an exception."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples, seeds
from tests.models.forecast.minutes import end_ms, rows_of, table_of
from tests.models.forecast.policies import policies, quota
from throttlescope.ingest.contracts import TABLES
from throttlescope.models.forecast.apply import forecasts_of

NUMBERS = (
    "backlog_ready_entries", "in_msg_delta", "messages_per_entry", "storage_backlog_bytes", "backlog_age_s", "consumers",
)  # fmt: skip
STRANGE = (math.nan, math.inf, -math.inf, 1e300, -5.0, 1e-300, 0.0, 5e-324)
ANSWERS = policies(
    topic_message_ttl=600,
    topic_backlog_quotas={
        "destination_storage": quota(size=10_000_000),
        "message_age": quota(time=900, policy="producer_request_hold"),
    },
)


def odd(rnd: random.Random) -> float | None:
    kind = rnd.random()
    if kind < 0.15:
        return None
    return (
        rnd.choice(STRANGE)
        if kind < 0.35
        else rnd.choice([rnd.uniform(0, 1e7), float(rnd.randint(0, 10**6))])
    )


@pytest.mark.parametrize("seed", seeds(range(120)))
def test_odd_minutes_never_break_it(seed: int) -> None:
    rnd = random.Random(seed)  # noqa: S311
    count = rnd.randint(1, 45)
    numbers = {name: [odd(rnd) for _ in range(count)] for name in NUMBERS}
    rows = rows_of([odd(rnd) for _ in range(count)], **numbers)
    # Minutes are missing, and the clock is before the newest of them or long after.
    kept = [row for row in rows if rnd.random() < 0.8]
    at_ms = end_ms(rnd.randint(0, count + 20))
    found = TABLES["forecasts"].conform(forecasts_of(table_of(kept), ANSWERS, [at_ms])).to_pylist()
    kinds = [row["kind"] for row in found]
    assert len(kinds) == len(set(kinds))
    for row in found:
        times = [row[name] for name in ("low_ms", "predicted_ms", "high_ms") if row[name] is not None]
        assert times == sorted(times)
        assert all(time_ms >= at_ms for time_ms in times)
        assert (row["predicted_ms"] is None) == (row["state"] != "expected")
        assert row["probability"] is None or 0 <= row["probability"] <= 1
        for name in ("now", "threshold", "change_per_s"):
            assert row[name] is None or math.isfinite(row[name])
        assert row["consequence"]
        assert row["basis"]


@examples(60)
@given(st.integers(1, 60), st.floats(1, 500))
def test_a_straight_drain_ends_where_arithmetic_says(minutes_left: int, per_s: float) -> None:
    left = 200 + per_s * 60 * minutes_left
    backlogs = [left + per_s * 60 * (29 - n) for n in range(30)]
    (row,) = forecasts_of(table_of(rows_of(backlogs)), [], [end_ms(30)]).to_pylist()
    assert row["state"] == "expected"
    exact_ms = end_ms(30) + minutes_left * 60_000
    assert row["low_ms"] <= exact_ms + 60_000
    assert row["high_ms"] is None or row["high_ms"] >= exact_ms
