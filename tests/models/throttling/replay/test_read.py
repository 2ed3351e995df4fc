"""A window read from a lake: what is there, what is missing, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.models.throttling.replay.samples import (
    SELECTOR,
    START_MS,
    TOPIC,
    key,
    one,
    scrapes,
    subscription_series,
    topic_series,
)
from tests.transforms.lakes import lake_of, limit_row, stats_row
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.replay import newest_ms, parse_change, read_observed, replay

TIMES = scrapes(300)
COUNT = len(TIMES)
END_MS = START_MS + 300_001
STEADY = np.arange(COUNT) * 50.0


def steady(**changed):
    """10 msg/s come, 8 msg/s go."""
    fields = {"backlog": np.arange(COUNT) * 10.0, "out_msg": np.arange(COUNT) * 40.0} | changed
    return [*topic_series(TIMES, in_msg=STEADY), *subscription_series(TIMES, **fields)]


def seen(root, series, *, selector=SELECTOR, start_ms=START_MS, end_ms=END_MS, cluster=None, **rows):
    return read_observed(lake_of(root, series, **rows), selector, start_ms, end_ms, cluster)


def test_counters_become_differences_gauges_stay(tmp_path):
    found = seen(tmp_path, steady(consumers=3, unacked=7.0, permits=640.0))
    reader = found.readers["billing", -1]
    assert found.times_ms.tolist() == TIMES.tolist()
    assert found.partitions[-1].in_msg.tolist() == [0.0, *[50.0] * (COUNT - 1)]
    assert reader.out_msg.tolist() == [0.0, *[40.0] * (COUNT - 1)]
    assert reader.backlog_entries.tolist() == (np.arange(COUNT) * 10.0).tolist()
    assert (reader.unacked_msg[0], found.consumers("billing"), found.receiver_queue) == (7.0, 3, 640)
    assert (found.gaps, found.restarts_ms, found.publish_limited) == ([], [], None)
    assert (found.partition, found.messages_per_entry, found.broker_version) == (None, 1.0, None)


def test_the_range_is_half_open(tmp_path):
    found = seen(tmp_path, steady(), start_ms=int(TIMES[3]), end_ms=int(TIMES[10]))
    assert found.times_ms.tolist() == TIMES[3:10].tolist()


def test_newest_sample_is_of_subscription(tmp_path):
    series = [*steady(), *subscription_series(scrapes(600), backlog=0.0, subscription="audit")]
    lake = lake_of(tmp_path, series)
    assert newest_ms(lake, SELECTOR) == TIMES[-1]
    assert newest_ms(lake, f"{TOPIC}#audit") == START_MS + 600_000


def test_a_gap_is_found_and_said(tmp_path):
    kept = np.r_[0:20, 40:COUNT]
    series = [
        *topic_series(TIMES[kept], in_msg=STEADY[kept]),
        *subscription_series(TIMES[kept], backlog=np.arange(COUNT)[kept] * 10.0),
    ]
    found = seen(tmp_path, series)
    assert found.gaps == [(int(TIMES[19]), int(TIMES[40]))]
    notes = replay(found, parse_change([])).notes
    assert ("whatif.gap", {"missing_s": 105.0}) in [(note.key, note.values) for note in notes]


@pytest.mark.long
def test_restart_counts_from_zero_and_is_noted(tmp_path):
    came = STEADY.copy()
    came[30:] -= came[29]
    series = [*topic_series(TIMES, in_msg=came), *subscription_series(TIMES, backlog=500.0)]
    found = seen(tmp_path, series)
    assert found.restarts_ms == [int(TIMES[30])]
    assert found.partitions[-1].in_msg[30] == 50.0
    notes = replay(found, parse_change([])).notes
    assert ("whatif.restarts", {"times": ["08:02"]}) in [(note.key, note.values) for note in notes]


def test_moved_topic_continues_at_new_broker(tmp_path):
    """The counter of the new broker has counted before: what it says first is not what came in that moment."""
    first, second = np.arange(0, 30), np.arange(31, COUNT)
    series = []
    for part, instance, before in ((first, "b1:8080", 0.0), (second, "b2:8080", -1000.0)):
        series += topic_series(TIMES[part], in_msg=STEADY[part] + before, instance=instance)
        series += subscription_series(TIMES[part], backlog=part * 10.0, instance=instance)
    found = seen(tmp_path, series)
    assert found.restarts_ms == [int(TIMES[31])]
    assert found.times_ms.tolist() == np.delete(TIMES, 30).tolist()
    assert found.partitions[-1].in_msg.max() == 50.0
    assert found.partitions[-1].in_msg.sum() == 50.0 * (COUNT - 3)
    assert found.backlog_entries.tolist() == (np.delete(np.arange(COUNT), 30) * 10.0).tolist()


def test_partitions_and_their_subscriptions_are_read_together(tmp_path):
    series = []
    for partition in (0, 1):
        series += topic_series(TIMES, in_msg=STEADY * (1 + partition), partition=partition)
        for name in ("billing", "audit"):
            series += subscription_series(
                TIMES, backlog=100.0 * (1 + partition), subscription=name, partition=partition
            )
    lake = lake_of(tmp_path, series)
    whole = read_observed(lake, SELECTOR, START_MS, END_MS)
    part = read_observed(lake, f"{TOPIC}-partition-1#billing", START_MS, END_MS)
    assert sorted(whole.readers) == [("audit", 0), ("audit", 1), ("billing", 0), ("billing", 1)]
    assert sorted(part.readers) == sorted(whole.readers)
    assert whole.backlog_entries[-1] == 300
    assert (part.partition, part.backlog_entries[-1]) == (1, 200)


@pytest.mark.long
def test_brokers_without_throttle_counters_are_recognised(tmp_path):
    assert seen(tmp_path / "with", steady()).readers["billing", -1].events_of is not None
    found = seen(tmp_path / "without", steady(counted=False))
    assert found.readers["billing", -1].events_of is None
    assert "whatif.throttling_not_counted" in [note.key for note in replay(found, parse_change([])).notes]


# The broker sets it to 0 every 60 s: scraped in step with that, a steady limit is a constant.
@pytest.mark.parametrize(("times", "limited"), [(0.0, False), (40.0, True), (TIMES % 60_000 / 1000, True)])
def test_publish_limit_makes_arrivals_lower_bound(tmp_path, times, limited):
    found = seen(tmp_path, [*steady(), one("pulsar_publish_rate_limit_times", TIMES, times)])
    answer = replay(found, parse_change([]))
    assert (found.publish_limited, answer.arrivals.lower_bound) == (limited, limited)
    assert any(note.key == "whatif.producers_limited" for note in answer.notes) == limited


def test_messages_per_entry_is_published_over_written(tmp_path):
    for written, expected in ((10.0, 1.0), (4.0, 2.5), (0.99, 10.0)):
        series = [*steady(), one("pulsar_storage_write_rate", TIMES, written)]
        assert seen(tmp_path / str(written), series).messages_per_entry == pytest.approx(expected)


def test_idle_topic_uses_admin_messages_per_entry(tmp_path):
    series = [*topic_series(TIMES, in_msg=0.0), *subscription_series(TIMES, backlog=100.0)]
    stats = [stats_row(at_ms=START_MS, **key(), messages_per_entry=8.0, subscription_type="Failover")]
    found = seen(tmp_path, series, stats=stats)
    assert (found.messages_per_entry, found.type_of("billing")) == (8.0, "Failover")


@pytest.mark.long
def test_limits_are_last_before_end(tmp_path):
    """Or the first after it."""
    rows = [
        limit_row("subscription", at_ms=START_MS + at_ms, msg=msg, **key())
        for at_ms, msg in ((0, 50), (200_000, None), (400_000, 70), (500_000, 90))
    ]
    lake = lake_of(tmp_path, steady(), limits=rows)

    def rates(start_ms, end_ms):
        found = read_observed(lake, SELECTOR, START_MS + start_ms, START_MS + end_ms)
        return [row["rate_msg"] for row in found.limit_rows["subscription", -1, "billing"]]

    assert rates(0, 300_001) == [50, None]
    assert rates(0, 100_000) == [50]
    later = lake_of(tmp_path / "later", steady(), limits=rows[2:])
    found = read_observed(later, SELECTOR, START_MS, END_MS)
    assert found.limits["subscription", -1, "billing"]["rate_msg"] == 70
    assert "whatif.limits_read_later" in [note.key for note in replay(found, parse_change([])).notes]


# Bad input


def refused(call):
    with pytest.raises(InputError) as found:
        call()
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.mark.parametrize(
    "selector", ["", "billing", "persistent://acme/shop/orders", "shop/orders#billing", "#billing"]
)
def test_what_is_no_subscription(tmp_path, selector):
    line = refused(lambda: read_observed(Lake(tmp_path), selector, 0, 1))
    assert "A subscription cannot be read" in line
    assert "expected [persistent://]tenant/ns/topic[-partition-N]#sub" in line


def test_an_empty_lake_and_an_unknown_subscription(tmp_path):
    assert "There are no samples in this lake" in refused(
        lambda: newest_ms(Lake(tmp_path / "none"), SELECTOR)
    )
    lake = lake_of(tmp_path, steady())
    line = refused(lambda: newest_ms(lake, f"{TOPIC}#biling"))
    assert f"got {TOPIC}#biling. Fix: did you mean {SELECTOR}?" in line
    line = refused(lambda: newest_ms(lake, "persistent://else/where/entirely#x"))
    assert "Fix: see throttlescope verdicts" in line
    assert "No backlog of this subscription" in refused(
        lambda: newest_ms(lake, f"{TOPIC}-partition-3#billing")
    )


def test_two_clusters_have_to_be_told_apart(tmp_path):
    other = [
        *topic_series(TIMES, in_msg=STEADY, cluster="other"),
        *subscription_series(TIMES, backlog=5.0, cluster="other"),
    ]
    lake = lake_of(tmp_path, [*steady(), *other])
    line = refused(lambda: read_observed(lake, SELECTOR, START_MS, END_MS))
    assert f"Several clusters have {SELECTOR}; got other, prod. Fix: name the cluster" in line
    assert read_observed(lake, SELECTOR, START_MS, END_MS, "other").backlog_entries[-1] == 5
    line = refused(lambda: newest_ms(lake, SELECTOR, "third"))
    assert "is in no such cluster; got third; expected other or prod" in line


def test_empty_window_says_where_samples_are(tmp_path):
    lake = lake_of(tmp_path, steady())
    line = refused(lambda: read_observed(lake, SELECTOR, END_MS, END_MS + 60_000))
    assert "got 0 scrapes from 2026-11-20T08:05:00.001Z" in line
    assert "the lake has it from 2026-11-20T08:00:00Z to 2026-11-20T08:05:00Z" in line


def test_broker_scraped_twice_is_replayed_once(tmp_path):
    again = [replace(one, labels={**one.labels, "job": "pods"}) for one in steady()]
    found = seen(tmp_path, [*steady(), *again])
    assert found.partitions[-1].in_msg.tolist() == [0.0, *[50.0] * (COUNT - 1)]
    assert found.readers["billing", -1].out_msg.tolist() == [0.0, *[40.0] * (COUNT - 1)]
