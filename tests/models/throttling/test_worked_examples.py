"""The worked examples of Pulsar's throttling, one line each: deliveries and throttle counters of every poll cycle.

Where Pulsar's page and Pulsar's code expect different things, the line says what each engine gives (A0 up to 2.7.3, A up to 3.1,
B up to 4.0.2, C since). Cycles are 1.001 s long (the back-off timer), so that cycle k lies in second k; every counter that a
line does not name must stay 0 throughout. "Page" in a comment is Pulsar's page on throttling, where it differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from docs.generate.tdmq.figures import seconds as tdmq_seconds
from docs.generate.tdmq.figures import thresholds_msg, used_before
from tests.models.throttling.worlds import NO_FLOW, added, example_world
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.machine import INSTANT, Machine
from throttlescope.models.throttling.publishing import Bucket, Polled
from throttlescope.models.throttling.scenario import Limit
from throttlescope.models.throttling.tdmq import simulate as simulate_tdmq
from throttlescope.models.throttling.tdmq.scenario import shipped

ENGINES = ["twin", "kernel"]
MIB = 1 << 20
PRECISE = {"preciseDispatcherFlowControl": True}
PER_ENTRY = {"dispatchThrottlingOnBatchMessageEnabled": True}
CAUGHT_UP_FREE = {"dispatchThrottlingOnNonBacklogConsumerEnabled": False, "statsUpdateFrequencyInSecs": 1}
BROKER_50 = {"dispatchThrottlingRatePerTopicInMsg": 50}
#: A policy of -1/-1 as an admin may save it; a scenario file refuses it.
MINUS_ONE = Limit.model_construct(
    level="topic", set_at="namespace", topic=None, subscription=None, msg=None, bytes=None, period_s=1
)
NAMESPACE_BYTES = {"level": "topic", "set_at": "namespace", "bytes": 1000}
NAMESPACE_10 = {"level": "subscription", "set_at": "namespace", "msg": 10}
GIVEN_BACK = {
    "sub": 10,
    "published_us": [0] * 10,
    "subscription": {"redelivery": {"nack_share": 1, "nack_delay_ms": 500}},
}
LOTS_OF_5 = {"dispatcherMaxRoundRobinBatchSize": 5}
LATE_CONSUMERS = {
    "sub": {"msg": 10, "period_s": 60},
    "consumers": 5,
    "joins_s": {1: 4.5, 2: 4.501, 3: 4.502, 4: 4.503},
}
PASS_10_MS = Machine(pass_us=10_000)
TOUCH = {0.5: [{"action": "touch_policy", "topic": "t0"}]}
HANG_AT_5S = {5.5: [{"action": "hang", "subscription": "s0", "consumers": 1}]}
ONE_MS_TURN = Machine(read_us=1_000)
#: A read takes a slot of engine B, so that every query is the first of its slot.
SLOT_TURN = Machine(read_us=16_000)
MESSAGE_200_US = Machine(read_entry_us=200)
#: Both subscriptions plan before either read is charged.
SIDE_BY_SIDE = Machine(read_us=1)


def one(name: str, config: dict[str, Any], out: Any, machine: Machine = INSTANT, **events: Any) -> Any:
    return pytest.param(config, machine, out, events, id=name)


# Deliveries per cycle, then the counters that rise, as "level_unit"; a tuple has one list per dispatcher.
# fmt: off
ROWS = [
    one("row-01", dict(sub=10), [10] * 6, sub_msg=[2] * 6),
    one("row-02", dict(sub=100), [100] * 6, sub_msg=[1] * 6),
    one("row-03", dict(sub=1000), [1000] * 6, sub_msg=[1] * 6),
    one("row-04", dict(sub=250), [250] * 6, sub_msg=[2] * 6),
    one("row-05", dict(sub=1), [1] * 6, sub_msg=[2] * 6),
    one("row-06", dict(sub=10, msgs=3), [30, 0, 0, 30, 0, 0], sub_msg=[2, 1, 1, 2, 1, 1]),
    one("row-08", dict(sub=10, msgs=6), [60, 0, 0, 0, 0, 0, 60], sub_msg=[2, 1, 1, 1, 1, 1, 2]),
    # Page: the debt is paid. A0 forgets it (and has no counters in reality).
    one("row-09", dict(sub=10, msgs=6, engine="A0"), [60] * 7, sub_msg=[2] * 7),
    one("row-10", dict(sub=10, msgs=6, settings=PER_ENTRY), [60] * 6, sub_msg=[2] * 6),
    # Page: 2 entries of 12 messages. No engine: only permits are divided by the messages of an entry, never tokens.
    one("row-11", dict(sub=10, msgs=6, settings=PRECISE, queue=1000), [60, 0, 0, 0, 0, 0, 60], sub_msg=[2, 1, 1, 1, 1, 1, 2]),
    # The messages of an entry are known from earlier reads. Cycle 6 is the line: 5 entries, no permits left, no event.
    one("row-12", dict(sub=10, msgs=6, settings=PRECISE, queue=30, at_s=HANG_AT_5S), [30, 0, 0, 30, 0, 0, 30, 0], sub_msg=[2, 1, 1, 1, 1, 1, 0, 0]),
    one("row-13", dict(broker=100, topic=50, sub=20), [20] * 6, broker_msg=[1] * 6, topic_msg=[2] * 6, sub_msg=[2] * 6),
    one("row-14", dict(topic=300, sub=200), [200] * 6, sub_msg=[1] * 6),
    one("row-15", dict(topic=10, partitions=2), ([10] * 6, [10] * 6), topic_msg=([2] * 6, [2] * 6)),
    one("row-16", dict(topic=10, subscriptions=2), ([10] * 6, [0] * 6), topic_msg=([2] * 6, [1] * 6)),
    one("row-17", dict(topic=10, subscriptions=2), ([10, 0] * 3, [10, 0] * 3), SIDE_BY_SIDE, topic_msg=([2, 1] * 3, [2, 1] * 3)),
    one("row-18", dict(topic=10, subscriptions=5, published_us=[1_000] * 100), ([10, 0, 0, 0, 0, 10], *[[10, 0, 0, 0, 0, 0]] * 4), topic_msg=([2, 1, 1, 1, 1, 2], *[[2, 1, 1, 1, 1, 1]] * 4)),
    one("row-19", dict(sub={"bytes": MIB}), [1024] * 4, sub_bytes=[14] * 4),
    one("row-20", dict(sub={"bytes": 10 * MIB}, entry_bytes=10_240), [1024] * 4, sub_bytes=[7] * 4),
    # Page: 10 entries in one read; 4.0.2 and older do not add 64 bytes to an entry's mean.
    one("row-21", dict(sub={"bytes": 10_000}, entry_bytes=1000), [10] * 4, sub_bytes=[3] * 4),
    one("row-21-A", dict(sub={"bytes": 10_000}, entry_bytes=1000, version="3.0.7"), [10] * 4, sub_bytes=[2] * 4),
    one("row-22", dict(sub={"bytes": 10_000}, entry_bytes=5000, estimate_bytes=1000), [9, 0, 0, 0, 4], sub_bytes=[2, 1, 1, 1, 2]),
    one("row-23", dict(sub={"bytes": 512 << 10}, entry_bytes=100 << 10), [6, 5, 5, 5], sub_bytes=[3] * 4),
    one("row-24", dict(sub={"msg": 50, "bytes": 10_240}), [10] * 4, sub_msg=[3] * 4, sub_bytes=[3] * 4),
    one("row-25", dict(sub=10, published_us=[0] * 25 + [5_500_000, 6_500_000]), [10, 10, 5, 0, 0, 1, 1], sub_msg=[2, 2, 2, 0, 0, 1, 1]),
    # The limiter was idle and the consumer comes at 10 s: one period's budget, no more.
    one("row-26", dict(sub=10, joins_s={0: 10}), [0] * 10 + [10, 10], sub_msg=[0] * 10 + [2, 2]),
    # The same with a read that waited for entries: what it brings is paid from the refill that the next query makes.
    one("row-26-armed", dict(sub=10, published_us=[10_000_000] * 100), [0] * 10 + [20, 10], sub_msg=[1] + [0] * 9 + [2, 2]),
    one("row-27", dict(sub={"msg": 10_000, "period_s": 60}), [10_000] + [0] * 59 + [10_000], sub_msg=[1] * 61),
    one("row-27-A", dict(sub={"msg": 10_000, "period_s": 60}, engine="A"), [10_000] + [0] * 59 + [10_000], sub_msg=[1] * 61),
    # 16 turns of 1 ms in the first slot see the same tokens; the 150 of debt are back after 15 s, which the poll at 16 s finds.
    one("row-29", dict(sub=10, engine="B"), [160] + [0] * 15, ONE_MS_TURN, sub_msg=[17] + [1] * 15),
    # Page: the debt stays, as in A. C starts a new, full bucket on any policy change; the late refill at 2 s pays 5 more.
    one("row-30", dict(sub=10, msgs=6, at_s=TOUCH), [60, 60, 0, 0, 0, 0, 30], sub_msg=[2, 2, 1, 1, 1, 1, 2]),
    one("row-30-A", dict(sub=10, msgs=6, at_s=TOUCH, engine="A"), [60, 0, 0, 0, 0, 0, 0, 60], sub_msg=[2, 1, 1, 1, 1, 1, 1, 2]),
    # The first second also has the event of the first plan.
    one("row-32", dict(sub=50, published_us=[500_000 + k * 1_000_000 for k in range(6)]), [1] * 6, sub_msg=[2] + [1] * 5),
    one("row-33", dict(sub={"bytes": MIB}, published_us=[5_000 + k * 10_000 for k in range(400)]), [100] * 4, sub_bytes=[101, 100, 100, 100]),
    one("row-34", dict(sub=1000, queue=1000, processing_ms=10), [1000] + [0] * 3 + [500] + [0] * 4 + [500] + [0] * 4 + [500]),
    # The first queue, then what a FLOW of 500 every 25 s gives: 9 cycles of two events, a last one without.
    one("row-35", dict(sub=50, queue=1000, processing_ms=50), [50] * 20 + [0] * 4 + [50] * 10 + [0] * 15 + [50] * 10, sub_msg=[2] * 19 + [0] * 5 + [2] * 9 + [0] * 16 + [2] * 9 + [0]),
    # A first queue of 10, then 5 for each FLOW, four times a second.
    one("row-36", dict(sub=50, queue=10, processing_ms=50), [30] + [20] * 5),
    # The second consumer's FLOW at 4.5 s is another poll, and another event.
    one("row-37", dict(sub=50, policies={"max_unacked_per_subscription": 100}, subscription={"ack": "none"}, consumers=2, joins_s={1: 4.5}), [50, 50, 0, 0, 0, 0], sub_msg=[2, 2, 1, 0, 1, 0]),
    one("row-38", dict(policies={"max_unacked_per_consumer": 100}, processing_ms=100), [100, 0, 0, 0, 0, 50, 0]),
    # 100 reads of 10, and the plan of the read that waits afterwards; the first delivery comes at 3 s.
    one("row-39", dict(sub=10, published_us=[0] * 1000, deliver_after_s=3), [0, 0, 0, 10, 10], sub_msg=[101, 0, 0, 2, 2]),
    # The cursor falls behind (4990 entries at the stats update) before the second consumer comes: 4.0 limits it, 4.1 and later never.
    one("row-40", dict(sub=10, settings=CAUGHT_UP_FREE, version="4.2.4", consumers=2, joins_s={1: 1.5}, queue=[10, NO_FLOW], processing_ms=1e6, published_us=[0] * 5000), [10, 4990, 0, 0]),
    one("row-40-4.0", dict(sub=10, settings=CAUGHT_UP_FREE, version="4.0.6", consumers=2, joins_s={1: 1.5}, queue=[10, NO_FLOW], processing_ms=1e6, published_us=[0] * 5000), [10, 10, 10, 10], sub_msg=[0, 2, 2, 2]),
    one("row-40-4.0-caught-up", dict(sub=10, settings=CAUGHT_UP_FREE, version="4.0.6", published_us=[1_500_000] * 1000), [0, 1000, 0]),
    # Page: 1000 per cluster.
    one("row-41", dict(broker=1000, topics=3), ([1000] * 4, [1000] * 4, [1000] * 4), broker_msg=([1] * 4, [1] * 4, [1] * 4)),
    # Two events in each period that delivers, one for the poll that the request at 0.5 s causes, one for the last, idle timer.
    one("row-42", dict(GIVEN_BACK, version="4.0.8"), [10, 10, 0, 0], sub_msg=[3, 2, 1, 0]),
    # The same from two clients, five messages each: each has its own request at 0.5 s, and each request its own poll.
    one("row-42-two-clients", dict(GIVEN_BACK, version="4.0.8", consumers=2, settings=LOTS_OF_5), [10, 10, 0, 0], sub_msg=[4, 2, 1, 0]),
    # Newer versions poll twice for a request; all versions do on Exclusive, where the cursor rewinds.
    one("row-42-polls-twice", dict(GIVEN_BACK, version="4.2.4"), [10, 10, 0, 0], sub_msg=[4, 2, 1, 0]),
    one("row-42-two-clients-poll-twice", dict(GIVEN_BACK, version="4.2.4", consumers=2, settings=LOTS_OF_5), [10, 10, 0, 0], sub_msg=[6, 2, 1, 0]),
    one("row-42-second-polls-joined", dict(GIVEN_BACK, version="4.2.4"), [10, 10, 0, 0], Machine(second_pass_share=0), sub_msg=[3, 2, 1, 0]),
    one("row-42-exclusive", dict(GIVEN_BACK, sub=1, published_us=[0], version="4.0.8", kind="Exclusive"), [1, 1, 0, 0], sub_msg=[4, 2, 1, 0]),
    # Four at 0, each done 0.5 s after the one before and given back a second later, one by one: each request unblocks the consumer.
    one("redelivery-unblocks-consumer", dict(policies={"max_unacked_per_consumer": 4}, published_us=[0] * 4, processing_ms=500, subscription={"redelivery": {"nack_share": 1, "nack_delay_ms": 1000}}), [4, 1, 2, 1]),
    # Page: the namespace policy wins and switches the limit off. Code: it counts as unset.
    one("row-45", dict(settings=BROKER_50, limits=[MINUS_ONE]), [50] * 4, topic_msg=[2] * 4),
    one("row-46", dict(topic=10, limits=[NAMESPACE_BYTES]), [10] * 4, topic_msg=[2] * 4),
    one("row-46-namespace-alone", dict(limits=[NAMESPACE_BYTES], msgs=1), [1, 1, 1], topic_bytes=[2, 2, 2]),
    # All entries have one key, whose owner is busy; 2 were sent to it before. The back-off of 1, 2, 4, 8 ms costs 6 polls once.
    one("row-47", dict(sub=50, kind="Key_Shared", keys=1, consumers=2, queue=[1, NO_FLOW], processing_ms=1e6), [2, 0], sub_msg=[106, 100]),
    # Reads of 100, 100, 100 and nothing; from 5.0.0 on a read of 300 where 500 were wanted, and nothing.
    one("read-batch-100", dict(sub=300), [300] * 4, sub_msg=[1] * 4),
    one("read-batch-100-of-5.0.0-M1", dict(sub=300, version="5.0.0-M1"), [300] * 4, sub_msg=[1] * 4),
    one("read-batch-500", dict(sub=300, version="5.0.0"), [300] * 4, sub_msg=[2] * 4),
    # Each segment has limiters of its own with the namespace's rate; the broker's rate is shared.
    one("segments-namespace-limit", dict(limits=[NAMESPACE_10], version="5.0.0", policies={"segments": 2}), ([10] * 4, [10] * 4), sub_msg=([2] * 4, [2] * 4)),
    one("segments-broker-limit", dict(broker=10, version="5.0.0", policies={"segments": 2}), ([10] * 4, [0] * 4), broker_msg=([2] * 4, [1] * 4)),
    # Four consumers come within 3 ms in second 5 while nothing is left: four polls, or the one that runs and one more for all who ask meanwhile.
    one("requests-not-merged", dict(LATE_CONSUMERS, version="4.2.4"), [10, 0, 0, 0, 0, 0], PASS_10_MS, sub_msg=[2, 1, 1, 1, 5, 1]),
    one("requests-merged", dict(LATE_CONSUMERS, version="4.2.5"), [10, 0, 0, 0, 0, 0], PASS_10_MS, sub_msg=[2, 1, 1, 1, 3, 1]),
    one("requests-never-merged-on-single", dict(sub=10, kind="Failover", version="4.2.5"), [10] * 4, PASS_10_MS, sub_msg=[2] * 4),
]
# fmt: on


def counted(run: dict[str, np.ndarray]) -> dict[str, list[list[int]]]:
    """The throttle counters that rose: per dispatcher what every second added."""
    found = {f"{level}_{unit}": run[f"{level}_{unit}_events"].T.tolist() for level, unit in EVENTS}
    return {name: values for name, values in found.items() if np.any(values)}


def check(config: dict[str, Any], machine: Machine, out: Any, events: dict[str, Any], engine: str) -> None:
    per_dispatcher = out if isinstance(out, tuple) else (out,)
    expected = {
        name.replace("sub_", "subscription_"): [*rows] if isinstance(rows, tuple) else [rows]
        for name, rows in events.items()
    }
    run = added(example_world(seconds=len(per_dispatcher[0]), **config), machine, engine)
    assert run["out_messages"].T.tolist() == list(per_dispatcher)
    assert counted(run) == expected


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("config", "machine", "out", "events"), ROWS)
def test_worked_examples_are_reproduced(config, machine, out, events, engine):
    check(config, machine, out, events, engine)


SAME_IN_A = [
    row
    for row in ROWS
    if row.id.startswith("row-")
    and int(row.id[4:6]) in {1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 19, 20, 21, 23, 24, 25}
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("config", "machine", "out", "events"), SAME_IN_A)
def test_engine_a_equals_c_without_debt(config, machine, out, events, engine):
    """Unless debt meets a policy change."""
    check({**config, "engine": "A"}, machine, out, events, engine)


# -- lines that are not a table of cycles ---------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("limiter", ["A", "C"])
def test_row_07_overshoot_leaves_nine(limiter, engine):
    """All entries of a partition hold the same number of messages here, so three partitions share a broker's 10."""
    world = example_world(seconds=3, broker=10, partitions=3, engine=limiter)
    nine, double, later = world.logs
    nine.listed_us = np.zeros(9, np.int64)
    double.listed_us, double.msgs = np.zeros(1, np.int64), 2
    later.listed_us = np.full(100, 500_000, np.int64)
    run = added(world, INSTANT, engine)
    assert run["out_entries"].sum(axis=1)[0] == 10
    assert run["out_messages"].sum(axis=1).tolist() == [11, 9, 10]
    assert run["broker_msg_events"].T.tolist() == [[2, 0, 0], [2, 1, 0], [1, 2, 2]]


@pytest.mark.parametrize("engine", ENGINES)
def test_row_28_engine_b_bursts_once(engine):
    run = added(example_world(seconds=60, sub={"msg": 10_000, "period_s": 60}, engine="B"), SLOT_TURN, engine)
    out = run["out_messages"][:, 0]
    # The burst lasts 1.6 s, in which 267 more tokens come.
    assert 10_000 <= out[:2].sum() <= 10_000 + 2 * 167
    assert set(out[2:].tolist()) <= {165, 166, 167, 168}
    assert out.sum() == pytest.approx(20_000, abs=100)


@pytest.mark.parametrize("engine", ENGINES)
def test_row_29_engine_b_pays_its_debt(engine):
    """For 16 seconds; then it bursts again."""
    out = added(example_world(seconds=18, sub=10, engine="B"), ONE_MS_TURN, engine)["out_messages"][:, 0]
    assert np.flatnonzero(out).tolist() == [0, 16]


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("limiter", "per_s"), [("C", 833), ("A", 863)])
def test_row_31_the_back_off_costs_throughput(limiter, per_s, engine):
    """Page: 1000 per second."""
    world = example_world(seconds=60, sub=1000, engine=limiter, published_us=np.zeros(60_000, np.int64))
    out = added(world, MESSAGE_200_US, engine)["out_messages"]
    assert out.sum() / 60 == pytest.approx(per_s, rel=0.005)


@pytest.mark.parametrize("engine", ENGINES)
def test_row_31_one_event_per_cycle(engine):
    """A cycle takes 1.2 seconds."""
    world = example_world(seconds=60, sub=1000, published_us=np.zeros(60_000, np.int64))
    run = added(world, MESSAGE_200_US, engine)
    assert run["subscription_msg_events"].sum() / 60 == pytest.approx(0.83, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_row_43_partial_batch_costs_all_tokens(engine):
    """With nine of ten messages acknowledged it costs ten tokens and one permit."""
    world = example_world(
        seconds=2,
        sub={"msg": 100, "period_s": 60},
        msgs=10,
        published_us=[0],
        subscription={
            "batch_index_ack": True,
            "redelivery": {"nack_share": 1, "nack_delay_ms": 1500},
        },
    )
    run = added(world, INSTANT, engine)
    assert run["subscription_msg_tokens"][:, 0].tolist() == [90, 80]
    assert run["permits"][:, 0].tolist() == [NO_FLOW - 10, NO_FLOW - 11]


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_row_44_relative_limit_follows_publish_rate(engine):
    """1000 per second are published until 240 s; averages are renewed every 60 s, the consumer comes at 180 s."""
    world = example_world(
        seconds=480,
        topic={"msg": 100, "relative_to_publish": True},
        published_us=np.arange(240_000) * 1_000,
        joins_s={0: 180},
    )
    run = added(world, INSTANT, engine)
    expected = [0] * 180 + [1100] * 120 + [600] * 60 + [350] * 60 + [225] * 60
    assert run["out_messages"][:, 0].tolist() == expected


def test_row_48_five_nodes_pass_2000():
    """Their thresholds are 400."""
    tables = simulate_tdmq(shipped("five-nodes"))
    assert used_before(tables, 300) == [150] * 5
    assert thresholds_msg(tables, "production", 0) == {400}
    assert tdmq_seconds(tables, "production")[0].processed == 2000


def test_row_49_message_above_quota_waits():
    requests = simulate_tdmq(shipped("101st-message")).requests.to_pylist()
    assert [row["wait_us"] for row in requests] == [0] * 100 + [600_000]


def test_row_50_publish_limit_pauses_reading():
    """TDMQ's text: reading goes on at the next window of 1 s."""
    gate = Bucket(100)
    gate.take(0, 250)
    assert gate.open_us(0) == 1_510_000


def test_paused_producers_go_on_together():
    gate = Bucket(100)
    gate.take(0, 150, who=0)
    gate.take(0, 1, who=1)
    # The timer was set before the second entry, and a token more is there only after the next step.
    assert [gate.open_us(at_us) for at_us in (0, 510_000, 520_000)] == [510_000, 520_000, 530_000]
    assert [gate.open_us(530_000, who) for who in (0, 1)] == [530_000, 530_000]


@pytest.mark.parametrize(("tick_ms", "accepted"), [(10, 110), (50, 150)])
def test_row_51_polled_limit_accepts_until_check(tick_ms, accepted):
    gate = Polled(100, tick_us=tick_ms * 1000)
    passed = [0] * 4
    waiting_us = 0
    for due_us in range(0, 4_000_000, 1_000):
        at_us = gate.open_us(max(due_us, waiting_us))
        if at_us == due_us:
            gate.take(at_us, 1)
            passed[at_us // 1_000_000] += 1
    assert passed == [accepted] * 4
