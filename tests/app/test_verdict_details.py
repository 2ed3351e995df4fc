"""Details next to verdicts: slow consumers, the worst partition, what a policy change did. Real recordings in one small lake."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pytest

from tests.app.commands import throttlescope
from tests.app.now.recorded import Recorded
from tests.transforms.lakes import lake_of
from throttlescope.app.cli.tables.changes import flat_columns
from throttlescope.app.queries.consumers import of_window
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.slowest import METRICS
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource

SLOW, HOT, CHANGED = "slow-one-of-three", "partition-hot-msg", "limit-change-topic"


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    """The first states of two recordings, and all of a third."""
    series, limits, stats, signals, verdicts = [], [], [], [], []
    for name in (SLOW, HOT, CHANGED):
        recorded = Recorded(name)
        start_ms = recorded.recording.start_ms
        end_ms = recorded.recording.end_ms if name == CHANGED else recorded.state("first")[1]
        admin_data, own = recorded.said(end_ms), list(recorded.series())
        known = admin_data.topic_stats.to_pylist()
        limits += effective_limits(admin_data.policies, known)
        stats += known
        # Single consumers are all that the commands read of the samples themselves.
        series += [one for one in own if one.labels["__name__"] in METRICS and "consumer_id" in one.labels]
        minutes = minute_rows(
            MemorySource(own), pa.Table.from_pylist(effective_limits(admin_data.policies, known), schema=TABLES["limits"].loose_schema),
            admin_data.topic_stats, start_ms - start_ms % BLOCK_MS, end_ms + -end_ms % BLOCK_MS, {name: end_ms - 1},
        )  # fmt: skip
        rows = signals_of(minutes)
        signals += rows.to_pylist()
        verdicts += verdicts_of(rows, start_ms, end_ms - end_ms % MINUTE_MS).to_pylist()
    found = lake_of(tmp_path_factory.mktemp("beside") / "lake", series, limits=limits, stats=stats)
    for table, rows in (("signals", signals), ("verdicts", verdicts)):
        found.upsert(table, pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema), run_id="test")
    return found


def output_of(*arguments) -> str:
    outcome = throttlescope(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.long
def test_subscription_verdicts_list_slow_consumers(lake):
    page = output_of("verdicts", "--lake", lake.root, "--subscription", f"{Recorded(SLOW).topic}#billing")
    assert "1 of 3 consumers is slow" in page
    assert "no permits" in page
    assert "consumers is slow" not in output_of("verdicts", "--lake", lake.root, "--cluster", SLOW)


@pytest.mark.long
def test_stored_window_has_its_consumers(lake):
    rows = [
        row
        for row in lake.read("verdicts").to_pylist()
        if row["cluster"] == SLOW and row["topic"] == Recorded(SLOW).topic
    ]
    found = of_window(lake, rows[-1])
    assert (found.slow, found.of, found.measured_by) == (1, 3, "metrics")
    assert found.consumers[0].consumer_id == "1"
    absent = of_window(lake, rows[-1] | {"subscription": "audit"})
    assert (absent.of, absent.measured_by) == (0, None)


@pytest.mark.long
def test_partitions_are_rolled_up_by_subscription(lake):
    found = json.loads(
        output_of(
            "verdicts", "--lake", lake.root, "--by", "subscription", "--cluster", HOT, "--format", "json"
        )
    )
    (orders,) = [row for row in found if row["topic"] == Recorded(HOT).topic]
    assert (orders["worst_partition"], orders["cause"], orders["limiter"]) == (
        2,
        "throttled",
        "subscription.msg",
    )
    assert (orders["sharing"], orders["partitions"], orders["causes"]) == (
        [2],
        4,
        {"healthy": 3, "throttled": 1},
    )
    assert "1 of 4" in output_of("verdicts", "--lake", lake.root, "--by", "subscription")
    rows = list(
        csv.DictReader(
            io.StringIO(output_of("verdicts", "--lake", lake.root, "--by", "subscription", "--format", "csv"))
        )
    )
    assert {row["worst_partition"] for row in rows} >= {"2", "-1"}


@pytest.mark.long
def test_limit_changes_show_their_effect(lake):
    found = json.loads(output_of("changes", "--lake", lake.root, "--format", "json"))
    mine = [row for row in found if row["topic"] == Recorded(CHANGED).topic]
    assert [(row["level"], row["unit"], row["kind"], row["old_rate"], row["new_rate"]) for row in mine] == [
        ("topic", "msg", "lowered", 150, 50), ("topic", "msg", "raised", 50, 150),
    ]  # fmt: skip
    down, up = mine
    assert (down["before"]["cause"], down["after"]["cause"], down["after"]["limiter"]) == (
        "healthy",
        "throttled",
        "topic.msg",
    )
    assert down["after"]["backlog_slope_entries_per_s"] > 1
    assert up["after"]["backlog_end_entries"] < up["after"]["backlog_start_entries"]
    page = output_of("changes", "--lake", lake.root, "--cluster", CHANGED)
    for words in ("topic.msg lowered", "150 msg/s", "50 msg/s", "healthy -> throttled (topic.msg)"):
        assert words in page
    rows = list(csv.DictReader(io.StringIO(output_of("changes", "--lake", lake.root, "--format", "csv"))))
    assert list(rows[0]) == flat_columns()
    assert len(rows) == len(found)


@pytest.mark.long
def test_changes_can_be_filtered(lake):
    (down, up) = [
        row
        for row in json.loads(output_of("changes", "--lake", lake.root, "--format", "json"))
        if row["cluster"] == CHANGED
    ]
    arguments = (
        "changes",
        "--lake",
        lake.root,
        "--format",
        "json",
        "--subscription",
        f"{Recorded(CHANGED).topic}#billing",
    )
    assert json.loads(output_of(*arguments)) == [down, up]
    assert json.loads(output_of(*arguments, "--start", up["new_from_ms"] / 1000)) == [up]
    assert json.loads(output_of(*arguments, "--end", up["new_from_ms"] / 1000)) == [down]
    assert json.loads(output_of(*arguments, "--cluster", SLOW)) == []
    short = json.loads(output_of(*arguments, "--span", "3m"))
    assert all(row[side]["minutes"] <= 3 for row in short for side in ("before", "after"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--span", "10s"), 2, "--span is too short"),
        (("--subscription", "orders"), 2, "cannot be read"),
        (("--start", "-1h", "--end", "-2h"), 2, "start is not before the end"),
    ],
)
def test_changes_refuses_invalid_options(lake, arguments, code, words):
    outcome = throttlescope("changes", "--lake", lake.root, *arguments)
    assert (outcome.code, words in outcome.line) == (code, True)


def test_lake_without_limits_names_the_fix(tmp_path):
    outcome = throttlescope("changes", "--lake", tmp_path / "none")
    assert outcome.code == 2
    assert "--pulsar-admin" in outcome.line
