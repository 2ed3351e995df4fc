"""From when to when a backlog lasts, compared with a look at every minute."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import episodes as naive
from throttlescope.models.episodes import thresholds as t
from throttlescope.models.episodes.bounds import stretches


@given(st.lists(st.booleans(), max_size=60))
def test_stretches_are_those_of_the_twin(over):
    found = [(s.first, s.last, s.over_minutes, s.drained) for s in stretches(np.array(over, bool))]
    assert found == naive.stretches(over, t.CALM_MINUTES)


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("..##.....", [(2, 3, True)]),
        ("..##....", [(2, 3, False)]),  # four calm minutes: it may come back
        ("#....#", [(0, 5, False)]),  # four between: one backlog
        ("#.....#", [(0, 0, True), (6, 6, False)]),
        (".....", []),
    ],
)
def test_a_backlog_is_gone_after_five_calm_minutes(drawn, expected):
    found = stretches(np.array([mark == "#" for mark in drawn]))
    assert [(s.first, s.last, s.drained) for s in found] == expected
