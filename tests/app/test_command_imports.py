"""Commands that read a lake import what they use: heavy packages are bounded for each, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.app.command_lake import write_lake

#: What takes a tenth of a second or more to import, and is not needed to print rows of a lake.
HEAVY = (
    "pandas", "scipy", "pyspark", "great_expectations", "dash", "plotly", "matplotlib", "ruptures", "obstore", "sklearn",
    "prometheus_api_client", "jinja2",
)  # fmt: skip
#: Command -> what it may not import, whatever it prints.
MAY_NOT_IMPORT = {
    ("--help",): (*HEAVY, "numba", "pyarrow", "duckdb", "numpy", "pydantic", "requests"),
    ("verdicts",): (*HEAVY, "numba"),
    ("verdicts", "--format", "json"): (*HEAVY, "numba"),
    ("episodes",): (*HEAVY, "numba", "duckdb"),
    ("promql", "m"): (*HEAVY, "duckdb"),
    ("promql", "rate(m[5m])", "--format", "json"): (*HEAVY, "duckdb"),
}

PROGRAM = """
import sys
from throttlescope.app.cli import main
try:
    main(sys.argv[1:])
finally:
    print("imported:", *{name.partition(".")[0] for name, module in sys.modules.items() if module}, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return write_lake(tmp_path_factory.mktemp("imports") / "lake")


@pytest.mark.long
@pytest.mark.parametrize("command", MAY_NOT_IMPORT, ids=" ".join)
def test_command_imports_what_it_uses(lake, command):
    arguments = command if command == ("--help",) else (*command, "--lake", lake)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("imported:")]
    imported = set(line.split()[1:])
    assert "throttlescope" in imported
    assert imported & set(MAY_NOT_IMPORT[command]) == set()
