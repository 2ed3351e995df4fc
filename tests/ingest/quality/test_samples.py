"""The gate of blocks on a lake: planted faults are found, named and weighed; a good lake passes; the terminal stays empty."""

import json

import numpy as np
import pyarrow as pa
import pytest

from tests.ingest.quality.rows import BACKLOG, HOUR, OUT, block, catalogue, failures, hold, lake_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import GateError
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import check_samples
from throttlescope.ingest.quality.samples import CHECKS


def check(lake, clusters=("c",), hours=2):
    return check_samples(None, lake, clusters, HOUR, HOUR + hours * BLOCK_MS, "run-1")


@pytest.fixture(scope="module")
def good_blocks():
    return [
        block("a"), block("a", hour=1), block("b", metric=OUT), block("b", metric=OUT, hour=1, ticks=range(100)),
    ]  # fmt: skip


def test_a_good_lake_passes_every_check(tmp_path, good_blocks, capfd):
    result = check(lake_of(tmp_path, good_blocks))
    assert result.failures() == []
    assert not result.stopped
    rows = result.rows.to_pylist()
    assert [row["check"] for row in rows] == ["rows_present", *(c.name for c in CHECKS)]
    assert rows[0]["observed"] == "4 blocks"
    assert result.rows.schema == TABLES["quality"].schema
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_planted_faults_are_found(tmp_path, good_blocks):
    """A duplicate key, a gap and a negative backlog."""
    again = block("b", metric=OUT, values=[7.0] * 240)
    holed = block("d", ticks=[*range(100), *range(110, 240)])
    negative = block("e", values=[-2.0, *[0.0] * 238, -1.0])
    result = check(lake_of(tmp_path, [*good_blocks, again, holed, negative]))
    found = failures(result)
    assert set(found) == {"block_key_unique", "scrapes_complete", "backlog_not_negative"}
    assert result.stopped

    key = found["block_key_unique"]
    assert (key["severity"], key["cluster"], key["rows"]) == ("error", "c", 1)
    assert json.loads(key["example"])["labels"] == {"subscription": "sub-b"}

    gap = found["scrapes_complete"]
    assert (gap["severity"], gap["rows"]) == ("warning", 1)
    assert gap["observed"] == "10 missing scrapes in 1 blocks"
    assert json.loads(gap["example"]) == {
        "series_id": "d" * 32, "metric_name": BACKLOG, "labels": {"subscription": "sub-d"},
        "block": "2026-11-20T08:00:00Z", "missing_scrapes": 10,
    }  # fmt: skip

    backlog = found["backlog_not_negative"]
    assert (backlog["severity"], backlog["observed"]) == ("warning", "2 negative backlog samples in 1 blocks")

    error = result.error()
    assert isinstance(error, GateError)
    assert error.exit_code == 3
    assert "block_key_unique in cluster c" in str(error)


def test_duplicate_block_across_files_is_named(tmp_path, good_blocks):
    """The two files are judged separately."""
    elsewhere = block("b", metric=OUT, values=[7.0] * 240) | {"shard": 9}
    result = check(lake_of(tmp_path, [*good_blocks, elsewhere]))
    key = failures(result)["block_key_unique"]
    assert (key["severity"], key["cluster"], key["observed"]) == (
        "error",
        "c",
        "1 repeated blocks in 1 blocks",
    )
    assert json.loads(key["example"])["labels"] == {"subscription": "sub-b"}


def test_warnings_alone_do_not_stop(tmp_path, good_blocks):
    result = check(lake_of(tmp_path, [*good_blocks, block("e", values=[-1.0] * 240)]))
    assert set(failures(result)) == {"backlog_not_negative"}
    assert not result.stopped


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("timestamp_key_unique", {"timestamps_ms": [HOUR, HOUR + 1, HOUR + 1]}),
        ("timestamps_rise", {"timestamps_ms": [HOUR + 2, HOUR + 1, HOUR + 3]}),
        ("values_match_timestamps", {"timestamps_ms": [HOUR, HOUR + 1]}),
        ("block_holds_its_times", {"timestamps_ms": [HOUR, HOUR + 1, HOUR + BLOCK_MS]}),
    ],
)
def test_a_broken_block_stops_the_run(tmp_path, name, fault):
    lake = lake_of(tmp_path, [block("a"), block("b", ticks=range(3), values=[0.0] * 3) | fault])
    result = check(lake)
    assert name in failures(result)
    assert result.stopped


def test_a_series_without_labels_stops_the_run(tmp_path):
    lake = lake_of(tmp_path, [block("a"), block("b")], known=[block("a")])
    found = failures(check(lake))
    assert set(found) == {"series_in_catalogue"}
    assert json.loads(found["series_in_catalogue"]["example"])["labels"] is None


def test_a_hole_across_the_hour_is_seen(tmp_path):
    lake = lake_of(tmp_path, [block("a", ticks=range(200)), block("a", hour=1, ticks=range(20, 240))])
    found = failures(check(lake))
    assert found["scrapes_complete"]["observed"] == "60 missing scrapes in 1 blocks"


def test_short_block_uses_interval_of_series(tmp_path):
    lake = lake_of(tmp_path, [block("a"), block("a", hour=1, ticks=[0, 100])])
    assert failures(check(lake))["scrapes_complete"]["observed"] == "99 missing scrapes in 1 blocks"


@pytest.mark.long
def test_returned_backlog_is_distinguished(tmp_path):
    """An unloaded topic: markers, then the same series again. A consumer's series does so all the time."""
    away = {"ticks": [*range(100), *range(110, 240)], "stale": [100]}
    lake = lake_of(
        tmp_path, [block("a", **away), block("b", metric="pulsar_consumer_unacked_messages", **away)]
    )
    found = failures(check(lake))
    assert set(found) == {"backlog_exposed"}
    assert found["backlog_exposed"]["observed"] == "10 scrapes without the subscription's backlog in 1 blocks"


def beside_up(folder, *blocks, up=None, **labels):
    """What is told of blocks in whose lake a target was scraped every 15 s; ``labels``: of the blocks' series alone."""
    target = [("instance", "b:8080"), ("job", "broker")]
    known = catalogue([*blocks, *(up or [])]).to_pylist()
    for row in known:
        row["labels"] = target if row["metric_name"] == "up" else [*(labels or dict(target)).items()]
    lake = hold(Lake(folder), "samples", [*blocks, *(up or [])])
    result = check(hold(lake, "series", known))
    (row,) = [row for row in result.rows.to_pylist() if row["check"] == "scrapes_as_up"]
    return row["success"], row["observed"]


def scraped(hour=0, lost=(), failed=(), series="f"):
    ticks = [tick for tick in range(240) if tick not in lost]
    return block(series, "up", hour=hour, ticks=ticks, values=[float(tick not in failed) for tick in ticks])


LACKS = "{0} scrapes that up has and the series does not in 1 blocks"


@pytest.mark.long
@pytest.mark.parametrize(
    ("blocks", "up", "told"),
    [
        # Every second scrape, and every scrape but a few.
        ([block("a", ticks=range(0, 240, 2))], [scraped()], (False, LACKS.format(119))),
        ([block("a", ticks=[n for n in range(240) if n not in (50, 60, 70)])], [scraped()], (True, None)),
        ([block("a", ticks=[n for n in range(240) if n not in (50, 60, 70, 80)])], [scraped()], (False, LACKS.format(4))),
        # What the target was not scraped at is missing for another reason, and so is what failed.
        ([block("a", ticks=[*range(100), *range(110, 240)])], [scraped(lost=range(100, 110))], (True, None)),
        ([block("a", ticks=[*range(100), *range(110, 240)])], [scraped(failed=range(100, 110))], (True, None)),
        # Who begins late and ends early was not there before and after.
        ([block("a", ticks=range(60, 180))], [scraped()], (True, None)),
        # Across the hour's end: there before and there after.
        (
            [block("a", ticks=range(230)), block("a", hour=1, ticks=range(5, 240))], [scraped(), scraped(hour=1)],
            (False, LACKS.format(15)),
        ),
        # Two servers scrape the target, one of them half of the time.
        ([block("a", ticks=range(0, 240, 2))], [scraped(), scraped(lost=range(1, 240, 2), series="e")], (True, None)),
        (
            [block("a", ticks=[*range(100), *range(110, 240)], stale=[100])], [scraped()],
            (True, "1 of 2 blocks judged; not judged: 1 of series that a marker says were away"),
        ),
        (
            [block("a", ticks=range(200), stale=[200]), block("a", hour=1, ticks=range(100, 240))], [scraped(), scraped(hour=1)],
            (True, "3 of 4 blocks judged; not judged: 1 of series that a marker says were away"),
        ),
    ],
)  # fmt: skip
def test_series_is_compared_with_target_scrapes(tmp_path, blocks, up, told):
    assert beside_up(tmp_path, *blocks, up=up) == told


@pytest.mark.long
@pytest.mark.parametrize(
    ("metric", "up", "labels", "judged"),
    [
        (BACKLOG, None, {}, "0 of 1"),
        (BACKLOG, [scraped()], {"instance": "other:8080", "job": "broker"}, "1 of 2"),
        (BACKLOG, [scraped()], {"subscription": "s"}, "1 of 2"),
        # A rule's result, at times of its own.
        ("team:backlog:sum", [scraped()], {}, "1 of 2"),
    ],
)
def test_series_without_up_is_reported(tmp_path, metric, up, labels, judged):
    told = beside_up(tmp_path, block("a", metric, ticks=range(0, 240, 2)), up=up, **labels)
    assert told == (True, f"{judged} blocks judged; not judged: 1 of which the lake holds no up")


def test_negative_permits_are_no_fault(tmp_path):
    """A negative counter and a NaN are."""
    lake = lake_of(
        tmp_path,
        [
            block("a", metric="pulsar_consumer_available_permits", values=[-5.0] * 240),
            block("b", metric=OUT, values=[-5.0] * 240),
            block("c", values=[float("nan")] * 240),
        ],
    )
    assert set(failures(check(lake))) == {"counters_not_negative", "values_finite"}


@pytest.mark.long
def test_only_requested_range_is_checked(tmp_path):
    """Only the requested clusters and hours."""
    bad = {"values": [-1.0] * 240}
    lake = lake_of(
        tmp_path,
        [block("a"), block("b", cluster="other", **bad), block("c", hour=1, **bad), block("d", **bad)],
    )
    found = failures(check(lake, hours=1))
    assert (found["backlog_not_negative"]["rows"], found["backlog_not_negative"]["cluster"]) == (1, "c")
    both = check(lake, clusters=("c", "other"))
    rows = [row for row in both.failures() if row["check"] == "backlog_not_negative"]
    assert [(row["cluster"], row["rows"]) for row in rows] == [("c", 2), ("other", 1)]


def test_empty_range_does_not_pass(tmp_path):
    result = check(Lake(tmp_path))
    assert [(row["check"], row["success"], row["observed"]) for row in result.rows.to_pylist()] == [
        ("rows_present", False, "0 blocks")
    ]
    assert not result.stopped


def test_a_dense_block_stays_one_row():
    """A block of a series scraped every few milliseconds stays one row of counts."""
    from throttlescope.ingest.quality.block_facts import block_facts

    times = HOUR + np.arange(360_000) * 10
    rows = pa.Table.from_pylist(
        [block("a") | {"timestamps_ms": times, "values": np.ones(360_000), "stale_ms": []}],
        schema=TABLES["samples"].loose_schema,
    )
    (facts,) = block_facts(rows).to_pylist()
    assert (facts["samples"], facts["interval_ms"], facts["missing_scrapes"]) == (360_000, 10, 0)
