"""Roll-ups: counts and the worst, never a mean that hides it."""

from __future__ import annotations

import pytest

from tests.models.episodes.scenes import KEY, episodes, minutes, verdicts
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.episodes import BY, rollups


def episode(letters, height, *, drained=True, **key):
    key = KEY._replace(**key)
    rows = minutes([height] * (5 * len(letters)) + ([5] * 10 if drained else []), key=key)
    (one,) = episodes(rows, verdicts(letters, key=key))
    return one


def fleet():
    return [
        episode("TTTT", 9000, partition=3),
        episode("SS", 500, subscription="audit", partition=0, drained=False),
        episode("PPPPPP", 700, subscription="audit", partition=1),
        episode("BB", 800, topic="persistent://acme/mail/out", namespace="acme/mail", partition=-1),
    ]


def test_subscription_takes_cause_of_worst_partition():
    rows = rollups(fleet(), "subscription", {("prod", KEY.topic): 8})
    by_name = {row["name"].split("/")[-1]: row for row in rows}
    billing = by_name["orders#billing"]
    assert (billing["partitions"], billing["partitions_of"], billing["worst"]["partition"]) == (1, 8, 3)
    audit = by_name["orders#audit"]
    assert (audit["episodes"], audit["open"], audit["partitions"], audit["worst"]["partition"]) == (
        2,
        1,
        2,
        1,
    )
    assert audit["causes"] == {"slow_consumers": 1, "throttled": 1}
    assert audit["held_ms"] == {"throttled": 30 * MINUTE_MS, "slow_consumers": 10 * MINUTE_MS}


@pytest.mark.parametrize(("by", "names"), [("topic", 2), ("namespace", 2), ("broker", 1), ("limiter", 3)])
def test_every_episode_is_counted_once(by, names):
    rows = rollups(fleet(), by)
    assert len(rows) == names
    # Slow consumers are limited by no limiter.
    assert sum(row["episodes"] for row in rows) == (3 if by == "limiter" else 4)


def test_topic_names_its_worst_partition():
    """Of any subscription."""
    row = next(row for row in rollups(fleet(), "topic") if row["name"] == KEY.topic)
    assert (row["worst"]["partition"], row["worst"]["peak_entries"], row["partitions"]) == (3, 9000, 3)
    assert row["subscription_partitions"] == 3
    assert row["partitions_of"] is None


def test_limiter_is_named_with_owner_and_time():
    rows = {row["name"]: row for row in rollups(fleet(), "limiter")}
    assert set(rows) == {
        f"subscription.msg of {KEY.topic}#billing", f"topic.msg of {KEY.topic}", "broker.msg of broker-0:8080",
    }  # fmt: skip
    assert rows[f"topic.msg of {KEY.topic}"]["total_ms"] == 30 * MINUTE_MS


def test_both_limiters_of_episode_are_counted():
    rows = rollups([episode("TTTTPPPP", 900)], "limiter")
    assert sorted(row["name"].split()[0] for row in rows) == ["subscription.msg", "topic.msg"]


def test_nothing_rolls_up_to_nothing():
    assert [rollups([], by) for by in BY] == [[]] * len(BY)


def test_another_roll_up_is_refused():
    with pytest.raises(InputError, match="planet"):
        rollups([], "planet")
