"""Every shipped rule on what a real broker exposed: our value against a real Prometheus', to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import requests

from tests.lab.prometheus import STALE_BITS, running_prometheus, write_arrays
from tests.promql.compare import answer_of, difference, server_answer_of
from tests.transforms.recorded import bounds_ms, recorded_series
from throttlescope.transforms.promql.evaluate import evaluate_all
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.source import MemorySource
from throttlescope.transforms.rules import load_rules

pytestmark = pytest.mark.prometheus

RULES = load_rules()
METRICS = {selector.metric_name for rule in RULES for selector in rule.selectors}


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as prometheus:
        yield prometheus


def written(series):
    for one in series:
        times = np.concatenate([one.timestamps_ms, one.stale_ms])
        bits = np.concatenate([one.values.view(np.uint64), np.full(len(one.stale_ms), STALE_BITS, np.uint64)])
        order = np.argsort(times, kind="stable")
        yield one.labels, times[order], bits[order]


# An unloaded topic restarts its counters; a topic shared by two subscriptions; consumers that leave.
@pytest.mark.parametrize("name", ["unload-throttled", "topic-greedy-small", "no-consumers-leave"])
def test_rules_have_prometheus_values_on_recorded_metrics(server, name):
    series = recorded_series(name, METRICS)
    write_arrays(server.url, written(series))
    first_ms, last_ms = bounds_ms(series)
    # Off the minutes on purpose: every step then cuts the windows elsewhere. Past the end: look-backs run out.
    steps = Steps(first_ms, last_ms + 400_000, 37_000)
    ours = evaluate_all([rule.plan for rule in RULES], MemorySource(series), steps)
    filled = 0
    for rule, value in zip(RULES, ours, strict=True):
        answer = requests.post(
            f"{server.url}/api/v1/query_range",
            data={
                # Several recordings are on one server; a rule groups by cluster, so its results can be distinguished.
                "query": rule.expr,
                "start": f"{steps.start_ms / 1000:.3f}",
                "end": f"{steps.end_ms / 1000:.3f}",
                "step": f"{steps.step_ms}ms",
            },
            timeout=60,
        )
        answer.raise_for_status()
        result = [one for one in answer.json()["data"]["result"] if one["metric"]["cluster"] == name]
        mine = answer_of(value, steps)
        assert difference(mine, server_answer_of(result)) is None, rule.name
        filled += bool(mine)
    assert filled > 20
