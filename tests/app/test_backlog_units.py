"""A backlog in messages, bytes and age: what is known is said, and nothing else."""

from __future__ import annotations

import math

import pytest

from throttlescope.app.presentation.backlog_units import in_other_units

MINUTE = {
    "messages_per_entry": 10.0,
    "in_msg_rate_5m": 100.0,
    "in_bytes_rate_5m": 102_400.0,
    "subscription_backlog_age_s": 120.0,
    "stats_backlog_age_s": 90.0,
}


def _plain(texts: list[str]) -> str:
    return " ".join(texts).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "About 5 k messages, 4.88 MiB. The oldest has waited about 2 m."),
        (
            {"subscription_backlog_age_s": math.nan},
            "About 5 k messages, 4.88 MiB. The oldest has waited about 1 m 30 s.",
        ),
        ({"subscription_backlog_age_s": None, "stats_backlog_age_s": None}, "About 5 k messages, 4.88 MiB."),
        # Nothing is published: how large a message is, is not known.
        (
            {"in_msg_rate_5m": 0.0, "in_bytes_rate_5m": 0.0},
            "About 5 k messages. The oldest has waited about 2 m.",
        ),
        ({"messages_per_entry": None}, "The oldest has waited about 2 m."),
    ],
)
def test_units_that_are_known(changes, text):
    assert _plain(in_other_units(500.0, MINUTE | changes)) == text


@pytest.mark.parametrize("entries", [None, math.nan, 0.0])
def test_no_backlog_has_no_units(entries):
    assert in_other_units(entries, MINUTE) == []


def test_unknown_minute_says_nothing():
    assert in_other_units(500.0, {}) == []
