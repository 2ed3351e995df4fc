"""What comes to the driver does not grow with the fleet: commands on two fleets, the same trouble in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.commands import throttlescope
from tests.cluster.counting import Read, rows_to_driver
from tests.cluster.fleet import START_MS, Fleet, make_lake, make_limits, put_samples
from tests.cluster.spark_ways import all_on_spark
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.times import format_time

pytestmark = [pytest.mark.spark, pytest.mark.long]

ILL = 5
HEALTHY = (40, 120)


@dataclass(frozen=True)
class Allowed:
    """An asker that may read more of a larger fleet: why that is harmless, and how many bytes for each subscription and hour."""

    why: str
    bytes_each: int


ALLOWED = {
    ("diagnose", "throttlescope.models.diagnosis.latest"): Allowed(
        "a day's verdicts, some topics at a time: at most three million rows are held", 1_200
    ),
    ("diagnose", "throttlescope.ingest.spark.task_executor"): Allowed(
        "a row that says that it is being learned, until a subscription has been seen for two weeks", 380
    ),
    ("diagnose", "throttlescope.models.anomaly.name_ranges"): Allowed("names of a moment, to cut them into shares", 380),
    ("anomalies", "throttlescope.ingest.spark.task_executor"): Allowed("the same rows", 380),
    ("anomalies", "throttlescope.models.anomaly.name_ranges"): Allowed("the same names", 380),
    ("review", "throttlescope.transforms.promql.blocks"): Allowed(
        "files of samples in which topics are of which a forecast was stored, and so their neighbours by shard", 3_200
    ),
    ("ingest", "throttlescope.ingest.pull.commit"): Allowed(
        "the catalogue, fourteen series of 300 bytes each: a shard at a time", 5_300
    ),
    ("ingest", "throttlescope.ingest.gaps.find"): Allowed(
        "times of one metric's samples: a file at a time", 640
    ),
    ("anomalies", "throttlescope.models.anomaly.apply"): Allowed(
        "the rows that they take the place of", 400
    ),
    ("anomalies", "throttlescope.app.queries.anomalies"): Allowed("the same rows, to print them", 400),
}  # fmt: skip
#: Gates of few rows are counted in this process: what they read there is bounded by their thresholds.
GATES = "throttlescope.ingest.quality."


def commands(fleet: Fleet, lake: Path, names: Sequence[str]) -> dict[str, Read]:
    """What each command read in this process."""
    span = ("--start", format_time(START_MS), "--end", format_time(fleet.end_ms))
    found = {}
    for name in names:
        asked = {
            "forecast": ("forecast",),
            "anomalies": ("anomalies", "--store", *span),
            "quality": ("quality", "check", *span),
        }.get(name, (name, *span))
        with rows_to_driver() as found[name]:
            done = throttlescope(*asked, "--lake", lake, "--quiet", "--format", "json")
        assert done.code == 0, done.err
    return found


def grown(small: Mapping[str, Read], large: Mapping[str, Read]) -> dict[tuple[str, str], float]:
    """Bytes for each more subscription, by command and asker, of whoever was handed more rows of the larger fleet."""
    more = HEALTHY[1] - HEALTHY[0]
    return {
        (command, asker): (read.bytes[asker] - small[command].bytes.get(asker, 0)) / more
        for command, read in large.items()
        for asker, rows in read.rows.items()
        if rows > small[command].rows.get(asker, 0)
    }


def check(small: Mapping[str, Read], large: Mapping[str, Read], *, but: str = "nobody") -> None:
    for read in small.values():
        assert sum(read.rows.values()) > 0
    found = {one: each for one, each in grown(small, large).items() if not one[1].startswith(but)}
    expected = {one for one in ALLOWED if one[0] in small}
    assert found.keys() == expected, (found, "an exception that does not grow any more leaves the list")
    too_much = {one: each for one, each in found.items() if each > ALLOWED[one].bytes_each}
    assert too_much == {}


def of_two_fleets(folder: Path, names: Sequence[str]) -> list[dict[str, Read]]:
    found = []
    for healthy in HEALTHY:
        fleet, lake = Fleet(healthy, ill=ILL), folder / str(healthy)
        make_lake(lake, fleet)
        found.append(commands(fleet, lake, names))
    return found


@pytest.mark.study
def test_diagnosis_driver_data_ignores_fleet_size(tmp_path, spark, monkeypatch):
    """What the driver reads grows with the faults, not with the fleet."""
    monkeypatch.setattr("throttlescope.app.pipeline.spark_session.IN_PROCESS_MINUTES", -1)
    monkeypatch.setattr("throttlescope.app.pipeline.results.IN_PROCESS_ROWS", -1)
    monkeypatch.setattr("throttlescope.app.pipeline.results.COMPARED_IN_PROCESS", -1)
    monkeypatch.setattr("throttlescope.app.pipeline.incremental.lake_view._AT_ONCE_ROWS", -1)
    check(*of_two_fleets(tmp_path, ("diagnose",)), but=GATES)


@pytest.mark.study
@pytest.mark.timeout(1800)
def test_gates_forecasts_review_ignore_fleet_size(tmp_path, spark, monkeypatch):
    """Data in the driver, as above."""
    all_on_spark(monkeypatch.setattr)
    check(*of_two_fleets(tmp_path, ("diagnose", "forecast", "review")))


@pytest.mark.study
@pytest.mark.prometheus
@pytest.mark.timeout(1800)
def test_ingest_gates_anomalies_ignore_fleet_size(tmp_path, spark, monkeypatch):
    """Data in the driver, as above."""
    all_on_spark(monkeypatch.setattr)
    found = []
    for healthy in HEALTHY:
        fleet, lake = Fleet(healthy, ill=ILL), tmp_path / str(healthy)
        with running_prometheus() as server, rows_to_driver() as ingested:
            put_samples(server.url, fleet)
            span = ("--start", format_time(START_MS), "--end", format_time(fleet.end_ms))
            done = throttlescope(
                "ingest", "--prometheus", server.url, "--cluster", "made", *span, "--lake", lake, "--quiet"
            )
            assert done.code == 0, done.err
        make_limits(lake, fleet)
        commands(fleet, lake, ("diagnose",))
        found.append({"ingest": ingested} | commands(fleet, lake, ("quality", "anomalies")))
    check(*found)
