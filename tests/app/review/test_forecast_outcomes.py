"""The outcomes that stored forecasts are compared with, selected by DuckDB, and a slow twin that walks through every row."""

from __future__ import annotations

import random
from bisect import bisect_right

import pyarrow as pa
import pytest

from tests.app.lake_of_verdicts import FIVE, HOUR, healthy, lake_with, verdict
from tests.models.diagnosis.test_apply import fill
from tests.models.forecast.minutes import rows_of
from throttlescope.app.services.forecast import back_test as judging
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS, date_of
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.forecast.read import _periods

TOPICS = [f"persistent://acme/shop/{name}" for name in ("orders", "parcels", "others")]
MINUTES = 240
#: What is asked about: two of the three topics, and not the first hour's half.
SELECTION = (TOPICS[:2], HOUR + 90 * MINUTE_MS, HOUR + 200 * MINUTE_MS)


def minutes(dice):
    (like,) = rows_of([100.0])
    for topic in TOPICS:
        for at in range(MINUTES):
            at_ms = HOUR + at * MINUTE_MS
            yield like | {
                "topic": topic, "minute_ms": at_ms, "date": date_of(at_ms),
                "limits_changed": dice.random() < 0.02, "broker_changed": dice.random() < 0.02,
                "counter_resets": int(dice.random() < 0.02), "consumers": dice.choice((None, 2.0, 2.0, 2.0, 3.0)),
                "expired_msg_delta": dice.choice((None, 0.0, 0.0, 5.0)),
            }  # fmt: skip


def limit(dice, topic, observed_ms):
    row = dict.fromkeys(TABLES["limits"].schema.names)
    rated = dice.random() < 0.7
    return row | {
        "cluster": "prod", "namespace": "acme/shop", "topic": topic, "partition": -1, "subscription": "billing", "level": "topic",
        "rate_msg": 10 if rated else None, "period_s": dice.choice((1, 5, 60)) if abs(observed_ms - HOUR) < 10 * DAY_MS else 600, "counts": "messages", "relative_to_publish": False,
        "exempt_caught_up": False, "read_batch_entries": 100, "read_size_bytes": 5, "set_by": "topic_policy",
        "observed_ms": observed_ms, "date": date_of(observed_ms),
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_outcomes_match_row_by_row_reference(tmp_path, seed):
    dice = random.Random(seed)  # noqa: S311 - no secret
    windows = [
        (verdict if dice.random() < 0.5 else healthy)(n) | {"topic": topic}
        for topic in TOPICS
        for n in range(MINUTES // 5)
        if dice.random() < 0.9
    ]
    lake = lake_with(tmp_path, windows)
    signals = list(minutes(dice))
    fill(lake, signals)
    observed = [HOUR + days * DAY_MS for days in (-40, -3, 0, 40)]
    limits = [limit(dice, topic, at_ms) for topic in TOPICS for at_ms in observed]
    lake.upsert("limits", pa.Table.from_pylist(limits, schema=TABLES["limits"].loose_schema), run_id="x")
    topics, start_ms, end_ms = SELECTION
    read = judging._Read(lake, "prod", start_ms, end_ms, topics)

    first_ms = start_ms - 60 * MINUTE_MS
    near = [row for row in signals if row["topic"] in topics and first_ms <= row["minute_ms"] <= end_ms]
    changed, expired, consumers = {}, {}, {}
    for row in sorted(near, key=lambda row: row["minute_ms"]):
        key, now = judging._key(row), row["consumers"]
        other = now is not None and consumers.get(key, now) != now
        if row["limits_changed"] or row["broker_changed"] or row["counter_resets"] or other:
            changed.setdefault(key, []).append(row["minute_ms"])
        if row["expired_msg_delta"]:
            expired.setdefault(key, []).append(row["minute_ms"] + MINUTE_MS)
        consumers[key] = consumers.get(key) if now is None else now
        if consumers[key] is None:
            del consumers[key]
    assert (read.changes(), read.expired()) == (changed, expired)
    assert len(changed) == 2

    causes = read.causes()
    assert set(causes) == {
        SubscriptionKey(*(one[name] for name in SubscriptionKey._fields))
        for one in windows
        if one["topic"] in topics
    }
    for key, spans in causes.items():
        mine = sorted(
            (one["window_end_ms"], one["cause"])
            for one in windows
            if judging._key(one) == key and first_ms <= one["window_end_ms"] <= end_ms
        )
        assert len(spans) < len(mine)
        for at_ms in range(first_ms, end_ms, FIVE // 5):
            place = bisect_right(mine, at_ms, key=lambda one: one[0]) - 1
            assert judging._cause_at(spans, at_ms) == (mine[place][1] if place >= 0 else "no verdict")

    joined = [
        row for row in limits if row["topic"] in topics and abs(row["observed_ms"] - HOUR) < 10 * DAY_MS
    ]
    assert _periods(read.limits()) == _periods(joined)
