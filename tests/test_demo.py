"""The main job on the shipped recordings, as `make demo` runs it, judged by their truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.accuracy import PAGE, evaluation, page_with, table
from tests.lab.simulated import whatif
from tests.lab.simulated.page import renewed
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.recording import list_shipped

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def _demo(lake: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "demo", "--no-serve", "--lake", str(lake)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    lake = tmp_path_factory.mktemp("demo") / "lake"
    return lake, _demo(lake)


@pytest.fixture(scope="module")
def found(demo: tuple[Path, str]) -> dict:
    return evaluation(demo[0])


def test_every_recording_is_in_the_printed_table(demo: tuple[Path, str]) -> None:
    assert list_shipped()
    assert [name for name in list_shipped() if name not in demo[1]] == []


def test_healthy_but_ticking_is_never_called_throttled(found: dict) -> None:
    share = found["all"]["healthy_called_throttled"]
    assert share["of"] > 0
    assert share["count"] == 0


def test_the_accuracy_page_says_what_was_measured(found: dict) -> None:
    assert PAGE.read_text() == page_with(PAGE.read_text(), table(found))


def test_the_what_if_page_says_what_was_predicted(demo: tuple[Path, str]) -> None:
    page = whatif.PAGE.read_text()
    assert renewed(page, whatif.parts(whatif.rows_of(Lake(demo[0])))) == page, (
        "the page is old: make accuracy"
    )


def test_the_guides_example_of_a_lake_is_what_the_command_says(demo: tuple[Path, str]) -> None:
    page = whatif.GUIDE.read_text()
    assert whatif.guide_page(page, str(demo[0])) == page, "the page is old: make accuracy"


def test_a_second_demo_changes_nothing(demo: tuple[Path, str]) -> None:
    lake = Lake(demo[0])
    tables = (
        "series", "samples", "policies", "limits", "topic_stats", "truth", "signals", "verdicts", "episodes", "incidents",
        "forecasts", "anomalies",
    )  # fmt: skip
    before = {name: lake.version(name) for name in tables}
    assert None not in before.values()
    _demo(demo[0])
    assert {name: lake.version(name) for name in tables} == before
