"""Anomalies of a lake: the same in this process and on Spark, replaced by days, with masks, groups and verdicts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.models.anomaly.lakes import Subscription, fill, minute_ms, signals, verdicts
from tests.models.anomaly.traffic import DAY
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake, read_files, write_data_file
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.anomaly import apply, kept_baselines, name_ranges
from throttlescope.models.anomaly.apply import build_anomalies, find_anomalies
from throttlescope.models.anomaly.subscription import Range, baselines_of

# History from day 0 on: what is rewritten begins two days before the requested day, and is judged from two before that.
TODAY = 20
CLICKS = "persistent://acme/shop/clicks"


@pytest.fixture(scope="module")
def made():
    """Two subscriptions of one topic with a burst at the same time, one of another topic that falls silent."""
    billing, audit = (
        Subscription(name, days=TODAY + 1, seed=seed) for seed, name in ((1, "billing"), (2, "audit"))
    )
    search = Subscription("search", CLICKS, -1, days=TODAY + 1, seed=3)
    for one, at in ((billing, 600), (audit, 604)):
        one.arrived[TODAY * DAY + at : TODAY * DAY + at + 40] *= 4
    search.present[TODAY * DAY + 900 : TODAY * DAY + 960] = False
    return billing, audit, search


@pytest.fixture(scope="module")
def lake(made, tmp_path_factory):
    lake = Lake(tmp_path_factory.mktemp("anomalies") / "lake")
    fill(lake, "signals", signals(*made))
    billing = made[0]
    said = [
        verdicts(billing, minute_ms(TODAY - 8, 600), minute_ms(TODAY - 8, 660), "throttled", "topic.msg"),
        verdicts(billing, minute_ms(TODAY, 590), minute_ms(TODAY, 650), "publish_burst"),
    ]
    fill(lake, "verdicts", pa.concat_tables(said))
    return lake


def stored(lake):
    names = [column.name for column in TABLES["anomalies"].columns]
    rows = lake.read("anomalies").select(names).to_pylist()
    return sorted(rows, key=lambda row: (row["subscription"], row["start_ms"], row["signal"]))


def in_order(rows):
    return sorted(rows, key=lambda row: (row["subscription"], row["start_ms"], row["signal"]))


@pytest.mark.long
def test_what_is_found_in_this_process(lake):
    rows = find_anomalies(lake, minute_ms(TODAY), minute_ms(TODAY + 1))
    found = {(row["subscription"], row["signal"], row["direction"]) for row in rows}
    assert found == {
        ("billing", "in_msg_rate", "up"), ("billing", "out_msg_rate", "up"), ("audit", "in_msg_rate", "up"),
        ("audit", "out_msg_rate", "up"), ("search", "samples", "silence"),
    }  # fmt: skip
    bursts = [row for row in rows if row["signal"] != "samples"]
    assert len({row["group_id"] for row in bursts}) == 1
    assert {(row["shared_kind"], row["shared_with"]) for row in bursts} == {("topic", bursts[0]["topic"])}
    causes = {row["subscription"]: row["verdict_cause"] for row in rows}
    assert causes == {"billing": "publish_burst", "audit": None, "search": None}
    masked = {row["subscription"]: row["masked_share"] for row in bursts}
    assert masked["audit"] == 0
    assert masked["billing"] == pytest.approx(60 / (TODAY * DAY), rel=0.01)


@pytest.mark.long
def test_selector_narrows_judged_series_only(lake):
    """What was scraped is taken from the whole cluster."""
    day = (minute_ms(TODAY), minute_ms(TODAY + 1))
    rows = find_anomalies(lake, *day, topic=CLICKS, subscription="search")
    # Alone it would seem that nothing was scraped while it was silent.
    assert [(row["signal"], row["direction"]) for row in rows] == [("samples", "silence")]
    assert find_anomalies(lake, *day, topic=CLICKS, partition=-1, cluster="prod") == rows


@pytest.mark.long
@pytest.mark.parametrize(
    "selector", [{"cluster": "elsewhere"}, {"topic": "persistent://a/b/c"}, {"subscription": "x"}]
)
def test_a_selector_without_matches_is_refused(lake, selector):
    with pytest.raises(InputError, match="no signals of it"):
        find_anomalies(lake, minute_ms(TODAY), minute_ms(TODAY + 1), **selector)


def test_too_large_range_is_refused_before_reading(lake, monkeypatch):
    monkeypatch.setattr(apply, "MOST_ROWS", 1000)
    with pytest.raises(InputError, match="--store"):
        find_anomalies(lake, minute_ms(TODAY), minute_ms(TODAY + 1))


@pytest.mark.study
def test_spark_writes_what_this_process_finds(spark, lake):
    day = (minute_ms(TODAY), minute_ms(TODAY + 1))
    count = build_anomalies(SparkPoolExecutor(spark), lake, ["prod"], *day, "run")
    rows = stored(lake)
    # Two days before are written too, in which nothing was found.
    assert count == len(rows) == 5
    here = find_anomalies(lake, minute_ms(TODAY - 2), minute_ms(TODAY + 1))
    assert rows == [{name: row[name] for name in rows[0]} for row in in_order(here)]
    version = lake.version("anomalies")
    build_anomalies(SparkPoolExecutor(spark), lake, ["prod"], *day, "again")
    assert lake.version("anomalies") == version
    # A row that is found no more goes, one of before stays.
    before = dict(rows[0], start_ms=minute_ms(TODAY - 5), date="2026-10-06")
    gone = dict(rows[0], start_ms=minute_ms(TODAY - 1))
    lake.upsert(
        "anomalies", pa.Table.from_pylist([before, gone], schema=TABLES["anomalies"].schema), run_id="by hand"
    )
    build_anomalies(SparkPoolExecutor(spark), lake, ["prod"], *day, "third")
    assert stored(lake) == in_order([before, *rows])


@pytest.mark.study
@pytest.mark.long
def test_continued_anomaly_stays_one_row(spark, tmp_path):
    one, other = (
        Subscription(name, days=TODAY + 2, seed=seed) for seed, name in ((1, "billing"), (2, "audit"))
    )
    one.backlog[TODAY * DAY + 1300 : (TODAY + 1) * DAY + 200] = 40_000
    lake = Lake(tmp_path / "lake")
    rows = signals(one, other)
    starts_ms = rows.column("minute_ms").to_numpy()
    fill(lake, "signals", rows.filter(pa.array(starts_ms < minute_ms(TODAY + 1))))
    build_anomalies(SparkPoolExecutor(spark), lake, ["prod"], minute_ms(TODAY), minute_ms(TODAY + 1), "first")
    (first,) = stored(lake)
    assert (first["state"], first["end_ms"]) == ("open", minute_ms(TODAY + 1))
    fill(lake, "signals", rows.filter(pa.array(starts_ms >= minute_ms(TODAY + 1))))
    build_anomalies(
        SparkPoolExecutor(spark), lake, ["prod"], minute_ms(TODAY + 1), minute_ms(TODAY + 2), "second"
    )
    (second,) = stored(lake)
    assert (second["state"], second["start_ms"]) == ("closed", first["start_ms"])
    assert abs(second["end_ms"] - minute_ms(TODAY + 1, 200)) <= 5 * 60_000


@pytest.mark.long
def test_an_empty_lake_has_no_anomalies(spark, tmp_path):
    lake = Lake(tmp_path / "empty")
    assert build_anomalies(SparkPoolExecutor(spark), lake, ["prod"], minute_ms(1), minute_ms(2), "run") == 0
    assert lake.version("anomalies") is None


@pytest.fixture
def growing(tmp_path, made):
    """A lake with the history of three subscriptions and the first hours of a day, and the rest of that day."""
    rows = signals(*made)
    starts_ms = rows.column("minute_ms").to_numpy()
    lake = Lake(tmp_path / "lake")
    fill(lake, "signals", rows.filter(pa.array(starts_ms < minute_ms(TODAY, 300))))
    return lake, rows.filter(pa.array(starts_ms >= minute_ms(TODAY, 300)))


@pytest.fixture
def computed(monkeypatch):
    """How many subscription partitions got new baselines, call by call."""
    found: list[int] = []

    def counted(*given, **more):
        baselines = baselines_of(*given, **more)
        found.append(len(baselines))
        return baselines

    monkeypatch.setattr(kept_baselines, "baselines_of", counted)
    return found


def of_hour(lake, minute, **more):
    """A run over some minutes of today, in this process."""
    start_ms = minute_ms(TODAY, minute)
    return build_anomalies(InProcessExecutor(), lake, ["prod"], start_ms, start_ms + 3_600_000, "run", **more)


@pytest.mark.parametrize("share_rows", [name_ranges.SHARE_ROWS, 20_000])
@pytest.mark.long
def test_baselines_of_a_day_are_computed_once(growing, lake, computed, monkeypatch, share_rows):
    """Later runs of the day read the judged days alone, and find what they find with everything."""
    monkeypatch.setattr(name_ranges, "SHARE_ROWS", share_rows)
    small, rest = growing
    day = (minute_ms(TODAY), minute_ms(TODAY, 300))
    weeks = apply.rows_to_read(small, ["prod"], *day)
    build_anomalies(InProcessExecutor(), small, ["prod"], *day, "first")
    # One share, or one for each subscription.
    assert computed == ([3] if share_rows > 20_000 else [1, 1, 1])
    assert apply.rows_to_read(small, ["prod"], *day) < weeks / 3
    version = small.version("baselines")
    fill(small, "signals", rest)
    fill(small, "verdicts", lake.read("verdicts", where=pc.field("window_start_ms") >= minute_ms(TODAY)))
    computed.clear()
    day = (minute_ms(TODAY), minute_ms(TODAY + 1))
    build_anomalies(InProcessExecutor(), small, ["prod"], *day, "second")
    assert not computed
    assert small.version("baselines") == version
    here = find_anomalies(small, minute_ms(TODAY - 2), minute_ms(TODAY + 1))
    assert [{name: row[name] for name in stored(small)[0]} for row in in_order(here)] == stored(small)
    assert here


def late_minutes(lake):
    """Samples of an earlier day that come only now: the file of that day gets other rows."""
    day = [file for file in lake.files("signals") if file.minimum["minute_ms"] == minute_ms(TODAY - 6)]
    rows = read_files("signals", day).slice(1)
    lake.commit("signals", [write_data_file(lake.root, "signals", rows)], day, run_id="late")


def late_incident(lake):
    said = verdicts(
        Subscription("billing"),
        minute_ms(TODAY - 8, 600),
        minute_ms(TODAY - 8, 660),
        "throttled",
        "topic.msg",
    )
    fill(lake, "verdicts", said)


def lost_share(lake):
    """As a repair does it with a damaged file."""
    lake.commit("baselines", [], lake.files("baselines")[:1], run_id="repair")


def damaged_share(lake):
    for file in lake.files("baselines")[:1]:
        Path(file.path).write_bytes(b"no Parquet")


def missing_share(lake):
    for file in lake.files("baselines")[:1]:
        Path(file.path).unlink()


def other_inputs_in_one_file(lake):
    """Two runs that began together may both have written, and a compaction makes one file of theirs."""
    files = lake.files("baselines")
    rows = read_files("baselines", files)
    inputs = rows.schema.get_field_index("inputs")
    others = ["0" * 32, "f" * 32]
    foreign = [
        rows.set_column(inputs, rows.schema.field(inputs), pa.array([one] * rows.num_rows)) for one in others
    ]
    merged = [write_data_file(lake.root, "baselines", pa.concat_tables(foreign))]
    lake.commit("baselines", merged, files, run_id="compact")


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [late_minutes, late_incident, lost_share, damaged_share, missing_share, other_inputs_in_one_file],
)
def test_baselines_that_do_not_hold_are_computed_again(growing, computed, monkeypatch, change):
    monkeypatch.setattr(name_ranges, "SHARE_ROWS", 20_000)
    lake, _ = growing
    of_hour(lake, 0)
    of_hour(lake, 60)
    assert computed == [1, 1, 1]
    change(lake)
    of_hour(lake, 120)
    assert computed == [1, 1, 1] * 2
    of_hour(lake, 180)
    assert computed == [1, 1, 1] * 2


@pytest.mark.long
def test_baselines_belong_to_a_day_and_a_time_zone(growing, computed):
    """Only the newest ones stay."""
    lake, rest = growing
    of_hour(lake, 0)
    of_hour(lake, 60, zone="Europe/Berlin")
    of_hour(lake, 120, zone="Europe/Berlin")
    assert computed == [3, 3]
    fill(lake, "signals", rest)
    of_hour(lake, 1440, zone="Europe/Berlin")
    assert computed == [3, 3, 3]
    assert len(lake.files("baselines")) == 1
    assert set(lake.read("baselines")["known_ms"].to_pylist()) == {minute_ms(TODAY + 1)}


@pytest.mark.long
def test_rows_of_other_inputs_are_not_read(growing):
    """A file may hold rows of two runs after a compaction."""
    lake, _ = growing
    of_hour(lake, 0)
    judged = Range.of(minute_ms(TODAY - apply.REWRITTEN_DAYS), minute_ms(TODAY, 60))
    weeks = kept_baselines.BaselineWeeks.of(lake, "prod", judged)
    before = weeks.kept(lake)
    (share,) = name_ranges.shares_of(weeks.signals, 1)
    found = before.of_share(share)
    rows = read_files("baselines", before.files)
    at = {name: rows.schema.get_field_index(name) for name in ("inputs", "points")}
    other = rows.set_column(at["inputs"], rows.schema.field("inputs"), pa.array(["f" * 32] * rows.num_rows))
    none = pa.array([[0] * len(points) for points in rows["points"].to_pylist()], pa.list_(pa.int64()))
    other = other.set_column(at["points"], rows.schema.field("points"), none)
    merged = [write_data_file(lake.root, "baselines", pa.concat_tables([rows, other]))]
    lake.commit("baselines", merged, before.files, run_id="compact")
    after = weeks.kept(lake)
    assert after.files != before.files
    assert repr(after.of_share(share)) == repr(found)
