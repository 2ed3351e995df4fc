"""A real Spark cluster with two workers gives the bytes that this process gives: of a whole run, and of queries.

One file, so that one cluster serves all of it whoever runs the tests side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.app.commands import throttlescope
from tests.cluster.same_bytes import TABLES_OF_A_RUN, THROTTLED, files_of, gates_of
from tests.promql.on_master import digest
from tests.promql.test_engine import END_MS, SERIES, START_MS, STEP_MS
from tests.transforms.lakes import lake_of
from throttlescope.transforms.promql.engine import Engine

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(1500)]

QUERIES = [
    "pulsar_subscription_back_log",
    "sum by (namespace) (rate(pulsar_throttled_total[5m]))",
    "topk(3, pulsar_subscription_back_log)",
    "pulsar_subscription_back_log * on (cluster, instance) group_left () pulsar_broker_rate_out",
]


@pytest.mark.study
def test_cluster_run_writes_the_local_bytes(tmp_path, spark, cluster):
    here = throttlescope("run", "--recording", THROTTLED, "--lake", tmp_path / "here", "--quiet")
    assert here.code == 0, here.err
    command = [sys.executable, "-m", "throttlescope.app.cli", "run", "--recording", THROTTLED, "--quiet"]
    command += ["--lake", str(tmp_path / "there"), "--master", cluster.url, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["verdicts"]
    there = files_of(tmp_path / "there")
    assert {name for name, files in there.items() if files} >= TABLES_OF_A_RUN
    assert there == files_of(tmp_path / "here")
    told = [gates_of(tmp_path / name) for name in ("here", "there")]
    assert told[0] == told[1] != []
    # Not by this process, and not by one worker alone. The master is told of the end a little later.
    end_s = time.monotonic() + 60
    while not (over := cluster.facts()["completedapps"]) and time.monotonic() < end_s:
        time.sleep(0.2)
    assert over[0]["cores"] == 2
    assert {entry.name for entry in tmp_path.iterdir()} == {"here", "there"}


def test_cluster_queries_give_the_local_bytes(tmp_path, cluster):
    lake = lake_of(tmp_path / "lake", SERIES)
    command = [sys.executable, "-m", "tests.promql.on_master", lake.root, cluster.url]
    command += [str(number) for number in (START_MS, END_MS, STEP_MS)]
    done = subprocess.run([*command, *QUERIES], capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["query"] for one in found] == QUERIES
    engine = Engine(lake)
    for one in found:
        here = engine.range(one["query"], START_MS, END_MS, STEP_MS, place="local")
        assert one["master"] == cluster.url
        assert one["points"] == here.value.present.sum() > 0
        assert one["sha256"] == digest(here)
