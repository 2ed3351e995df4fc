"""The gates on a lake: planted faults are found, named and weighed; a good lake passes; the terminal stays empty."""

import json

import numpy as np
import pyarrow as pa
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.errors import GateError
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.quality import check_samples, check_signals
from throttlescope.ingest.quality.expectations import Check, failing, raised_message
from throttlescope.ingest.quality.samples import CHECKS
from throttlescope.ingest.times import BLOCK_MS, MINUTE_MS, date_of

HOUR = 1_795_161_600_000
BACKLOG = "pulsar_subscription_back_log"
OUT = "pulsar_out_messages_total"


def block(series, metric=BACKLOG, hour=0, ticks=range(240), stale=(), values=None, cluster="c"):
    start = HOUR + hour * BLOCK_MS
    times = [start + tick * 15_000 for tick in ticks]
    return {
        "series_id": series * 32, "metric_name": metric, "date": date_of(start), "cluster": cluster, "shard": 0,
        "block_start_ms": start, "timestamps_ms": times,
        "values": [float(i) for i in range(len(times))] if values is None else values,
        "stale_ms": [start + tick * 15_000 for tick in stale],
    }  # fmt: skip


def catalogue(blocks):
    rows = {
        row["series_id"]: {
            "series_id": row["series_id"], "metric_name": row["metric_name"], "cluster": row["cluster"],
            "labels": [("subscription", f"sub-{row['series_id'][0]}")], "shard": 0,
            "first_ms": row["block_start_ms"], "last_ms": row["block_start_ms"] + BLOCK_MS,
        }
        for row in blocks
    }  # fmt: skip
    return pa.Table.from_pylist(list(rows.values()), schema=TABLES["series"].schema)


def lake_of(folder, blocks, known=None):
    """A lake that holds these blocks, one file each, written as ingest writes them."""
    lake = Lake(folder)
    lake.upsert("series", catalogue(blocks if known is None else known), run_id="r")
    schema = TABLES["samples"].schema
    files = [
        write_data_file(lake.root, "samples", pa.Table.from_pylist([row], schema=schema)) for row in blocks
    ]
    lake.commit("samples", files, run_id="r")
    return lake


def check(spark, lake, clusters=("c",), hours=2):
    return check_samples(spark, lake, clusters, HOUR, HOUR + hours * BLOCK_MS, "run-1")


def failures(result):
    return {row["check"]: row for row in result.failures()}


@pytest.fixture(scope="module")
def good_blocks():
    return [
        block("a"), block("a", hour=1), block("b", metric=OUT), block("b", metric=OUT, hour=1, ticks=range(100)),
    ]  # fmt: skip


def test_a_good_lake_passes_every_check(spark, tmp_path, good_blocks, capfd):
    result = check(spark, lake_of(tmp_path, good_blocks))
    assert result.failures() == []
    assert not result.stopped
    rows = result.rows.to_pylist()
    assert [row["check"] for row in rows] == ["rows_present", *(c.name for c in CHECKS)]
    assert rows[0]["observed"] == "4 blocks"
    assert result.rows.schema == TABLES["quality"].schema
    assert capfd.readouterr() == ("", "")


def test_a_planted_duplicate_key_gap_and_negative_backlog_are_caught(spark, tmp_path, good_blocks):
    again = block("b", metric=OUT, values=[7.0] * 240)
    holed = block("d", ticks=[*range(100), *range(110, 240)])
    negative = block("e", values=[-2.0, *[0.0] * 238, -1.0])
    result = check(spark, lake_of(tmp_path, [*good_blocks, again, holed, negative]))
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


def test_warnings_alone_do_not_stop(spark, tmp_path, good_blocks):
    result = check(spark, lake_of(tmp_path, [*good_blocks, block("e", values=[-1.0] * 240)]))
    assert set(failures(result)) == {"backlog_not_negative"}
    assert not result.stopped


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("timestamp_key_unique", {"timestamps_ms": [HOUR, HOUR + 1, HOUR + 1]}),
        ("timestamps_rise", {"timestamps_ms": [HOUR + 2, HOUR + 1, HOUR + 3]}),
        ("values_match_timestamps", {"timestamps_ms": [HOUR, HOUR + 1]}),
        ("block_holds_its_times", {"timestamps_ms": [HOUR, HOUR + 1, HOUR + BLOCK_MS]}),
    ],
)
def test_a_broken_block_stops_the_run(spark, tmp_path, name, fault):
    lake = lake_of(tmp_path, [block("a"), block("b", ticks=range(3), values=[0.0] * 3) | fault])
    result = check(spark, lake)
    assert name in failures(result)
    assert result.stopped


def test_a_series_without_labels_stops_the_run(spark, tmp_path):
    lake = lake_of(tmp_path, [block("a"), block("b")], known=[block("a")])
    found = failures(check(spark, lake))
    assert set(found) == {"series_in_catalogue"}
    assert json.loads(found["series_in_catalogue"]["example"])["labels"] is None


def test_a_hole_across_the_hour_is_seen(spark, tmp_path):
    lake = lake_of(tmp_path, [block("a", ticks=range(200)), block("a", hour=1, ticks=range(20, 240))])
    found = failures(check(spark, lake))
    assert found["scrapes_complete"]["observed"] == "60 missing scrapes in 1 blocks"


def test_a_block_too_short_for_an_interval_uses_its_series(spark, tmp_path):
    lake = lake_of(tmp_path, [block("a"), block("a", hour=1, ticks=[0, 100])])
    assert failures(check(spark, lake))["scrapes_complete"]["observed"] == "99 missing scrapes in 1 blocks"


def test_a_backlog_that_ended_and_came_back_is_told_apart(spark, tmp_path):
    """An unloaded topic: markers, then the same series again. A consumer's series does so all the time."""
    away = {"ticks": [*range(100), *range(110, 240)], "stale": [100]}
    lake = lake_of(
        tmp_path, [block("a", **away), block("b", metric="pulsar_consumer_unacked_messages", **away)]
    )
    found = failures(check(spark, lake))
    assert set(found) == {"backlog_exposed"}
    assert found["backlog_exposed"]["observed"] == "10 scrapes without the subscription's backlog in 1 blocks"


def test_a_negative_counter_and_a_nan_are_told_apart_from_negative_permits(spark, tmp_path):
    lake = lake_of(
        tmp_path,
        [
            block("a", metric="pulsar_consumer_available_permits", values=[-5.0] * 240),
            block("b", metric=OUT, values=[-5.0] * 240),
            block("c", values=[float("nan")] * 240),
        ],
    )
    assert set(failures(check(spark, lake))) == {"counters_not_negative", "values_finite"}


def test_only_the_clusters_and_hours_asked_for_are_checked(spark, tmp_path):
    bad = {"values": [-1.0] * 240}
    lake = lake_of(
        tmp_path,
        [block("a"), block("b", cluster="other", **bad), block("c", hour=1, **bad), block("d", **bad)],
    )
    found = failures(check(spark, lake, hours=1))
    assert (found["backlog_not_negative"]["rows"], found["backlog_not_negative"]["cluster"]) == (1, "c")
    both = check(spark, lake, clusters=("c", "other"))
    rows = [row for row in both.failures() if row["check"] == "backlog_not_negative"]
    assert [(row["cluster"], row["rows"]) for row in rows] == [("c", 2), ("other", 1)]


def test_an_empty_range_does_not_look_like_good_data(spark, tmp_path):
    result = check(spark, Lake(tmp_path))
    assert [(row["check"], row["success"], row["observed"]) for row in result.rows.to_pylist()] == [
        ("rows_present", False, "0 blocks")
    ]
    assert not result.stopped


def test_a_check_that_cannot_be_evaluated_is_an_error(spark):
    """Great Expectations reports a missing column as an expectation that merely does not hold."""
    frame = spark.createDataFrame(pa.table({"cluster": ["c"], "there": pa.array([0], pa.int64())}))
    checks = [
        Check("fine", "there", "warning", "faults", "none"),
        Check("broken", "nowhere", "warning", "faults", "none"),
    ]
    with pytest.raises(GateError, match=r"check broken could not be evaluated.*nowhere"):
        failing(frame, checks)
    unique = [Check("broken", "there", "error", "faults", "none", unique=("cluster", "nowhere"))]
    with pytest.raises(GateError, match="check broken could not be evaluated"):
        failing(frame, unique)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (None, None),
        ({"raised_exception": False, "exception_message": None}, None),
        ({"raised_exception": True, "exception_message": "boom"}, "boom"),
        ({"metric-1": {"raised_exception": True, "exception_message": "boom"}}, "boom"),
    ],
)
def test_both_forms_of_exception_info_are_read(info, message):
    assert raised_message(info) == message


def signal(minute=0, **changes):
    table = TABLES["signals"]
    row = dict.fromkeys((column.name for column in table.columns), None) | {
        "cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/x", "partition": -1, "subscription": "s",
        "minute_ms": HOUR + minute * MINUTE_MS, "coverage_share": 1.0, "counter_resets": 0, "broker_changed": False,
        "limits_observed": False, "limit_observed_later": False, "limits_changed": False, "date": date_of(HOUR),
    }  # fmt: skip
    return row | changes


def signals_result(spark, rows):
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema))
    return check_signals(spark, frame, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")


def test_good_signals_pass(spark):
    result = signals_result(spark, [signal(m, out_msg_delta=5.0, rho_topic_msg=0.5) for m in range(5)])
    assert result.failures() == []
    assert result.rows["observed"][0].as_py() == "1 subscriptions"


@pytest.mark.parametrize(
    ("check", "stops", "rows"),
    [
        ("minute_key_unique", True, [signal(1), signal(1)]),
        ("minute_on_grid", True, [signal(minute_ms=HOUR + 1)]),
        ("deltas_not_negative", True, [signal(out_msg_delta=-1.0)]),
        ("deltas_not_negative", True, [signal(in_bytes_delta=float("nan"))]),
        ("use_not_negative", True, [signal(rho_broker_bytes=-0.1)]),
        ("coverage_is_share", False, [signal(coverage_share=1.25)]),
        ("shares_are_shares", False, [signal(permits_exhausted_share=-0.5)]),
    ],
)
def test_impossible_signals_are_found(spark, check, stops, rows):
    result = signals_result(spark, [signal(30), *rows])
    assert set(failures(result)) == {check}
    assert result.stopped is stops


def test_signals_are_read_from_the_lake(spark, tmp_path):
    lake = Lake(tmp_path)
    rows = pa.Table.from_pylist([signal(0), signal(1, rho_topic_msg=-1.0)], schema=TABLES["signals"].schema)
    lake.commit("signals", [write_data_file(lake.root, "signals", rows)], run_id="r")
    result = check_signals(spark, lake, ["c"], HOUR, HOUR + BLOCK_MS, "run-1")
    assert set(failures(result)) == {"use_not_negative"}
    before = check_signals(spark, lake, ["c"], HOUR, HOUR + MINUTE_MS, "run-1")
    assert before.failures() == []


def test_nothing_stays_cached(spark, tmp_path, good_blocks):
    check(spark, lake_of(tmp_path, good_blocks))
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


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
