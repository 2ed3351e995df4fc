"""A replicator's window: read as a subscription's, with a limit that counts entries and no consumers to add."""

import numpy as np
import pytest

from tests.models.throttling.replay.samples import START_MS, TOPIC, key, one, scrapes
from tests.transforms.lakes import lake_of, limit_row
from throttlescope.app.services.whatif.scales import scales
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.recommendation import advise
from throttlescope.models.throttling.replay import Ground, newest_ms, parse_change, read_observed, replay

TIMES = scrapes(600)
SECONDS = (TIMES - START_MS) / 1000
SELECTOR = f"{TOPIC}@west"
CURSOR = "pulsar.repl.west"
#: 200 msg/s come in batches of ten, and 5 of 20 entries/s may go.
IN_MSG, PER_ENTRY, LIMIT = 200, 10, 5


def replicated(*, remote="west", backlog=None, sent=float(LIMIT), received=None):
    backlog = (IN_MSG / PER_ENTRY - LIMIT) * SECONDS if backlog is None else backlog
    values = {
        "backlog": backlog, "rate_out": sent, "throughput_out": 1_000 * sent, "connected_count": 1.0,
    }  # fmt: skip
    if received is not None:
        values |= {"rate_in": received, "throughput_in": 100 * received}
    return [
        one(f"pulsar_replication_{name}", TIMES, value, remote_cluster=remote)
        for name, value in values.items()
    ]


def published(msg_per_s=float(IN_MSG)):
    return [
        one("pulsar_in_messages_total", TIMES, msg_per_s * SECONDS),
        one("pulsar_in_bytes_total", TIMES, 100 * msg_per_s * SECONDS),
        one("pulsar_storage_write_rate", TIMES, msg_per_s / PER_ENTRY),
    ]


def limited(msg=LIMIT, subscription=CURSOR):
    return [
        limit_row(
            "subscription", at_ms=START_MS - 1, msg=msg, counts="entries", **key(subscription=subscription)
        )
    ]


def observed(tmp_path, series=None, limits=None):
    series = [*published(), *replicated()] if series is None else series
    lake = lake_of(tmp_path, series, limits=limited() if limits is None else limits)
    return read_observed(lake, SELECTOR, START_MS, int(TIMES[-1]) + 1)


def test_a_window_is_read_as_a_subscriptions(tmp_path):
    found = observed(tmp_path)
    reader = found.readers[CURSOR, -1]
    assert list(found.readers) == [(CURSOR, -1)]
    assert (found.messages_per_entry, found.type_of(CURSOR), found.consumers(CURSOR)) == (
        10.0,
        "Exclusive",
        1,
    )
    assert reader.backlog_entries[-1] == 9_000
    # 5 entries/s over scrapes of 5 s, in messages.
    assert reader.out_msg[1:].tolist() == pytest.approx([250.0] * (len(TIMES) - 1))
    assert reader.out_bytes[1:].tolist() == pytest.approx([25_000.0] * (len(TIMES) - 1))
    assert reader.events_of is None


def test_subscriptions_and_other_replicators_stay_out(tmp_path):
    other = one("pulsar_subscription_back_log", TIMES, 7.0, subscription="billing")
    rows = [*limited(), *limited(3, "pulsar.repl.south"), *limited(2, "billing")]
    found = observed(tmp_path, [*published(), *replicated(), *replicated(remote="south"), other], rows)
    assert list(found.readers) == [(CURSOR, -1)]
    assert {name for _, _, name in found.limit_rows} == {CURSOR}


def test_received_messages_are_not_sent_on(tmp_path):
    found = observed(tmp_path, [*published(300.0), *replicated(received=100.0)])
    assert found.partitions[-1].in_msg[1:].tolist() == pytest.approx([1_000.0] * (len(TIMES) - 1))


def test_a_restart_keeps_what_came_after(tmp_path):
    counted = np.where(SECONDS < 300, 300 * SECONDS, 300 * (SECONDS - 300))
    series = [
        one("pulsar_in_messages_total", TIMES, counted),
        one("pulsar_in_bytes_total", TIMES, 100 * counted),
        *replicated(received=100.0),
    ]
    found = observed(tmp_path, series)
    assert found.restarts_ms == [START_MS + 300_000]
    assert found.partitions[-1].in_msg[1:60].tolist() == pytest.approx([1_000.0] * 59)
    assert found.partitions[-1].in_msg[61:].tolist() == pytest.approx([1_000.0] * (len(TIMES) - 61))


def test_a_raised_limit_drains_by_entries(tmp_path):
    found = observed(tmp_path)
    change = parse_change(["subscription.msg=50"])
    answer = replay(found, change, history=found, horizon_s=1_200)
    # 9,000 entries at 50 - 20 entries/s; what the remote cluster could take was never seen.
    assert answer.as_is.best.drain_s is None
    assert answer.changed.best.drain_s == pytest.approx(300, rel=0.1)
    assert answer.changed.best.held_by == "subscription.msg"
    assert "whatif.replicator" in [note.key for note in answer.notes]
    assert "whatif.throttling_not_counted" not in [note.key for note in answer.notes]


@pytest.mark.parametrize("setting", ["topic.msg=9", "broker.bytes=none", "consumers=4"])
def test_what_a_replicator_has_not_is_refused(tmp_path, setting):
    found = observed(tmp_path)
    with pytest.raises(InputError, match="does not change what a replicator sends"):
        replay(found, parse_change([setting]), history=found)


def test_an_unknown_remote_gets_the_nearest_name(tmp_path):
    lake = lake_of(tmp_path, [*published(), *replicated()])
    with pytest.raises(InputError, match=f"did you mean {SELECTOR}"):
        newest_ms(lake, f"{TOPIC}@wets")


@pytest.mark.long
def test_the_smallest_limit_is_recommended(tmp_path):
    found = observed(tmp_path)
    advice = advise(found, target_s=1_800)
    best = advice.recommendations[0]
    # 20 entries/s come, and 9,000 wait: 25 a second drain them in half an hour.
    assert (best.limiter, best.now) == ("subscription.msg", LIMIT)
    assert 24 <= best.value <= 29
    assert best.apply.startswith(
        f"pulsar-admin topicPolicies set-replicator-dispatch-rate {TOPIC} -md {best.value} "
    )
    queries = [check.query for check in best.checks]
    assert all('remote_cluster="west"' in query for query in queries)
    assert {one.lever for one in advice.recommendations} <= {"limit", "period"}


@pytest.mark.long
def test_only_its_own_limit_can_be_moved(tmp_path):
    keys = set(scales(Ground(observed(tmp_path), observed(tmp_path / "history"))))
    assert keys == {
        "subscription.msg", "subscription.bytes", "subscription.period_s", "processing_ms", "load", "batch_msg",
    }  # fmt: skip
