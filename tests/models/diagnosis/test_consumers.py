"""Whether the consumers' queues are full."""

from __future__ import annotations

import pytest

from tests.models.diagnosis.scenes import scene
from throttlescope.models.diagnosis.consumer_queues import read_queue, tracks_unacked, undelivered_entries


@pytest.mark.parametrize(
    ("changes", "queue", "shown_by"),
    [
        # One consumer: the share of samples decides.
        ({"consumers": 1.0, "permits": 0.0, "starved": 0.95, "unacked": 1000.0}, "full", "starved"),
        ({"consumers": 1.0, "kind": "Exclusive", "starved": 0.5, "permits": 0.0}, "full", "starved"),
        ({"consumers": 1.0, "kind": "Exclusive", "starved": 0.3, "permits": 400.0}, "between", "starved"),
        ({"consumers": 1.0, "kind": "Exclusive", "starved": 0.1, "permits": 400.0}, "empty", "starved"),
        # Permits are there at every scrape, but the queues hold far more than they have room for.
        ({"consumers": 1.0, "permits": 100.0, "unacked": 900.0}, "full", "fill"),
        ({"consumers": 1.0, "permits": 500.0, "unacked": 500.0}, "between", "fill"),
        ({"consumers": 1.0, "permits": 900.0, "unacked": 100.0}, "empty", "fill"),
        ({"consumers": 1.0, "permits": 900.0, "unacked": 0.0}, "empty", "idle"),
        # No permits are scraped.
        ({"permits": None, "starved": None, "unacked": 1600.0}, "full", "unacked"),
        ({"permits": None, "starved": None, "unacked": 0.0}, "empty", "idle"),
        ({"permits": None, "starved": None, "unacked": 30.0}, "unknown", None),
        ({"permits": None, "starved": None, "kind": "Exclusive"}, "unknown", None),
        ({"permits": None, "starved": None, "kind": None}, "unknown", None),
    ],
)
def test_queue(changes, queue, shown_by):
    read = read_queue(scene(**changes))
    assert (read.queue, read.shown_by) == (queue, shown_by)


def window_of_two(kind: str, low: float, high: float, starved: float = 0.5):
    window = scene(kind=kind, consumers=2.0, starved=starved, unacked=10.0)
    columns = dict(window.columns)
    columns["permits_min"], columns["permits_max"] = [low] * 5, [high] * 5
    return type(window)(window.key, window.start_ms, window.end_ms, columns, 0, 5)


def test_one_full_shared_consumer_is_no_wait():
    """The broker serves the other consumers."""
    assert read_queue(window_of_two("Shared", low=0.0, high=800.0)).queue != "full"
    assert read_queue(window_of_two("Shared", low=-3.0, high=0.0)).queue == "full"


def test_standby_consumer_does_not_hide_full_one():
    assert read_queue(window_of_two("Failover", low=0.0, high=1000.0)).queue == "full"
    assert read_queue(window_of_two("Failover", low=500.0, high=1000.0, starved=0.05)).queue == "empty"


ACTIVE = {
    "kind": None,
    "consumers": 6.0,
    "permits": 500.0,
    "unacked": 0.0,
    "slowest_acks": 0.0,
    "starved": 0.16,
}


@pytest.mark.parametrize(
    ("changes", "queue"),
    [
        # One of six is without permits nearly always, and nothing counts as unacked: five are on standby.
        ({}, "full"),
        ({"starved": 0.05}, "between"),
        ({"starved": 0.02}, "empty"),
        ({"starved": 0.0}, "empty"),
        # Nothing shows whether they are on standby.
        ({"unacked": None}, "unknown"),
        ({"unacked": None, "starved": 0.04}, "empty"),
        ({"unacked": None, "starved": 0.6}, "full"),
        # All acknowledge, or messages count as unacked: none is on standby.
        ({"slowest_acks": 3.0}, "empty"),
        ({"slowest_acks": [3.0, 3.0, 0.0, 0.0, 0.0]}, "full"),
        ({"unacked": 90.0}, "empty"),
    ],
)
def test_possible_standbys_prove_no_spare_capacity(changes, queue):
    assert read_queue(scene(**(ACTIVE | changes))).queue == queue


def test_without_consumers_nobody_has_room():
    read = read_queue(scene(consumers=0.0, permits=None, starved=None))
    assert (read.queue, read.idle_share) == ("unknown", None)


def test_exclusive_zero_unacked_is_no_measurement():
    assert not tracks_unacked(scene(kind="Exclusive", unacked=0.0))
    assert not tracks_unacked(scene(kind=None, unacked=0.0))
    assert tracks_unacked(scene(kind=None, unacked=[0.0, 0.0, 7.0, 0.0, 0.0]))


def test_unacked_messages_are_not_undelivered():
    assert undelivered_entries(scene(backlog=1000.0, unacked=990.0)) == [10.0] * 5
    assert undelivered_entries(scene(backlog=1000.0, unacked=900.0, per_entry=10.0)) == [910.0] * 5
    # Messages per entry unknown, or nothing measured: nothing is deducted.
    assert undelivered_entries(scene(backlog=1000.0, unacked=990.0, per_entry=None)) == [1000.0] * 5
    assert undelivered_entries(scene(backlog=1000.0, unacked=990.0, kind="Exclusive")) == [1000.0] * 5
    assert undelivered_entries(scene(backlog=[None] * 5)) == [None] * 5
