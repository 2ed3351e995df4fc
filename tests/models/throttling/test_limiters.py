"""The four limiter engines, one meter at a time: sequences computed by hand, and laws that hold for any sequence.

The laws' reader asks, and sends something only when it sees tokens; it may send more than it saw (batches, wrong estimates).
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.examples import examples
from throttlescope.models.throttling.limiters import (
    SLOT_US,
    PeriodBucket,
    SlotBucket,
    WindowWithDebt,
    WindowWithoutDebt,
    new_meter,
)
from throttlescope.models.throttling.twin.state import LimiterState
from throttlescope.models.throttling.world import Rates

S = 1_000_000
ENGINES = ["A0", "A", "B", "C"]
EXAMPLES = examples(60, derandomize=True)


# -- by hand ----------------------------------------------------------------------------------------


def test_a0_forgets_overshoot_at_tick():
    meter = WindowWithoutDebt(10, S)
    assert meter.available(0) == 10
    meter.charge(60, 300_000)
    assert meter.balance() == 0
    assert meter.available(1_299_999) == 0
    assert meter.available(1_300_000) == 10
    meter.charge(4, 1_300_000)
    assert meter.available(1_400_000) == 6


def test_a0_stops_charging_a_full_window():
    meter = WindowWithoutDebt(10, S)
    meter.charge(8, 0)
    meter.charge(8, 0)
    assert meter.balance() == -6
    meter.charge(8, 0)
    assert meter.balance() == -6
    assert meter.available(0) == 0


def test_a_keeps_debt_from_first_charge():
    """It ticks from the first charge on."""
    meter = WindowWithDebt(10, S)
    assert meter.available(5 * S) == 10
    meter.charge(35, 5_300_000)
    seen = [meter.available(at) for at in (6_299_999, 6_300_000, 7_300_000, 8_299_999, 8_300_000)]
    assert seen == [0, 0, 0, 0, 5]
    assert meter.available(9_300_000) == 10


def test_a_drops_unused_budget():
    meter = WindowWithDebt(10, S)
    meter.charge(1, 0)
    assert meter.available(60 * S) == 10


def test_a_ticks_for_every_missed_period():
    meter = WindowWithDebt(10, S)
    meter.charge(35, 0)
    assert meter.available(3 * S) == 5


def test_a_keeps_use_through_a_change():
    """And restarts the period."""
    meter = WindowWithDebt(10, S)
    meter.charge(8, 0)
    meter.change(20, 2 * S, 900_000)
    assert meter.available(900_000) == 12
    assert meter.available(2_899_999) == 12
    assert meter.available(2_900_000) == 20


def test_a_change_starts_the_timer():
    """Also before the first charge, which would start it otherwise."""
    meter = WindowWithDebt(10, S)
    meter.change(20, S, 300_000)
    meter.charge(20, 1_200_000)
    assert meter.available(1_299_999) == 0
    assert meter.available(1_300_000) == 20


def test_b_shows_balance_of_slot_start():
    meter = SlotBucket(100, S)
    assert meter.available(0) == 100
    meter.charge(40, 0)
    meter.charge(40, 5_000)
    assert meter.available(SLOT_US - 1) == 100
    assert meter.balance() == 20


def test_b_adds_whole_tokens_keeps_remainder():
    meter = SlotBucket(100, S)
    meter.available(0)
    meter.charge(40, 0)
    assert meter.available(SLOT_US) == 60  # 1.6 tokens: 1, but the bucket was full before the charge
    assert meter.available(2 * SLOT_US) == 62  # 6 ms kept: 2.2 tokens
    meter.charge(10, 3 * SLOT_US)  # 2 ms kept: 1.8 tokens, and the slot's first call is seen at once
    assert meter.available(3 * SLOT_US) == 53


def test_b_refills_continuously_after_a_charge():
    """The cap comes before the charge: what would have been refilled until the next slot is asked for is lost."""
    meter = SlotBucket(1000, S)
    meter.available(0)
    meter.charge(1000, 0)
    assert [meter.available(at) for at in (16_000, 516_000, 1_016_000)] == [0, 500, 1000]
    meter.charge(1000, 1_016_000)
    assert meter.available(60 * S) == 0


def test_c_refills_after_a_whole_period():
    meter = PeriodBucket(10, S)
    meter.charge(4, 0)
    assert [meter.available(at) for at in (0, S, S + 1)] == [6, 6, 10]
    meter.charge(10, S + 1)
    assert [meter.available(at) for at in (2 * S + 1, 2 * S + 2)] == [0, 10]


def test_c_pays_debt_from_late_refill():
    meter = PeriodBucket(10, S)
    meter.charge(25, 0)
    assert meter.available(1_250_000) == 0
    assert meter.balance() == -3  # 12 tokens of 1.25 s
    assert meter.available(2_250_001) == 7  # 50 ms kept: 10.5 tokens


def test_c_shows_a_charge_without_refill():
    meter = PeriodBucket(10, S)
    meter.charge(3, 5 * S)
    assert meter.balance() == 7
    assert meter.available(5 * S) == 10
    meter.charge(3, 5 * S)
    assert meter.available(5 * S) == 7


def test_rate_is_per_period():
    for engine in ENGINES:
        meter = new_meter(engine, 10_000, 60 * S, 0)
        assert meter.available(0) == 10_000
        meter.charge(10_000, 0)
        assert meter.available(SLOT_US) == 0
        assert meter.available(20 * S + SLOT_US) == (3334 if engine == "B" else 0)  # 4 ms kept
        assert meter.available(60 * S + SLOT_US) == 10_000


@pytest.mark.parametrize("engine", ENGINES)
def test_overshoot_leaves_nine_of_next_ten(engine):
    """Ten entries with eleven messages, unless the engine forgets."""
    meter = new_meter(engine, 10, S, 0)
    meter.charge(11, 0)
    assert meter.available(1_001_000) == (10 if engine == "A0" else 9)


@pytest.mark.parametrize(("engine", "left"), [("A0", 10), ("A", 0), ("B", 10), ("C", 10)])
def test_policy_update_refills_except_in_a(engine, left):
    limiter = LimiterState(engine, Rates())
    limiter.renew(Rates(msg=10), 0)
    assert limiter.bytes is None
    limiter.msg.charge(60, 0)
    limiter.renew(Rates(msg=10), 500_000)
    assert limiter.msg.available(500_000) == left


@pytest.mark.parametrize("engine", ENGINES)
def test_policy_without_limit_removes_meter(engine):
    limiter = LimiterState(engine, Rates())
    limiter.renew(Rates(msg=10, bytes=100), 0)
    limiter.renew(Rates(bytes=100), 1)
    assert limiter.msg is None
    assert limiter.bytes is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_relative_limit_adds_publish_rate(engine):
    limiter = LimiterState(engine, Rates())
    limiter.renew(Rates(msg=100, relative=True), 0)
    limiter.msg.charge(100, 0)
    limiter.follow((1000, 5), S // 2)
    assert limiter.msg.available(S + 1) == 1100


@pytest.mark.parametrize("engine", ["A0", "A"])
def test_windows_add_publish_rate_at_their_tick(engine):
    limiter = LimiterState(engine, Rates())
    limiter.renew(Rates(msg=100, relative=True), 0, (50, 0))
    limiter.msg.charge(20, 0)
    assert limiter.msg.available(S - 1) == 80
    assert limiter.msg.available(S) == 150
    limiter.follow((1000, 5), S + 1)
    assert limiter.msg.available(2 * S - 1) == 150
    assert limiter.msg.available(2 * S) == 1100
    # A policy update keeps no publish rate until the next tick; A's timer starts anew.
    limiter.renew(Rates(msg=10, relative=True), 2 * S + 1, (1000, 5))
    assert limiter.msg.available(2 * S + 2) == 10


def test_c_keeps_tokens_of_a_fallen_limit_where_a_refill_equals_what_was_sent():
    limiter = LimiterState("C", Rates())
    limiter.renew(Rates(msg=10, relative=True), 0, (90, 0))
    limiter.follow((0, 0), 1)
    limiter.msg.charge(20, 1)
    assert limiter.msg.available(2 * S) == 100
    assert limiter.msg.available(3 * S + 1) == 10


# -- laws -------------------------------------------------------------------------------------------

RATES = st.sampled_from([1, 3, 10, 97, 1000, 10**9])
PERIODS = st.sampled_from([S, 2 * S, 60 * S])
#: Time since the last query in thousandths of a period, the share of the tokens that is sent, and what is sent beyond them.
TURNS = st.lists(
    st.tuples(st.integers(0, 2500), st.integers(0, 100), st.integers(0, 300)), min_size=1, max_size=60
)


def granted(engine, rate, period_us, turns, *, over):
    """Have a reader take turns; returns (time, seen, sent, over) of each turn in which it sent."""
    meter = new_meter(engine, rate, period_us, 0)
    now_us, sent = 0, []
    for thousandths, percent, extra in turns:
        # A reader of B takes at most one turn per slot: more would each see the same tokens.
        now_us += max(thousandths * period_us // 1000, SLOT_US if engine == "B" else 0)
        seen = meter.available(now_us)
        assert 0 <= seen <= rate
        assert meter.balance() <= rate
        if seen:
            amount = max(1, seen * percent // 100)
            beyond = rate * extra // 100 if over else 0
            meter.charge(amount + beyond, now_us)
            sent.append((now_us, seen, amount + beyond, beyond))
    return sent


def most_over_its_bound(sent, bound):
    """The largest excess of what any span of turns sent over ``bound(span_us, over)``."""
    worst = None
    for first in range(len(sent)):
        total = over = 0
        for at_us, _, amount, beyond in sent[first:]:
            total, over = total + amount, max(over, beyond)
            excess = total - bound(at_us - sent[first][0], over)
            worst = excess if worst is None else max(worst, excess)
    return worst


@pytest.mark.parametrize("engine", ENGINES)
@EXAMPLES
@given(rate=RATES, period_us=PERIODS, turns=TURNS)
def test_span_is_bounded_by_two_capacities(engine, rate, period_us, turns):
    """One capacity at the end of a period and the next at once; B, which refills evenly, gives only one."""
    sent = granted(engine, rate, period_us, turns, over=False)
    assume(sent)
    capacities = 1 if engine == "B" else 2

    # Remainders are kept in whole microseconds, so that a refill may be one microsecond early.
    def bound(span_us, _):
        return capacities * rate + -(-(span_us + len(turns)) * rate // period_us)

    assert most_over_its_bound(sent, bound) <= 0


@pytest.mark.parametrize("engine", ["A", "B", "C"])
@EXAMPLES
@given(rate=RATES, period_us=PERIODS, turns=TURNS)
def test_span_bound_adds_one_overshoot(engine, rate, period_us, turns):
    """Where debt is kept."""
    sent = granted(engine, rate, period_us, turns, over=True)
    assume(sent)
    capacities = 1 if engine == "B" else 2

    def bound(span_us, over):
        return capacities * rate + -(-(span_us + len(turns)) * rate // period_us) + over

    assert most_over_its_bound(sent, bound) <= 0


@pytest.mark.parametrize("engine", ["A0", "A", "C"])
def test_two_capacities_can_leave_at_once(engine):
    meter = new_meter(engine, 10, S, 0)
    meter.charge(1, 0)
    before, after = (S - 1, S) if engine != "C" else (S, S + 1)
    first = meter.available(before)
    meter.charge(first, before)
    assert first + meter.available(after) == 19


def test_a0_breaks_the_debt_rule():
    sent = granted("A0", 10, S, [(1001, 100, 300)] * 20, over=True)
    assert sum(amount for _, _, amount, _ in sent) == 20 * 40


def test_b_breaks_debt_rule_within_slot():
    meter = SlotBucket(10, S)
    for turn in range(16):
        assert meter.available(turn * 1_000) == 10
        meter.charge(10, turn * 1_000)
    assert meter.balance() == -150


@EXAMPLES
@given(rate=RATES, period_us=PERIODS, turns=TURNS)
def test_a0_equals_a_without_overshoot(rate, period_us, turns):
    assert granted("A0", rate, period_us, turns, over=False) == granted(
        "A", rate, period_us, turns, over=False
    )


@EXAMPLES
@given(rate=RATES, period_us=PERIODS, turns=TURNS)
def test_a0_never_gives_less_than_a(rate, period_us, turns):
    """At every turn: the same charges, and A0 shows at least what A shows."""
    forgets, keeps = WindowWithoutDebt(rate, period_us), WindowWithDebt(rate, period_us)
    now_us = 0
    for thousandths, percent, extra in turns:
        now_us += thousandths * period_us // 1000
        assert forgets.available(now_us) >= keeps.available(now_us)
        amount = rate * (percent + extra) // 100
        forgets.charge(amount, now_us)
        keeps.charge(amount, now_us)


@EXAMPLES
@given(rate=RATES, period_us=PERIODS, steps=st.lists(st.integers(1, 2_000), min_size=2, max_size=80))
def test_c_shows_tokens_once_per_period(rate, period_us, steps):
    meter = PeriodBucket(rate, period_us)
    meter.charge(rate, 0)
    now_us, refilled_us, before = 0, 0, 0
    rose = 0
    for step in steps:
        now_us += step * period_us // 1000
        seen = meter.available(now_us)
        if seen > before:
            assert now_us > refilled_us + period_us
            refilled_us = now_us
            rose += 1
        meter.charge(seen, now_us)
        before = meter.available(now_us)
    # Tokens are used up at once, so every distance of more than a period makes them rise.
    assert rose >= sum(step > 1000 for step in steps)


@EXAMPLES
@given(rate=st.sampled_from([1, 7, 10, 999]), late_us=st.integers(1, 400_000), turns=st.integers(2, 200))
def test_c_loses_no_token_in_debt(rate, late_us, turns):
    meter = PeriodBucket(rate, S)
    debt = 1_000 * rate
    meter.charge(debt, 0)
    for turn in range(1, turns + 1):
        assert meter.available(turn * (S + late_us)) == 0
    exact = turns * (S + late_us) * rate / S
    assert rate - debt + exact - 1 <= meter.balance() <= rate - debt + exact + turns * rate / S + 1e-9


@EXAMPLES
@given(
    rate=st.sampled_from([1, 10, 500]), other=st.sampled_from([1, 20, 10_000]), used=st.integers(0, 30_000)
)
def test_rate_change_keeps_a_refills_c(rate, other, used):
    for engine, expected in (("A", max(0, other - used)), ("C", other)):
        limiter = LimiterState(engine, Rates())
        limiter.renew(Rates(msg=rate), 0)
        limiter.msg.charge(used, 0)
        limiter.renew(Rates(msg=other), 10)
        assert limiter.msg.available(10) == expected
