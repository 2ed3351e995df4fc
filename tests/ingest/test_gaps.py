"""Gaps: what is missing is found, kept with its time, closed when it comes, shortened when a part comes, and given up in the end."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.naive import gaps as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, block_start, date_of
from throttlescope.ingest.gaps import MissingStretch, due, find_missing, open_gaps, record, settle
from throttlescope.ingest.gaps.find import SHORTEST_MS, SIGN_OF_LIFE
from throttlescope.ingest.gaps.gap_table import FIRST_RETRY_MS
from throttlescope.ingest.gaps.retention import retention_ms
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.pull.watermarks import SourceKey

KEY = SourceKey("http://prometheus:9090", "", "prod")
HOUR = BLOCK_MS
START = 1_760_000_400_000


def put(lake, metric_name, times_ms, series_id="a" * 32):
    """Samples of one series, block by block."""
    for block_ms in sorted({block_start(time_ms) for time_ms in times_ms}):
        inside = sorted(t for t in times_ms if block_start(t) == block_ms)
        row = {
            "series_id": series_id, "cluster": "prod", "metric_name": metric_name, "block_start_ms": block_ms, "shard": 0,
            "date": date_of(block_ms), "timestamps_ms": inside, "values": [1.0] * len(inside), "stale_ms": [],
        }  # fmt: skip
        names = TABLES["samples"].schema.names
        rows = pa.Table.from_pylist([{name: row[name] for name in names}], schema=TABLES["samples"].schema)
        lake.commit("samples", [write_data_file(lake.root, "samples", rows)], run_id="test")


def every(start_ms, end_ms, step_ms=15_000):
    return list(range(start_ms, end_ms, step_ms))


@pytest.mark.long
def test_random_silences_are_those_of_the_twin(tmp_path):
    draw = random.Random(7)  # noqa: S311
    for number in range(6):
        lake = Lake(tmp_path / str(number))
        times = every(START, START + 3 * HOUR, 30_000)
        for _ in range(4):
            low = START + draw.randrange(0, 3 * HOUR // 1000) * 1000
            high = low + draw.randrange(60, 1800) * 1000
            times = [t for t in times if not low <= t < high]
        put(lake, SIGN_OF_LIFE, times)
        put(lake, SIGN_OF_LIFE, times[::2], series_id="b" * 32)
        low, high = START + HOUR // 2, START + 3 * HOUR
        found = [
            (one.start_ms, one.end_ms) for one in find_missing(lake, ["prod"], [SIGN_OF_LIFE], low, high)
        ]
        began = any(t < block_start(low) for t in times)
        assert found == naive.silent(times, low, high, SHORTEST_MS, began), number


def test_what_was_never_there_is_not_missing(tmp_path):
    lake = Lake(tmp_path)
    put(lake, SIGN_OF_LIFE, every(START + HOUR + 20 * MINUTE_MS, START + 2 * HOUR))
    assert find_missing(lake, ["prod"], [SIGN_OF_LIFE], START, START + 2 * HOUR) == []
    assert find_missing(lake, ["prod", "other"], [SIGN_OF_LIFE], START, START + 2 * HOUR) == []


def test_missing_hour_of_metric_is_gap(tmp_path):
    lake = Lake(tmp_path)
    put(lake, SIGN_OF_LIFE, every(START, START + 4 * HOUR))
    put(lake, "pulsar_rate_in", every(START, START + HOUR) + every(START + 2 * HOUR, START + 4 * HOUR))
    put(lake, "pulsar_rate_out", every(START, START + HOUR))
    metrics = [SIGN_OF_LIFE, "pulsar_rate_in", "pulsar_rate_out"]
    missing = MissingStretch("prod", "pulsar_rate_in", START + HOUR, START + 2 * HOUR)
    assert find_missing(lake, ["prod"], metrics, START, START + 4 * HOUR) == [missing]
    # Known as soon as the hour behind it is there.
    assert find_missing(lake, ["prod"], metrics, START + 2 * HOUR, START + 3 * HOUR) == [missing]


def book(lake):
    rows = lake.read("gaps").to_pylist()
    return sorted((row["start_ms"], row["end_ms"], row["state"], row["retries"]) for row in rows)


def test_gap_is_retried_shortened_and_closed(tmp_path):
    lake = Lake(tmp_path)
    whole = MissingStretch("prod", "*", START, START + 2 * HOUR)
    about = {"run_id": "run"}
    settle(lake, KEY, [whole], START, START + 2 * HOUR, now_ms=1000, **about)
    assert book(lake) == [(START, START + 2 * HOUR, "open", 0)]
    # Asked again, and nothing new.
    assert settle(lake, KEY, [whole], START, START + 2 * HOUR, now_ms=2000, **about) == []
    assert book(lake) == [(START, START + 2 * HOUR, "open", 1)]
    (gap,) = open_gaps(lake, KEY)
    assert (gap.found_ms, gap.retried_ms) == (1000, 2000)
    # The first hour came; of the second nobody asked.
    closed = settle(lake, KEY, [], START, START + HOUR, now_ms=3000, **about)
    assert [one.start_ms for one in closed] == [START]
    assert book(lake) == [(START, START + 2 * HOUR, "closed", 1), (START + HOUR, START + 2 * HOUR, "open", 2)]
    # Half of the rest.
    rest = MissingStretch("prod", "*", START + HOUR, START + HOUR + 30 * MINUTE_MS)
    settle(lake, KEY, [rest], START + HOUR, START + 2 * HOUR, now_ms=4000, **about)
    assert [gap.end_ms for gap in open_gaps(lake)] == [START + HOUR + 30 * MINUTE_MS]
    settle(lake, KEY, [], START + HOUR, START + 2 * HOUR, now_ms=5000, **about)
    assert open_gaps(lake) == []


def test_continued_gap_does_not_overlap(tmp_path):
    """What is missing after it is one more gap."""
    lake = Lake(tmp_path)
    about = {"now_ms": 1000, "run_id": "run"}
    settle(
        lake,
        KEY,
        [MissingStretch("prod", "*", START + 50 * MINUTE_MS, START + HOUR)],
        START,
        START + HOUR,
        **about,
    )
    more = MissingStretch("prod", "*", START + 50 * MINUTE_MS, START + 2 * HOUR)
    settle(lake, KEY, [more], START, START + 2 * HOUR, **about)
    assert [(gap.start_ms - START, gap.end_ms - START) for gap in open_gaps(lake)] == [
        (50 * MINUTE_MS, HOUR), (HOUR, 2 * HOUR),
    ]  # fmt: skip


@pytest.mark.long
def test_retries_back_off_within_retention(tmp_path):
    lake = Lake(tmp_path)
    record(lake, KEY, START, START + HOUR, "source_down", now_ms=START + HOUR, run_id="run")
    now_ms = START + 2 * HOUR
    assert len(due(lake, KEY, now_ms, START - DAY_MS)) == 1
    waits = []
    for _ in range(4):
        assert len(open_gaps(lake, KEY)) == 1
        still = [MissingStretch("prod", "*", START, START + HOUR)]
        settle(lake, KEY, still, START, START + HOUR, now_ms=now_ms, run_id="run")
        wait = next(
            w for w in range(0, DAY_MS + 1, FIRST_RETRY_MS) if due(lake, KEY, now_ms + w, START - DAY_MS)
        )
        waits.append(wait // FIRST_RETRY_MS)
        now_ms += wait
    assert waits == [2, 4, 8, 16]
    assert due(lake, KEY, now_ms + DAY_MS, START + HOUR) == []
    settle(
        lake,
        KEY,
        [],
        START + 9 * HOUR,
        START + 10 * HOUR,
        now_ms=now_ms,
        run_id="run",
        kept_since_ms=START + HOUR,
    )
    assert [row[2] for row in book(lake)] == ["lost"]


def test_another_sources_gaps_are_left_alone(tmp_path):
    lake = Lake(tmp_path)
    other = SourceKey("http://other:9090", "", "prod")
    for key in (KEY, other):
        record(lake, key, START, START + HOUR, "source_down", now_ms=1, run_id="run")
    settle(lake, KEY, [], START, START + HOUR, now_ms=2, run_id="run")
    assert [gap.source for gap in open_gaps(lake)] == [other.source]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("15d", 15),
        ("1y", 365),
        ("30d or 10GiB", 30),
        ("10GiB", None),
        ("", None),
        ("2w1d", 15),
        ("nonsense", None),
    ],
)
def test_what_a_server_says_of_its_retention(text, days):
    class Api:
        def runtime_info(self, meter=None):
            return {"storageRetention": text}

    assert retention_ms(Api()) == (None if days is None else days * DAY_MS)
