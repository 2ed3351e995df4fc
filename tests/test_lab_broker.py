"""The quick proof that the lab works: two short scenarios on a real broker, their truth confirmed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.loadprocess import REPOSITORY
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.recording import altered_files

pytestmark = [pytest.mark.broker, pytest.mark.prometheus]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no real broker here: {missing}")
    out = tmp_path_factory.mktemp("smoke")
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab", "smoke", "--out", str(out)],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=420, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.parametrize(
    ("name", "cause", "limiter"),
    [("smoke-throttled", "throttled", "subscription.msg"), ("smoke-slow", "slow_consumers", None)],
)
def test_smoke_scenario_is_kept(smoke: Path, name: str, cause: str, limiter: str | None) -> None:
    folder = smoke / name
    assert altered_files(folder) == []
    about = json.loads((folder / "recording.json").read_text())
    assert all(check["ok"] for check in about["confirmed"])
    (row,) = json.loads((folder / "truth.json").read_text())["rows"]
    assert (row["cause"], row["limiter"]) == (cause, limiter)
