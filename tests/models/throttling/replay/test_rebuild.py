"""Worlds made of a window: the kernel runs them as the twin does, and they hold what was observed."""

import dataclasses

import numpy as np
import pytest

from tests.models.throttling.replay.samples import START_MS, key, observed_of
from tests.transforms.lakes import limit_row
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.throttling.kernel import run_kernel
from throttlescope.models.throttling.machine import LAB
from throttlescope.models.throttling.replay import Change, parse_change, replay
from throttlescope.models.throttling.replay.observed import Observed, PartitionSamples
from throttlescope.models.throttling.replay.rebuild import (
    Assumed,
    future_world,
    limits_after,
    selected_dispatchers,
    window_world,
)
from throttlescope.models.throttling.twin import run_twin

COUNT = 7


def limit(msg, *, level="subscription", size=None, **more):
    return limit_row(level, at_ms=START_MS - 1, msg=msg, size=size, **(key() | more))


def window(**fields) -> Observed:
    return observed_of(
        **({"backlog": 100.0 + 20 * np.arange(COUNT), "in_msg": 60.0, "limits": [limit(40)]} | fields)
    )


def two_subscriptions(**fields) -> Observed:
    """A second subscription, which has less of a backlog: it begins further on in the log."""
    observed = window(**fields)
    mine = observed.readers["billing", -1]
    other = dataclasses.replace(mine, backlog_entries=np.full(COUNT, 30.0))
    rows = {**observed.limit_rows, ("subscription", -1, "audit"): [limit(70, subscription="audit")]}
    return dataclasses.replace(
        observed, readers={("audit", -1): other, ("billing", -1): mine}, limit_rows=rows
    )


def partitioned(shares=(1.0, 3.0)) -> Observed:
    observed = window()
    mine, came = observed.readers["billing", -1], observed.partitions[-1]
    return dataclasses.replace(
        observed,
        readers={("billing", number): dataclasses.replace(mine, backlog_entries=mine.backlog_entries * share) for number, share in enumerate(shares)},
        partitions={number: PartitionSamples(came.in_msg * share, came.in_bytes * share) for number, share in enumerate(shares)},
        limit_rows={("subscription", number, "billing"): [limit(40, partition=number)] for number in range(len(shares))},
    )  # fmt: skip


@pytest.mark.parametrize(
    "observed",
    [window(), two_subscriptions(), window(kind="Exclusive", consumers=1), window(messages_per_entry=2.5), partitioned()],
    ids=["one", "two subscriptions", "exclusive", "batches", "partitions"],
)  # fmt: skip
@pytest.mark.parametrize("make", ["window", "future"])
def test_kernel_equals_twin(observed, make):
    assumed = Assumed({name: 20.0 for name, _ in observed.readers}, 60.0)
    if make == "window":
        world = window_world(observed, assumed, LAB)
    else:
        world = future_world(observed, assumed, parse_change(["subscription.msg=50"]), 20, LAB)
    slow, fast = run_twin(world, LAB), run_kernel(world, LAB)
    assert slow["out_messages"][-1].min() > 0
    for name, expected in slow.items():
        assert np.array_equal(expected, fast[name]), name


def test_everybody_begins_with_the_backlog_it_had():
    observed = two_subscriptions()
    world = future_world(
        observed, Assumed({"billing": 86_400_000.0, "audit": 86_400_000.0}, 0.0), Change(), 1, LAB
    )
    names = [item.subscription for item in world.dispatchers]
    backlog = dict(zip(names, run_kernel(world, LAB)["backlog_entries"][-1].tolist(), strict=True))
    assert backlog == {"asked": 220, "other-0": 30}
    assert {item.first for item in world.dispatchers} == {0, 190}


def test_rebuilt_window_has_arrivals_per_span():
    observed = window(in_msg=np.array([0, 10, 0, 35, 5, 0, 50]))
    world = window_world(observed, Assumed({"billing": 86_400_000.0}), LAB)
    backlog = run_kernel(world, LAB)["backlog_entries"][:, selected_dispatchers(world)].sum(axis=1)
    # Scrapes are 5 s apart; the last entry of a span may come with the first microsecond of the next.
    assert np.abs(backlog[[4, 9, 14, 19, 24, 29]] - (100 + np.cumsum([10, 0, 35, 5, 0, 50]))).max() <= 1


def test_partitions_have_shares_and_can_be_selected():
    observed = partitioned()
    world = future_world(observed, Assumed({"billing": 86_400_000.0}, 80.0), Change(), 10, LAB)
    came = run_kernel(world, LAB)["backlog_entries"][-1] - np.array([220, 660])
    assert came.tolist() == pytest.approx([200, 600], abs=2)
    assert [selected_dispatchers(world, number) for number in (None, 0, 1)] == [[0, 1], [0], [1]]


def test_unseen_partition_stays_empty():
    observed = partitioned()
    found = dataclasses.replace(
        observed,
        partitions={2: observed.partitions[0]},
        readers={("billing", 2): observed.readers["billing", 0]},
        limit_rows={("subscription", 2, "billing"): [limit(40, partition=2)]},
    )
    for world in (
        window_world(found, Assumed({"billing": 20.0}), LAB),
        future_world(found, Assumed({"billing": 20.0}, 60.0), Change(), 10, LAB),
    ):
        published = run_kernel(world, LAB)["published_entries"][-1]
        assert published[:2].tolist() == [0, 0]
        assert published[2] > 0


@pytest.mark.parametrize("batch", [1.0, 1.4, 2.5, 10.0])
def test_entries_flow_alike_whatever_a_batch_holds(batch):
    """100 messages per second come and 50 may go, in entries of any size: entries grow by the difference over the size."""
    observed = window(
        backlog=np.full(COUNT, 1000.0), in_msg=500.0, messages_per_entry=batch, limits=[limit(50)]
    )
    answer = replay(observed, parse_change(["processing_ms=0"]), horizon_s=1800)
    assert answer.as_is.fitted.growth_entries_per_s == pytest.approx(50 / batch, rel=0.1)
    assert answer.as_is.fitted.out_msg_per_s == pytest.approx(50, rel=0.1)


def test_changed_limits_apply_after_change():
    observed = window(
        limits=[limit(40), limit(None, level="topic", size=5000, period_s=10), limit(None, level="broker")]
    )

    def after(*settings):
        found = limits_after(observed, parse_change(settings))
        return {item["level"]: (item["msg"], item["bytes"], item["period_s"]) for item in found}

    before = {"topic": (None, 5000, 10), "subscription": (40, None, 1)}
    assert after() == before
    assert after("subscription.msg=none") == {"topic": (None, 5000, 10)}
    assert after("topic.msg=7", "topic.period_s=2") == before | {"topic": (7, 5000, 2)}
    assert after("broker.bytes=9") == before | {"broker": (None, 9, 1)}


def test_other_topics_share_the_broker_limit():
    observed = window(limits=[limit(100, level="broker")], in_msg=500.0, others_per_s={"msg": 70.0})
    answer = replay(observed, parse_change(["processing_ms=0"]), horizon_s=1800)
    assert answer.as_is.fitted.out_msg_per_s == pytest.approx(30, rel=0.1)
    assert answer.as_is.fitted.held_by == "broker.msg"
    assert ("whatif.other_topics", {"msg_per_s": 70.0}) in [(note.key, note.values) for note in answer.notes]


@pytest.mark.parametrize(
    ("settings", "key", "values"),
    [
        (["topic.msg=none"], "whatif.no_limit_to_lift", {"setting": "topic.msg"}),
        (["subscription.msg=40"], "whatif.limit_unchanged", {"setting": "subscription.msg", "value": 40}),
        (["subscription.msg=4000", "processing_ms=10"], "whatif.limit_cannot_bind", {"value": 4000, "msg_per_s": 200}),
        (["subscription.msg=50"], "whatif.capacity_at_least", {}),
    ],
)  # fmt: skip
def test_notes_of_a_change(settings, key, values):
    notes = replay(window(), parse_change(settings), horizon_s=900).notes
    assert any(note.key == key and values.items() <= note.values.items() for note in notes), notes


def test_second_exclusive_consumer_gives_a_note():
    answer = replay(window(kind="Exclusive", consumers=1), parse_change(["consumers=3"]), horizon_s=900)
    assert ("whatif.type_serves_fewer", {"type": "Exclusive", "active": 1, "consumers": 3}) in [
        (note.key, note.values) for note in answer.notes
    ]


@pytest.mark.parametrize(
    ("settings", "horizon_s", "words"),
    [
        (["topic.period_s=10"], 900, "topic.period_s: there is no topic limit with a period; got topic.period_s=10"),
        (["subscription.msg=10000000000", "subscription.period_s=86400"], 900, "subscription.msg: the limit is too large"),
        (["rate_msg=10000000"], 86_400, "A replay of 10,000,000 msg/s for 86,400 s and 1 subscriptions takes too long"),
    ],
)  # fmt: skip
def test_senseless_change_is_refused_before_running(monkeypatch, settings, horizon_s, words):
    monkeypatch.setattr("throttlescope.models.throttling.replay.speed.run", lambda *_: pytest.fail("it ran"))
    with pytest.raises(InputError) as refused:
        replay(window(), parse_change(settings), horizon_s=horizon_s)
    assert words in str(refused.value)


def test_nobody_drains_without_consumers():
    answer = replay(window(consumers=0), parse_change(["processing_ms=1"]), horizon_s=900)
    assert (answer.as_is.fitted.drain_s, answer.as_is.fitted.held_by) == (None, "consumers")
    joined = replay(
        window(consumers=0, limits=[]), parse_change(["processing_ms=1", "consumers=1"]), horizon_s=900
    )
    assert joined.changed.fitted.drain_s is not None
    assert joined.effect == "sooner"
