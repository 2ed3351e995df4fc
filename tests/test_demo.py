"""The main job as `make demo` runs it, and on all recordings of single faults, judged by their truth."""

from __future__ import annotations

import json
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from tests.accuracy.recorded import folders, read
from tests.accuracy.signals import signals_of
from tests.app.web.browser import needs_chromium, running_chromium, running_server
from tests.app.web.screenshots import PICTURES, VARIANTS, shoot
from tests.app.web.untranslated import untranslated_pages
from tests.golden.texts import GOLDEN, texts
from tests.lab.simulated import whatif
from tests.lab.simulated.page import renewed
from throttlescope.app.pipeline.sources.synthetic_history import CLUSTER
from throttlescope.app.web.pages import PAGES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.system_names import is_system
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.sources.recording import list_demo
from throttlescope.models.evaluation.measured import measured

# Its pages are looked at in a browser: all of it belongs to the tests that are not run beside others.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

IMAGES = Path(__file__).parents[1] / "docs" / "images"
CHINESE = VARIANTS[-1]
#: Pixels that may differ from the picture that is kept: the time of the run, and where a font is hinted otherwise.
MOST_DIFFERENT, LEVELS = 0.02, 40


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
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of all recordings of the set *shipped*, of which a few come with the package."""
    lake = tmp_path_factory.mktemp("judged") / "lake"
    recordings = [word for folder in folders("shipped") for word in ("--recording", str(folder))]
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "run", *recordings, "--quiet", "--lake", str(lake)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return lake


@pytest.fixture(scope="module")
def found(judged: Path) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "evaluate", "--lake", str(judged), "--format", "json"],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_system_subscriptions_have_no_incident(demo: tuple[Path, str]) -> None:
    lake = Lake(demo[0])
    names = ["topic", "subscription"]
    causes = {
        row["cause"]
        for row in lake.read("verdicts", columns=[*names, "cause"]).to_pylist()
        if is_system(row["topic"], row["subscription"])
    }
    assert "healthy" in causes
    # Without samples nothing is known of them either.
    assert causes <= {"healthy", "unknown"}
    episodes = lake.read("episodes", columns=names).to_pylist()
    assert not any(is_system(row["topic"], row["subscription"]) for row in episodes)


def test_every_recording_is_in_the_printed_table(demo: tuple[Path, str]) -> None:
    assert list_demo()
    assert [name for name in (*list_demo(), CLUSTER) if name not in demo[1]] == []


def test_the_cluster_has_several_incidents_at_once(demo: tuple[Path, str]) -> None:
    """Of its newest verdicts: causes of both sides, and a limit that several subscriptions use up together."""
    lake = Lake(demo[0])
    rows = [row for row in lake.read("verdict_latest").to_pylist() if row["cluster"] != CLUSTER]
    assert len({(row["topic"], row["partition"], row["subscription"]) for row in rows}) >= 40
    held = {row["cause"] for row in rows} - {"healthy", "unknown"}
    assert {"throttled", "both", "slow_consumers", "no_consumers"} <= held
    signals = lake.read("signals", columns=["cluster", "broker_changed"]).to_pylist()
    assert any(row["broker_changed"] for row in signals if row["cluster"] != CLUSTER)
    shared = [
        row
        for row in lake.read("incidents").to_pylist()
        if row["cluster"] != CLUSTER and row["end_ms"] is None
    ]
    assert {row["cause"] for row in shared} >= {"throttled"}


def test_a_forecast_came_true(demo: tuple[Path, str]) -> None:
    """A backlog was drained inside the interval that was forecast for it minutes before."""
    lake, key = Lake(demo[0]), ("cluster", "topic", "partition", "subscription")
    signals = sorted(lake.read("signals").to_pylist(), key=lambda row: row["minute_ms"])
    told = [
        row
        for row in lake.read("forecasts").to_pylist()
        if row["cluster"] != CLUSTER and row["kind"] == "drain" and row["state"] == "expected"
    ]
    came_true = []
    for one in told:
        gone = next(
            (
                row["minute_ms"] + MINUTE_MS
                for row in signals
                if all(row[name] == one[name] for name in key)
                and row["minute_ms"] >= one["made_at_ms"]
                and row["backlog_ready_entries"] <= one["threshold"]
            ),
            None,
        )
        came_true += [gone] if gone is not None and one["low_ms"] <= gone <= one["high_ms"] else []
    assert came_true


def test_the_synthetic_history_has_anomalies(demo: tuple[Path, str]) -> None:
    rows = Lake(demo[0]).read("anomalies").to_pylist()
    assert {row["cluster"] for row in rows if row["state"] != "learning"} >= {CLUSTER}


@pytest.mark.study
def test_healthy_but_ticking_is_never_called_throttled(found: dict) -> None:
    share = found["all"]["ours"]["healthy_called_throttled"]
    assert share["of"] > 0
    assert share["count"] == 0


@pytest.mark.study
def test_accuracy_figures_equal_a_run(found: dict) -> None:
    """What the page counts without Spark, a run's lake shows as well."""
    shipped = measured()["sets"]["shipped"]
    ours = found["all"]["ours"]
    assert found["all"]["windows"] == shipped["windows"]
    for name, share in (
        ("side_right_when_answered", ours["side"]["right_when_answered"]),
        ("cause_right_when_answered", ours["cause"]["right_when_answered"]),
        ("unknown", ours["cause"]["unknown"]),
        ("limiter_right", found["all"]["limiter_right"]),
    ):
        assert (share["count"], share["of"]) == (shipped[name]["count"], shipped[name]["of"]), name


@pytest.mark.study
def test_accuracy_signals_equal_a_run(judged: Path) -> None:
    lake, key = Lake(judged), [*SUBSCRIPTION_KEY_NAMES, "minute_ms"]
    compared = 0
    for folder in folders("shipped"):
        recorded = read(folder)
        run = lake.read("signals", partition={"cluster": [recorded.name]})
        order = [(name, "ascending") for name in key]
        ours, theirs = (rows.sort_by(order).to_pylist() for rows in (signals_of(recorded), run))
        assert ours == theirs, recorded.name
        compared += len(ours)
    assert compared > 1000


@pytest.mark.study
def test_what_if_page_equals_predictions(judged: Path) -> None:
    page = whatif.PAGE.read_text()
    assert renewed(page, whatif.parts(whatif.rows_of(Lake(judged)))) == page, "the page is old: make accuracy"


@pytest.mark.study
def test_guide_example_equals_command_output(judged: Path) -> None:
    page = whatif.GUIDE.read_text()
    assert whatif.guide_page(page, str(judged)) == page, "the page is old: make accuracy"


@needs_chromium
def test_texts_equal_the_golden_files(demo: tuple[Path, str]) -> None:
    with running_chromium() as browser:
        now = dict(texts(demo[0], browser))
    kept = {str(file.relative_to(GOLDEN).with_suffix("")): file.read_text() for file in GOLDEN.rglob("*.txt")}
    differs = {
        name: (kept.get(name), now.get(name)) for name in kept | now if kept.get(name) != now.get(name)
    }
    lines = [
        line
        for name, (old, new) in sorted(differs.items())
        for line in unified_diff((old or "").splitlines(), (new or "").splitlines(), f"kept {name}", f"now {name}", "", "", 0, "")
    ]  # fmt: skip
    assert not differs, "\n".join(["meant? then: make golden", *lines[:200]])


@pytest.mark.study
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


@needs_chromium
@pytest.mark.study
def test_documentation_pictures_match_the_pages(demo: tuple[Path, str], tmp_path: Path) -> None:
    with running_server(str(demo[0])) as address, running_chromium() as browser:
        taken = [*shoot(browser, address, tmp_path), *shoot(browser, address, tmp_path, **CHINESE)]
    differ = {path.name: different_share(path, IMAGES / path.name) for path in taken}
    assert len(differ) == len(PICTURES) + len(CHINESE["names"])
    assert {name: share for name, share in differ.items() if share > MOST_DIFFERENT} == {}


@pytest.mark.study
@needs_chromium
def test_chinese_pages_have_no_english_words(demo: tuple[Path, str]) -> None:
    """Findings say where, which words and in what text."""
    opened, found = _chinese(demo[0], follow=False)
    assert {urlsplit(path).path for path in opened} == set(PAGES)
    assert found == {}


@pytest.mark.study
@needs_chromium
def test_pages_that_these_link_to_have_no_english_words(demo: tuple[Path, str]) -> None:
    """One page of every shape of address: parts, filters, ranges, what is opened."""
    opened, found = _chinese(demo[0], follow=True)
    assert len(opened) > 40
    assert found == {}


def _chinese(lake: Path, *, follow: bool) -> tuple[list[str], dict[str, list[str]]]:
    starts = [path for path, _ in PICTURES.values()]
    with running_server(str(lake), workers=1) as address, running_chromium() as browser:
        return untranslated_pages(browser, address, Lake(lake), starts=starts, follow=follow)


def different_share(one: Path, other: Path) -> float:
    """Share of pixels of which a channel differs by more than ``LEVELS``."""
    ours, theirs = (np.asarray(Image.open(path).convert("RGB"), np.int16) for path in (one, other))
    if ours.shape != theirs.shape:
        return 1.0
    return float((np.abs(ours - theirs).max(axis=2) > LEVELS).mean())


def test_another_picture_is_different() -> None:
    assert different_share(IMAGES / "overview.png", IMAGES / "overview.png") == 0
    assert different_share(IMAGES / "overview.png", IMAGES / "subscriptions.png") > MOST_DIFFERENT
