"""Causes over time with hysteresis: the rule in examples, and compared with a look at every pair of windows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.episodes.scenes import DAY, SAYS, verdicts
from tests.naive import episodes as naive
from throttlescope.ingest.core.times import DAY_MS, MINUTE_MS
from throttlescope.models.episodes import thresholds as t
from throttlescope.models.episodes.episode import changes
from throttlescope.models.episodes.steady import SteadyCause, causes, joined, spells, steady

_LETTER = {SteadyCause(*said): letter for letter, said in SAYS.items()}


def labels(letters, **grid):
    found = spells(verdicts(letters, **grid), DAY, DAY + DAY_MS)
    return "".join(_LETTER[label] for label in steady(found))


@pytest.mark.parametrize(
    ("said", "stretches"),
    [
        ("TTTT", "TTTT"),
        ("TTuTT", "TTTTT"),  # a single unknown cuts nothing
        ("TTuuT", "TTuuu"),  # two do
        ("TTSTT", "TTTTT"),  # nor does any other single window
        ("TTSSS", "TTSSS"),  # two in a row replace, from the first of them
        ("TTSuS", "TTSSS"),  # and two of three
        ("TTSTSTST", "TTTTTTTT"),  # verdicts that alternate stay with what was first
        ("TTSuuS", "TTSuuu".replace("S", "T")),  # too far apart; two unknowns come first
        ("TTPP", "TTPP"),  # another limiter is a change
        ("hTTTTh", "hTTTTT"),
        ("hT", "hu"),  # healthy, of which nothing is sure yet, holds only until the next window
        ("hhT", "hhh"),  # once confirmed it holds as any other
        ("S", "S"),
        ("TT    SS", "TTSS"),  # after a hole longer than three windows the next one counts at once
        ("TT  ST", "TTTT"),  # after a shorter one it has to prove itself
    ],
)
def test_the_rule_in_examples(said, stretches):
    assert labels(said) == stretches


def test_sliding_and_tiling_windows_need_equal_time():
    # 5-minute windows every minute: five that overlap are one piece of news, the sixth is another.
    assert labels("TTTTTT" + "SSSSS" + "TTTT", every=1) == "T" * 15
    assert labels("TTTTTT" + "SSSSSS", every=1) == "TTTTTTSSSSSS"


@given(st.text("TSPhu ", min_size=1, max_size=40))
def test_labels_are_those_of_the_twin(letters):
    found = spells(verdicts(letters), DAY, DAY + DAY_MS)
    windows = [(spell.window_start_ms, spell.window_end_ms, spell.blamed) for spell in found]
    healthy, unknown = (SteadyCause(*SAYS[letter]) for letter in "hu")
    assert steady(found) == naive.steady(windows, t.REPLACE_WITHIN_WINDOWS, healthy, unknown)


@given(st.text("TSPhu ", min_size=1, max_size=40), st.sampled_from([1, 5]))
def test_steady_cause_never_changes_more_often(letters, every):
    found = spells(verdicts(letters, every=every), DAY, DAY + DAY_MS)
    rows = causes(found, steady(found))
    assert changes(rows) <= sum(spell.flip for spell in found) == sum(row["flips"] for row in rows)


@given(st.text("TSPhu ", min_size=1, max_size=40), st.integers(0, 12), st.sampled_from([1, 5]))
def test_stretches_cover_each_moment_once(letters, before, every):
    start_ms = DAY + DAY_MS - before * 10 * MINUTE_MS
    rows = verdicts(letters, start_ms=start_ms, every=every)
    found = spells(rows, start_ms, start_ms + DAY_MS)
    stretches = causes(found, steady(found))
    covered = {ms for row in rows for ms in range(row["window_start_ms"], row["window_end_ms"], MINUTE_MS)}
    assert sum(row["end_ms"] - row["start_ms"] for row in stretches) == len(covered) * MINUTE_MS
    assert all(one["end_ms"] <= other["start_ms"] for one, other in pairwise(stretches))
    assert all(row["start_ms"] // DAY_MS == (row["end_ms"] - 1) // DAY_MS for row in stretches)
    assert sum(row["windows"] for row in stretches) == len(found)
    assert sum(row["windows"] for row in joined(stretches)) == len(found)


def test_parts_across_midnight_are_joined():
    rows = verdicts("TTTT", start_ms=DAY + DAY_MS - 10 * MINUTE_MS)
    found = spells(rows, 0, DAY + 2 * DAY_MS)
    stretches = causes(found, steady(found))
    assert [row["windows"] for row in stretches] == [2, 2]
    (whole,) = joined(stretches)
    assert (whole["windows"], whole["named_ms"]) == (4, 20 * MINUTE_MS)
    assert whole["confidence"] == pytest.approx(0.9)
