"""The short real case of broker and product: two scenarios are recorded while `throttlescope run` reads the same servers.

The run is made twice, under the limit and after it was lifted, as a schedule would: limits are known from when they were read.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.loadprocess import REPOSITORY
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.recording import altered_files
from throttlescope.ingest.lake import Lake

pytestmark = [pytest.mark.broker, pytest.mark.prometheus, pytest.mark.spark, pytest.mark.timeout(1200)]

SCENARIOS = {"smoke-throttled": ("throttled", "subscription.msg"), "smoke-slow": ("slow_consumers", None)}
#: The lab scrapes these scenarios every 5 s, so a minute holds as much as five minutes do in the field.
WINDOWS = ("--window", "1m", "--every", "1m")


@dataclass
class Smoke:
    recordings: Path
    live_lake: Path
    recorded_lake: Path


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no real broker here: {missing}")
    folder = tmp_path_factory.mktemp("smoke")
    found = Smoke(folder / "out", folder / "live-lake", folder / "recorded-lake")
    log = folder / "lab.log"
    with open(log, "wb") as output:
        lab = subprocess.Popen(
            [sys.executable, "-m", "tests.lab", "smoke", "--out", str(found.recordings), "--scratch", str(folder), "--hold", "600"],
            cwd=REPOSITORY, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        about = _wait_for(lab, folder / "smoke" / "live.json", 400, log)
        time.sleep(max(0, about["start_ms"] / 1000 + 60 - time.time()))
        _run_live(about, found.live_lake)
        for name in SCENARIOS:
            _wait_for(lab, found.recordings / name / "recording.json", 420, log)
        _run_live(about, found.live_lake)
    finally:
        lab.send_signal(signal.SIGINT)
        try:
            lab.wait(120)
        except subprocess.TimeoutExpired:
            lab.kill()
            lab.wait()
    recordings = [flag for name in SCENARIOS for flag in ("--recording", str(found.recordings / name))]
    _throttlescope("run", *recordings, *WINDOWS, "--lake", str(found.recorded_lake))
    return found


def _wait_for(lab: subprocess.Popen, path: Path, seconds: float, log: Path) -> dict:
    until = time.monotonic() + seconds
    while time.monotonic() < until and lab.poll() is None:
        if path.exists():
            # Written in one go, but not under another name first.
            time.sleep(0.5)
            return json.loads(path.read_text())
        time.sleep(1)
    pytest.fail(f"the lab did not write {path.name}: {log.read_text(errors='replace')[-2000:]}")


def _run_live(about: dict, lake: Path) -> None:
    _throttlescope(
        "run", "--prometheus", about["prometheus"], "--pulsar-admin", about["admin"], "--lake", str(lake),
        "--start", str(about["start_ms"] // 1000), "--match", '{namespace=~"lab/smoke-.*"}', *WINDOWS,
    )  # fmt: skip


def _throttlescope(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", *arguments],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def _settled(lake: Path, name: str) -> dict[int, tuple]:
    """Verdicts of the windows that lie whole inside a truth range, by the windows' starts."""
    (truth,) = [
        row
        for row in Lake(lake.parent / "recorded-lake").read("truth").to_pylist()
        if row["recording"] == name
    ]
    return {
        row["window_start_ms"]: (row["side"], row["cause"], row["limiter"])
        for row in Lake(lake).read("verdicts").to_pylist()
        if (row["topic"], row["subscription"]) == (truth["topic"], truth["subscription"])
        and truth["start_ms"] <= row["window_start_ms"]
        and row["window_end_ms"] <= truth["end_ms"]
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_smoke_scenario_is_kept(smoke: Smoke, name: str) -> None:
    folder = smoke.recordings / name
    assert altered_files(folder) == []
    about = json.loads((folder / "recording.json").read_text())
    assert all(check["ok"] for check in about["confirmed"])
    (row,) = json.loads((folder / "truth.json").read_text())["rows"]
    assert (row["cause"], row["limiter"]) == SCENARIOS[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_live_run_equals_recorded_verdicts(smoke: Smoke, name: str) -> None:
    recorded = _settled(smoke.recorded_lake, name)
    assert recorded
    assert _settled(smoke.live_lake, name) == recorded


@pytest.mark.parametrize("name", SCENARIOS)
def test_verdicts_match_the_scripted_causes(smoke: Smoke, name: str) -> None:
    assert {verdict[1:] for verdict in _settled(smoke.recorded_lake, name).values()} == {SCENARIOS[name]}
