"""A backlog in messages, bytes and age: what is known is said, and nothing else."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from throttlescope.app.presentation.backlog_units import age_sentence, in_other_units
from throttlescope.models.backlog_age import AgeUnknown, BacklogAge

MINUTE = {"messages_per_entry": 10.0, "in_msg_rate_5m": 100.0, "in_bytes_rate_5m": 102_400.0}


def _plain(texts: list[str]) -> str:
    return " ".join(texts).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "About 5 k messages, 4.88 MiB."),
        # Nothing is published: how large a message is, is not known.
        ({"in_msg_rate_5m": 0.0, "in_bytes_rate_5m": 0.0}, "About 5 k messages."),
        ({"messages_per_entry": None}, ""),
    ],
)
def test_units_that_are_known(changes, text):
    assert _plain(in_other_units(500.0, MINUTE | changes)) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (BacklogAge(120.0, 120.0, 120.0, "metric"), "The oldest has waited 2 m."),
        (BacklogAge(90.0, 90.0, 90.0, "admin_api"), "The oldest has waited 1 m 30 s."),
        (
            BacklogAge(300.0, 270.0, 360.0, "publish_history"),
            "The oldest has waited about 5 m, estimated from what was published (4 m 30 s to 6 m in 9 of 10 cases).",
        ),
        (
            BacklogAge(low_s=600.0, unknown="history_short"),
            "The oldest has waited longer than 10 m: more waits than the known history shows published.",
        ),
        (
            BacklogAge(unknown="out_of_order"),
            "How long the oldest has waited is not known: messages behind it are acknowledged already.",
        ),
        (BacklogAge(unknown="no_backlog"), ""),
    ],
)
def test_age_says_where_it_comes_from(age, text):
    assert _plain(in_other_units(500.0, {}, age)) == text


@pytest.mark.parametrize("unknown", get_args(AgeUnknown))
def test_every_unknown_age_has_a_sentence(unknown):
    found = age_sentence(BacklogAge(unknown=unknown))
    assert bool(found) == (unknown not in ("no_backlog", "not_measured"))


@pytest.mark.parametrize("entries", [None, math.nan, 0.0])
def test_no_backlog_has_no_units(entries):
    assert in_other_units(entries, MINUTE) == []


def test_unknown_minute_says_nothing():
    assert in_other_units(500.0, {}) == []
