"""A real Spark cluster with two workers gives the bytes that this process gives."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.lab.spark_cluster import running_spark_cluster
from tests.promql.on_master import digest
from tests.promql.test_engine import END_MS, SERIES, START_MS, STEP_MS
from tests.transforms.lakes import lake_of
from throttlescope.transforms.promql.engine import Engine

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

QUERIES = [
    "pulsar_subscription_back_log",
    "sum by (namespace) (rate(pulsar_throttled_total[5m]))",
    "topk(3, pulsar_subscription_back_log)",
    "pulsar_subscription_back_log * on (cluster, instance) group_left () pulsar_broker_rate_out",
]


def test_two_workers_give_the_same_bytes(tmp_path):
    lake = lake_of(tmp_path / "lake", SERIES)
    with running_spark_cluster(workers=2, max_lifetime_s=300) as master:
        command = [sys.executable, "-m", "tests.promql.on_master", lake.root, master]
        command += [str(number) for number in (START_MS, END_MS, STEP_MS)]
        done = subprocess.run([*command, *QUERIES], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["query"] for one in found] == QUERIES
    engine = Engine(lake)
    for one in found:
        here = engine.range(one["query"], START_MS, END_MS, STEP_MS, place="local")
        assert one["master"] == master
        assert one["points"] == here.value.present.sum() > 0
        assert one["sha256"] == digest(here)
