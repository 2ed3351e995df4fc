"""Whatever a scenario holds: nothing is lost or made, no limiter gives more than it may, and chance repeats itself.

Scenarios are small and drawn at random; hypothesis prints the one that breaks a law.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.models.throttling.worlds import added, example_world, limit
from throttlescope.models.throttling.columns import COUNTS, EVENTS, NO_METER
from throttlescope.models.throttling.compile import compile_scenario
from throttlescope.models.throttling.machine import INSTANT, LAB, Machine
from throttlescope.models.throttling.scenario import Scenario
from throttlescope.models.throttling.simulate import run, simulate
from throttlescope.models.throttling.world import Step, World

pytestmark = pytest.mark.long

ENGINES = ["twin", "kernel"]
MACHINES = [INSTANT, LAB, Machine(read_us=10_000, send_us=15_000, notify_us=2_000, flow_us=30_000)]
VERSIONS = ["4.2.4", "4.0.6", "4.0.1", "3.3.2", "3.0.7", "2.7.1"]
KINDS = ["Shared", "Shared", "Key_Shared", "Key_Shared", "Exclusive", "Failover"]
#: Long enough for everything that waits (delays, acknowledgement time-outs, reconnections) to come to its end.
CALM_S = 90.0

level_places = [
    ("broker", "broker"),
    ("topic", "topic"),
    ("topic", "namespace"),
    ("subscription", "subscription"),
    ("subscription", "namespace"),
]


def repeatable(count: int) -> settings:
    return examples(count, derandomize=True)


@st.composite
def limits(draw, most=3):
    found = []
    for level, set_at in draw(st.lists(st.sampled_from(level_places), unique=True, max_size=most)):
        found.append(
            {
                "level": level,
                "set_at": set_at,
                "topic": "t" if set_at in ("topic", "subscription") else None,
                "subscription": "s0" if set_at == "subscription" else None,
                **draw(rates(level == "broker")),
            }
        )
    return found


@st.composite
def rates(draw, of_broker=False):
    unit = draw(st.sampled_from(["msg", "bytes", "both"]))
    found = {}
    if unit != "bytes":
        found["msg"] = draw(st.sampled_from([1, 4, 10, 35, 150]))
    if unit != "msg":
        found["bytes"] = draw(st.sampled_from([1, 900, 5_000, 40_000]))
    if not of_broker:
        found["period_s"] = draw(st.sampled_from([1, 1, 2, 5]))
        found["relative_to_publish"] = draw(st.booleans())
    return found


@st.composite
def interventions(draw, subscriptions, calm_limits, may_seek):
    name = draw(st.sampled_from([item["name"] for item in subscriptions]))
    kind = draw(
        st.sampled_from(["consumers", "speed", "hang", "limit", "lift", "touch", "unload", "rate"])
        if not may_seek
        else st.just("seek")
    )
    if kind == "consumers":
        return {"action": "set_consumers", "subscription": name, "consumers": draw(st.integers(0, 3))}
    if kind == "speed":
        ms = draw(st.sampled_from([0, 3, 80]))
        return {"action": "set_consumers", "subscription": name, "processing_ms": ms}
    if kind == "hang":
        return {"action": "hang", "subscription": name, "consumers": draw(st.integers(0, 3))}
    if kind in ("limit", "lift") and calm_limits:
        item = draw(st.sampled_from(calm_limits))
        place = {key: item[key] for key in ("level", "set_at", "topic", "subscription")}
        if kind == "lift":
            return {"action": "lift_limit", **place}
        return {"action": "set_limit", **place, **draw(rates(item["level"] == "broker"))}
    if kind == "touch":
        return {"action": "touch_policy", "topic": "t"}
    if kind == "rate":
        return {"action": "set_rate", "topic": "t", "rate_msg": draw(st.sampled_from([0, 7, 60]))}
    if kind == "seek":
        back = draw(st.sampled_from([0.5, 3.0]))
        to = draw(st.sampled_from(["earliest", "latest", "seconds_back"]))
        found = {"action": "seek", "subscription": name, "to": to}
        return {**found, "seconds_back": back} if to == "seconds_back" else found
    return {"action": "unload", "topic": "t"}


@st.composite
def subscriptions_drawn(draw, *, gives_back=True):
    found = []
    for number in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(KINDS))
        item = {
            "name": f"s{number}",
            "topic": "t",
            "type": kind,
            "consumers": draw(st.integers(0, 3)) if kind != "Exclusive" else draw(st.integers(0, 1)),
            "processing_ms": draw(st.sampled_from([0, 1, 20, 150])),
            "receiver_queue": draw(st.sampled_from([0, 1, 2, 7, 50, 1000])),
            "batch_index_ack": draw(st.booleans()),
        }
        if gives_back and draw(st.booleans()):
            single = kind in ("Exclusive", "Failover")
            # A cursor that rewinds lets one entry pass per time-out, so few of them may need it.
            item["redelivery"] = {
                "nack_share": draw(st.sampled_from([0.01, 0.03] if single else [0.1, 1.0])),
                "nack_times": draw(st.sampled_from([1] if single else [2, 3])),
                "nack_delay_ms": draw(st.sampled_from([0, 50, 300])),
                "max_redeliver": draw(st.sampled_from([None, 1, 1])),
            }
        found.append(item)
    return found


@st.composite
def scenarios(draw, *, persistent=True, may_seek=False, limited=True, changes=True, gives_back=True):
    """A scenario whose last state is calm: nothing is published, nothing limited, consumers are there and fast."""
    mine = draw(limits()) if limited else []
    subscriptions = draw(subscriptions_drawn(gives_back=gives_back))
    if not persistent:
        mine = [item for item in mine if item["level"] == "broker"]
    batching = draw(st.sampled_from([None, None, {"max_messages": 5, "max_delay_ms": 100}]))
    delayed = None if batching else draw(st.sampled_from([None, None, 300, 2500]))
    producer = {
        "topic": "t",
        "rate_msg": draw(st.sampled_from([0.7, 9, 40, 60])),
        "batching": batching,
        "deliver_after_ms": delayed,
        "shape": draw(st.sampled_from(["constant", "poisson"])),
        "keys": draw(st.sampled_from([None, 1, 5])),
        "routing": draw(st.sampled_from(["round_robin", "single"])),
    }
    if draw(st.booleans()):
        producer["size_bytes"] = draw(st.sampled_from([0, 100, 1000]))
    else:
        producer["sizes"] = [{"size_bytes": 10, "share": 3}, {"size_bytes": 4000, "share": 1}]
    states = [{"name": "first", "duration_s": draw(st.sampled_from([2.0, 3.5]))}]
    for number in range(draw(st.integers(0, 3)) if changes else 0):
        step = draw(interventions(subscriptions, mine, may_seek))
        length = draw(st.sampled_from([0.05, 0.4, 1.5, 4.0]))
        states.append({"name": f"state-{number}", "duration_s": length, "interventions": [step]})
    calm = [
        *({"action": "hang", "subscription": item["name"], "consumers": 0} for item in subscriptions),
        *(
            {
                "action": "set_consumers",
                "subscription": item["name"],
                "consumers": 1 if item["type"] == "Exclusive" else 3,
                "processing_ms": 0,
            }
            for item in subscriptions
        ),
        *(
            {"action": "lift_limit", **{k: item[k] for k in ("level", "set_at", "topic", "subscription")}}
            for item in mine
        ),
        {"action": "set_rate", "topic": "t", "rate_msg": 0},
    ]
    states.append({"name": "calm", "duration_s": CALM_S, "interventions": calm})
    unacked = st.sampled_from([None, None, 30])
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "drawn",
            "broker": {
                "version": draw(st.sampled_from(VERSIONS)),
                "engine": draw(st.sampled_from([None, "A0", "A", "B", "C"])),
                "settings": {
                    "dispatcherMaxReadBatchSize": draw(st.sampled_from([1, 3, 100])),
                    "dispatcherMaxRoundRobinBatchSize": draw(st.sampled_from([1, 20])),
                    "preciseDispatcherFlowControl": draw(st.booleans()),
                    "dispatchThrottlingOnBatchMessageEnabled": draw(st.booleans()),
                    "dispatchThrottlingOnNonBacklogConsumerEnabled": draw(st.booleans()),
                    "statsUpdateFrequencyInSecs": draw(st.sampled_from([1, 60])),
                    "managedLedgerCursorBackloggedThreshold": draw(st.sampled_from([-1, 5, 1000])),
                },
            },
            "topics": [
                {
                    "name": "t",
                    "partitions": draw(st.sampled_from([0, 0, 1, 2])),
                    "persistent": persistent,
                    "ttl_s": draw(st.sampled_from([None, None, 1, 3])),
                    "max_unacked_per_consumer": draw(unacked),
                    "max_unacked_per_subscription": draw(unacked),
                }
            ],
            "limits": mine,
            "subscriptions": subscriptions,
            "producers": [producer],
            "timeline": states,
        }
    )


MACHINE = st.sampled_from(MACHINES)
SEED = st.integers(0, 3)


def laid_out(scenario: Scenario, machine: Machine, seed: int) -> World:
    world = compile_scenario(scenario, machine, seed)
    # A scenario's shortest distance is a minute.
    world.rules.expiry_us = 1_700_000
    return world


# -- nothing is lost or made ---------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(120)
@given(scenario=scenarios(), machine=MACHINE, seed=SEED)
def test_published_entries_are_conserved(engine, scenario, machine, seed):
    """Each is acknowledged, expired, dead or in the backlog."""
    totals = run(laid_out(scenario, machine, seed), machine, 1, engine)
    ended = totals["acked_entries"] + totals["expired_entries"] + totals["dead_letter_entries"]
    assert (totals["published_entries"] == ended + totals["backlog_entries"]).all()
    for name in ("backlog_entries", "unacked_messages", "replay_entries", "delayed_entries"):
        assert (totals[name] >= 0).all(), name
    for name in COUNTS:
        assert (np.diff(totals[name], axis=0) >= 0).all(), name
    assert (totals["dropped_entries"] == 0).all()
    # In the end everything was delivered that did not expire: nothing is lost on the way, nothing counted twice.
    assert totals["backlog_entries"][-1].tolist() == [0] * len(totals["backlog_entries"][-1])
    assert totals["unacked_messages"][-1].tolist() == [0] * len(totals["unacked_messages"][-1])


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(40)
@given(scenario=scenarios(may_seek=True), machine=MACHINE, seed=SEED)
def test_seek_neither_loses_nor_creates_entries(engine, scenario, machine, seed):
    """What was acknowledged before a seek may be acknowledged again, so only the backlog tells."""
    totals = run(laid_out(scenario, machine, seed), machine, 1, engine)
    assert (totals["backlog_entries"] >= 0).all()
    assert (totals["backlog_entries"] <= totals["published_entries"]).all()
    assert (totals["backlog_entries"][-1] == 0).all()
    assert (totals["unacked_messages"][-1] == 0).all()


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(40)
@given(scenario=scenarios(persistent=False), machine=MACHINE, seed=SEED)
def test_non_persistent_entry_is_sent_once(engine, scenario, machine, seed):
    """Or dropped."""
    totals = run(laid_out(scenario, machine, seed), machine, 1, engine)
    passed = totals["out_entries"] + totals["dropped_entries"]
    assert (totals["published_entries"] == passed + totals["backlog_entries"]).all()
    # An entry waits no longer than it takes to be noticed.
    assert (totals["backlog_entries"][-1] == 0).all()
    for level, unit in EVENTS:
        assert (totals[f"{level}_{unit}_events"] == 0).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["Shared", "Key_Shared"])
def test_delayed_entries_survive_a_time_without_consumers(kind, engine):
    world = example_world(
        seconds=6,
        kind=kind,
        published_us=[0] * 20,
        deliver_after_s=3,
        at_s={1.0: [consumers(0)], 2.0: [consumers(1)]},
    )
    run_of = added(world, INSTANT, engine)
    assert run_of["delayed_entries"][0] == 20
    assert run_of["acked_entries"][:, 0].tolist() == [0, 0, 20, 0, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_entries_of_former_active_are_redelivered(engine):
    """The second partition's active consumer changes at 1 s; then the first one leaves and nothing new is published."""
    world = example_world(
        seconds=30, kind="Failover", partitions=2, published_us=[0] * 20, consumers=2, processing_ms=500
    )
    world.workers[1].joined = False
    world.steps = [Step(1_000_000, "join", 1), Step(2_000_000, "leave", 0)]
    run_of = added(world, INSTANT, engine)
    assert run_of["backlog_entries"][-1].tolist() == [0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_early_negative_ack_is_still_charged(engine):
    """Before the write is complete."""
    world = example_world(
        seconds=2,
        kind="Exclusive",
        published_us=[0] * 10,
        sub={"msg": 1000, "period_s": 60},
        subscription={"redelivery": {"nack_share": 1, "nack_delay_ms": 0}},
    )
    totals = run(world, Machine(send_us=20_000), 1, engine)
    assert totals["out_messages"][-1, 0] > 10
    assert totals["subscription_msg_tokens"][-1, 0] == 1000 - totals["out_messages"][-1, 0]


def consumers(count: int) -> dict[str, Any]:
    return {"action": "set_consumers", "subscription": "s0", "consumers": count}


# -- limits hold -----------------------------------------------------------------------------------------


def most_per_limiter(world: World, totals: dict[str, np.ndarray], number: int, unit: str) -> float:
    """By how much the worst span of samples exceeds two capacities, the rate and one overshoot of each reader.

    A reader (a dispatcher) plans with the tokens that it sees and is charged later; a normal read and a replay read of each may
    be on their way at once. A read of n tokens is n entries, whose messages are known only afterwards.
    """
    limiter = world.limiters[number]
    rate = limiter.rates.msg if unit == "msg" else limiter.rates.bytes
    mine = [index for index, item in enumerate(world.dispatchers) if number in item.limiters]
    overshoot = 0
    for index in mine:
        log = world.logs[world.dispatchers[index].log]
        largest = max(size for size, _ in log.sizes)
        mean = log.estimate_bytes + world.rules.estimate_extra_bytes
        if unit == "msg":
            entries, each = min(rate, world.rules.read_batch), log.msgs
        else:
            entries, each = min(max(1, rate // max(1, mean)), world.rules.read_batch), largest
        overshoot += 2 * entries * each
    sent = totals["out_messages" if unit == "msg" else "out_bytes"][:, mine].sum(axis=1)
    sent = np.concatenate([[0], sent])
    seconds = np.arange(len(sent))
    # The largest of sent[j] - sent[i] - rate * (j - i) over i < j.
    height = sent - seconds * rate * 1e6 / limiter.rates.period_us
    over = (height - np.minimum.accumulate(height)).max()
    return over - 2 * rate - overshoot


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(50)
@given(scenario=scenarios(changes=False), machine=MACHINE, seed=SEED, limiter=st.sampled_from(["A", "C"]))
def test_limiter_output_is_bounded(engine, scenario, machine, seed, limiter):
    """For the engines that keep their debt; A0 forgets it, and B, which shows a slot's tokens to every read of the slot, does
    not keep to it either. Single-active dispatchers are charged after the write: the same holds when the write takes no time.
    """
    world = limited_world(scenario, machine, seed, limiter)
    totals = run(world, machine, 1, engine)
    checked = 0
    for number, limiter in enumerate(world.limiters):
        for unit, rate in (("msg", limiter.rates.msg), ("bytes", limiter.rates.bytes)):
            if rate and not limiter.rates.relative:
                assert most_per_limiter(world, totals, number, unit) <= 0, (limiter, unit)
                checked += 1
    assume(checked)


def limited_world(scenario: Scenario, machine: Machine, seed: int, limiter: str) -> World:
    world = laid_out(scenario, machine, seed)
    # The limits stay until the end, and hold for everybody; a backlog waits for them.
    world.steps = [step for step in world.steps if step.kind != "rates"]
    world.rules.engine = limiter
    world.rules.limits_caught_up, world.rules.per_entry = True, False
    for log in world.logs:
        later = [log.time_us(entry) for entry in range(log.published(log.end_us))]
        log.listed_us, log.segments = np.array([0] * 300 + later, np.int64), []
    assume(machine.send_us == 0 or all(item.kind != "single" for item in world.dispatchers))
    return world


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(50)
@given(scenario=scenarios(limited=False), machine=MACHINE, seed=SEED)
def test_no_event_is_counted_without_a_limiter(engine, scenario, machine, seed):
    totals = run(laid_out(scenario, machine, seed), machine, 1, engine)
    for level, unit in EVENTS:
        assert (totals[f"{level}_{unit}_events"] == 0).all()
        assert (totals[f"{level}_{unit}_tokens"] == NO_METER).all()


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(50)
@given(scenario=scenarios(), machine=MACHINE, seed=SEED)
def test_counters_and_balances_are_bounded_per_poll(engine, scenario, machine, seed):
    """A counter rises at most once per poll; no balance is above its capacity."""
    world = laid_out(scenario, machine, seed)
    totals = run(world, machine, 1, engine)
    for level, unit in EVENTS:
        assert (totals[f"{level}_{unit}_events"] <= totals["polls"]).all()
        for index, item in enumerate(world.dispatchers):
            number = item.limiters[("broker", "topic", "subscription").index(level)]
            mine = [
                world.limiters[number].rates,
                *(s.rates for s in world.steps if s.kind == "rates" and s.number == number),
            ]
            if not any(rates.relative for rates in mine):
                most = max(rates.msg if unit == "msg" else rates.bytes for rates in mine)
                assert (totals[f"{level}_{unit}_tokens"][:, index] <= most).all()


# -- a looser limit ----------------------------------------------------------------------------------------


LIMIT = st.integers(1, 250)
MORE = st.sampled_from([1, 2, 9, 50, 300])


def backlogs(
    runner: str, machine: Machine, limits: tuple[int, int], unit: str, **config: Any
) -> list[np.ndarray]:
    """Messages in the backlog at every second, under a tight and under a looser limit."""
    size = 1024 if unit == "bytes" else 1
    worlds = [example_world(sub={unit: value * size}, **config) for value in limits]
    return [run(world, machine, 1, runner)["backlog_entries"][:, 0] * world.logs[0].msgs for world in worlds]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("limiter", ["A", "C"])
@repeatable(25)
@given(tight=LIMIT, more=MORE, unit=st.sampled_from(["msg", "bytes"]), seconds=st.integers(2, 12))
def test_looser_limit_never_raises_backlog(engine, limiter, tight, more, unit, seconds):
    """A law where nothing moves the cycles: single messages, a machine that takes no time, one subscription."""
    first, second = backlogs(
        engine,
        INSTANT,
        (tight, tight + more),
        unit,
        seconds=seconds,
        engine=limiter,
        published_us=[0] * 6_000,
    )
    assert (second <= first).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("limiter", ["A", "C"])
@repeatable(40)
@given(
    tight=LIMIT,
    more=MORE,
    unit=st.sampled_from(["msg", "bytes"]),
    msgs=st.sampled_from([1, 3]),
    published_us=st.lists(st.integers(0, 8_000_000), min_size=1, max_size=200).map(sorted),
    at_once=st.integers(0, 800),
    machine=MACHINE,
    client=st.sampled_from([(10**9, 0), (20, 0), (50, 7)]),
)
def test_looser_limit_raises_backlog_within_bound(
    engine, limiter, tight, more, unit, msgs, published_us, at_once, machine, client
):
    """Cycles of two limits drift apart, and one may just have got what the other gets next."""
    queue, processing_ms = client
    first, second = backlogs(
        engine,
        machine,
        (tight, tight + more),
        unit,
        seconds=8,
        engine=limiter,
        msgs=msgs,
        published_us=[0] * at_once + published_us,
        queue=queue,
        processing_ms=processing_ms,
    )
    loose = tight + more
    assert (second <= first + loose + min(loose, 100) * msgs).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_looser_limit_can_lag_for_a_while(engine):
    """101 is a read of 100 and a read of 1, so its cycle takes a read longer; after a minute it is nearly a cycle late."""
    machine = Machine(read_us=3_000, read_entry_us=100, notify_us=500, flow_us=500, timer_late_us=2_000)
    tight, loose = backlogs(engine, machine, (100, 101), "msg", seconds=70)
    assert loose[55] - tight[55] == 45
    assert (loose[:55] <= tight[:55]).all()
    assert loose[-1] < tight[-1]


@pytest.mark.parametrize("engine", ENGINES)
def test_looser_limit_raises_neighbour_backlog(engine):
    ends = []
    for own in (5, 15):
        world = example_world(seconds=10, topic=20, limits=[limit("subscription", own)], subscriptions=2)
        ends.append(run(world, INSTANT, 1, engine)["backlog_entries"][-1].tolist())
    assert ends == [[49_950, 49_850], [49_850, 49_950]]


# -- chance repeats itself --------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@repeatable(15)
@given(scenario=scenarios(), seed=SEED)
def test_the_same_seed_gives_the_same_bytes(engine, scenario, seed):
    first, second = (simulate(scenario, seed, machine=LAB, engine=engine).seconds for _ in range(2))
    assert as_bytes(first) == as_bytes(second)


@pytest.mark.parametrize("engine", ENGINES)
def test_another_seed_gives_other_arrivals(engine):
    scenario = queue(5.0, seconds=20)
    tables = [simulate(scenario, seed, machine=LAB, engine=engine).seconds for seed in (0, 1)]
    assert as_bytes(tables[0]) != as_bytes(tables[1])


def as_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


# -- queues without a limiter -------------------------------------------------------------------------------


def queue(rate_msg: float, *, seconds: float, kind: str = "Shared", processing: str = "constant") -> Scenario:
    """A Poisson producer and one consumer that takes 100 ms for a message, or so long on average."""
    return Scenario.model_validate(
        {
            "format": 1,
            "name": "queue",
            "topics": [{"name": "t"}],
            "subscriptions": [
                {
                    "name": "s",
                    "topic": "t",
                    "type": kind,
                    "consumers": 1,
                    "processing_ms": 100,
                    "processing": processing,
                }
            ],
            "producers": [{"topic": "t", "rate_msg": rate_msg, "size_bytes": 10, "shape": "poisson"}],
            "timeline": [{"name": "all", "duration_s": seconds}],
        }
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("load", "kind"), [(0.3, "Shared"), (0.5, "Exclusive"), (0.7, "Shared"), (0.8, "Key_Shared")]
)
def test_unlimited_waits_match_m_d_1(load, kind, engine):
    """M/D/1: a message waits load * service / (2 * (1 - load)); by Little's law the backlog is the rate times wait and service."""
    seconds, service_s = 6_000, 0.1
    world = compile_scenario(queue(load / service_s, seconds=seconds, kind=kind), INSTANT, 1)
    backlog = run(world, INSTANT, 1, engine)["backlog_entries"][:, 0]
    arrived_per_s = world.logs[0].published(seconds * 1_000_000) / seconds
    load = arrived_per_s * service_s
    expected = arrived_per_s * (service_s + load * service_s / (2 * (1 - load)))
    # Means of a minute are nearly independent of each other.
    minutes = backlog.reshape(-1, 60).mean(axis=1)
    error = minutes.std(ddof=1) / np.sqrt(len(minutes))
    assert error < 0.06 * expected
    assert backlog.mean() == pytest.approx(expected, abs=3 * error)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["Shared", "Exclusive"])
@pytest.mark.parametrize("load", [0.5, 0.7])
def test_unlimited_waits_match_m_m_1(load, kind, engine):
    """M/M/1: a message is there for service / (1 - load) on average."""
    seconds, service_s = 12_000, 0.1
    scenario = queue(load / service_s, seconds=seconds, kind=kind, processing="exponential")
    world = compile_scenario(scenario, INSTANT, 1)
    backlog = run(world, INSTANT, 1, engine)["backlog_entries"][:, 0]
    arrived_per_s = world.logs[0].published(seconds * 1_000_000) / seconds
    expected = arrived_per_s * service_s / (1 - arrived_per_s * service_s)
    minutes = backlog.reshape(-1, 60).mean(axis=1)
    error = minutes.std(ddof=1) / np.sqrt(len(minutes))
    assert error < 0.1 * expected
    assert backlog.mean() == pytest.approx(expected, abs=3 * error)
