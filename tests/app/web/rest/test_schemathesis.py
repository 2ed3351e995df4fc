"""schemathesis: requests generated from the document find no 5xx, and no answer that the document does not describe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.api.serving import serving
from tests.app.web.rest.contract import PREFIX

# Cursors and selectors are texts that only the server can judge, so a valid text may be refused.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,unsupported_method"
)


# An address that is too long is refused before its parameters are read.
CONFIG = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 414, 422]
"""


def run_schemathesis(url: str, folder: Path, *options: str) -> subprocess.CompletedProcess:
    """Run it as its users do; the exit code says whether it found anything."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG)
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config), "run", f"{url}{PREFIX}/openapi.json",
            "--checks", CHECKS, "--seed", "20261126", "--no-color", "--continue-on-failure", *options,
        ],
        cwd=folder, capture_output=True, text=True, timeout=3000, check=False,
    )  # fmt: skip


def outcome(done: subprocess.CompletedProcess) -> str:
    """What it prints, without the long addresses of its failures."""
    return "\n".join(line[:300] for line in done.stdout.splitlines()[-200:]) + done.stderr[-2000:]


@pytest.mark.study
def test_generated_requests_find_no_fault(sample_lake, tmp_path):
    """Recommendations are left out: a real subscription is replayed for each, see ``test_recommendations.py``."""
    with serving(sample_lake, tmp_path / "log") as server:
        done = run_schemathesis(
            server.url, tmp_path, "--max-examples", "3", "--phases", "fuzzing", "--no-shrink",
            "--request-timeout", "60", "--exclude-path", "/recommendations",
        )  # fmt: skip
    assert done.returncode == 0, outcome(done)
    assert "Tested: 6" in done.stdout, outcome(done)


@pytest.mark.study
def test_many_generated_requests_find_no_fault(tmp_path):
    """All resources and phases, on the lake of the demo."""
    lake = tmp_path / "lake"
    subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "demo", "--no-serve", "--lake", str(lake)],
        cwd=tmp_path, check=True, timeout=1800,
    )  # fmt: skip
    with serving(lake, tmp_path / "log") as server:
        done = run_schemathesis(
            server.url, tmp_path, "--max-examples", "60", "--phases", "examples,coverage,fuzzing",
            "--request-timeout", "120",
        )  # fmt: skip
    assert done.returncode == 0, outcome(done)
    assert "Tested: 7" in done.stdout, outcome(done)
