"""The gate of ingest validation: invalid series, jumps and losses, holes and late sources are found; a good lake passes."""

import json

import pyarrow as pa
import pytest

from tests.ingest.quality.rows import BACKLOG, HOUR, OUT, block, failures, hold, lake_of, series_of
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.quality import check_ingested, hours_stored
from throttlescope.ingest.quality.series_shape import series_faults

LATER = HOUR + 100 * BLOCK_MS


def checked(lake, hours=1, now_ms=LATER, first=0):
    start_ms = HOUR + first * BLOCK_MS
    return check_ingested(None, lake, ["c"], start_ms, start_ms + hours * BLOCK_MS, "run-1", now_ms=now_ms)


def good(folder, **changes):
    series = series_of()
    row = block("a") | {"series_id": series["series_id"], "shard": series["shard"]}
    lake = hold(Lake(folder), "series", [series | changes])
    return hold(lake, "samples", [row])


@pytest.mark.long
def test_validated_series_pass(tmp_path):
    result = checked(good(tmp_path))
    assert result.failures() == []
    rows = {row["check"]: row["observed"] for row in result.rows.to_pylist() if row["observed"]}
    assert rows["series_not_lost"].endswith("1 without an hour before them in the lake")
    assert rows["samples_fresh"].endswith("1 of ranges that ended long ago")


@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "stops", "changes"),
    [
        ("series_named_by_hash", True, {"series_id": "abc"}),
        ("series_in_its_shard", True, {"shard": 16}),
        (
            "partition_is_number", True,
            {"labels": [("namespace", "t/n"), ("partition", "-2"), ("subscription", "s"), ("topic", "persistent://t/n/x")]},
        ),
        (
            "key_labels_present", True,
            {"labels": [("namespace", "t/n"), ("partition", "-1"), ("topic", "persistent://t/n/x")]},
        ),
    ],
)  # fmt: skip
def test_unvalidated_series_stop_the_run(tmp_path, check, stops, changes):
    result = checked(good(tmp_path, **changes))
    assert set(failures(result)) == {check}
    assert result.stopped is stops
    assert json.loads(failures(result)[check]["example"])["labels"]


@pytest.mark.long
def test_a_repeated_series_stops(tmp_path):
    lake = hold(good(tmp_path), "series", [series_of() | {"last_ms": HOUR + 2 * BLOCK_MS}])
    assert failures(checked(lake))["series_key_unique"]["observed"] == "1 repeated series in 1 series"


@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "labels"),
    [
        ("topic_is_name", {"topic": "orders"}),
        ("topic_is_name", {"topic": "persistent://t/n/"}),
        ("namespace_of_topic", {"namespace": "kube-system"}),
    ],
)
def test_labels_without_judgement_are_doubted(tmp_path, check, labels):
    lake = hold(Lake(tmp_path), "series", [series_of(**labels)])
    result = checked(lake)
    assert set(failures(result)) == {check, "rows_present"}
    assert not result.stopped


def test_v1_topics_and_topicless_series_pass():
    rows = [
        series_of(topic="persistent://t/cluster/n/x", namespace="t/cluster/n"),
        series_of("pulsar_rate_in", topic="non-persistent://t/n/x", subscription=""),
        series_of("up", topic="", namespace="kube", subscription=""),
    ]
    faults = series_faults(pa.Table.from_pylist(rows, schema=TABLES["series"].schema))
    assert [
        row
        for row in faults.to_pylist()
        if any(value for name, value in row.items() if name.endswith(("_topic", "_namespace")))
    ] == []
    assert faults.num_rows == 3


@pytest.mark.parametrize(
    ("series", "before", "surplus", "lost"),
    [
        (5000, [], 0, 0),
        (3000, [1000], 0, 0),  # three times: everything restarted, twice
        (3001, [1000], 2001, 0),
        (3001, [500, 1000, 10], 2001, 0),  # the most of them counts
        (999, [10], 0, 0),  # more than three times, and nothing to read
        (50, [100], 0, 0),
        (49, [100], 0, 51),
        (49, [100, 100, 10], 0, 51),
        (2, [11], 0, 0),  # nine series: a topic or two
        (1, [11], 0, 10),
    ],
)
def test_jumps_and_losses(series, before, surplus, lost):
    assert hours_stored.surplus(series, before) == surplus
    assert hours_stored.lost(series, before) == lost


@pytest.mark.long
def test_hours_are_compared_with_previous_day(tmp_path):
    names = [f"{n:x}" for n in range(12)]
    blocks = [block(name, hour=hour) for name in names for hour in (0, 1)] + [block("0", hour=2)]
    consumers = [block(name, "pulsar_consumer_unacked_messages", hour=0) for name in "abcdef"]
    lake = lake_of(tmp_path, [*blocks, *consumers])
    found = {row["check"]: row for row in checked(lake, first=1, hours=2).failures()}
    lost = found["series_not_lost"]
    assert (lost["severity"], lost["observed"]) == (
        "warning",
        "11 fewer series than before in 1 hours of metrics",
    )
    assert json.loads(lost["example"]) == {
        "metric_name": BACKLOG,
        "hour": "2026-11-20T10:00:00Z",
        "lost_series": 11,
    }


@pytest.mark.long
def test_empty_hour_between_others_is_hole(tmp_path):
    lake = lake_of(tmp_path, [block("a"), block("a", hour=3), block("b", OUT, hour=3)])
    found = failures(checked(lake, hours=6))["hours_present"]
    assert found["observed"] == "2 hours without samples in 2 hours of metrics"
    assert "hours_present" not in failures(checked(lake, hours=1))


@pytest.mark.long
@pytest.mark.parametrize(("late_ms", "is_late"), [(5 * MINUTE_MS, False), (5 * MINUTE_MS + 1, True)])
def test_late_source_exceeds_look_back(tmp_path, late_ms, is_late):
    lake = lake_of(tmp_path, [block("a")])  # its newest sample is noted at the hour's end
    end_ms = HOUR + BLOCK_MS + late_ms
    result = check_ingested(None, lake, ["c"], HOUR, end_ms, "run-1", now_ms=end_ms)
    assert ("samples_fresh" in failures(result)) is is_late
    if is_late:
        assert failures(result)["samples_fresh"]["observed"].startswith("6 minutes without a sample")
