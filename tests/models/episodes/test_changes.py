"""A policy change as an event, and what it did: by hand, compared with a slow twin, and on recordings in which a limit was changed."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from tests.app.now.recorded import Recorded
from tests.examples import seeds
from tests.naive import limit_changes as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.diagnosis.apply import verdicts_of
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes.before_after import compare
from throttlescope.models.episodes.changes import limit_changes, policy_events
from throttlescope.transforms.broker_use import signals_of
from throttlescope.transforms.limits import effective_limits
from throttlescope.transforms.minutes import minute_rows
from throttlescope.transforms.promql.source import MemorySource

START_MS = 1_700_000_040_000 - 1_700_000_040_000 % BLOCK_MS
KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", -1, "billing")


def snapshot(minute: int, msg=None, size=None, *, key=KEY, level="subscription", **more) -> dict:
    return key._asdict() | {
        "level": level,
        "rate_msg": msg,
        "rate_bytes": size,
        "period_s": 1,
        "counts": "messages",
        "relative_to_publish": False,
        "set_by": "topic_policy" if msg or size else "none",
        "observed_ms": START_MS + minute * MINUTE_MS,
        **more,
    }


def table(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema)


def found(*rows: dict):
    return limit_changes(table(list(rows)))


def test_a_limit_is_lowered():
    (one,) = found(snapshot(0, 100), snapshot(5, 100), snapshot(10, 50), snapshot(15, 50))
    assert (one.level, one.unit, one.kind, one.old.rate, one.new.rate) == (
        "subscription",
        "msg",
        "lowered",
        100,
        50,
    )
    assert (one.old_until_ms, one.new_from_ms) == (START_MS + 5 * MINUTE_MS, START_MS + 10 * MINUTE_MS)
    assert (one.previous_ms, one.next_until_ms, one.next_from_ms) == (None, None, None)
    assert one.text == "subscription.msg lowered: 100 msg/s -> 50 msg/s (topic_policy)"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ({}, {"msg": 5}, "set"),
        ({"msg": 5}, {}, "removed"),
        ({"msg": 5}, {"msg": 6}, "raised"),
        ({"msg": 60, "period_s": 60}, {"msg": 2}, "raised"),
        ({"msg": 60, "period_s": 60}, {"msg": 1}, "redefined"),
        ({"msg": 60}, {"msg": 60, "counts": "entries"}, "redefined"),
        ({"msg": 60}, {"msg": 60, "relative_to_publish": True}, "redefined"),
    ],
)
def test_kinds(old, new, kind):
    (one,) = found(snapshot(0, **old), snapshot(5, **new))
    assert one.kind == kind


def test_what_is_no_change():
    assert found(snapshot(0, 100, set_by="topic_policy"), snapshot(5, 100, set_by="namespace_policy")) == []
    assert found(snapshot(0), snapshot(5, period_s=60, counts="entries", relative_to_publish=True)) == []
    assert found(snapshot(0, size=10), snapshot(5, size=10, counts="entries")) == []
    assert found(snapshot(0, 100), snapshot(5, 200, level="topic")) == []
    assert found(snapshot(0, 100), snapshot(5, 200, key=KEY._replace(subscription="audit"))) == []
    assert found(snapshot(0, 100)) == []
    assert found() == []


def test_one_record_may_change_two_limiters():
    """A record wins whole: one with a message rate alone takes the byte rate away."""
    both = found(snapshot(0, size=1000, set_by="namespace_policy"), snapshot(5, 50))
    assert [(one.unit, one.kind) for one in both] == [("bytes", "removed"), ("msg", "set")]
    assert both[1].text == "subscription.msg set: none -> 50 msg/s (namespace_policy -> topic_policy)"


def test_neighbours_bound_each_other():
    first, second = found(snapshot(0, 100), snapshot(5, 50), snapshot(10, 50), snapshot(15, 100))
    assert (first.previous_ms, first.next_until_ms) == (None, START_MS + 10 * MINUTE_MS)
    assert first.next_from_ms == START_MS + 15 * MINUTE_MS
    assert (second.previous_ms, second.next_until_ms) == (START_MS + 5 * MINUTE_MS, None)


def test_policy_for_many_is_one_event():
    keys = [KEY._replace(partition=n) for n in range(3)]
    rows = [snapshot(at, rate, key=key) for key in keys for at, rate in ((0, 100), (5, 50))]
    rows += [snapshot(0, 7, level="topic"), snapshot(5, 8, level="topic")]
    events = policy_events(limit_changes(table(rows)))
    assert sorted((one.level, len(one.changes)) for one in events) == [("subscription", 3), ("topic", 1)]
    assert all(one.new_from_ms == START_MS + 5 * MINUTE_MS for one in events)


@pytest.mark.parametrize("seed", seeds(range(40)))
def test_beside_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    rows = [
        snapshot(
            int(minute), int(rng.choice([50, 60])) if rng.random() < 0.7 else None,
            int(rng.choice([1000, 2000])) if rng.random() < 0.3 else None,
            key=KEY._replace(partition=int(rng.integers(0, 2)), subscription=str(rng.choice(["a", "b"]))),
            level=str(rng.choice(["topic", "subscription"])), period_s=int(rng.choice([1, 60])),
            counts=str(rng.choice(["messages", "entries"])),
        )
        for minute in rng.permutation(60)
    ]  # fmt: skip
    ours = [
        ((*one.key, one.level), one.unit, one.old.rate, one.new.rate, one.old_until_ms, one.new_from_ms, one.previous_ms, one.next_until_ms)
        for one in limit_changes(table(rows))
    ]  # fmt: skip
    assert ours, f"seed {seed} has no change"
    assert ours == sorted(naive.changes(rows), key=lambda one: (one[5], one[0], one[1]))


# -- before and after ---------------------------------------------------------------------------


def minute(number: int, backlog: float, **more) -> dict:
    return KEY._asdict() | {
        "minute_ms": START_MS + number * MINUTE_MS,
        "backlog_ready_entries": backlog,
        **more,
    }


def signals(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)


def verdict(number: int, cause: str, limiter=None) -> dict:
    start_ms = START_MS + number * MINUTE_MS
    return KEY._asdict() | {
        "window_start_ms": start_ms,
        "window_end_ms": start_ms + 5 * MINUTE_MS,
        "cause": cause,
        "limiter": limiter,
    }


def test_minutes_between_sides_are_in_neither():
    change = found(snapshot(0, 100), snapshot(10, 100), snapshot(13, 50))
    rows = [
        minute(
            n,
            0,
            rho_subscription_msg=0.5,
            throttled_msg_events_subscription_delta=0,
            in_msg_delta=3600,
            in_span_ms=60_000,
        )
        for n in range(10)
    ]
    rows += [
        minute(n, 999, rho_subscription_msg=9, throttled_msg_events_subscription_delta=999)
        for n in (10, 11, 12)
    ]
    rows += [
        minute(n, 600 * n, rho_subscription_msg=1.0, throttled_msg_events_subscription_delta=60)
        for n in range(13, 30)
    ]
    said = [
        verdict(0, "healthy"),
        verdict(5, "healthy"),
        verdict(10, "unknown"),
        verdict(15, "throttled", "subscription.msg"),
    ]
    (one,) = compare(change, signals(rows), said)
    before, after = one.before, one.after
    assert (before.minutes, before.rho, before.events_per_min, before.backlog_slope_entries_per_s) == (
        10,
        0.5,
        0,
        0,
    )
    assert (before.cause, before.causes, before.in_msg_per_s) == ("healthy", {"healthy": 2}, 60)
    assert (after.minutes, after.rho, after.events_per_min, after.backlog_slope_entries_per_s) == (
        15,
        1.0,
        60,
        10,
    )
    assert (after.cause, after.limiter) == ("throttled", "subscription.msg")
    assert (
        one.text
        == "use/limit 0.5 -> 1; events/min 0 -> 60; backlog 0 -> 16,200; backlog/s 0 -> +10; cause healthy -> throttled"
    )
    assert json.loads(json.dumps(one.to_row()))["before"]["minutes"] == 10


def test_side_ends_at_next_change():
    """Of the same limiter."""
    first, second = compare(
        found(snapshot(0, 100), snapshot(5, 100), snapshot(6, 50), snapshot(9, 50), snapshot(10, 100)),
        signals([minute(n, n) for n in range(30)]),
        [],
    )
    assert (first.after.minutes, second.before.minutes) == (3, 3)
    assert (first.after.assumed, second.before.assumed) == (False, False)
    assert (first.before.start_ms, second.after.end_ms) == (
        START_MS - 10 * MINUTE_MS,
        START_MS + 25 * MINUTE_MS,
    )


def test_limit_between_snapshots_may_be_assumed():
    """One snapshot of each limit: the minutes behind a snapshot count for it, and it is said."""
    first, second = compare(
        found(snapshot(0, 100), snapshot(20, 50), snapshot(40, 100)),
        signals([minute(n, n) for n in range(60)]),
        [],
    )
    assert (first.before.start_ms, first.before.minutes, first.before.assumed) == (START_MS, 15, True)
    assert (first.after.minutes, first.after.assumed) == (15, True)
    assert (second.before.start_ms, second.before.assumed) == (START_MS + 20 * MINUTE_MS, True)
    assert (second.after.minutes, second.after.assumed) == (15, False)
    assert first.text.endswith("(limit assumed before and after)")


def test_what_is_not_known_is_not_zero():
    (one,) = compare(found(snapshot(0, 100), snapshot(5, 50)), signals([]), [])
    assert (one.before.minutes, one.before.rho, one.after.events_per_min, one.after.cause) == (
        0,
        None,
        None,
        None,
    )
    assert one.text == "use/limit - -> -; events/min - -> -; backlog - -> -; backlog/s - -> -; cause - -> -"


# -- recordings of a real broker ----------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "limiter"),
    [
        ("limit-change-subscription", None),
        ("limit-change-topic", "topic.msg"),
        ("limit-change-1-1", "topic.bytes"),
    ],
)
def test_recorded_limit_changes_are_found(name, limiter):
    """A real broker whose limit was lowered and raised again."""
    recorded = Recorded(name)
    recording, end_ms = recorded.recording, recorded.recording.end_ms
    said = recorded.said(end_ms)
    limits = pa.Table.from_pylist(
        effective_limits(said.policies, said.topic_stats.to_pylist()), schema=TABLES["limits"].loose_schema
    )
    mine = limits.filter(pa.array([topic == recorded.topic for topic in limits["topic"].to_pylist()]))
    changes = limit_changes(mine)
    truth = sorted(recording.truth.to_pylist(), key=lambda row: row["start_ms"])
    throttled = next(row for row in truth if row["cause"] == "throttled")
    if limiter is not None:
        assert throttled["limiter"] == limiter
    level, unit = throttled["limiter"].split(".")
    assert [(one.level, one.unit, one.kind) for one in changes] == [
        (level, unit, "lowered"),
        (level, unit, "raised"),
    ]
    # Truth begins a minute after a change, and ends with the next one.
    lowered, raised = changes
    assert lowered.old_until_ms <= throttled["start_ms"] - MINUTE_MS <= lowered.new_from_ms + MINUTE_MS
    assert raised.old_until_ms <= throttled["end_ms"] <= raised.new_from_ms
    minutes = minute_rows(
        MemorySource(recorded.series()), limits, said.topic_stats, recording.start_ms - recording.start_ms % BLOCK_MS,
        end_ms + -end_ms % BLOCK_MS, {recording.name: end_ms - 1},
    )  # fmt: skip
    rows = signals_of(minutes)
    verdicts = verdicts_of(rows, recording.start_ms, end_ms, every_ms=MINUTE_MS).to_pylist()
    down, up = compare(changes, rows, verdicts)
    print(name, down.text, "|", up.text, sep="\n  ")
    assert (down.before.cause, down.after.cause, down.after.limiter) == (
        "healthy",
        "throttled",
        throttled["limiter"],
    )
    assert down.before.rho < down.after.rho
    assert down.after.backlog_slope_entries_per_s > 1 > abs(down.before.backlog_slope_entries_per_s)
    # More events while nothing waits than while the limit holds: alone they tell nothing, so both are shown.
    assert None not in (down.before.events_per_min, down.after.events_per_min)
    assert up.before.cause == "throttled"
    assert up.after.cause == "healthy"
    assert up.after.backlog_end_entries < up.after.backlog_start_entries
