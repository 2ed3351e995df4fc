"""Sample sources: the lake returns the same as memory, for every request."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.selector import parse_selector
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.source import MemorySource, Series

START_MS = 1_700_000_000_000 // BLOCK_MS * BLOCK_MS
KEY = {"cluster": "c", "namespace": "t/n", "partition": "-1"}


def made(name, topic, seed, **labels):
    rng = np.random.default_rng(seed)
    times = np.unique(rng.integers(START_MS - BLOCK_MS, START_MS + 2 * BLOCK_MS, 200))
    stale = np.unique(rng.integers(START_MS, START_MS + BLOCK_MS, 3))
    values = rng.uniform(-5, 5, len(times))
    return Series(
        {"__name__": name, **KEY, "topic": f"persistent://t/n/{topic}", **labels}, times, values, stale
    )


SERIES = [
    made(name, topic, seed, subscription=subscription)
    for seed, (name, topic, subscription) in enumerate(
        (name, topic, subscription)
        for name in ("pulsar_subscription_back_log", "pulsar_subscription_delayed")
        for topic in "xyz"
        for subscription in ("a", 'odd "\\ \n../')
    )
]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    lake = lake_of(tmp_path_factory.mktemp("lake"), SERIES)
    return LakeSampleSource(lake.files("samples"), lake.read("series"))


@pytest.mark.parametrize(
    "text",
    [
        "pulsar_subscription_back_log",
        'pulsar_subscription_back_log{subscription="a"}',
        'pulsar_subscription_back_log{subscription!="a", topic=~".*[xy]"}',
        '{__name__=~"pulsar_.*log"}',
        '{subscription="a"}',
        "nothing_of_this_name",
        'pulsar_subscription_delayed{missing=""}',
    ],
)
@pytest.mark.parametrize(
    "bounds", [(START_MS - BLOCK_MS, START_MS + 2 * BLOCK_MS), (START_MS + 1, START_MS + 1_000_000), (0, 1)]
)
def test_the_lake_gives_what_memory_gives(source, text, bounds):
    found, expected = (one.select(parse_selector(text), *bounds) for one in (source, MemorySource(SERIES)))
    assert [dict(one.labels) for one in found] == [dict(one.labels) for one in expected]
    for ours, theirs in zip(found, expected, strict=True):
        for name in ("timestamps_ms", "values", "stale_ms"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_a_query_over_the_lake(source):
    plan = plan_query("sum by (topic) (rate(pulsar_subscription_back_log[10m])) - 1")
    steps = Steps(START_MS, START_MS + BLOCK_MS, 60_000)
    lake, memory = (evaluate(plan, one, steps) for one in (source, MemorySource(SERIES)))
    assert lake.labels == memory.labels
    assert len(lake.labels) == 3
    np.testing.assert_array_equal(lake.values, memory.values)


def test_an_empty_lake_has_no_series(tmp_path):
    lake = lake_of(tmp_path, SERIES[:1])
    source = LakeSampleSource([], lake.read("series"))
    assert source.select(parse_selector("pulsar_subscription_back_log"), 0, START_MS) == []


def test_a_plan_travels():
    plan = plan_query('sum by (a) (rate(x{b=~"c.*"}[5m])) > bool on (a) group_left (b) (y @ end() + 0 * -1)')
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301


def test_series_end_at_the_requested_time(tmp_path):
    times = np.arange(START_MS, START_MS + 3_600_000, 30_000)
    one = Series(
        {"__name__": "pulsar_broker_rate_out", "cluster": "c", "instance": "b"},
        times,
        np.arange(len(times)) * 1.0,
    )
    lake = lake_of(tmp_path / "lake", [one])
    source = LakeSampleSource(lake.files("samples"), lake.read("series"))
    selector = parse_selector("pulsar_broker_rate_out")
    # More than half of what the file has: too little to be worth a copy where nobody looks at the rest.
    bounds = (START_MS + 60_000, START_MS + 3_000_000)
    (found,) = source.select(selector, *bounds)
    assert (found.timestamps_ms[0], found.timestamps_ms[-1]) == (bounds[0], bounds[1] - 30_000)
