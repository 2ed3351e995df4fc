"""Shared incidents: who is in one, from when to when, and who is not; times compared with a look at every minute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.episodes.scenes import DAY, KEY, episodes, minutes, verdicts
from tests.naive import episodes as naive
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes import incidents_of
from throttlescope.models.episodes.incidents import IncidentStretch, hot_times


def limited(letters, *, subscription="billing", topic="orders", partition=0, broker="broker-0", **columns):
    """An episode from the first letter to the last, a window each, that is gone afterwards."""
    name = f"persistent://acme/shop/{topic}"
    key = KEY._replace(subscription=subscription, topic=name, partition=partition)
    lead = len(letters) - len(letters.lstrip())
    entries = [5] * (5 * lead) + [900] * (5 * len(letters.strip())) + [5] * 10
    (one,) = episodes(minutes(entries, key=key, broker=broker, **columns), verdicts(letters, key=key))
    return one


def summary(rows):
    return [
        (row["kind"], row["shared_with"], row["limiter"], len(row["members"])) for row in incidents_of(rows)
    ]


def test_shared_topic_limiter_is_one_incident():
    rows = [limited("PPPP"), limited("  PPPP", subscription="audit"), limited("PPPP", topic="clicks")]
    (one,) = incidents_of(rows)
    assert (one["kind"], one["shared_with"], one["limiter"]) == (
        "topic_limiter", "persistent://acme/shop/orders", "topic.msg",
    )  # fmt: skip
    assert [member["subscription"] for member in one["members"]] == ["billing", "audit"]
    # From when both are limited until the first is not.
    assert [(one[name] - DAY) // MINUTE_MS for name in ("start_ms", "end_ms", "since_ms")] == [10, 20, 0]
    assert (one["cause"], one["side"], one["most_at_once"], one["topics"]) == ("throttled", "throttle", 2, 1)


def test_subscription_limits_are_not_shared():
    assert (
        summary(
            [limited("TTTT"), limited("TTTT", subscription="audit"), limited("SSSS", subscription="search")]
        )
        == []
    )


def test_a_namespaces_policy_is_shared_by_topics():
    policy = {"limit_subscription_set_by": "namespace_policy"}
    rows = [limited("TTTT", topic=topic, **policy) for topic in ("orders", "clicks", "mails")]
    assert summary(rows) == [("namespace_policy", "acme/shop", "subscription.msg", 3)]
    # Two subscriptions of one topic may have more in common than the policy.
    assert summary([limited("TTTT", **policy), limited("TTTT", subscription="audit", **policy)]) == []


def test_broker_limiter_is_shared_by_its_subscriptions():
    rows = [
        limited("BBBB"),
        limited("BBBB", topic="clicks"),
        limited("BBBB", topic="mails", broker="broker-1"),
    ]
    assert summary(rows) == [("broker_limiter", "broker-0", "broker.msg", 2)]
    assert summary([limited("BBBB", broker=None), limited("BBBB", topic="clicks", broker=None)]) == []


def test_cold_reads_are_attributed_to_broker():
    """From three topics on."""
    topics = ("orders", "clicks", "mails")
    assert summary([limited("CCCC", topic=topic) for topic in topics]) == [("broker", "broker-0", None, 3)]
    assert summary([limited("CCCC", topic=topic) for topic in topics[:2]]) == []
    assert summary([limited("SSSS", topic=topic) for topic in topics]) == []


def test_restart_is_attributed_to_broker():
    rows = [limited("SSSS", topic=topic, counter_resets={7: 6}) for topic in ("orders", "clicks", "mails")]
    (one,) = incidents_of(rows)
    assert (one["kind"], one["cause"], one["limiter"]) == ("broker", "topic_moved", None)
    assert (one["start_ms"] - DAY) // MINUTE_MS == 7


def test_less_than_a_window_together_is_chance():
    rows = [limited("PPPP"), limited("   PPPP", subscription="audit")]
    assert len(incidents_of(rows)) == 1
    rows = [limited("PPP"), limited("   PPPP", subscription="audit")]
    assert incidents_of(rows) == []


def test_a_pause_makes_no_second_incident():
    both = [limited("PPPPhhPPPP"), limited("PPPPPPPPPP", subscription="audit")]
    assert [len(row["members"]) for row in incidents_of(both)] == [2]
    both = [limited("PPPPhhhhPPPP"), limited("PPPPPPPPPPPP", subscription="audit")]
    assert [len(row["members"]) for row in incidents_of(both)] == [2, 2]


def test_narrower_incident_is_not_repeated():
    policy = {"limit_topic_set_by": "namespace_policy"}
    rows = [limited("PPPP", **policy), limited("PPPP", subscription="audit", **policy)]
    assert summary(rows) == [("topic_limiter", "persistent://acme/shop/orders", "topic.msg", 2)]
    rows.append(limited("PPPP", topic="clicks", **policy))
    assert summary(rows) == [("namespace_policy", "acme/shop", "topic.msg", 3)]


def test_incident_is_open_while_members_are():
    def still(subscription):
        key = KEY._replace(subscription=subscription)
        return episodes(minutes([900] * 20, key=key), verdicts("PPPP", key=key))[0]

    (one,) = incidents_of([still("billing"), still("audit")])
    assert one["end_ms"] is None
    (one,) = incidents_of([still("billing"), limited("PPPP", subscription="audit")])
    assert one["end_ms"] is not None


def test_clusters_do_not_mix_in_any_order():
    rows = [limited("PPPP"), limited("PPPP", subscription="audit"), limited("PPPP", subscription="search")]
    assert incidents_of([rows[0], rows[1] | {"cluster": "other"}]) == []
    assert incidents_of(rows) == incidents_of(rows[::-1])
    assert incidents_of([]) == []


_spans = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12), st.sampled_from("abc")), min_size=1, max_size=12
)


@given(_spans, st.integers(1, 3))
def test_times_are_those_of_the_twin(spans, least):
    stretches = [
        IncidentStretch(
            DAY + start * MINUTE_MS, DAY + (start + length) * MINUTE_MS, "throttled", False,
            {**KEY._asdict(), "subscription": who},
        )
        for start, length, who in spans
    ]  # fmt: skip
    found = {
        at_ms
        for start_ms, end_ms in hot_times(stretches, least, "subscription")
        for at_ms in range(start_ms, end_ms, MINUTE_MS)
    }
    slow = [(one.start_ms, one.end_ms, one.episode["subscription"]) for one in stretches]
    assert found == naive.hot_minutes(slow, least)


@pytest.mark.parametrize("letters", ["PPPP", "BBBB"])
def test_the_worst_member_is_named(letters):
    rows = [limited(letters), limited(letters, subscription="audit") | {"peak_entries": 5000.0}]
    (one,) = incidents_of(rows)
    assert (one["worst_episode_id"], one["peak_entries"]) == (rows[1]["episode_id"], 5000)
