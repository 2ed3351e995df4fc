"""Hours of a cluster with replicators rest on what its remote clusters show: what comes late there makes them differ."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.lakes import lake_of
from throttlescope.app.config import Settings
from throttlescope.app.pipeline.incremental.fingerprints import Inputs
from throttlescope.app.pipeline.incremental.lake_view import RecomputeView
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.promql.source import Series

START_MS = 1_700_000_000_000 // BLOCK_MS * BLOCK_MS
TIMES_MS = np.arange(START_MS, START_MS + 10 * 60_000, 15_000)


def series(cluster, name, value=1.0, **labels):
    place = {"instance": f"{cluster}:8080", "namespace": "t/n", "topic": "persistent://t/n/x"}
    return Series(
        {"__name__": name, "cluster": cluster, **place, **labels}, TIMES_MS, np.full(len(TIMES_MS), value)
    )


def lake(root, pauses, *, metric="pulsar_publish_rate_limit_times"):
    return lake_of(
        root,
        [
            series("east", "pulsar_replication_backlog", remote_cluster="west"),
            series("south", "pulsar_subscription_back_log", subscription="billing"),
            series("west", "pulsar_subscription_back_log", subscription="audit"),
            series("west", metric, pauses),
        ],
    )


def inputs(lake, cluster):
    view = RecomputeView(lake, ["east", "south", "west"], START_MS)
    return Inputs(view, cluster, START_MS, START_MS + BLOCK_MS, Settings()).signals([START_MS])


@pytest.mark.long
@pytest.mark.parametrize(("cluster", "differs"), [("east", True), ("south", False), ("west", True)])
def test_remote_pauses_make_the_hour_differ(tmp_path, cluster, differs):
    one, other = lake(tmp_path / "one", 1.0), lake(tmp_path / "other", 2.0)
    assert (inputs(one, cluster) != inputs(other, cluster)) is differs


@pytest.mark.long
def test_other_samples_of_the_remote_do_not(tmp_path):
    metric = "pulsar_in_messages_total"
    one, other = (
        lake(tmp_path / name, value, metric=metric) for name, value in (("one", 1.0), ("other", 2.0))
    )
    assert inputs(one, "east") == inputs(other, "east")
    assert inputs(one, "west") != inputs(other, "west")


def test_a_replicators_samples_count_as_newest(tmp_path):
    assert RecomputeView(lake(tmp_path, 1.0), ["east"], START_MS).newest_ms("east") == TIMES_MS[-1]
