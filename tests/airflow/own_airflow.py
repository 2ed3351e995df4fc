"""An Airflow of the tests' own, and what it reads. In: an empty folder; a Prometheus. Out: Airflow's commands; a week that ends now."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.lab.prometheus import NAN_BITS, STALE_BITS, write_arrays
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS

ROOT = Path(__file__).parents[2]
DAGS = ROOT / "airflow_dags"
PYTHON = Path(os.environ.get("THROTTLESCOPE_AIRFLOW_PYTHON", ROOT / ".airflow-venv" / "bin" / "python"))
RECORDINGS = ROOT / "ingest" / "recordings"
COMMAND = Path(sys.executable).with_name("throttlescope")


@dataclass(frozen=True)
class Airflow:
    """Airflow's Python with a home, a database and a configuration of its own.

    Attributes
    ----------
    python, home : Path
    environment : dict
        All that its processes see, beside what a call adds.
    """

    python: Path
    home: Path
    environment: dict[str, str]

    def __call__(self, *arguments, timeout_s=450, **variables):
        """Run Airflow's Python; exit code and everything it said."""
        # A file and not a pipe: what was said before a timeout is what tells why.
        with (self.home / "output.txt").open("w+b") as output:
            try:
                done = subprocess.run(
                    [str(self.python), *map(str, arguments)],
                    env=self.environment | variables,
                    cwd=self.home,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=timeout_s,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                output.seek(0)
                lines = [
                    line for line in output.read().decode().splitlines() if "No tasks to run" not in line
                ]
                pytest.fail(f"no end after {timeout_s} s: " + "\n".join(lines[-40:]))
            output.seek(0)
            return done.returncode, output.read().decode()

    def dags_test(self, dag_id, at, *arguments, timeout_s=450, **variables):
        """``airflow dags test`` of one DAG, as of a moment."""
        return self("-m", "airflow", "dags", "test", dag_id, at, *arguments, timeout_s=timeout_s, **variables)


def airflow_in(home):
    """An Airflow whose home is an empty folder."""
    return Airflow(
        PYTHON,
        home,
        {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            # The product's cache of compiled functions. Nothing else of the real home is seen.
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            # Airflow imports the DAGs; without this it would leave __pycache__ beside them.
            "PYTHONDONTWRITEBYTECODE": "1",
            # Bounded by itself: a task's command is in a process group that does not end with Airflow.
            "THROTTLESCOPE_COMMAND": f"timeout 900 {COMMAND}",
        },
    )


def prepare(airflow):
    """Make the database, and the pools of the DAGs in it."""
    for arguments in (("db", "migrate"), ("pools", "import", DAGS / "pools.json")):
        code, output = airflow("-m", "airflow", *arguments, timeout_s=600)
        assert code == 0, output[-2000:]


@dataclass(frozen=True)
class Source:
    """A real Prometheus that holds the samples of a recording as if they ended with an hour that is just over."""

    url: str
    end_ms: int


def smallest_recording():
    folders = [path.parent for path in RECORDINGS.glob("*/recording.json")]
    return min(folders, key=lambda folder: (folder / "samples.parquet").stat().st_size)


def feed(url, folder, end_ms):
    """Write all samples of a recording, moved so that the newest is half a minute before ``end_ms``."""
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    newest_ms = max(max(row["timestamps_ms"], default=0) for row in rows)
    by_ms = (end_ms - MINUTE_MS // 2 - newest_ms) // 1000 * 1000
    series = []
    for row in rows:
        values = np.array(row["values"], np.float64)
        bits = np.where(np.isnan(values), np.uint64(NAN_BITS), values.view(np.uint64))
        times = np.concatenate([row["timestamps_ms"], row["stale_ms"]]).astype(np.int64) + by_ms
        bits = np.concatenate([bits, np.full(len(row["stale_ms"]), STALE_BITS, np.uint64)])
        order = np.argsort(times, kind="stable")
        series.append((dict(row["labels"]), times[order], bits[order]))
    assert write_arrays(url, series) > BLOCK_MS // MINUTE_MS
