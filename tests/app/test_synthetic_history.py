"""The demo's history: every row says that it is synthetic, it is what the simulator gives, and shows what it is there for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from tests.lab.simulated.history import SUBSCRIPTIONS, rows
from throttlescope.app.pipeline.sources.synthetic_history import (
    CLUSTER,
    END_MS,
    FILE,
    JUDGED_MS,
    START_MS,
    read_history,
)
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.sources import recording
from throttlescope.ingest.spark.task_executor import InProcessExecutor
from throttlescope.models.anomaly.apply import build_anomalies
from throttlescope.models.anomaly.rules import RULES


@pytest.mark.long
def test_every_row_is_marked_synthetic() -> None:
    found = read_history()
    assert found.schema == TABLES["signals"].schema
    assert set(found.column("cluster").to_pylist()) == {CLUSTER}
    assert "synthetic" in CLUSTER
    assert {name.split("/")[0] for name in found.column("namespace").to_pylist()} == {"synthetic"}
    assert {name for name in found.column("broker").to_pylist() if name} == {"simulator:8080"}


def test_history_is_longer_than_learning_period() -> None:
    found = read_history()
    minutes = found.column("minute_ms").to_numpy()
    assert (minutes.min(), minutes.max()) == (START_MS + 60_000, END_MS - 60_000)
    assert RULES.learning_ms < JUDGED_MS - START_MS
    assert FILE.stat().st_size < 2_000_000


@pytest.mark.study
def test_last_day_has_the_simulated_anomalies(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.commit(
        "signals", [write_data_file(lake.root, "signals", _day(day)) for day in range(16)], run_id="test"
    )
    build_anomalies(InProcessExecutor(), lake, [CLUSTER], JUDGED_MS, END_MS, "test")
    found = {
        (row["topic"].rpartition("/")[2], row["signal"], row["direction"])
        for row in lake.read("anomalies").to_pylist()
        if row["state"] != "learning"
    }
    assert found == {
        ("orders", "in_msg_rate", "up"), ("orders", "out_msg_rate", "up"), ("orders", "backlog_ready_entries", "up"),
        ("clicks", "in_msg_rate", "down"), ("clicks", "out_msg_rate", "down"),
        ("invoices", "out_msg_rate", "down"), ("invoices", "backlog_ready_entries", "up"),
    }  # fmt: skip


def _day(day: int):
    found = read_history()
    minutes = found.column("minute_ms")
    start_ms = START_MS + day * DAY_MS
    return found.filter(pc.and_(pc.greater_equal(minutes, start_ms), pc.less(minutes, start_ms + DAY_MS)))


@pytest.mark.study
@pytest.mark.long
def test_shipped_file_equals_the_simulation() -> None:
    """Simulated columns only; derived ones are covered by the tests of signals."""
    made, shipped = rows(), read_history()
    order = [("topic", "ascending"), ("minute_ms", "ascending")]
    made, shipped = made.sort_by(order), shipped.sort_by(order)
    assert made.num_rows == shipped.num_rows > 60_000
    for name in (
        "minute_ms",
        "in_msg_delta",
        "out_msg_delta",
        "backlog_entries",
        "throttled_msg_events_subscription_delta",
    ):
        ours, theirs = (
            table.column(name).to_numpy(zero_copy_only=False).astype(float) for table in (made, shipped)
        )
        assert np.array_equal(ours, theirs, equal_nan=True), name
    assert {row.topic for row in SUBSCRIPTIONS} == {
        name.rpartition("/")[2] for name in set(shipped.column("topic").to_pylist())
    }


def test_demo_prefers_an_installed_cluster_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {}
    for name, family in (("one-fault", "slow"), ("acme", "fleet")):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        about = {"format": 1, "name": name, "family": family, "files": {}}
        (folders[name] / "recording.json").write_text(json.dumps(about))
    monkeypatch.setattr(
        recording, "_about", lambda folder: json.loads((folder / "recording.json").read_text())
    )
    monkeypatch.setattr(recording, "list_shipped", lambda: folders)
    assert recording.list_demo() == ["acme"]
    del folders["acme"]
    assert recording.list_demo() == ["one-fault"]
