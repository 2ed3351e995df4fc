"""``make test-cluster``: a run that loses a worker, executors that have nothing but the archive, spark-submit, Spark Connect.

All of them leave the bytes of a run in this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

from tests.app.commands import throttlescope
from tests.cluster.same_bytes import files_of
from tests.lab.spark_cluster import running_spark_cluster, running_spark_connect
from throttlescope.ingest.java import find_java

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.long,
    pytest.mark.study,
    pytest.mark.timeout(1800),
]

RECORDINGS = ("healthy-msg-50", "slow-small", "sub-msg-small")
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


def test_a_run_that_loses_a_worker_finishes(tmp_path, here):
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
            cluster.workers[0].kill()
            _, said = process.communicate(timeout=900)
        finally:
            process.kill()
        assert process.returncode == 0, said[-2000:]
        assert cluster.facts()["aliveworkers"] == 1
    assert files_of(lake) == here


def test_executors_need_nothing_but_the_archive(tmp_path, here, archive):
    bare = subprocess.run(
        ["python3", "-c", "import throttlescope.ingest"],
        env={"PATH": BARE_PATH},
        capture_output=True,
        check=False,
    )
    assert bare.returncode != 0, "this Python has the package, so that nothing would be proved"
    lake, config = tmp_path / "lake", tmp_path / "throttlescope.toml"
    with running_spark_cluster(workers=2, max_lifetime_s=1500, path=BARE_PATH) as cluster:
        without = throttlescope_alone("spark", "check", "--master", cluster.url, PYSPARK_PYTHON="python3")
        assert (without.returncode, "package" in without.stderr) == (2, True), without.stderr
        config.write_text(
            f'lake = "lake"\n[spark]\nmaster = "{cluster.url}"\npackage = "{archive["path"]}"\n'
        )
        said = json.loads(finished([*CLI, "spark", "check", "--config", str(config), "--format", "json"]))
        assert said["executors"]
        for executor in said["executors"]:
            assert "/environment/packages/throttlescope" in executor["found_in"]
        finished([*CLI, *RUN, "--config", str(config), "--quiet"])
    assert files_of(lake) == here


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


def test_a_cluster_without_a_free_worker_is_told(tmp_path):
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
