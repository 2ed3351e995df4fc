"""The answer in words: what, since when, why, how sure, and what not to do."""

from __future__ import annotations

import pytest

from tests.app.web.sample_lake import evidence
from tests.app.web.test_format import plain
from tests.app.web.test_limits import minutes
from tests.app.web.test_runs import verdict
from throttlescope.app.presentation.answer import answer
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.limits import known_limits

LIMITS = known_limits(
    minutes({"limit_topic_msg": 500, "limit_topic_period_s": 10, "limit_topic_set_by": "namespace_policy"}),
    "billing",
)


def answer_of(row: dict, history=(), limits=LIMITS):
    return answer(row, history, limits)


def test_throttled_answer_names_limit_and_source():
    row = verdict(5, 10, "throttled", "topic.msg") | {
        "side": "throttle",
        "naive_side": "throttle",
        "confidence": 0.93,
    }
    said = answer_of(row)
    assert plain(said.title) == (
        "The topic message limit (500 msg per 10 s, set by namespace policy) throttles this subscription."
    )
    assert plain(said.sure) == "93 % confidence"
    assert said.never == "Do not add consumers: they would share the same limit."
    assert said.naive_agrees


def test_limit_never_read_has_no_value():
    assert (
        answer_of(verdict(5, 10, "throttled", "broker.msg")).title
        == "The broker message limit throttles this subscription."
    )
    assert (
        answer_of(verdict(5, 10, "throttled", "topic.msg"), limits=[]).title
        == "The topic message limit throttles this subscription."
    )


def test_start_time_comes_from_history():
    row = verdict(25, 30, "slow_consumers")
    history = [verdict(5, 10), *(verdict(start, start + 5, "slow_consumers") for start in (10, 15, 20))]
    assert plain(answer_of(row, history).since) == "Since 1970-01-01 00:10:00 UTC, for 20 m."
    assert plain(answer_of(row).since) == "Since at least 1970-01-01 00:25:00 UTC, for 5 m."


@pytest.mark.parametrize(
    ("backlog", "growth", "expected"),
    [
        (12_400.0, 3_100.0, "12.4 k entries wait; trend: +3.1 k per 5 m."),
        (12_400.0, -300.0, "12.4 k entries wait; trend: -300 per 5 m."),
        (7.0, 0.0, "7 entries wait, unchanged over 5 m."),
        (7.0, None, "7 entries wait."),
        (None, None, "Backlog not measured."),
    ],
)
def test_backlog_is_given_in_entries(backlog, growth, expected):
    row = verdict(5, 10) | {"backlog_entries": backlog, "backlog_growth_entries": growth}
    assert plain(answer_of(row).backlog) == expected


def test_reasons_are_the_strongest_for_and_against():
    rows = [
        evidence(f"s{i}", weight, f"{weight} {i}")
        for i, weight in enumerate(["for", "against", "for", "for", "for", "neutral"])
    ]
    said = answer_of(verdict(5, 10) | {"evidence": rows})
    assert said.why == ("for 0", "for 2", "for 3")
    assert said.against == ("against 1",)


def test_answer_shows_a_differing_naive_rule():
    row = verdict(5, 10, "slow_consumers") | {"side": "consumer_capacity", "naive_side": "throttle"}
    assert answer_of(row).naive == "▲ a limit"
    assert not answer_of(row).naive_agrees


@pytest.mark.parametrize("word", sorted(CAUSES))
def test_every_cause_has_a_complete_answer(word):
    """A title, a first step and a warning."""
    said = answer_of(verdict(5, 10, word))
    assert said.title.endswith(".")
    assert len(said.first) > 5
    assert said.never.startswith("Do not")


def test_a_replicator_is_limited_by_its_own_rate():
    row = verdict(5, 10, "throttled", "subscription.msg") | {"subscription": "pulsar.repl.west"}
    assert answer_of(row, limits=[]).title == "The replicator message limit throttles this replicator."
