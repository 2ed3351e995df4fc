"""A flow, and a window with a change from its beginning on, compared with the simulator that runs message by message."""

import numpy as np
import pytest

from tests.models.throttling.replay.test_rebuild import limit, partitioned, two_subscriptions, window
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.machine import LAB
from throttlescope.models.throttling.replay import Change, Ground, flow, parse_change, replay, rewind
from throttlescope.models.throttling.replay.flow import as_it_was, backlog_behind, error_share
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    future_world,
    selected_dispatchers,
    window_world,
)
from throttlescope.models.throttling.twin import run_twin

BELOW = 100


def hour(**fields):
    """An hour of scrapes 5 s apart: 100 msg/s come, 50 may go, 5,000 entries wait in the beginning."""
    count = 721
    backlog = 5000.0 + 50 * 5 * np.arange(count)
    return window(**({"backlog": backlog, "in_msg": 500.0, "limits": [limit(50)]} | fields))


def per_s(outlook):
    return -outlook.growth_entries_per_s


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        ["processing_ms=1"],
        ["processing_ms=1", "subscription.msg=none"],
        ["processing_ms=1", "subscription.msg=300"],
        ["processing_ms=1", "subscription.msg=3000", "subscription.period_s=10"],
        ["processing_ms=12", "subscription.msg=none"],
        ["processing_ms=1", "subscription.msg=none", "consumers=1"],
        ["processing_ms=1", "load=0.2"],
        ["processing_ms=1", "subscription.msg=400", "batch_msg=10"],
        ["processing_ms=1", "rate_msg=20"],
        ["processing_ms=1", "topic.msg=200", "subscription.msg=none"],
        ["processing_ms=1", "subscription.msg=none", "subscription.bytes=30000"],
    ],
    ids=" ".join,
)
def test_the_flow_drains_as_the_simulator_does(settings):
    ground = Ground(hour(), hour())
    change = parse_change(settings)
    quick = flow(ground, change, "end", horizon_s=7200, drained_below_entries=BELOW).changed
    exact = replay(
        ground.observed, change, ground=ground, horizon_s=7200, drained_below_entries=BELOW
    ).changed
    for one, other in zip(quick.all, exact.all, strict=True):
        assert (one.drain_s is None) == (other.drain_s is None)
        assert one.out_msg_per_s == pytest.approx(other.out_msg_per_s, rel=0.05)
        assert one.held_by == other.held_by
        if other.drain_s is None:
            assert one.backlog_entries[-1] == pytest.approx(other.backlog_entries[-1], rel=0.05)
        else:
            # Within a period the simulator's backlog goes down in steps.
            assert one.drain_s == pytest.approx(other.drain_s, rel=0.06, abs=15)


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [["processing_ms=1"], ["processing_ms=1", "subscription.msg=120"], ["processing_ms=1", "subscription.msg=none"], ["processing_ms=1", "load=0.6"],
     ["processing_ms=30", "subscription.msg=none"], ["processing_ms=1", "batch_msg=5"]],
    ids=" ".join,
)  # fmt: skip
def test_flow_equals_the_simulator(settings):
    came = 500 + 400 * np.sin(np.arange(721) / 40)
    ground = Ground(hour(in_msg=came), hour(in_msg=came))
    change = parse_change(settings)
    quick = flow(ground, change, "start", horizon_s=60, drained_below_entries=BELOW).changed
    exact = rewind(ground, change, drained_below_entries=BELOW).changed
    peak = max(float(one.backlog_entries.max()) for one in exact.all)
    for one, other in zip(quick.all, exact.all, strict=True):
        assert one.every_s == other.every_s
        least = min(len(one.backlog_entries), len(other.backlog_entries))
        # Between the first scrapes a flow falls evenly, a simulated backlog at once.
        apart = np.abs(one.backlog_entries[15:least] - other.backlog_entries[15:least])
        assert apart.max() < 0.05 * peak


@pytest.mark.long
def test_partitions_share_consumers_but_not_limits():
    observed = partitioned((1.0, 3.0))
    ground = Ground(observed, observed)
    for settings in (["processing_ms=0"], ["processing_ms=40", "subscription.msg=none"]):
        change = parse_change(settings)
        quick = flow(ground, change, "end", horizon_s=3600, drained_below_entries=BELOW).changed.fitted
        exact = replay(
            observed, change, ground=ground, horizon_s=3600, drained_below_entries=BELOW
        ).changed.fitted
        assert quick.out_msg_per_s == pytest.approx(exact.out_msg_per_s, rel=0.05)
        assert quick.held_by == exact.held_by


def test_a_neighbour_takes_its_part():
    observed = two_subscriptions(limits=[limit(100, level="topic")], in_msg=500.0)
    ground = Ground(observed, observed)
    change = parse_change(["processing_ms=0"])
    quick = flow(ground, change, "end", horizon_s=3600).changed.fitted
    exact = replay(observed, change, ground=ground, horizon_s=3600).changed.fitted
    assert quick.out_msg_per_s == pytest.approx(exact.out_msg_per_s, rel=0.1)


def test_next_limit_binds_without_the_first():
    ground = Ground(hour(limits=[limit(50), limit(80, level="topic")]), hour())
    change = parse_change(["processing_ms=1"])
    found = flow(ground, change, "end", horizon_s=3600).changed.fitted
    assert found.held_by == "subscription.msg"
    name, msg_per_s = found.next_brake
    assert name == "topic.msg"
    lifted = flow(ground, parse_change(["processing_ms=1", "subscription.msg=none"]), "end", horizon_s=3600)
    assert lifted.changed.fitted.held_by == "topic.msg"
    assert lifted.changed.fitted.out_msg_per_s == pytest.approx(msg_per_s, rel=0.05)


def test_backlog_equals_a_simple_loop():
    random = np.random.default_rng(7)
    for begins in (0.0, 3.0, 100.0):
        net = random.normal(0, 5, 500)
        waits, expected = begins, []
        for step in net:
            waits = max(0.0, waits + step)
            expected.append(waits)
        assert np.allclose(backlog_behind(begins, net), expected)


@pytest.mark.long
def test_unchanged_window_is_compared_with_recording():
    ground = Ground(hour(), hour())
    assert error_share(ground) < 0.05
    assert as_it_was(ground).backlog_entries[-1] == pytest.approx(185_000, rel=0.05)
    off = Ground(hour(backlog=np.full(721, 5000.0)), hour())
    assert error_share(off) > 1


def test_no_change_keeps_the_window():
    ground = Ground(hour(), hour())
    found = rewind(ground, parse_change(["processing_ms=1"]), drained_below_entries=BELOW)
    speed = ground.speed(1.0)
    step = found.changed.fitted.every_s
    assert np.abs(found.changed.fitted.backlog_entries - speed.backlog_entries[step - 1 :: step]).max() <= 1


def test_recent_questions_are_cached_old_dropped():
    ground = Ground(hour(), hour())
    first = flow(ground, Change(), "end", horizon_s=600)
    assert flow(ground, Change(), "end", horizon_s=600).changed.best.drain_s == first.changed.best.drain_s
    for number in range(250):
        ground.cached(("service", f"other {number}"), lambda: 1)
    assert sum(key[0] == "service" for key in ground._cache) == 200


def test_speed_is_of_the_selected_part():
    short = window()
    assert len(Ground(hour(), hour(), fitted_on=short).speed().backlog_entries) == int(short.elapsed_s)


def test_senseless_change_is_refused():
    ground = Ground(window(), window())
    for call in (
        lambda change: flow(ground, change, "end", horizon_s=60),
        lambda change: rewind(ground, change),
    ):
        with pytest.raises(InputError, match="no topic limit with a period"):
            call(parse_change(["topic.period_s=10"]))


@pytest.mark.parametrize("settings", [["batch_msg=4"], ["load=3"], ["rate_msg=90"]], ids=" ".join)
@pytest.mark.parametrize("make", ["window", "future"])
def test_kernel_equals_twin_for_changed_worlds(settings, make):
    observed, change = two_subscriptions(messages_per_entry=2.5), parse_change(settings)
    assumed = Assumed({"billing": 20.0, "audit": 20.0}, 60.0)
    if make == "window":
        world = window_world(observed, assumed, LAB, change)
    else:
        world = future_world(observed, assumed, change, 20, LAB)
    slow, fast = run_twin(world, LAB), run_kernel(world, LAB)
    assert slow["out_messages"][-1].min() > 0
    for name, expected in slow.items():
        assert np.array_equal(expected, fast[name]), name


def test_load_multiplies_and_batching_keeps_messages():
    observed = window(in_msg=np.array([0, 10, 0, 35, 5, 0, 50]))
    idle = Assumed({"billing": 86_400_000.0})

    def published(*settings):
        world = window_world(observed, idle, LAB, parse_change(settings))
        totals = run_kernel(world, LAB)
        mine = selected_dispatchers(world)
        return int(totals["published_entries"][-1, mine].sum()), int(
            totals["backlog_entries"][-1, mine].sum()
        )

    assert published() == (200, pytest.approx(200, abs=1))
    assert published("load=3") == (400, pytest.approx(400, abs=1))
    assert published("batch_msg=10") == (20, pytest.approx(20, abs=1))
