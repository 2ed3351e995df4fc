"""Worked examples of what clients do: reconsume later, time out, acknowledge cumulatively, leave keys behind, share a publish limit.

Figures are derived in the comments; the machine takes no time, and nothing limits the dispatch.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.throttling.worlds import added, example_world
from throttlescope.models.throttling import simulate
from throttlescope.models.throttling.machine import INSTANT, LAB
from throttlescope.models.throttling.scenario import Scenario
from throttlescope.models.throttling.world import mixed

ENGINES = pytest.mark.parametrize("engine", ["twin", "kernel"])


def column(run: dict[str, np.ndarray], name: str, dispatcher: int = 0) -> list[int]:
    return run[name][:, dispatcher].tolist()


# -- retry-letter topics ---------------------------------------------------------------------------------


def reconsuming(seconds: int, **retry: object):
    """Four messages at 0, each reconsumed later, 3 s after the client gave it away."""
    fields = {"retry_letter": {"share": 1, "delay_ms": 3000, **retry}}
    return example_world(seconds=seconds, published_us=[0] * 4, subscription=fields)


@ENGINES
def test_reconsumed_messages_return_after_delay(engine: str) -> None:
    """Delivered at 0, from the retry-letter topic at 3 s, reconsumed once more, delivered for good at 6 s."""
    run = added(reconsuming(8, times=2), INSTANT, engine)
    assert column(run, "out_messages") == [4] + [0] * 7
    assert column(run, "acked_entries") == [4] + [0] * 7
    assert column(run, "backlog_entries") == [0] * 8
    assert column(run, "published_entries", 1) == [4, 0, 0, 4, 0, 0, 0, 0]
    assert column(run, "out_messages", 1) == [0, 0, 0, 4, 0, 0, 4, 0]
    assert column(run, "acked_entries", 1) == [0, 0, 0, 4, 0, 0, 4, 0]
    assert column(run, "delayed_entries", 1) == [4, 4, 4, 4, 4, 4, 0, 0]
    assert not run["dead_letter_entries"].any()


@ENGINES
def test_last_reconsumption_makes_dead_letters(engine: str) -> None:
    """What was reconsumed once goes to the dead-letter topic the second time, at 3 s."""
    run = added(reconsuming(6, times=5, max_reconsume=1), INSTANT, engine)
    assert column(run, "out_messages", 1) == [0, 0, 0, 4, 0, 0]
    assert column(run, "dead_letter_entries", 1) == [0, 0, 0, 4, 0, 0]
    assert column(run, "acked_entries", 1) == [0] * 6
    assert column(run, "backlog_entries", 1) == [4, 4, 4, 0, 0, 0]


@ENGINES
def test_retry_topic_has_own_limiter(engine: str) -> None:
    """The namespace's 2 msg/s hold on either topic: four messages take two seconds on each."""
    limit = {"level": "subscription", "set_at": "namespace", "msg": 2}
    fields = {"retry_letter": {"share": 1, "delay_ms": 0}}
    world = example_world(seconds=5, published_us=[0] * 4, subscription=fields, limits=[limit])
    run = added(world, INSTANT, engine)
    assert column(run, "out_messages") == [2, 2, 0, 0, 0]
    assert column(run, "out_messages", 1) == [2, 2, 0, 0, 0]


# -- acknowledgement time-outs -----------------------------------------------------------------------------


def slow_with_timeout(seconds: int, **redelivery: object):
    """One message, two consumers that need 2.5 s for it, and a time-out of 1 s."""
    fields = {"redelivery": {"ack_timeout_ms": 1000, **redelivery}}
    return example_world(
        seconds=seconds, published_us=[0], consumers=2, processing_ms=2500, subscription=fields
    )


@ENGINES
def test_slow_consumer_causes_redelivery(engine: str) -> None:
    """Sent at 0, 1 and 2 s. The first consumer acknowledges at 2.5 s; the copies of 1 and 2 s are worked on for nothing.

    The copy of 2 s is begun at 2.5 s and given back at 3.5 s, which the broker ignores.
    """
    run = added(slow_with_timeout(6), INSTANT, engine)
    assert column(run, "out_messages") == [1, 1, 1, 0, 0, 0]
    assert column(run, "redelivered_entries") == [0, 1, 1, 0, 0, 0]
    assert column(run, "acked_entries") == [0, 0, 1, 0, 0, 0]
    assert column(run, "backlog_entries") == [1, 1, 0, 0, 0, 0]
    assert column(run, "unacked_messages") == [1, 1, 1, 0, 0, 0]


@ENGINES
def test_timed_out_message_becomes_dead_letter(engine: str) -> None:
    """Given back at 1 s; the second copy, redelivered once, goes to the dead-letter topic at 2 s."""
    run = added(slow_with_timeout(5, max_redeliver=1), INSTANT, engine)
    assert column(run, "out_messages") == [1, 1, 0, 0, 0]
    assert column(run, "dead_letter_entries") == [0, 0, 1, 0, 0]
    assert column(run, "acked_entries") == [0] * 5
    assert column(run, "backlog_entries") == [1, 1, 0, 0, 0]


@ENGINES
def test_timeout_counts_from_first_message(engine: str) -> None:
    """Batches of three, 400 ms a message: 1.2 s each, so each is given back 200 ms before it is acknowledged."""
    world = example_world(
        seconds=4,
        published_us=[0],
        msgs=3,
        processing_ms=400,
        subscription={"redelivery": {"ack_timeout_ms": 1000}},
    )
    run = added(world, INSTANT, engine)
    # The only consumer gets the copy at 1 s, behind what it works on, and finds at 1.2 s + 1.2 s that it was for nothing.
    assert column(run, "out_messages") == [3, 3, 0, 0]
    assert column(run, "acked_entries") == [0, 1, 0, 0]


@ENGINES
def test_queued_messages_do_not_time_out(engine: str) -> None:
    """Ten messages of 500 ms wait up to 4.5 s in the queue; none is worked on for the time-out's second."""
    world = example_world(
        seconds=6,
        published_us=[0] * 10,
        processing_ms=500,
        subscription={"redelivery": {"ack_timeout_ms": 1000}},
    )
    run = added(world, INSTANT, engine)
    assert run["out_messages"].sum() == 10
    assert not run["redelivered_entries"].any()


# -- cumulative acknowledgement ------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize("ack", ["individual", "cumulative"])
def test_cumulative_acknowledgement_covers_earlier_entries(ack: str, engine: str) -> None:
    """Twenty messages, half of them given back after 5 s; a later acknowledgement covers what was given back before it."""
    fields = {"ack": ack, "redelivery": {"nack_share": 0.5, "nack_delay_ms": 5000}}
    world = example_world(
        seconds=8, published_us=[0] * 20, kind="Exclusive", processing_ms=10, subscription=fields
    )
    salt = world.logs[0].salt
    back = [entry for entry in range(20) if mixed(entry, salt + 2) < 1 << 31]
    last_acked = max(set(range(20)) - set(back))
    assert back[0] < last_acked
    left = len(back) if ack == "individual" else 19 - last_acked
    run = added(world, INSTANT, engine)
    assert column(run, "acked_entries")[0] == 20 - left
    assert column(run, "backlog_entries")[:5] == [left] * 5
    # The request for redelivery reads again what is unacknowledged, however it came to be so.
    assert column(run, "out_messages")[5] == left


# -- draining hashes -----------------------------------------------------------------------------------------


@ENGINES
@pytest.mark.parametrize(("version", "second"), [("4.2.4", 5), ("3.0.7", 2)])
def test_moved_key_waits_for_old_owner(version: str, second: int, engine: str) -> None:
    """One key. Its owner works on entry 0 until 5 s; at 1 s another consumer becomes the owner, entry 1 comes at 2 s.

    Since 4.0 entry 1 waits until entry 0 is acknowledged, and 10 ms longer.
    """
    world = example_world(
        seconds=7,
        version=version,
        kind="Key_Shared",
        keys=1,
        consumers=2,
        joins_s={0: 1.0},
        processing_ms=5000,
        published_us=[0, 2_000_000],
    )
    run = added(world, INSTANT, engine)
    expected = [1, 0, 0, 0, 0, 0, 0]
    expected[second] = 1
    assert column(run, "out_messages") == expected
    assert column(run, "replay_entries") == [int(2 <= at < second) for at in range(7)]


# -- publish limits that topics share --------------------------------------------------------------------------


def publishing(brokers: tuple[int, int], **fields: object) -> Scenario:
    """Two topics of 100 msg/s each."""
    body = {
        "format": 1,
        "name": "publishing",
        "topics": [{"name": f"t{number}", "broker": broker} for number, broker in enumerate(brokers)],
        "subscriptions": [
            {"name": "s", "topics": ["t0", "t1"], "type": "Shared", "consumers": 1, "processing_ms": 0}
        ],
        "producers": [{"topic": f"t{number}", "rate_msg": 100, "size_bytes": 100} for number in range(2)],
        "timeline": [{"name": "all", "duration_s": 21}],
    }
    return Scenario.model_validate({**body, **fields})


BROKER_100 = {"settings": {"brokerPublisherThrottlingMaxMessageRate": 100}}


@pytest.mark.parametrize(
    ("brokers", "fields", "per_s"),
    [
        ((0, 0), {"broker": BROKER_100}, (50, 50)),
        ((0, 1), {"broker": BROKER_100}, (100, 100)),
        ((0, 1), {"resource_group": {"msg": 100}}, (50, 50)),
        # The broker holds the first topic at 60, the resource group both at 100.
        (
            (0, 1),
            {
                "broker": {"settings": {"brokerPublisherThrottlingMaxMessageRate": 40}},
                "resource_group": {"msg": 100},
            },
            (40, 40),
        ),
    ],
    ids=["one-broker", "two-brokers", "resource-group", "broker-below-group"],
)
def test_publish_limits_are_shared(brokers: tuple[int, int], fields: dict, per_s: tuple[int, int]) -> None:
    """A bucket of one second is there at the start; from the second second on the limit is what passes."""
    rows = simulate(publishing(brokers, **fields), machine=LAB, engine="twin").seconds.to_pylist()
    for number, expected in enumerate(per_s):
        passed = sum(
            row["published_messages"]
            for row in rows
            if row["topic"] == f"t{number}" and 5 < row["second"] <= 20
        )
        assert passed / 15 == pytest.approx(expected, rel=0.02), number


def test_polled_broker_limit_stops_all() -> None:
    """Before 3.2 the broker counts for 50 ms more: 200 msg/s reach 100 at 0.5 s and are stopped at 0.55 s, for all topics."""
    scenario = publishing(
        (0, 0), broker={"version": "3.1.0", **BROKER_100}, timeline=[{"name": "all", "duration_s": 4}]
    )
    rows = simulate(scenario, machine=INSTANT, engine="twin").seconds.to_pylist()
    first = sum(row["published_messages"] for row in rows if row["second"] == 1)
    assert first == pytest.approx(110, abs=2)
