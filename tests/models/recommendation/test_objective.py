"""What keeps an age: the fluid compared with parcels, service compared with the twin, and values that are enough while less is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.examples import seeds
from tests.models.episodes.scenes import minutes as rows_of
from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    key,
    scenario,
    simulated_lake,
    subscription_limit,
)
from tests.naive.fluid_age import backlogs_and_ages
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.recommendation.slo import ArrivalMinutes, keep_age
from throttlescope.models.recommendation.slo.age import backlog_msg, oldest_age_s
from throttlescope.models.recommendation.slo.arrivals import minutes_of
from throttlescope.models.recommendation.slo.check import check
from throttlescope.models.recommendation.slo.recommendations import not_enough, recommendations
from throttlescope.models.recommendation.slo.result import Sweep, smallest
from throttlescope.models.recommendation.slo.service import service_msg_per_s
from throttlescope.models.throttling.replay import Change, Ground, parse_change, read_observed

KEY = SubscriptionKey(**key())
WINDOW_S = 600
SLOW = {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 2, "processing_ms": 10}
PUBLISH_300 = [{"topic": "orders", "rate_msg": 300, "size_bytes": 1024}]


def minutes(msg_per_s, known=None):
    """Minutes of a made day; all known unless it is said."""
    arrived = 60.0 * np.asarray(msg_per_s, float)
    known = np.ones(len(arrived), bool) if known is None else np.asarray(known)
    unknown = np.full(len(arrived), np.nan)
    return ArrivalMinutes(START_MS, START_MS + len(arrived) * MINUTE_MS, arrived, known, unknown, unknown)


#: Six hours of 300 msg/s and one of 600 in the middle.
BUSY_HOUR = [300] * 180 + [600] * 60 + [300] * 180


def ground(tmp_path, engine="kernel", **fields):
    lake = simulated_lake(tmp_path / "lake", scenario(**{"duration_s": WINDOW_S} | fields), WINDOW_S)
    window = read_observed(lake, SELECTOR, START_MS, START_MS + 1000 * WINDOW_S + 1)
    return Ground(window, window, engine=engine)


# -- the fluid --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_fluid_is_a_row_of_parcels(seed):
    rng = np.random.default_rng(seed)
    arrived = rng.poisson(50, 60) * rng.choice([0.0, 1.0, 3.0], 60)
    served = float(rng.choice([30.0, 60.0, 75.0]))
    waits = backlog_msg(arrived, served)
    ages = oldest_age_s(arrived, waits, 60.0)
    backlogs, naive = backlogs_and_ages(arrived, served, 60.0)
    assert waits == pytest.approx(backlogs, abs=1e-6)
    # A parcel is a two-hundredth of a step's arrivals, and has a moment; the fluid has none.
    assert ages == pytest.approx(naive, abs=60 / 200 + 1e-6)


def test_no_service_and_no_end_of_it():
    arrived = np.full(10, 60.0)
    assert oldest_age_s(arrived, backlog_msg(arrived, 0.0), 60.0).tolist() == [60.0 * n for n in range(1, 11)]
    assert not oldest_age_s(arrived, backlog_msg(arrived, np.inf), 60.0).any()


@pytest.mark.parametrize("seed", seeds(range(20)))
def test_search_equals_trying_all(seed):
    rng = np.random.default_rng(seed)
    least, now, most = (int(one) for one in rng.integers(1, 300, 3))
    wanted = next((value for value in range(1, most + 1) if value >= least), None)
    assert smallest(lambda value: value >= least, now, most, lambda low: 1) == wanted


# -- minutes ----------------------------------------------------------------------------------


def test_missing_minutes_are_filled_not_counted():
    rows = rows_of([100.0, None, 300.0], key=KEY, start_ms=START_MS, in_msg_delta={0: 60.0, 2: 180.0})
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    found = minutes_of(table, START_MS, START_MS + 4 * MINUTE_MS)
    assert found.known.tolist() == [True, False, True, False]
    assert found.arrived_msg.tolist() == [60.0, 120.0, 180.0, 120.0]
    assert np.isnan(found.backlog_msg).tolist() == [False, True, False, True]
    assert found.quantile_s(np.array([1.0, 99.0, 3.0, 99.0])) == 3.0


def test_unknown_partition_makes_minute_unknown():
    """Partitions are summed."""
    both = [
        row
        for number in (0, 1)
        for row in rows_of(
            [100.0, 100.0], key=KEY._replace(partition=number), start_ms=START_MS,
            in_msg_delta={0: 60.0} if number else {0: 30.0, 1: 30.0},
        )
    ]  # fmt: skip
    table = pa.Table.from_pylist(both, schema=TABLES["signals"].loose_schema)
    found = minutes_of(table, START_MS, START_MS + 2 * MINUTE_MS)
    assert found.known.tolist() == [True, False]
    assert (found.arrived_msg[0], found.backlog_msg[0]) == (90.0, 200.0)


def test_recorded_age_is_of_latest_arrivals():
    found = minutes([1, 1, 1, 1])
    minutes_of_arrivals = ArrivalMinutes(
        found.start_ms,
        found.end_ms,
        found.arrived_msg,
        found.known,
        np.array([0.0, 30.0, 90.0, np.nan]),
        found.measured_age_s,
    )
    assert minutes_of_arrivals.recorded_age_s[:3].tolist() == [0.0, 30.0, 90.0]
    assert np.isnan(minutes_of_arrivals.recorded_age_s[3])


def test_share_of_minutes_that_kept_the_objective():
    made = minutes([1] * 1000)
    ages = np.r_[np.full(995, 10.0), np.full(5, 400.0)]
    assert made.quantile_s(ages) == 10.0
    assert replace(made, share=0.999).quantile_s(ages) == 400.0
    assert made.kept_share(ages, 300.0) == 0.995
    assert made.kept_share(np.full(1000, np.nan), 300.0) is None


def test_own_age_precedes_the_topics():
    rows = rows_of(
        [100.0] * 4, key=KEY, start_ms=START_MS, backlog_age_s=900.0,
        subscription_backlog_age_s={0: 5.0, 3: -1.0}, stats_backlog_age_s={0: 6.0, 1: 7.0},
    )  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=TABLES["signals"].loose_schema)
    found = minutes_of(table, START_MS, START_MS + 4 * MINUTE_MS)
    assert found.measured_age_s.tolist() == [5.0, 7.0, 900.0, 900.0]


# -- service ----------------------------------------------------------------------------------


@pytest.mark.study
@pytest.mark.long
def test_service_equals_twin_below_limit(tmp_path):
    fast, slow = (ground(tmp_path / one, one) for one in ("kernel", "twin"))
    for words in ([], ["subscription.msg=800"], ["subscription.msg=5000", "subscription.period_s=10"]):
        change = parse_change(words)
        assert service_msg_per_s(fast, change) == service_msg_per_s(slow, change)
    # The pause after a period's tokens costs up to a fifth; in a period of ten seconds a tenth of that.
    assert 0.8 * 500 <= service_msg_per_s(fast, Change()) <= 500
    assert (
        0.97 * 500
        <= service_msg_per_s(fast, parse_change(["subscription.msg=5000", "subscription.period_s=10"]))
        <= 505
    )


@pytest.mark.long
def test_fluid_is_near_throttled_replay(tmp_path):
    found = check(ground(tmp_path))
    assert found.fluid_error_share < 0.05
    assert found.replay_error_share < 0.05
    assert found.peak_msg > 50_000


# -- what is enough ---------------------------------------------------------------------------


@pytest.mark.long
def test_found_limit_is_smallest_for_age(tmp_path):
    here, busy = ground(tmp_path), minutes(BUSY_HOUR)
    kept = keep_age(here, busy, 300.0)
    assert kept.as_is_p99_s > 300
    limit = next(one for one in kept.keeps if one.lever == "limit")
    sweep = Sweep(here, busy, 300.0)
    assert limit.p99_age_s == sweep.p99_s(limit.change) <= 300
    assert sweep.p99_s(parse_change([f"subscription.msg={round(limit.value * 0.93)}"])) > 300
    assert limit.value > 500
    (said, *_) = recommendations(kept, here)
    assert (said.lever, said.limiter, said.now) == ("limit", "subscription.msg", 500)
    assert said.actions[0].key == "advice.limit.raise"
    assert f"-md {limit.value} -bd -1 -dt 1" in said.apply
    assert "-md 500 -bd -1 -dt 1" in said.roll_back
    assert said.risks
    assert said.checks[0].query.startswith("quantile_over_time(0.99")
    # It was not seen what the consumers can do.
    assert "advice.slo.capacity_unknown" in [note.key for note in kept.notes]


@pytest.mark.long
def test_larger_limit_than_needed_is_reported(tmp_path):
    here = ground(tmp_path, limits=[subscription_limit(5000)])
    kept = keep_age(here, minutes(BUSY_HOUR), 300.0)
    (limit,) = kept.keeps
    assert (limit.lever, limit.now) == ("limit", 5000)
    assert 500 < limit.value < 1000
    (said,) = recommendations(kept, here)
    assert said.actions[0].key == "advice.limit.lower"
    assert "advice.risk.slower_drain" in [risk.key for risk in said.risks]


@pytest.mark.long
def test_too_few_consumers_need_more_than_limit(tmp_path):
    here = ground(tmp_path, limits=[subscription_limit(5000)], subscriptions=[SLOW], producers=PUBLISH_300)
    kept = keep_age(here, minutes(BUSY_HOUR), 300.0)
    (few,) = kept.keeps
    # Each does 100 msg/s; an hour of 600 may wait five minutes.
    assert (few.lever, few.now, few.value) == ("consumers", 2, 6)
    assert [name for name, *_ in kept.not_enough] == ["subscription.msg"]
    (limit,) = not_enough(kept)
    assert (limit.key, limit.values["factor"]) == ("advice.not_enough.limit", "consumers")


@pytest.mark.long
def test_both_are_named_if_needed(tmp_path):
    # The consumers' capacity is seen before the limit came: 200 msg/s; then a limit of 150 in front of them.
    from tests.models.diagnosis.test_counterfactual import observed

    window, history = observed(
        tmp_path, seconds=1200, since=700, duration_s=600, then_s=600,
        limits=[subscription_limit(5000)], later_limit=(START_MS + 600_000, 140),
        subscriptions=[SLOW | {"processing_ms": 13.3}], producers=[{"topic": "orders", "rate_msg": 200, "size_bytes": 1024}],
        interventions=[{"action": "set_limit", **subscription_limit(140)}],
    )  # fmt: skip
    here = Ground(window, history)
    kept = keep_age(here, minutes(BUSY_HOUR), 300.0)
    (both,) = kept.keeps
    assert both.lever == "together"
    assert both.change.consumers >= 7
    assert both.value > 500
    assert {name for name, *_ in kept.not_enough} == {"subscription.msg", "consumers"}
    assert recommendations(kept, here)[0].actions[0].key == "advice.together"
