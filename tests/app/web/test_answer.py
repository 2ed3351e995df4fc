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
    minutes({"limit_topic_msg": 500, "limit_topic_period_s": 10, "limit_topic_set_by": "namespace_policy"})
)


def answered(row: dict, history=(), limits=LIMITS):
    return answer(row, history, limits)


def test_a_throttled_subscription_hears_which_limit_and_who_set_it():
    row = verdict(5, 10, "throttled", "topic.msg") | {
        "side": "throttle",
        "naive_side": "throttle",
        "confidence": 0.93,
    }
    said = answered(row)
    assert plain(said.title) == (
        "The topic message limit (500 msg per 10 s, set by namespace policy) throttles this subscription."
    )
    assert plain(said.sure) == "93 % confidence"
    assert said.never == "Do not add consumers: they would share the same limit."
    assert said.naive_agrees


def test_a_limit_that_was_not_read_is_not_invented():
    assert (
        answered(verdict(5, 10, "throttled", "broker.msg")).title
        == "The broker message limit throttles this subscription."
    )
    assert (
        answered(verdict(5, 10, "throttled", "topic.msg"), limits=[]).title
        == "The topic message limit throttles this subscription."
    )


def test_since_reaches_back_through_the_history():
    row = verdict(25, 30, "slow_consumers")
    history = [verdict(5, 10), *(verdict(start, start + 5, "slow_consumers") for start in (10, 15, 20))]
    assert plain(answered(row, history).since) == "Since 1970-01-01 00:10:00 UTC, for 20 m."
    assert plain(answered(row).since) == "Since at least 1970-01-01 00:25:00 UTC, for 5 m."


@pytest.mark.parametrize(
    ("backlog", "growth", "expected"),
    [
        (12_400.0, 3_100.0, "12.4 k entries wait, +3.1 k over 5 m."),
        (12_400.0, -300.0, "12.4 k entries wait, -300 over 5 m."),
        (7.0, 0.0, "7 entries wait, unchanged over 5 m."),
        (7.0, None, "7 entries wait."),
        (None, None, "Backlog not measured."),
    ],
)
def test_the_backlog_is_said_in_entries(backlog, growth, expected):
    row = verdict(5, 10) | {"backlog_entries": backlog, "backlog_growth_entries": growth}
    assert plain(answered(row).backlog) == expected


def test_reasons_are_the_strongest_for_and_against():
    rows = [
        evidence(f"s{i}", weight, f"{weight} {i}")
        for i, weight in enumerate(["for", "against", "for", "for", "for", "neutral"])
    ]
    said = answered(verdict(5, 10) | {"evidence": rows})
    assert said.why == ("for 0", "for 2", "for 3")
    assert said.against == ("against 1",)


def test_the_naive_rule_is_beside_it_also_when_it_differs():
    row = verdict(5, 10, "slow_consumers") | {"side": "consumer_capacity", "naive_side": "throttle"}
    assert answered(row).naive == "▲ a limit"
    assert not answered(row).naive_agrees


@pytest.mark.parametrize("word", sorted(CAUSES))
def test_every_cause_has_an_answer_a_first_step_and_a_warning(word):
    said = answered(verdict(5, 10, word))
    assert said.title.endswith(".")
    assert len(said.first) > 5
    assert said.never.startswith("Do not")
