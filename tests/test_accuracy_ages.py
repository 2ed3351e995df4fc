"""Estimated ages of backlogs keep their targets on recordings in which the broker itself gave the age."""

from __future__ import annotations

import numpy as np
import pytest

from tests.accuracy.ages import folders, judged

#: Half of the estimates are nearer than this to the broker's age, and an interval of 90 % holds it.
MEDIAN_ERROR_SHARE, COVERED_SHARE = 0.10, 0.90


@pytest.mark.long
@pytest.mark.parametrize("held_out", [False, True], ids=["development", "held-out"])
def test_estimated_ages_keep_their_targets(held_out):
    rows = [row for folder in folders(held_out=held_out) for row in judged(folder)]
    known = [row for row in rows if row.found.age_s is not None]
    assert len(known) >= 50
    assert np.median([row.error_share for row in known]) <= MEDIAN_ERROR_SHARE
    assert np.mean([row.is_covered for row in known]) >= COVERED_SHARE
    # Of what a consumer took and keeps nothing is said.
    assert {row.found.unknown for row in rows if row.subscription == "kept"} == {"out_of_order"}
