"""What is new to a channel: each change once, whatever is repeated, recomputed or late."""

from __future__ import annotations

import pytest

from throttlescope.app.config import NotificationChannel
from throttlescope.app.incident.notifications.changes import find_changes
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.models.episodes.episode import episode_id

T0 = 1_795_046_400_000
ANY = NotificationChannel(type="webhook", url="http://127.0.0.1:1")


def stretch(cause, start, end, limiter=None):
    side = {"throttled": "throttle", "slow_consumers": "consumer_capacity"}.get(cause, "neither")
    return {
        "start_ms": T0 + start * MINUTE_MS, "end_ms": T0 + end * MINUTE_MS, "cause": cause, "side": side, "limiter": limiter,
        "named_ms": (end - start) * MINUTE_MS, "confidence": 0.9, "windows": 1, "flips": 0,
    }  # fmt: skip


def episode(*causes, start=0, end=None, known=60, peak=5000.0, **changed):
    from throttlescope.models.diagnosis.window import SubscriptionKey

    key = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 0, "billing")
    causes = list(causes) or [stretch("throttled", 0, 60, "topic.msg")]
    start_ms = T0 + start * MINUTE_MS
    return {
        **key._asdict(), "episode_id": episode_id(key, start_ms), "start_ms": start_ms, "since_ms": start_ms,
        "since_method": "change_point", "end_ms": None if end is None else T0 + end * MINUTE_MS,
        "known_until_ms": T0 + (known if end is None else end) * MINUTE_MS, "peak_entries": peak, "last_entries": peak,
        "cause": causes[0]["cause"], "side": causes[0]["side"], "limiter": causes[0]["limiter"], "confidence": 0.9,
        "causes": causes,
    } | changed  # fmt: skip


def told(found, sent=None, at=60):
    """What the channel knows after these changes were sent."""
    rows = dict(sent or {})
    for one in found.changes:
        row = one.sent_row("room", T0 + at * MINUTE_MS, "2026-11-20")
        rows[row["episode_id"]] = row
    return rows


def changes(episodes, sent=None, wanted=ANY, oldest=0):
    return find_changes(episodes, sent or {}, wanted, oldest_ms=T0 + oldest * MINUTE_MS)


def test_each_state_is_new_once():
    first = changes([episode()])
    assert [(one.change, one.cause, one.limiter) for one in first.changes] == [
        ("opened", "throttled", "topic.msg")
    ]
    sent = told(first)
    assert changes([episode()], sent).changes == ()
    two = episode(stretch("throttled", 0, 60, "topic.msg"), stretch("slow_consumers", 60, 90))
    second = changes([two], sent)
    assert [(one.change, one.cause, one.before) for one in second.changes] == [
        ("cause_changed", "slow_consumers", ("throttled", "topic.msg"))
    ]
    sent = told(second, sent, at=90)
    assert changes([two], sent).changes == ()
    gone = two | {"end_ms": T0 + 2 * BLOCK_MS}
    third = changes([gone], sent)
    assert [one.change for one in third.changes] == ["closed"]
    sent = told(third, sent, at=120)
    assert changes([gone], sent).changes == ()
    ids = {one.message_id("room") for found in (first, second, third) for one in found.changes}
    assert len(ids) == 3


def test_cause_of_a_drain_is_no_change():
    sent = told(changes([episode()]))
    draining = episode(
        stretch("throttled", 0, 60, "topic.msg"), stretch("healthy", 60, 80), stretch("unknown", 80, 90)
    )
    assert changes([draining], sent).changes == ()


def test_healthy_backlog_is_not_sent():
    healthy = episode(stretch("healthy", 0, 60))
    assert changes([healthy]).changes == ()
    wanted = NotificationChannel(type="webhook", url="http://127.0.0.1:1", causes=["healthy"])
    assert len(changes([healthy], wanted=wanted).changes) == 1


def test_old_backlog_is_counted_not_sent():
    found = changes([episode(), episode(start=-600, end=-500)], oldest=61)
    assert (found.changes, found.too_old) == ((), 2)
    # What a channel was told is closed however late that is known.
    sent = told(changes([episode()]))
    assert [one.change for one in changes([episode(end=50)], sent, oldest=600).changes] == ["closed"]


def test_backlog_between_two_runs_is_sent_closed():
    (one,) = changes([episode(end=40)]).changes
    assert (one.change, one.is_first) == ("closed", True)


def test_moved_start_is_the_same_episode():
    """Late samples move an episode's start, and with it its id."""
    sent = told(changes([episode()]))
    moved = episode(start=-5)
    assert moved["episode_id"] not in sent
    assert changes([moved], sent).changes == ()


def test_vanished_backlog_is_withdrawn_once():
    sent = told(changes([episode()]))
    found = changes([], sent)
    assert [(one.change, one.is_withdrawn) for one in found.changes] == [("closed", True)]
    assert changes([], told(found, sent, at=70)).changes == ()


def test_reopened_backlog_has_another_message_id():
    opened = changes([episode()])
    sent = told(opened)
    closed = changes([episode(end=50)], sent)
    sent = told(closed, sent, at=61)
    again = changes([episode()], sent)
    assert [one.change for one in again.changes] == ["opened"]
    assert again.changes[0].message_id("room") != opened.changes[0].message_id("room")


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({"sides": ["throttle"]}, True),
        ({"sides": ["consumer_capacity"]}, False),
        ({"causes": ["slow_consumers"]}, False),
        ({"limiters": ["topic.msg"]}, True),
        ({"limiters": ["broker.msg"]}, False),
        ({"namespaces": ["acme/*"]}, True),
        ({"namespaces": ["acme/bill*"]}, False),
        ({"clusters": ["other"]}, False),
        ({"min_backlog_entries": 5001}, False),
        ({"min_duration": "1h"}, True),
        ({"min_duration": "61m"}, False),
    ],
)
def test_filters_choose_what_is_sent(filters, passes):
    wanted = NotificationChannel(type="webhook", url="http://127.0.0.1:1", **filters)
    assert bool(changes([episode()], wanted=wanted).changes) is passes


def test_filtered_cause_is_still_told_as_a_change():
    """Whoever was told of a throttled backlog has to learn that it is no longer theirs."""
    wanted = NotificationChannel(type="webhook", url="http://127.0.0.1:1", sides=["throttle"])
    sent = told(changes([episode()], wanted=wanted))
    now_slow = episode(stretch("throttled", 0, 60, "topic.msg"), stretch("slow_consumers", 60, 90))
    assert [one.change for one in changes([now_slow], sent, wanted).changes] == ["cause_changed"]


def test_largest_backlog_comes_first():
    small = episode(peak=10.0) | {"subscription": "audit", "episode_id": "small"}
    assert [one.episode["peak_entries"] for one in changes([small, episode()]).changes] == [5000.0, 10.0]
