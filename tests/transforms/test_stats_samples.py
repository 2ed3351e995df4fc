"""Snapshots of the admin API by the minute: worked cases, and the slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive.stats_samples import minute_stats
from tests.transforms.lakes import stats_row, table_of
from throttlescope.ingest.contracts.results import STATS_COLUMNS
from throttlescope.transforms.deltas import CounterMinutes
from throttlescope.transforms.stats_samples import NEAR_MS, stats_in_minutes

MINUTE_MS = 60_000
START_MS = 1_700_000_000_000 // 3_600_000 * 3_600_000
KEY = ("c", "t/n", "persistent://t/n/x", -1, "s")
NAMED = dict(zip(("cluster", "namespace", "topic", "partition", "subscription"), KEY, strict=True))
FAR_MS = START_MS + 3_600_000


def snapshot(at_s, **more):
    permits = {"permits_min": 0, "permits_max": 0, "consumers": 2, "consumers_without_permits": 2}
    more = {"subscription_type": "Shared", "consumers_blocked": 0} | permits | more
    return stats_row(at_ms=START_MS + round(at_s * 1000), **NAMED, **more)


def minutes_of(*snapshots, count=4, newest_ms=FAR_MS, key=KEY, consumers=None):
    """What each minute of one subscription knows, NULLs left out."""
    scraped = np.full((1, count), np.nan if consumers is None else float(consumers))
    found = stats_in_minutes(
        table_of("topic_stats", snapshots), [key], CounterMinutes(START_MS, count), {"c": newest_ms}, scraped
    )
    if not found:
        return [{}] * count
    assert list(found) == list(STATS_COLUMNS)
    return [
        {name: column[0, n] for name, column in found.items() if column[0, n] == column[0, n] is not None}
        for n in range(count)
    ]


def test_snapshot_counts_for_nearest_minute_end():
    found = minutes_of(snapshot(31), snapshot(60), snapshot(89), snapshot(90))
    assert [minute.get("stats_samples") for minute in found] == [3, 1, None, None]
    assert found[0]["stats_newest_ms"] == START_MS + 89_000


def test_no_snapshot_is_null():
    assert minutes_of() == [{}, {}, {}, {}]
    assert minutes_of(snapshot(60), key=(*KEY[:4], "other")) == [{}, {}, {}, {}]


def test_snapshot_after_newest_sample_counts_while_near():
    newest_ms = START_MS + 100_000
    near, late = snapshot(120 + NEAR_MS / 1000), snapshot(121 + NEAR_MS / 1000)
    assert minutes_of(near, newest_ms=newest_ms)[1]["stats_samples"] == 1
    assert minutes_of(late, newest_ms=newest_ms) == [{}, {}, {}, {}]


def test_late_snapshot_counts_for_finished_minute():
    """Read now, 40 s into a minute: the newest window ends where that minute began."""
    found = minutes_of(snapshot(160), newest_ms=START_MS + 155_000)
    assert [minute.get("stats_samples") for minute in found] == [None, 1, None, None]
    # Once that minute has its samples, the snapshot is nearer to its end.
    found = minutes_of(snapshot(160), newest_ms=START_MS + 215_000)
    assert [minute.get("stats_samples") for minute in found] == [None, None, 1, None]


@pytest.mark.parametrize("kind", ["Exclusive", "Failover"])
def test_only_active_consumer_counts(kind):
    standby = {"subscription_type": kind, "consumers": 6, "permits_max": 1000, "consumers_without_permits": 1}
    starved = minutes_of(snapshot(60, active_permits=0, **standby))[0]
    assert starved["stats_starved_share"] == 1.0
    assert "stats_uneven_share" not in starved
    assert "stats_fill_share" not in starved
    assert minutes_of(snapshot(60, active_permits=1, **standby))[0]["stats_starved_share"] == 0.0
    # Which one is active is not known: what stands by must not pass for room.
    assert "stats_starved_share" not in minutes_of(snapshot(60, **standby))[0]


def test_shared_is_starved_without_any_permits():
    found = minutes_of(snapshot(50), snapshot(55, permits_max=7, consumers_without_permits=1))
    assert found[0]["stats_starved_share"] == 0.5
    assert found[0]["stats_uneven_share"] == 0.5


def test_key_shared_counts_consumers():
    found = minutes_of(
        snapshot(
            60, subscription_type="Key_Shared", consumers=4, consumers_without_permits=1, permits_max=9,
            draining_hashes=3,
        )
    )  # fmt: skip
    assert found[0]["stats_starved_share"] == 0.25
    assert found[0]["stats_uneven_share"] == 1.0
    assert found[0]["stats_draining_share"] == 1.0


def test_snapshot_of_other_consumers_is_left_out():
    """The admin API of another cluster, or consumers that came meanwhile: nothing is known rather than the wrong thing."""
    assert minutes_of(snapshot(60), consumers=2)[0]["stats_samples"] == 1
    assert minutes_of(snapshot(60), consumers=3) == [{}, {}, {}, {}]


def test_rates_and_replication_are_the_newest():
    found = minutes_of(
        snapshot(50, ack_msg_rate_min=1.0, replicated=False),
        snapshot(55, ack_msg_rate_min=2.0, replicated=True),
    )
    assert found[0]["stats_ack_msg_rate_min"] == 2.0
    assert found[0]["stats_replicated"] == 1.0


def test_paused_connections_are_shares_of_consumers():
    topic = "persistent://t/n/loud"
    paused = {"consumers_paused": 1, "connection_pauses": 40, "pausing_topic": topic}
    found = minutes_of(snapshot(50, **paused), snapshot(55, consumers_paused=0, connection_pauses=0))
    assert found[0]["stats_paused_share"] == 0.25
    assert found[0]["stats_connection_pauses"] == 0
    assert "stats_pausing_topic" not in found[0]
    assert minutes_of(snapshot(50, **paused))[0]["stats_pausing_topic"] == topic


def test_older_row_has_only_its_columns():
    old = stats_row(at_ms=START_MS + 60_000, **NAMED, subscription_type="Shared", consumers=1, permits_max=5)
    found = minutes_of(old)[0]
    assert found["stats_starved_share"] == 0.0
    assert "stats_uneven_share" not in found
    assert "stats_blocked_share" not in found


permits = st.none() | st.integers(-5, 5)
snapshots = st.builds(
    snapshot,
    st.integers(0, 600),
    subscription_type=st.sampled_from(["Exclusive", "Failover", "Shared", "Key_Shared", None]),
    consumers=st.integers(0, 3),
    active_permits=permits,
    permits_min=st.integers(-5, 0),
    permits_max=st.integers(0, 5),
    unacked_msg=st.integers(0, 9),
    consumers_without_permits=st.none() | st.integers(0, 3),
    consumers_blocked=st.none() | st.integers(0, 3),
    draining_hashes=st.integers(0, 1),
    ack_msg_rate_min=st.none() | st.floats(0, 9),
    replicated=st.none() | st.booleans(),
    consumers_paused=st.none() | st.integers(0, 3),
    connection_pauses=st.none() | st.integers(0, 900),
    pausing_topic=st.none() | st.sampled_from(["persistent://t/n/loud", "persistent://t/n/other"]),
)


@pytest.mark.long
@given(
    st.lists(snapshots, max_size=12, unique_by=lambda row: row["observed_ms"]),
    st.integers(0, 500_000),
    st.none() | st.integers(0, 3),
)
def test_minutes_equal_slow_twin(rows, newest_offset_ms, consumers):
    newest_ms = START_MS + newest_offset_ms
    found = minutes_of(*rows, count=8, newest_ms=newest_ms, consumers=consumers)
    for number, minute in enumerate(found):
        wanted = minute_stats(rows, START_MS + number * MINUTE_MS, newest_ms, consumers)
        wanted = {
            name: value if isinstance(value, str) else float(value)
            for name, value in wanted.items()
            if value is not None
        }
        assert minute == pytest.approx(wanted)
