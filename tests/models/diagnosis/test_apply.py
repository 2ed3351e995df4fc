"""The rules over a lake, on Spark and in this process: whole hours replaced, nothing changed by a second run."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.diagnosis.scenes import growing, scene
from tests.models.diagnosis.test_cases import FULL, sub
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, block_start, date_of
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor
from throttlescope.models.diagnosis.apply import build_verdicts, verdicts_of
from throttlescope.models.diagnosis.latest import build_latest

HOUR_MS = block_start(1_795_000_200_000)
CLUSTER = "prod"


def minutes(subscription: str, count: int, first: int = 0, *, partition: int = 0, **changes) -> list[dict]:
    """Rows of signals of one subscription: five minutes of a scene, over and over."""
    window = scene(**changes)
    rows = []
    for i in range(first, first + count):
        row = {name: values[i % 5] for name, values in window.columns.items()}
        minute_ms = HOUR_MS + i * MINUTE_MS
        row |= {
            "cluster": CLUSTER,
            "namespace": "acme/shop",
            "topic": "persistent://acme/shop/orders",
            "partition": partition,
            "subscription": subscription,
            "minute_ms": minute_ms,
            "date": date_of(minute_ms),
        }
        rows.append(row)
    return rows


UP = {"in_rate": 120.0, "backlog": growing(5000, 20)}
THROTTLED = {**UP, "limits": sub(100, 0.99, 1.0)}
SLOW = {**UP, **FULL}


def fill(lake: Lake, rows: list[dict]) -> None:
    """Commit rows of signals as the transforms do: a file per hour."""
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    hours = {row["minute_ms"] // BLOCK_MS for row in rows}
    files = []
    for hour in sorted(hours):
        mask = [ms // BLOCK_MS == hour for ms in table["minute_ms"].to_pylist()]
        files.append(write_data_file(lake.root, "signals", table.filter(pa.array(mask))))
    lake.commit("signals", files, run_id="fill")


def stored(lake: Lake) -> list[dict]:
    names = [column.name for column in TABLES["verdicts"].columns]
    rows = lake.read("verdicts").select(names).to_pylist()
    return sorted(rows, key=lambda row: (row["subscription"], row["partition"], row["window_start_ms"]))


@pytest.fixture(params=["in_process", pytest.param("spark", marks=pytest.mark.spark)])
def executor(request):
    if request.param == "in_process":
        return InProcessExecutor()
    return SparkPoolExecutor(request.getfixturevalue("spark"))


@pytest.fixture
def lake(tmp_path) -> Lake:
    lake = Lake(tmp_path / "lake")
    rows = minutes("billing", 70, **THROTTLED)
    rows += minutes("audit", 70, **SLOW)
    rows += minutes("search", 12, first=30, partition=1)
    fill(lake, rows)
    return lake


@pytest.mark.long
def test_verdicts_are_those_of_every_window(executor, lake):
    count = build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "run")
    rows = stored(lake)
    # 14 windows of each of two subscriptions, 12 minutes from a whole five on: two windows and a broken one.
    assert count == len(rows) == 14 + 14 + 3
    causes = {(row["subscription"], row["cause"], row["limiter"]) for row in rows if row["partition"] == 0}
    assert causes == {("billing", "throttled", "subscription.msg"), ("audit", "slow_consumers", None)}
    here = verdicts_of(lake.read("signals"), HOUR_MS, HOUR_MS + 70 * MINUTE_MS).to_pylist()
    here.sort(key=lambda row: (row["subscription"], row["partition"], row["window_start_ms"]))
    assert rows == here


@pytest.mark.long
def test_a_second_run_changes_nothing(executor, lake):
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "run")
    before = stored(lake)
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "again")
    assert stored(lake) == before
    # Files are named by their content, so there is not even a new version.
    assert lake.version("verdicts") == 0


@pytest.mark.spark
def test_full_hour_is_several_files(spark, lake, monkeypatch):
    """Where an hour has more rows than a task holds there are more files, with the same rows."""
    executor = SparkPoolExecutor(spark)
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "run")
    before = stored(lake)
    few = len(lake.files("verdicts"))
    monkeypatch.setattr("throttlescope.ingest.lake.spark_files.FILE_ROWS", 8)
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "cut")
    assert stored(lake) == before
    assert len(lake.files("verdicts")) > few


@pytest.mark.long
def test_windows_across_hour_come_with_next_run(executor, tmp_path):
    """Sliding windows."""
    lake = Lake(tmp_path / "sliding")
    fill(lake, minutes("billing", 60, **THROTTLED))
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + BLOCK_MS, "one", every_ms=MINUTE_MS)
    starts = [(row["window_start_ms"] - HOUR_MS) // MINUTE_MS for row in stored(lake)]
    assert starts == list(range(56))
    fill(lake, minutes("billing", 10, first=60, **THROTTLED))
    build_verdicts(
        executor, lake, [CLUSTER], HOUR_MS + BLOCK_MS, HOUR_MS + BLOCK_MS + 600_000, "two", every_ms=MINUTE_MS
    )
    starts = [(row["window_start_ms"] - HOUR_MS) // MINUTE_MS for row in stored(lake)]
    assert starts == list(range(66))


@pytest.mark.long
def test_run_reads_history_of_earlier_runs(executor, tmp_path):
    lake = Lake(tmp_path / "history")
    # An hour at their capacity of 120 msg/s, then 200 msg/s meet a limit of 100.
    fill(lake, minutes("billing", 60, **{**SLOW, "out_rate": 120.0}))
    fill(lake, minutes("billing", 30, first=60, **{**THROTTLED, "in_rate": 200.0}))
    fill(lake, minutes("search", 90))
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS + BLOCK_MS, HOUR_MS + BLOCK_MS + 1_800_000, "two")
    rows = [row for row in stored(lake) if row["window_start_ms"] >= HOUR_MS + BLOCK_MS]
    assert {(row["subscription"], row["cause"]) for row in rows} == {
        ("billing", "both"),
        ("search", "healthy"),
    }
    assert {row["capacity_msg_rate"] for row in rows if row["cause"] == "both"} == {120.0}
    here = verdicts_of(lake.read("signals"), HOUR_MS + BLOCK_MS, HOUR_MS + 90 * MINUTE_MS).to_pylist()
    assert rows == sorted(here, key=lambda row: (row["subscription"], row["window_start_ms"]))


@pytest.mark.spark
def test_spark_and_process_write_same_files(spark, tmp_path):
    """Quiet windows, and windows that go through the rules; files are named by their bytes."""
    names = []
    for name, executor in (("spark", SparkPoolExecutor(spark)), ("here", InProcessExecutor())):
        lake = Lake(tmp_path / name)
        fill(lake, minutes("billing", 70, **THROTTLED) + minutes("audit", 70, **SLOW) + minutes("search", 70))
        build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "run")
        names.append({file.relative_path for file in lake.files("verdicts")})
    assert names[0] == names[1]
    assert len(names[0]) == 4


@pytest.mark.long
def test_other_clusters_are_left_alone(executor, lake):
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + BLOCK_MS, "run")
    before = stored(lake)
    assert build_verdicts(executor, lake, ["elsewhere"], HOUR_MS, HOUR_MS + BLOCK_MS, "run") == 0
    assert stored(lake) == before


@pytest.mark.long
def test_the_latest_verdict_of_each_subscription(executor, lake):
    build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + 70 * MINUTE_MS, "run")
    assert build_latest(lake, [CLUSTER], "run") == 3
    latest = lake.read("verdict_latest").to_pylist()
    assert [(row["subscription"], (row["window_end_ms"] - HOUR_MS) // MINUTE_MS) for row in latest] == [
        ("audit", 70),
        ("billing", 70),
        ("search", 45),
    ]
    assert (latest[1]["cause"], latest[1]["main_cause"]) == ("throttled", "throttled")


def test_an_empty_lake_has_no_verdicts(executor, tmp_path):
    lake = Lake(tmp_path / "empty")
    assert build_verdicts(executor, lake, [CLUSTER], HOUR_MS, HOUR_MS + BLOCK_MS, "run") == 0
    assert build_latest(lake, [CLUSTER], "run") == 0


def test_invalid_range_or_grid_is_refused(lake):
    with pytest.raises(InputError, match="start is not before the end"):
        build_verdicts(InProcessExecutor(), lake, [CLUSTER], HOUR_MS, HOUR_MS, "run")
    with pytest.raises(InputError, match="whole minutes"):
        build_verdicts(InProcessExecutor(), lake, [CLUSTER], HOUR_MS, HOUR_MS + 1, "run", every_ms=1)
