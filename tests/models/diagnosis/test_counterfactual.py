"""Counterfactuals on simulated brokers whose cause is known: the lever that drains is the one that holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    key,
    scenario,
    simulated_lake,
    subscription_limit,
)
from tests.transforms.lakes import limit_row
from throttlescope.ingest.contracts import TABLES
from throttlescope.models.diagnosis.counterfactual import (
    counterfactuals,
    hypotheses_alive,
    limiters_of,
    live_limiters,
)
from throttlescope.models.throttling.replay import read_observed

pytestmark = pytest.mark.long

WINDOW_S = 600
SLOW = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 10}
PUBLISH_300 = [{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}]


def observed(tmp_path, seconds=WINDOW_S, since=0, later_limit=None, **fields):
    lake = simulated_lake(tmp_path / "lake", scenario(**{"duration_s": seconds} | fields), seconds)
    if later_limit is not None:
        at_ms, msg = later_limit
        row = limit_row("subscription", at_ms=at_ms, msg=msg, **key())
        lake.upsert("limits", pa.Table.from_pylist([row], schema=TABLES["limits"].schema), run_id="later")
    window = read_observed(lake, SELECTOR, START_MS + 1000 * since, START_MS + 1000 * seconds + 1)
    return window, read_observed(lake, SELECTOR, START_MS, START_MS + 1000 * seconds + 1)


def test_lifting_binding_limiter_drains_backlog(tmp_path):
    window, _ = observed(tmp_path)
    found = counterfactuals(window)
    assert found.primary == "limiter"
    limiter, consumers = found.row_of("limiter"), found.row_of("consumers")
    assert limiter.limiter == "subscription.msg"
    assert limiter.gain_entries.high > 0.9 * found.as_is_entries.high
    # More consumers change nothing under a limit, and that is certain although their capacity is not known.
    assert (consumers.effect, consumers.gain_entries.high) == ("none", 0.0)
    assert consumers.held_by == "subscription.msg"


def test_faster_consumers_drain_unlike_far_limit(tmp_path):
    """Lifting a limit that is far away drains nothing."""
    window, _ = observed(
        tmp_path, limits=[subscription_limit(5000)], subscriptions=[SLOW], producers=PUBLISH_300
    )
    found = counterfactuals(window)
    assert found.primary == "consumers"
    assert found.row_of("limiter").effect == "none"
    assert found.row_of("consumers").latest_drain_s < 60
    # 100 msg/s more than the consumers do, for half an hour, on top of what waits.
    assert found.as_is_entries.likely == pytest.approx(found.backlog_entries + 100 * 1800, rel=0.02)


def test_neither_alone_and_both_together_is_both(tmp_path):
    # 200 msg/s for consumers that do 150, then a limit of 140 in front of them: lifting it alone lets the backlog grow on.
    window, history = observed(
        tmp_path, seconds=1200, since=700, duration_s=600, then_s=600,
        limits=[subscription_limit(5000)], later_limit=(START_MS + 600_000, 140),
        subscriptions=[SLOW | {"processing_ms": 13.3}], producers=[{"topic": "orders", "rate_msg": 200, "size_bytes": 1024}],
        interventions=[{"action": "set_limit", **subscription_limit(140)}],
    )  # fmt: skip
    found = counterfactuals(window, history=history)
    assert found.primary == "both"
    assert found.row_of("together").latest_drain_s is not None
    assert found.row_of("limiter").latest_drain_s is None
    assert found.row_of("consumers").latest_drain_s is None


def test_consumers_alone_are_tried_without_limits(tmp_path):
    window, _ = observed(tmp_path, limits=[], subscriptions=[SLOW], producers=PUBLISH_300)
    assert limiters_of(window) == ()
    found = counterfactuals(window)
    assert [row.lever for row in found.rows] == ["consumers"]
    assert found.primary == "consumers"


def test_nothing_to_drain_has_no_primary_cause(tmp_path):
    window, _ = observed(tmp_path, producers=PUBLISH_300)
    assert counterfactuals(window).primary is None


def test_what_lives_in_some_verdicts(tmp_path):
    window, _ = observed(tmp_path)

    def verdict(cause, limiter=None, contributing=()):
        return {"cause": cause, "limiter": limiter, "contributing": list(contributing)}

    rows = [
        verdict("throttled", "subscription.msg", [verdict("redelivery")]),
        verdict("throttled", "topic.msg"),
        verdict("unknown"),
    ]
    # The topic has no limit at the window's end: there is nothing to lift.
    assert live_limiters(rows, window) == ("subscription.msg",)
    assert hypotheses_alive(rows) == 2
    assert hypotheses_alive(rows[1:]) == 1
    assert hypotheses_alive([verdict("healthy")]) == 0
