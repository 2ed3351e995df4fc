"""Properties: whatever a window holds, a verdict keeps its contract and invents nothing."""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.models.diagnosis.scenes import KEY, START_MS, growing, scene
from tests.models.diagnosis.test_cases import CASES, FULL, UP, sub
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS, SET_BY, SIDES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.diagnosis.evidence import WEIGHTS
from throttlescope.models.diagnosis.symptoms import SYMPTOMS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import SubscriptionKey, Window

_FREE = [
    column for column in TABLES["signals"].columns if column.name not in {*KEY._fields, "minute_ms", "date"}
]


def _value(rng: random.Random, column):
    kind = column.type
    if column.words is not None:
        return rng.choice(column.words)
    if pa.types.is_floating(kind):
        odd = [0.0, 1.0, 0.5, 0.95, -7.0, 1e12, float("nan"), float("inf"), -float("inf")]
        return rng.choice([rng.random(), rng.uniform(0, 1000), rng.uniform(0, 1e7), rng.choice(odd)])
    if pa.types.is_integer(kind):
        return rng.choice([0, 1, 100, 60_000, -3, rng.randrange(10**7)])
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if column.name == "subscription_type":
        return rng.choice(["Shared", "Key_Shared", "Exclusive", "Failover", "Strange"])
    return rng.choice(["a", 'b"\n\\', "broker-0:8080"])


def a_window(seed: int) -> Window:
    """A window full of anything: gaps, NULL, NaN, infinities, clocks that run backwards, contradictions.

    Made from a seed, because drawing five hundred values one by one takes the strategy longer than the verdict.
    """
    rng = random.Random(seed)  # noqa: S311
    missing = rng.choice([0.0, 0.1, 0.5, 0.95])
    columns = {
        # What changes from minute to minute in one window does not change in the next.
        column: (rng.random() < 0.5, _value(rng, column))
        for column in _FREE
    }
    rows = []
    for i in sorted(rng.sample(range(5), rng.randrange(6))):
        row = {"minute_ms": START_MS + i * MINUTE_MS}
        for column, (still, value) in columns.items():
            if rng.random() >= missing:
                row[column.name] = value if still else _value(rng, column)
        rows.append(row)
    return Window.of_rows(KEY, START_MS, START_MS + 5 * MINUTE_MS, rows)


any_window = st.integers(0, 2**32).map(a_window)


def _check(verdict) -> None:
    row = verdict.to_row()
    TABLES["verdicts"].conform(pa.Table.from_pylist([row], schema=TABLES["verdicts"].loose_schema))
    assert row["cause"] in CAUSES
    assert row["side"] in SIDES
    assert row["side"] == CAUSE_OF[row["cause"]].side
    assert row["limiter"] in (None, *LIMITERS)
    assert (row["limiter"] is not None) == (row["cause"] in ("throttled", "both", "micro_burst_throttled"))
    assert 0.0 <= row["confidence"] <= 0.95
    assert (row["confidence"] == 0.0) == (row["cause"] == "unknown")
    assert row["evidence"]
    for evidence in row["evidence"]:
        assert evidence["symptom"] in SYMPTOMS
        assert evidence["weight"] in WEIGHTS
        assert evidence["text"].endswith(".")
        assert not {"None", "nan", "inf", "-inf"} & set(evidence["text"].replace(",", " ").split())
    for missing in row["missing_evidence"]:
        assert missing["what"]
        assert missing["fix"]


@pytest.mark.long
@examples(300)
@given(any_window)
def test_every_verdict_keeps_its_contract(window):
    _check(diagnose(window))


@given(any_window)
def test_the_same_window_gives_the_same_verdict(window):
    assert diagnose(window).to_row() == diagnose(window).to_row()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story)
def test_cases_keep_the_contract_too(case):
    _check(diagnose(scene(**case.scene)))


_limit = st.fixed_dictionaries(
    {
        "limit": st.integers(1, 10**8),
        "rho": st.floats(0, 1.2),
        "events": st.floats(0, 500),
        "duty": st.floats(0, 1),
        "period_s": st.sampled_from([1, 1, 1, 10, 60, 600]),
    }
)


@pytest.mark.long
@examples(300)
@given(
    limits=st.dictionaries(st.sampled_from(LIMITERS), _limit),
    backlog=st.lists(st.floats(0, 100), min_size=5, max_size=5),
    rate=st.floats(0, 20_000),
    permits=st.none() | st.floats(-50, 1000),
    starved=st.none() | st.floats(0, 1),
    limits_observed=st.booleans(),
    kind=st.sampled_from(["Shared", "Exclusive", None]),
    resets=st.sampled_from([0, 6]),
)
def test_caught_up_subscription_is_never_throttled(backlog, rate, **changes):
    """However its counters tick and whatever its limits are: what one read clears is no backlog."""
    verdict = diagnose(scene(backlog=backlog, in_rate=rate, out_rate=rate, **changes))
    assert verdict.cause == "healthy"


@given(any_window)
def test_without_the_backlog_nothing_is_claimed(window):
    columns = dict(window.columns)
    columns["backlog_ready_entries"] = [None] * (window.high - window.low)
    blind = Window(window.key, window.start_ms, window.end_ms, columns, window.low, window.high)
    assert diagnose(blind).cause == "unknown"


@given(any_window)
def test_limiter_without_events_is_never_named(window):
    columns = dict(window.columns)
    for name in columns:
        if name.startswith("throttled_") and name.endswith("_delta"):
            columns[name] = [0.0] * (window.high - window.low)
    silent = Window(window.key, window.start_ms, window.end_ms, columns, window.low, window.high)
    if window.high - window.low > 2:
        assert diagnose(silent).limiter is None


#: Windows that a broker could really show, and the side that is true in them.
PHYSICAL = [
    ("throttle", {**UP, "limits": sub(100, 0.99, 1.0)}),
    ("throttle", {**UP, "out_rate": 500.0, "in_rate": 550.0, "limits": sub(500, 1.0, 1.0)}),
    ("throttle", {**UP, "in_rate": 60.0, "out_rate": 50.0, "limits": sub(50, 1.0, 2.0)}),
    ("throttle", {**UP, "limits": {"topic.bytes": {"limit": 100_000, "rho": 1.0, "events": 11.0}}}),
    ("consumer_capacity", {**UP, **FULL}),
    ("consumer_capacity", {**UP, **FULL, "limits": sub(500, 0.2, 0.0)}),
    ("consumer_capacity", {**UP, **FULL, "limits": {"topic.bytes": {"limit": 10**6, "rho": 0.1, "events": 2.0}}}),
    ("consumer_capacity", {**UP, **FULL, "starved": 0.6, "in_rate": 30.0, "out_rate": 20.0,
                           "limits": sub(50, 0.4, 0.72, duty=0.6)}),
    ("neither", {"limits": sub(50, 0.4, 20.0), "in_rate": 20.0, "out_rate": 20.0}),
    ("neither", {"backlog": growing(60_000, -150), "out_rate": 250.0}),
]  # fmt: skip

TAKEN_AWAY = {
    "permits": {"permits": None, "starved": None},
    "unacked": {"unacked": None},
    "limits": {"limits_observed": False},
    "counters": {"counters": False},
    "type": {"kind": None},
    "messages per entry": {"per_entry": None},
    "acks": {"ack_rate": None, "ack_age_s": None},
    "flow": {"flow_age_s": None},
}


@pytest.mark.long
@pytest.mark.parametrize(("side", "changes"), PHYSICAL)
def test_less_evidence_never_reverses_the_side(side, changes):
    for size in range(len(TAKEN_AWAY) + 1):
        for names in itertools.combinations(TAKEN_AWAY, size):
            less = changes.copy()
            for name in names:
                less |= TAKEN_AWAY[name]
            if "counters" in names:
                less["limits"] = {
                    name: {**limiter, "events": None, "duty": None}
                    for name, limiter in changes.get("limits", {}).items()
                }
            verdict = diagnose(scene(**less))
            assert verdict.side in (side, "unknown"), names
            if verdict.side == "unknown":
                assert verdict.missing_evidence, names


@pytest.mark.parametrize(("side", "changes"), PHYSICAL)
@examples(20)
@given(k=st.floats(1, 40))
def test_doubled_traffic_and_limit_keep_verdict(side, changes, k):
    """Rates, backlog and limits scaled together: rho and shares stay, so the side does."""
    scaled = {"in_rate": 100.0, "out_rate": 100.0, "backlog": 4.0} | changes
    for name in ("in_rate", "out_rate"):
        scaled[name] *= k
    backlog = scaled["backlog"]
    scaled["backlog"] = [b * k for b in backlog] if isinstance(backlog, list) else backlog * k
    scaled["limits"] = {
        name: {**limiter, "limit": round(limiter["limit"] * k)}
        for name, limiter in scaled.get("limits", {}).items()
    }
    assert diagnose(scene(**scaled)).side == side


@pytest.mark.long
def test_time_and_names_do_not_matter():
    rng = random.Random(7)  # noqa: S311
    for case in CASES:
        window = scene(**case.scene)
        shift_ms = rng.randrange(1, 10**6) * MINUTE_MS
        columns = {
            **window.columns,
            **{
                name: [None if ms is None else ms + shift_ms for ms in window.columns[name]]
                for name in ("minute_ms", "limits_observed_ms")
            },
        }
        key = SubscriptionKey("x", "y/z", 'persistent://y/z/quo"te', -1, "../sub\n")
        moved = Window(
            key, window.start_ms + shift_ms, window.end_ms + shift_ms, columns, window.low, window.high
        )
        here, there = diagnose(window), diagnose(moved)
        assert (here.side, here.cause, here.limiter, here.confidence) == (
            there.side,
            there.cause,
            there.limiter,
            there.confidence,
        )


def test_every_set_by_word_is_observed():
    for set_by in SET_BY:
        window = scene()
        columns = {**window.columns, "limit_topic_set_by": [set_by] * 5}
        observed = Window(window.key, window.start_ms, window.end_ms, columns, 0, 5)
        assert all(limiter.observed for limiter in diagnose(observed).symptoms.limiters)
