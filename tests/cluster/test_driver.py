"""What comes to the driver does not grow with the fleet: a whole diagnosis of two fleets, the same trouble in both."""

from __future__ import annotations

import pytest

from tests.app.commands import throttlescope
from tests.cluster.counting import rows_to_driver
from tests.cluster.fleet import CLUSTER, START_MS, Fleet, make_lake
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.times import format_time

pytestmark = [pytest.mark.spark, pytest.mark.long]

ILL = 5


def diagnosed(folder, healthy: int):
    fleet = Fleet(healthy, ill=ILL)
    make_lake(folder, fleet)
    with rows_to_driver() as found:
        done = throttlescope(
            "diagnose", "--lake", folder, "--start", format_time(START_MS), "--end", format_time(fleet.end_ms), "--quiet"
        )  # fmt: skip
    assert done.code == 0, done.err
    return found


def test_rows_to_the_driver_follow_the_trouble_and_not_the_fleet(tmp_path, spark, monkeypatch):
    # As for a fleet that is too large for this process: every step on Spark.
    monkeypatch.setattr("throttlescope.app.pipeline_results.IN_PROCESS_ROWS", -1)
    small, large = diagnosed(tmp_path / "small", 40), diagnosed(tmp_path / "large", 120)
    learning = [_learning(Lake(tmp_path / name)) for name in ("small", "large")]
    assert learning == [40 + ILL, 120 + ILL]
    # A subscription that has not been seen for two weeks is told of as being learned: a row each, until it has.
    for found, new in zip((small, large), learning, strict=True):
        assert found["throttlescope.models.anomaly.apply"] >= new
        found["throttlescope.models.anomaly.apply"] -= new
    assert sum(small.values()) > 0
    grown = {name: (small[name], rows) for name, rows in large.items() if rows > small[name]}
    assert grown == {}


def _learning(lake: Lake) -> int:
    found = lake.read("anomalies", columns=["state"], partition={"cluster": [CLUSTER]})
    return found.column("state").to_pylist().count("learning")
