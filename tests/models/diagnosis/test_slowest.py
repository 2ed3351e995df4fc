"""Which consumers are slow: worked out by hand, and on recordings whose scenario says who was made slow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.sources.consumer_stats import consumer_stats
from throttlescope.ingest.sources.recording import read_recording
from throttlescope.models.diagnosis.single_consumers import ACKED_PER_S, BLOCKED, OUT, PERMITS, UNACKED
from throttlescope.models.diagnosis.slowest import slowest_consumers
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.transforms.promql.source import Series

START_MS = 1_700_000_040_000 - 1_700_000_040_000 % 60_000
END_MS = START_MS + 300_000
TIMES_MS = np.arange(START_MS, END_MS, 15_000)
KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 3, "billing")
RECORDINGS = Path(__file__).parents[2] / "recordings" / "diagnosis"


def one(metric: str, values, consumer_id: str, name: str, key: SubscriptionKey = KEY, stale_ms=()) -> Series:
    labels = {label: str(value) for label, value in key._asdict().items()}
    labels |= {"__name__": metric, "consumer_id": consumer_id, "consumer_name": name, "instance": "b1:8080"}
    values = np.broadcast_to(np.asarray(values, np.float64), TIMES_MS.shape)
    return Series({k: v for k, v in labels.items() if v}, TIMES_MS, values, np.array(stale_ms, np.int64))


def consumer(
    consumer_id: str,
    *,
    acks=None,
    out_per_s=None,
    permits=None,
    unacked=None,
    blocked=None,
    name=None,
    **more,
) -> list[Series]:
    """Series of one consumer; what is None is not scraped."""
    values = {
        ACKED_PER_S: acks,
        OUT: None if out_per_s is None else out_per_s * (TIMES_MS - START_MS) / 1000,
        PERMITS: permits,
        UNACKED: unacked,
        BLOCKED: blocked,
    }
    name = f"name-{consumer_id}" if name is None else name
    return [
        one(metric, value, consumer_id, name, **more) for metric, value in values.items() if value is not None
    ]


def slow_of(*consumers: list[Series], **more):
    return slowest_consumers(KEY, [series for some in consumers for series in some], START_MS, END_MS, **more)


def slow_ids(found) -> list[str]:
    return [item.consumer_id for item in found.consumers if item.slow]


def test_one_slow_of_three_is_named():
    found = slow_of(
        consumer("0", acks=25, permits=0, unacked=10),
        consumer("1", acks=0.5, permits=0, unacked=10),
        consumer("2", acks=25, permits=0, unacked=10),
    )
    assert (found.slow, found.waited_for, found.of, found.measured_by) == (1, 3, 3, "metrics")
    assert slow_ids(found) == ["1"]
    assert "1 of 3 consumers is slow: name-1 does 0.5 msg/s" in found.text


def test_where_all_are_alike_none_stands_out():
    found = slow_of(*(consumer(str(n), acks=5 + n / 10, permits=0) for n in range(4)))
    assert (found.slow, found.waited_for, found.of) == (0, 4, 4)
    assert "None of 4 consumers is slower" in found.text


def test_consumer_with_spare_capacity_is_not_slow():
    found = slow_of(consumer("0", acks=50, permits=0), consumer("1", acks=1, permits=900))
    assert (found.slow, found.waited_for) == (0, 1)


def test_half_of_the_fastest_is_the_border():
    just_above, just_below = (
        slow_of(consumer("0", acks=10, permits=0), consumer("1", acks=pace, permits=0))
        for pace in (5.0, 4.99)
    )
    assert (just_above.slow, just_below.slow) == (0, 1)


def test_permits_are_a_share_of_many_samples():
    """Half of the samples at zero or below is the border of the rules; a negative number is no room either."""
    half = np.where(np.arange(len(TIMES_MS)) % 2, 500.0, -3.0)
    mostly_room = np.where(np.arange(len(TIMES_MS)) % 3, 500.0, 0.0)
    found = slow_of(
        consumer("0", acks=50, permits=0),
        consumer("1", acks=1, permits=half),
        consumer("2", acks=1, permits=mostly_room),
    )
    assert slow_ids(found) == ["1"]


def test_silent_consumer_is_slow():
    found = slow_of(
        consumer("0", acks=50, out_per_s=50, permits=0), consumer("1", acks=0, out_per_s=50, permits=0)
    )
    assert slow_ids(found) == ["1"]


def test_dispatch_rate_replaces_missing_ack_rate():
    found = slow_of(
        consumer("0", acks=0, out_per_s=50, permits=0), consumer("1", acks=0, out_per_s=2, permits=0)
    )
    assert slow_ids(found) == ["1"]
    assert found.consumers[0].pace_msg_per_s == pytest.approx(2)


def test_all_idle_consumers_are_slow():
    found = slow_of(*(consumer(str(n), acks=0, out_per_s=0, permits=0) for n in range(2)))
    assert (found.slow, found.of) == (2, 2)
    assert "nothing gets done" in found.text


def test_consumer_at_unacked_limit_is_slow():
    found = slow_of(consumer("0", acks=50, permits=0), consumer("1", acks=0, permits=40, blocked=1))
    assert slow_ids(found) == ["1"]
    assert "blocked on its unacked limit" in found.text


def test_failover_standbys_do_not_count():
    consumers = (
        consumer("0", acks=7, out_per_s=7, permits=0),
        consumer("1", acks=0, out_per_s=0, permits=1000),
    )
    assert slow_of(*consumers, subscription_type="Failover").of == 1
    assert slow_of(*consumers, subscription_type="Shared").of == 2


def test_exclusive_consumer_unacked_is_not_measured():
    """Brokers expose zero for it."""
    only = consumer("0", acks=0, out_per_s=7, permits=0, unacked=0, blocked=0)
    (one,) = slow_of(only, subscription_type="Exclusive").consumers
    assert (one.unacked_msg, one.blocked) == (None, None)


def test_a_consumer_that_left_is_not_counted():
    left = consumer("1", acks=0.1, permits=0, stale_ms=[int(TIMES_MS[-1]) + 1])
    found = slow_of(consumer("0", acks=25, permits=0), left)
    assert (found.of, slow_ids(found)) == (1, [])


def test_others_are_left_out():
    other = consumer("9", acks=0.1, permits=0, key=KEY._replace(partition=4))
    own = [Series({k: v for k, v in s.labels.items() if not k.startswith("consumer_")}, s.timestamps_ms, s.values)
           for s in consumer("", out_per_s=50)]  # fmt: skip
    found = slow_of(consumer("0", acks=25, permits=0), other, own)
    assert found.of == 1


def test_a_counter_that_restarts_counts_from_zero():
    values = np.where(np.arange(20) < 10, 1000 + 10 * np.arange(20), 10 * (np.arange(20) - 10))
    found = slowest_consumers(KEY, [one(OUT, values, "0", "a"), one(PERMITS, 0, "0", "a")], START_MS, END_MS)
    assert found.consumers[0].out_msg_rate == pytest.approx((90 + 0 + 90) / 285)


def test_what_was_not_measured_is_not_told():
    nothing = slow_of()
    assert (nothing.slow, nothing.of, nothing.measured_by) == (None, 0, None)
    assert "exposeConsumerLevelMetricsInPrometheus" in nothing.text
    without_permits = slow_of(consumer("0", acks=25), consumer("1", acks=1))
    assert without_permits.slow is None
    nan = slow_of(consumer("0", acks=np.nan, permits=np.nan), consumer("1", acks=3, permits=0))
    assert nan.slow == 0
    assert nan.of == 1


ANSWER = {
    "subscriptions": {
        "billing": {
            "type": "Shared",
            "consumers": [
                {"consumerName": "a", "address": "/10.0.0.7:5000", "messageAckRate": 30.0, "msgRateOut": 30.0,
                 "unackedMessages": 9, "availablePermits": 0, "blockedConsumerOnUnackedMsgs": False},
                {"consumerName": "b", "address": "/10.0.0.8:5000", "messageAckRate": 1.0, "msgRateOut": 1.0,
                 "unackedMessages": 9, "availablePermits": 0, "blockedConsumerOnUnackedMsgs": False},
            ],
        }
    }
}  # fmt: skip


def test_admin_api_replaces_missing_scrapes():
    found = slow_of(stats=consumer_stats(3, json.dumps(ANSWER)))
    assert (found.slow, found.of, found.measured_by) == (1, 2, "admin")
    assert "b at 10.0.0.8:5000 does 1 msg/s, holds 9 unacked" in found.text
    assert slow_of(stats=consumer_stats(4, json.dumps(ANSWER))).of == 0


def test_addresses_need_a_unique_consumer_name():
    stats = consumer_stats(3, json.dumps(ANSWER))
    named = slow_of(
        consumer("0", acks=1, permits=0, name="b"), consumer("1", acks=9, permits=0, name=""), stats=stats
    )
    assert [item.address for item in named.consumers] == ["10.0.0.8:5000", None]
    twice = slow_of(consumer("0", acks=1, permits=0, name="b"), stats=[*stats, *stats])
    assert twice.consumers[0].address is None


@pytest.mark.parametrize(
    "body", ["", "null", "{", "[]", '{"subscriptions": 3}', '{"subscriptions": {"s": {"consumers": [7]}}}']
)
def test_missing_answer_has_no_consumers(body):
    assert consumer_stats(-1, body) == []


def test_unacked_is_not_measured_on_exclusive_subscriptions():
    answer = {"subscriptions": {"s": {"type": "Exclusive", "consumers": [{"unackedMessages": 0}]}}}
    (found,) = consumer_stats(-1, json.dumps(answer))
    assert (found.unacked_msg, found.permits, found.name) == (None, None, "")


# -- recordings of a real broker ----------------------------------------------------------------


def recorded(name: str, at: str):
    """The consumers of ``billing`` in the last five minutes of a state, with what the admin API said in them."""
    folder = RECORDINGS / name
    recording = read_recording(folder)
    rows = sorted(recording.truth.to_pylist(), key=lambda row: row["start_ms"])
    row = {"cause": rows[0], "relieved": rows[-1]}[at]
    series = []
    for batch in recording.source.read(Selector(()), recording.start_ms, recording.end_ms, Meter()):
        for item in batch:
            labels = dict(normalise(item.labels, LabelMapping()).labels)
            series.append(Series(labels, item.timestamps_ms, item.values, item.stale_ms))
    stats = []
    for line in (folder / "topic_stats.jsonl").read_text().splitlines():
        answer = json.loads(line)
        if (
            row["end_ms"] - 300_000 <= answer["observed_ms"] < row["end_ms"]
            and answer["topic"] == row["topic"]
        ):
            stats = consumer_stats(answer["partition"], answer["body"])
    key = SubscriptionKey(*(row[name] for name in SubscriptionKey._fields))
    return key, series, row["end_ms"], stats


def made_slow(name: str) -> tuple[set[str], int]:
    """Ids of the consumers that the scenario makes slow, and how many there are: the first ones have times of their own."""
    scenario = yaml.safe_load((RECORDINGS / name / "scenario.yaml").read_text())
    (subscription,) = scenario["subscriptions"]
    each, count = subscription["each_processing_ms"], subscription["consumers"]
    times_ms = [*each, *[subscription["processing_ms"]] * (count - len(each))]
    return {str(n) for n, ms in enumerate(times_ms) if ms == max(times_ms)}, count


@pytest.mark.long
@pytest.mark.parametrize("name", ["slow-one-of-three", "slow-one-of-four", "slow-one-of-many-1-1"])
def test_real_broker_shows_the_slowed_consumer(name):
    key, series, end_ms, stats = recorded(name, "cause")
    expected, count = made_slow(name)
    by_metrics = slowest_consumers(key, series, end_ms - 300_000, end_ms, stats=stats)
    assert (set(slow_ids(by_metrics)), by_metrics.of) == (expected, count)
    by_admin = slowest_consumers(key, [], end_ms - 300_000, end_ms, stats=stats)
    assert [item.name for item in by_admin.consumers if item.slow] == [
        item.name for item in by_metrics.consumers if item.slow
    ]
    assert all(item.address for item in by_metrics.consumers)
    key, series, end_ms, stats = recorded(name, "relieved")
    assert slowest_consumers(key, series, end_ms - 300_000, end_ms, stats=stats).slow == 0


@pytest.mark.parametrize("name", ["slow-consumers-no-limit-1-1", "slow-consumers-under-limit-1-1"])
def test_equally_slow_consumers_are_not_singled_out(name):
    key, series, end_ms, stats = recorded(name, "cause")
    found = slowest_consumers(key, series, end_ms - 300_000, end_ms, stats=stats)
    assert found.slow == 0
    assert found.waited_for == found.of > 0


def test_consumers_that_acknowledge_nothing_have_no_spare_capacity():
    """A subscription that is blocked on unacknowledged messages: its consumers hold permits, and what they have got."""
    blocked = [consumer(str(number), acks=0, permits=900, unacked=351) for number in range(2)]
    assert slow_of(*blocked).finding.key == "slowest.none_waited_for_nothing_acked"
    idle = [consumer(str(number), acks=0, permits=900, unacked=0) for number in range(2)]
    assert slow_of(*idle).finding.key == "slowest.none_waited_for"
