"""``make test-cluster``: a run that loses a worker or an executor, executors that have nothing but the archive, spark-submit, Spark Connect.

All of them leave the bytes of a run in this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pyspark
import pytest

from benchmarks.side_by_side.usage import descendants
from tests.app.commands import throttlescope
from tests.app.web.sampled_lake import write_sampled_lake
from tests.cluster.notebook_session import asked
from tests.cluster.same_bytes import TABLES_OF_A_RUN, THROTTLED, files_of, gates_of
from tests.lab.spark_cluster import running_spark_cluster, running_spark_connect
from throttlescope.app.notebook import open_lake
from throttlescope.ingest.spark.java import find_java

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.long,
    pytest.mark.study,
    pytest.mark.timeout(1800),
]

RECORDINGS = ("healthy-msg-50", "slow-small", THROTTLED)
RUN = ["run", *(part for name in RECORDINGS for part in ("--recording", name))]
CLI = [sys.executable, "-m", "throttlescope.app.cli"]
SPARK_BIN = Path(pyspark.__file__).parent / "bin"
#: A Python without our packages, as another machine has it.
BARE_PATH = f"{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"


@pytest.fixture(scope="module")
def here(tmp_path_factory, _spark_session):
    lake = tmp_path_factory.mktemp("here") / "lake"
    done = throttlescope(*RUN, "--lake", lake, "--quiet")
    assert done.code == 0, done.err
    return files_of(lake)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    file = tmp_path_factory.mktemp("package") / "throttlescope-executors.tar.gz"
    done = throttlescope("spark", "package", "--out", file, "--format", "json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def finished(command: list[str], timeout_s: float = 900, **environment: str) -> str:
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_cluster_steps_write_the_local_bytes(tmp_path, spark, cluster):
    # Here what is small is judged in this process; there every step is Spark's.
    done = throttlescope("run", "--recording", THROTTLED, "--lake", tmp_path / "here", "--quiet")
    assert done.code == 0, done.err
    command = [sys.executable, "-m", "tests.cluster.spark_ways", "run", "--recording", THROTTLED, "--quiet"]
    finished([*command, "--lake", str(tmp_path / "there"), "--master", cluster.url], PYTHONPATH=os.getcwd())
    there = files_of(tmp_path / "there")
    assert {name for name, files in there.items() if files} >= TABLES_OF_A_RUN
    assert there == files_of(tmp_path / "here")
    told = [gates_of(tmp_path / name) for name in ("here", "there")]
    assert told[0] == told[1] != []


def executors(worker: subprocess.Popen) -> list[int]:
    """The JVMs that a worker has started for applications."""
    return [
        pid
        for pid in descendants(worker.pid)
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


@pytest.mark.parametrize(("lost", "alive"), [("worker", 1), ("executor", 2)])
def test_run_survives_losing_a_worker(tmp_path, here, lost, alive):
    lake = tmp_path / "lake"
    with running_spark_cluster(workers=2, max_lifetime_s=1500) as cluster:
        command = [*CLI, *RUN, "--lake", str(lake), "--master", cluster.url]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            end_s = time.monotonic() + 600
            # In the middle of the reading: some items are done, and some are a worker's.
            while not list(lake.glob("_staging-*/notes/*.json")):
                assert process.poll() is None, process.stderr.read()[-2000:]
                assert time.monotonic() < end_s
                time.sleep(0.02)
            (executor,) = executors(cluster.workers[0])
            os.kill(cluster.workers[0].pid if lost == "worker" else executor, signal.SIGKILL)
            _, said = process.communicate(timeout=900)
        finally:
            process.kill()
        assert process.returncode == 0, said[-2000:]
        assert not Path(f"/proc/{executor}").exists()
        assert cluster.facts()["aliveworkers"] == alive
    assert files_of(lake) == here


@pytest.fixture(scope="module")
def bare_cluster():
    """A cluster whose workers know nothing of our environment."""
    bare = subprocess.run(
        ["python3", "-c", "import throttlescope.ingest"],
        env={"PATH": BARE_PATH},
        capture_output=True,
        check=False,
    )
    assert bare.returncode != 0, "this Python has the package, so that nothing would be proved"
    with running_spark_cluster(workers=2, max_lifetime_s=1500, path=BARE_PATH) as running:
        yield running


def packed(folder: Path, master: str, archive: dict) -> Path:
    """A configuration that names the archive."""
    config = folder / "throttlescope.toml"
    config.write_text(f'lake = "lake"\n[spark]\nmaster = "{master}"\npackage = "{archive["path"]}"\n')
    return config


def test_check_reports_missing_package(tmp_path, bare_cluster):
    done = throttlescope_alone(
        "spark",
        "check",
        "--lake",
        str(tmp_path / "lake"),
        "--master",
        bare_cluster.url,
        PYSPARK_PYTHON="python3",
    )
    assert (done.returncode, done.stdout) == (2, "")
    (told,) = [line for line in done.stderr.splitlines() if line.startswith("throttlescope: ")]
    assert "Executors do not have the package" in told
    assert "throttlescope spark package" in told


def test_check_finds_package_of_archive(tmp_path, bare_cluster, archive):
    config = packed(tmp_path, bare_cluster.url, archive)
    said = json.loads(finished([*CLI, "spark", "check", "--config", str(config), "--format", "json"]))
    assert said["tasks_at_once"] == 2
    assert said["executors"]
    for executor in said["executors"]:
        assert "/environment/packages/throttlescope" in executor["found_in"]
        assert executor["throttlescope"] == version("throttlescope")
        assert executor["python"] == archive["python"]


def test_executors_need_nothing_but_the_archive(tmp_path, here, bare_cluster, archive):
    finished([*CLI, *RUN, "--config", str(packed(tmp_path, bare_cluster.url, archive)), "--quiet"])
    assert files_of(tmp_path / "lake") == here


def test_spark_submit_gives_the_same(tmp_path, here, cluster):
    program = finished([*CLI, "spark", "program"]).strip()
    command = [
        str(SPARK_BIN / "spark-submit"),
        "--master",
        cluster.url,
        "--conf",
        "spark.driver.host=127.0.0.1",
    ]
    command += [program, *RUN, "--lake", str(tmp_path / "lake"), "--quiet"]
    finished(
        command, PYSPARK_PYTHON=sys.executable, JAVA_HOME=str(find_java().home), SPARK_LOCAL_IP="127.0.0.1"
    )
    assert files_of(tmp_path / "lake") == here
    two = subprocess.run(
        [*command, "--master", "local[2]"], capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java().home), "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    # spark-submit prints all that its program says on its own stdout.
    said = two.stdout + two.stderr
    assert (two.returncode, "Two Spark masters are named" in said) == (2, True), said[-2000:]


def test_spark_connect_gives_the_same(tmp_path, here):
    with running_spark_connect() as url:
        finished([*CLI, *RUN, "--lake", str(tmp_path / "lake"), "--master", url, "--quiet"])
    assert files_of(tmp_path / "lake") == here


def test_a_notebook_works_through_spark_connect(tmp_path, spark):
    lake = Path(write_sampled_lake(tmp_path / "lake").root)
    with running_spark_connect() as url:
        there = json.loads(finished([sys.executable, "-m", "tests.cluster.notebook_session", str(lake), url]))
    here = asked(open_lake(lake, session=spark))
    assert (there.pop("remote"), here.pop("remote")) == (True, False)
    assert all(here.values())
    assert there == json.loads(json.dumps(here))


def test_cluster_without_free_worker_is_reported(tmp_path):
    config = tmp_path / "throttlescope.toml"
    with running_spark_cluster(workers=0, max_lifetime_s=300) as cluster:
        config.write_text(f'[spark]\nmaster = "{cluster.url}"\nexecutor_wait = "5s"\n')
        done = throttlescope_alone("spark", "check", "--config", str(config))
    assert (done.returncode, "gave no executor" in done.stderr) == (4, True), done.stderr


def throttlescope_alone(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*CLI, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
