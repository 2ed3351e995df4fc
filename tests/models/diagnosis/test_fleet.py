"""What Spark's tasks do over a fleet, done here one after the other: every window once, as the rules judge it."""

from __future__ import annotations

import random
from zlib import crc32

import pyarrow as pa
import pytest

from tests.models.diagnosis.scenes import growing, scene
from tests.models.diagnosis.test_cases import FULL, sub
from tests.models.diagnosis.test_screen import QUIET
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, date_of
from throttlescope.ingest.lake import Lake, NewFile, write_data_file
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.fleet import full_rules, quiet
from throttlescope.models.diagnosis.fleet.hours import bounds, hours
from throttlescope.models.diagnosis.window import SubscriptionKey

HOUR_MS = block_start(1_795_000_200_000)
SIGNALS = TABLES["signals"].loose_schema
TROUBLED = [
    {"in_rate": 200.0, "backlog": growing(5000, 20), "limits": sub(100, 0.99, 1.0)},
    {"in_rate": 120.0, "backlog": growing(5000, 20), **FULL, "out_rate": 100.0},
    {"consumers": 0.0, "backlog": growing(50, 1), "out_rate": 0.0},
]


def fleet(seed: int, minutes: int) -> list[dict]:
    """Rows of signals of some subscriptions of two clusters: mostly quiet, in trouble for a while, away for an hour."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for number in range(12):
        cluster, usual = rng.choice(["east", "west"]), rng.choice(QUIET)
        away = rng.choice([None, None, rng.randrange(1, 4)])
        trouble, first = rng.choice(TROUBLED), rng.randrange(0, minutes)
        for minute in range(rng.choice([0, 0, 65]), minutes):
            if minute // 60 == away:
                continue
            troubled = number % 3 == 0 and first <= minute < first + 40
            values = _minute(trouble if troubled else usual, minute % 5)
            minute_ms = HOUR_MS + minute * MINUTE_MS
            key = (cluster, "acme/shop", f"persistent://acme/shop/t{number // 2}", number % 2, f"s{number}")
            rows.append(
                values
                | SubscriptionKey(*key)._asdict()
                | {"minute_ms": minute_ms, "date": date_of(minute_ms)}
            )
    return rows


def _minute(changes: dict, minute: int) -> dict:
    window = scene(**changes)
    return {name: values[minute] for name, values in window.columns.items()}


def stored(lake: Lake, rows: list[dict], files_each: int = 1) -> None:
    """Files of each cluster and hour, sorted by key, every subscription in one, as the transforms write them."""
    parts: dict[tuple, list[dict]] = {}
    for row in rows:
        place = (
            row["cluster"],
            row["minute_ms"] // BLOCK_MS,
            crc32(row["subscription"].encode()) % files_each,
        )
        parts.setdefault(place, []).append(row)
    by = [(name, "ascending") for name in TABLES["signals"].key]
    files = [
        write_data_file(lake.root, "signals", pa.Table.from_pylist(part, schema=SIGNALS).sort_by(by))
        for part in parts.values()
    ]
    lake.commit("signals", files, run_id="fill")


def judged(lake: Lake, window_ms: int, every_ms: int) -> tuple[list[dict], dict, dict]:
    """The tasks' work without Spark: rows of verdicts, what was left, and each cluster's span."""
    files = lake.files("signals")
    spans = bounds(files, HOUR_MS, HOUR_MS + DAY_MS)
    written, left = [], {}
    for hour in hours(files, spans, window_ms, every_ms):
        for batch in quiet.screen_hour(lake.root, hour):
            for row in batch.to_pylist():
                if row["file"]:
                    written.append(NewFile.from_json(row["file"]))
                else:
                    key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
                    left.setdefault(key, []).extend(row["starts_ms"])
    lake.commit("verdicts", written, run_id="quiet")
    rows = lake.read("verdicts").to_pylist()
    if left:
        for share in full_rules.share_out(left, files, 2):
            rows += full_rules.judge_share(share, window_ms).to_pylist()
    return rows, left, spans


def place(row: dict) -> tuple:
    return (*(row[name] for name in SubscriptionKey._fields), row["window_start_ms"])


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("length", "every", "files_each"), [(5, 5, 1), (5, 1, 1), (30, 10, 1), (90, 30, 1), (5, 5, 3), (5, 1, 3)]
)
def test_fleet_equals_single_subscriptions(tmp_path, monkeypatch, length, every, files_each):
    window_ms, every_ms = length * MINUTE_MS, every * MINUTE_MS
    lake = Lake(tmp_path / "lake")
    stored(lake, fleet(length + every, 190), files_each)
    if files_each > 1:
        # As where a file is as much as a task may read.
        monkeypatch.setattr("throttlescope.models.diagnosis.fleet.hours._PART_ROWS", 1)
    rows, left, spans = judged(lake, window_ms, every_ms)
    assert left
    signals, wanted = lake.read("signals"), []
    for cluster, (first_ms, last_ms) in spans.items():
        own = signals.filter(pa.compute.equal(signals["cluster"], cluster))
        wanted += verdicts_of(own, first_ms, last_ms, window_ms=window_ms, every_ms=every_ms).to_pylist()
    quiet_rows = len(rows) - sum(len(starts_ms) for starts_ms in left.values())
    assert quiet_rows > 0
    assert len(rows) == len(wanted)
    for row, other in zip(sorted(rows, key=place), sorted(wanted, key=place), strict=True):
        assert row == other


@pytest.mark.long
def test_large_hour_is_split_into_tasks(tmp_path, monkeypatch):
    lake = Lake(tmp_path / "lake")
    stored(lake, fleet(1, 120), files_each=3)
    files = lake.files("signals")
    spans = bounds(files, HOUR_MS, HOUR_MS + DAY_MS)
    whole = hours(files, spans, 300_000, 300_000)
    assert len(files) > len(whole) == 2 * len(spans)
    monkeypatch.setattr("throttlescope.models.diagnosis.fleet.hours._PART_ROWS", 1)
    cut = hours(files[::-1], spans, 300_000, 300_000)
    assert {len(hour.files) for hour in cut} == {1}
    assert sorted(file.path for hour in cut for file in hour.files) == sorted(file.path for file in files)
    # Windows that reach over the hour's end need a subscription's files of both hours.
    over = hours(files, spans, 300_000, 60_000)
    first, alone = ([hour for hour in found if hour.grid.start_ms == HOUR_MS] for found in (over, whole))
    assert len(first) == len(alone) == len(spans)
    for one, own in zip(first, alone, strict=True):
        assert {file.path for file in one.files} > {file.path for file in own.files}


def test_what_is_left_looks_a_day_back(tmp_path):
    lake = Lake(tmp_path / "lake")
    saturated = {"in_rate": 120.0, "out_rate": 120.0, "backlog": growing(5000, 20), **FULL}
    rows = []
    for minute in (*range(60), *range(23 * 60, 24 * 60)):
        minute_ms = HOUR_MS + minute * MINUTE_MS
        values = _minute(saturated if minute < 60 else TROUBLED[0], minute % 5)
        rows.append(values | {"minute_ms": minute_ms, "date": date_of(minute_ms)})
    stored(lake, rows)
    left = {SubscriptionKey(*(rows[0][name] for name in SubscriptionKey._fields)): [HOUR_MS + 23 * BLOCK_MS]}
    (share,) = full_rules.share_out(left, lake.files("signals"), 2)
    minutes = full_rules.minutes_of(share, 300_000)
    assert minutes.num_rows == 120
    # Of the hour before only what the rules look back to.
    assert minutes["limit_counts"].null_count == 60
    found = full_rules.judge_share(share, 300_000)
    assert found["cause"].to_pylist() == ["both"]
    assert found["capacity_msg_rate"].to_pylist() == [120.0]


def test_work_is_shared_out_by_windows():
    left = {
        SubscriptionKey("c", "n", "t", 0, f"s{i}"): list(range(count))
        for i, count in enumerate([288] * 3 + [12] * 70)
    }
    found = full_rules.share_out(left, [], 2)
    assert [key for share in found for key in share.left] == sorted(left)
    assert len(found) >= 8
    assert max(share.windows for share in found) <= 288
    assert [len(share.left) for share in full_rules.share_out(left, [], 1)] == [73]
    one = dict(list(left.items())[:1])
    assert [share.left for share in full_rules.share_out(one, [], 2)] == [one]
