"""Whatever a scenario holds: nothing is lost, nothing overtakes, and closed channels let nothing new through."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from throttlescope.models.throttling.tdmq import simulate
from throttlescope.models.throttling.tdmq.scenario import WINDOW_US, changed, read_scenario, shipped
from throttlescope.models.throttling.tdmq.tables import CONTRACTS

DURATION_S = 3
EXAMPLES = examples(30)


@st.composite
def sends(draw):
    over_ms = draw(st.sampled_from([0, 1, 300, 900]))
    return {
        "at_ms": draw(st.integers(0, 2000)),
        "requests": draw(st.integers(1, 60)),
        "over_ms": over_ms,
        "spacing": draw(st.sampled_from(["even", "random"])),
    }


@st.composite
def producers(draw, places, *, may_be_delayed):
    groups = []
    for number in range(draw(st.integers(1, 3))):
        groups.append(
            {
                "name": f"p{number}",
                "on": draw(st.sampled_from(["each", [0], [places - 1]])),
                "per_place": draw(st.integers(1, 3)),
                "in_flight_requests": draw(st.integers(1, 8)),
                "size_bytes": draw(st.sampled_from([1, 100, 5000])),
                "deliver_after_ms": draw(st.sampled_from([None, None, -5, 0, 400]))
                if may_be_delayed
                else None,
                "sends": draw(st.lists(sends(), min_size=1, max_size=2)),
            }
        )
    return groups


def quotas():
    return st.fixed_dictionaries(
        {
            "tps": st.one_of(st.none(), st.integers(2, 200)),
            "bandwidth_bytes": st.integers(200, 400_000),
        }
    )


def consumers():
    return st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {
                "subscriptions": st.integers(1, 3),
                "push_messages": st.integers(1, 7),
                "push_interval_us": st.sampled_from([1, 1000, 50_000]),
                "backlog": st.one_of(st.none(), st.just({"messages": 40, "size_bytes": 50})),
            }
        ),
    )


@st.composite
def clusters(draw):
    nodes = draw(st.integers(1, 4))
    groups = draw(producers(nodes, may_be_delayed=True))
    is_delayed = any(group["deliver_after_ms"] is not None for group in groups)
    return read_scenario(
        {
            "format": 1, "name": "law", "about": "law", "throttle": "cluster", "duration_s": DURATION_S,
            "nodes": nodes,
            "specification": draw(quotas()),
            "delayed": draw(quotas()) if is_delayed else None,
            "usage_known_at_ms": sorted(draw(st.sets(st.integers(0, 999), min_size=1, max_size=4))),
            "processing_us": draw(st.sampled_from([1, 1000, 70_000, 1_300_000])),
            "producers": groups,
            "consumers": draw(consumers()),
        }
    )  # fmt: skip


@st.composite
def partitions(draw):
    count = draw(st.integers(1, 3))
    taking = draw(consumers())
    return read_scenario(
        {
            "format": 1, "name": "law", "about": "law", "throttle": "partition", "duration_s": DURATION_S,
            "partitions": count,
            "production": draw(quotas()),
            "consumption": draw(quotas()) if taking else None,
            "check_ms": draw(st.sampled_from([7, 50, 1000])),
            "consumption_checked": draw(st.sampled_from(["each_push", "window_end"])),
            "processing_us": draw(st.sampled_from([1, 1000, 70_000])),
            "producers": draw(producers(count, may_be_delayed=False)),
            "consumers": taking,
        }
    )  # fmt: skip


SCENARIOS = st.one_of(clusters(), partitions())


def in_flight(scenario, place):
    """How many requests of a node or partition may be in flight."""
    return sum(
        group.in_flight_requests * group.per_place
        for group in scenario.producers
        if place in group.places(scenario.places)
    )


@EXAMPLES
@given(SCENARIOS, st.integers(0, 3))
def test_nothing_is_lost(scenario, seed):
    tables = simulate(scenario, seed)
    requests = tables.requests.to_pylist()
    assert len(requests) == scenario.requests > 0
    processed = [r for r in requests if r["processed_us"] is not None]
    in_work = [r for r in requests if r["accepted_us"] is not None and r["processed_us"] is None]
    waiting = [r for r in requests if r["accepted_us"] is None]
    assert len(processed) + len(in_work) + len(waiting) == scenario.requests
    produced = tables.windows.filter(pc.field("quota") != "consumption")
    assert pc.sum(produced["requests"]).as_py() == scenario.requests
    assert pc.sum(produced["processed"]).as_py() == len(processed)
    last = produced.filter(pc.field("window_start_us") == (DURATION_S - 1) * WINDOW_US)
    assert pc.sum(last["waiting"]).as_py() == len(waiting)
    assert pc.sum(produced["processed_bytes"]).as_py() == sum(r["size_bytes"] for r in processed)


@EXAMPLES
@given(SCENARIOS)
def test_every_subscription_gets_every_message_once(scenario):
    tables = simulate(scenario)
    if scenario.consumers is None:
        assert tables.deliveries.num_rows == 0
        return
    kept = scenario.consumers.backlog.messages if scenario.consumers.backlog else 0
    delays_us = {f"p{i}": (g.deliver_after_ms or 0) * 1000 for i, g in enumerate(scenario.producers)}
    longest_us = max(0, *delays_us.values())
    processed = [r for r in tables.requests.to_pylist() if r["processed_us"] is not None]
    surely = [r for r in processed if r["sent_us"] + longest_us < DURATION_S * WINDOW_US]
    copies = scenario.consumers.subscriptions
    rows = tables.deliveries.num_rows - kept * copies * scenario.places
    assert len(surely) * copies <= rows <= len(processed) * copies
    keys = tables.deliveries.select(["place", "subscription", "producer", "number"]).to_pylist()
    assert len({tuple(key.values()) for key in keys}) == len(keys)


@EXAMPLES
@given(SCENARIOS)
def test_a_request_goes_one_way(scenario):
    for r in simulate(scenario).requests.to_pylist():
        if r["accepted_us"] is not None:
            assert r["accepted_us"] >= r["sent_us"]
            assert r["wait_us"] == r["accepted_us"] - r["sent_us"]
        if r["processed_us"] is not None:
            assert r["processed_us"] == r["accepted_us"] + scenario.processing_us
        if r["answered_us"] is not None:
            assert r["answered_us"] >= r["processed_us"]
            assert r["answered_us"] == r["processed_us"] or (
                r["after_close"] and r["answered_us"] % WINDOW_US == 0
            )


@EXAMPLES
@given(SCENARIOS)
def test_no_request_overtakes_another_of_its_producer(scenario):
    requests = simulate(scenario).requests.sort_by([("producer", "ascending"), ("number", "ascending")])
    for one, next_ in pairwise(requests.to_pylist()):
        if one["producer"] == next_["producer"]:
            assert one["sent_us"] <= next_["sent_us"]
            for moment in ("accepted_us", "processed_us", "answered_us"):
                assert next_[moment] is None or one[moment] <= next_[moment]


@EXAMPLES
@given(SCENARIOS)
def test_no_delivery_overtakes_another_of_its_subscription(scenario):
    pushed = {}
    for row in simulate(scenario).deliveries.to_pylist():
        pushed.setdefault((row["place"], row["subscription"]), []).append(row["pushed_us"])
    for moments in pushed.values():
        known = [moment for moment in moments if moment is not None]
        assert known == sorted(known)
        assert moments[len(known) :] == [None] * (len(moments) - len(known))


@EXAMPLES
@given(SCENARIOS)
def test_closed_channel_passes_only_inflight_requests(scenario):
    tables = simulate(scenario)
    for closing in tables.closings.to_pylist():
        is_consumption = closing["quota"] == "consumption"
        # Things of one microsecond have an order, so the ends of a closing belong to both sides.
        opened_us = closing["opened_us"] or DURATION_S * WINDOW_US
        assert 0 < opened_us - closing["closed_us"] <= WINDOW_US
        rows = tables.deliveries if is_consumption else tables.requests
        for row in rows.filter(pc.field("place") == closing["place"]).to_pylist():
            began = row["pushed_us"] if is_consumption else row["accepted_us"]
            assert began is None or not closing["closed_us"] < began < opened_us
            if not is_consumption and row["processed_us"] is not None:
                late = closing["closed_us"] < row["processed_us"] < opened_us
                assert not late or (row["after_close"] and row["accepted_us"] <= closing["closed_us"])


@EXAMPLES
@given(clusters())
def test_node_overshoot_is_at_most_inflight(scenario):
    tables = simulate(scenario)
    push = scenario.consumers.push_messages if scenario.consumers else 0
    groups = scenario.producers
    largest = max(group.size_bytes for group in groups)
    for row in tables.windows.to_pylist():
        if row["quota"] == "consumption":
            extra, extra_bytes = push - 1, push * max(largest, 50)
        else:
            extra = in_flight(scenario, row["place"])
            extra_bytes = extra * largest
        if row["threshold_msg"] is not None:
            assert row["processed"] <= row["threshold_msg"] + extra
        if row["threshold_bytes"] is not None:
            assert row["processed_bytes"] <= row["threshold_bytes"] + extra_bytes
    for start_us in range(0, DURATION_S * WINDOW_US, WINDOW_US):
        in_window = tables.windows.filter(
            (pc.field("window_start_us") == start_us) & (pc.field("quota") == "production")
        )
        if scenario.quotas["production"].tps is not None:
            together = sum(in_flight(scenario, node) for node in range(scenario.nodes))
            passed, allowed = (
                pc.sum(in_window["processed"]).as_py(),
                pc.sum(in_window["threshold_msg"]).as_py(),
            )
            assert passed <= allowed + together


@EXAMPLES
@given(clusters())
def test_channels_open_at_window_start(scenario):
    for closing in simulate(scenario).closings.to_pylist():
        if closing["opened_us"] is not None:
            assert closing["opened_us"] % WINDOW_US == 0
            assert closing["opened_us"] // WINDOW_US == closing["closed_us"] // WINDOW_US + 1


@EXAMPLES
@given(partitions())
def test_stops_of_a_partition(scenario):
    for closing in simulate(scenario).closings.to_pylist():
        opened_us, closed_us = closing["opened_us"], closing["closed_us"]
        if closing["quota"] == "production":
            assert closed_us % (scenario.check_ms * 1000) == 0
            assert opened_us is None or opened_us == (closed_us // WINDOW_US + 1) * WINDOW_US
        else:
            assert opened_us is None or opened_us == closed_us + WINDOW_US
            assert scenario.consumption_checked == "each_push" or closed_us % WINDOW_US == 0


@EXAMPLES
@given(partitions())
def test_partition_overshoot_is_one_check_interval(scenario):
    largest = max(50, *(group.size_bytes for group in scenario.producers))
    for row in simulate(scenario).windows.to_pylist():
        if row["quota"] == "production":
            # Each place in flight can be used again whenever a request is done.
            per_look = scenario.check_ms * 1000 // scenario.processing_us + 1
            extra = in_flight(scenario, row["place"]) * (per_look + 1)
        elif scenario.consumption_checked == "each_push":
            extra = scenario.consumers.push_messages
        else:
            continue
        assert row["threshold_msg"] is None or row["processed"] <= row["threshold_msg"] + extra
        assert row["processed_bytes"] <= row["threshold_bytes"] + extra * largest


@EXAMPLES
@given(SCENARIOS)
def test_pushes_keep_pace_and_size(scenario):
    pushes = {}
    for row in simulate(scenario).deliveries.to_pylist():
        if row["pushed_us"] is not None:
            assert row["pushed_us"] >= row["available_us"]
            counts = pushes.setdefault((row["place"], row["subscription"]), {})
            counts[row["pushed_us"]] = counts.get(row["pushed_us"], 0) + 1
    for counts in pushes.values():
        assert max(counts.values()) <= scenario.consumers.push_messages
        assert all(b - a >= scenario.consumers.push_interval_us for a, b in pairwise(sorted(counts)))


@EXAMPLES
@given(SCENARIOS, st.integers(0, 5))
def test_the_same_seed_gives_the_same_tables(scenario, seed):
    first, second = simulate(scenario, seed), simulate(scenario, seed)
    assert all(one.equals(other) for one, other in zip(first, second, strict=True))
    assert [table.schema for table in first] == [contract.schema for contract in CONTRACTS]


def test_seed_changes_random_spacing():
    scenario = shipped("101st-message")
    group = scenario.producers[0].model_dump()
    random = [send | {"spacing": "random"} for send in group["sends"]]
    scenario = changed(scenario, producers=[group | {"sends": random}])
    one, other = (simulate(scenario, seed).requests["sent_us"] for seed in (0, 1))
    assert one != other
    assert all(pa.types.is_int64(column.type) for column in (one, other))


@EXAMPLES
@given(
    st.lists(st.integers(0, 2_999), min_size=1, max_size=60),
    st.integers(1, 12),
    st.sampled_from([1, 1_000, 90_000, 1_500_000]),
)
def test_single_producer_equals_simple_loop(moments_ms, limit, processing_us):
    scenario = read_scenario(
        {
            "format": 1, "name": "law", "about": "law", "throttle": "cluster", "duration_s": 1000, "nodes": 1,
            "specification": {"tps": 2 * limit}, "usage_known_at_ms": [0], "processing_us": processing_us,
            "producers": [{"name": "a", "sends": [{"at_ms": at_ms, "requests": 1} for at_ms in moments_ms]}],
        }
    )  # fmt: skip
    expected, used, free_us = [], {}, 0
    for at_ms in sorted(moments_ms):
        accepted_us = max(at_ms * 1000, free_us)
        while used.get(accepted_us // WINDOW_US, 0) >= limit:
            accepted_us = (accepted_us // WINDOW_US + 1) * WINDOW_US
        free_us = accepted_us + processing_us
        used[free_us // WINDOW_US] = used.get(free_us // WINDOW_US, 0) + 1
        expected.append(accepted_us)
    assert simulate(scenario).requests["accepted_us"].to_pylist() == expected
