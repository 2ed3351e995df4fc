"""The truth table: complete, without dead rows, and true to the facts that it was made from."""

from __future__ import annotations

import itertools

import pytest

from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.models.diagnosis.causes import GRADES
from throttlescope.models.diagnosis.consumer_queues import QUEUES
from throttlescope.models.diagnosis.limiters import ACTIVITIES, ZONES
from throttlescope.models.diagnosis.truth_table import TABLE, answer, combinations

ALL = combinations()


def test_every_combination_has_a_known_answer():
    assert len(ALL) == len(ZONES) * len(ACTIVITIES) * len(QUEUES) == 125
    for words in ALL:
        row = answer(*words)
        assert row.cause in CAUSES
        assert row.grade in (("",) if row.cause == "unknown" else GRADES)


def test_no_row_is_dead():
    used = {answer(*words) for words in ALL}
    assert [row for row in TABLE if row not in used] == []


def test_rows_use_only_known_words():
    for row in TABLE:
        for cell, known in zip(row[:3], (ZONES, ACTIVITIES, QUEUES), strict=True):
            assert cell == "*" or set(cell.split()) <= set(known)


def causes(zones=ZONES, activities=ACTIVITIES, queues=QUEUES) -> set[str]:
    return {answer(*words).cause for words in itertools.product(zones, activities, queues)}


def test_limiter_without_throttled_reads_is_no_cause():
    assert causes(activities=["silent", "sparse"]) <= {"slow_consumers", "unknown"}


def test_far_limit_is_never_throttled():
    assert causes(zones=["far"]) <= {"slow_consumers", "unknown"}


def test_full_queues_are_never_throttled_alone():
    assert "throttled" not in causes(queues=["full"])


def test_empty_queues_are_never_slow_consumers():
    assert causes(queues=["empty"]) <= {"throttled", "unknown"}


def test_uninformative_events_alone_name_nobody():
    # The limit or the queues must say something of their own.
    open_queues = ["unknown", "between"]
    assert causes(["unknown"], ["ticking"], open_queues) == {"unknown"}
    assert causes(["far", "possible"], ["ticking"], open_queues) == {"slow_consumers"}


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("zone", ZONES)
def test_more_proof_never_lowers_the_grade(zone, queue):
    proven, ticking = answer(zone, "continuous", queue), answer(zone, "ticking", queue)
    if proven.cause == ticking.cause == "throttled":
        assert GRADES.index(proven.grade) <= GRADES.index(ticking.grade)
