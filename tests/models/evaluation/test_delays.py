"""Time to a right verdict, by hand."""

from __future__ import annotations

import pytest

from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, said, true, truth
from throttlescope.models.evaluation.delays import Delay, delays, summary

# The cause changes at minute 20; the range of truth begins a minute later.
TRUTH = truth([true("a", 1, 20, *HEALTHY), true("a", 21, 40, *THROTTLED)])


def windows(*words, first=-4):
    """Windows that end at minutes 1, 2, 3 and so on."""
    return [said("a", first + n, *word) for n, word in enumerate(words)]


def test_first_of_three_right_windows_counts():
    right_late = [HEALTHY] * 22 + [THROTTLED] + [HEALTHY] + [THROTTLED] * 10
    new, changed = delays(windows(*right_late), TRUTH)
    # Window 23 ends at minute 23 and is right alone; 25, 26 and 27 are right in a row.
    assert (changed.cause, changed.is_new, changed.after_s) == ("throttled", False, 5 * 60)
    assert (new.cause, new.is_new, new.after_s) == ("healthy", True, 60)


def test_windows_outside_the_state_are_ignored():
    # Right from minute 18 on, and again the windows that end behind minute 40.
    early = [HEALTHY] * 17 + [THROTTLED] * 3 + [HEALTHY] * 20 + [THROTTLED] * 5
    assert delays(windows(*early), TRUTH)[1].after_s is None


def test_two_right_windows_at_end_are_never():
    assert delays(windows(*[HEALTHY] * 38, *[THROTTLED] * 2), TRUTH)[1].after_s is None
    assert delays(windows(*[HEALTHY] * 37, *[THROTTLED] * 3), TRUTH)[1].after_s == 18 * 60


def test_state_with_few_windows_is_ignored():
    assert delays(windows(*[HEALTHY] * 22), TRUTH) == delays(windows(*[HEALTHY] * 22), TRUTH)[:1]


def delay(after_s):
    return Delay("a", "f", False, "throttled", False, after_s)


@pytest.mark.parametrize(
    ("times", "median_s", "p90_s", "never"),
    [
        ([60, 120, 180], 120, 180, 0),
        ([60, None, 120], 120, None, 1),
        ([None, None, 60], None, None, 2),
        (list(range(10, 110, 10)), 50, 90, 0),
        ([], None, None, 0),
    ],
)
def test_never_right_sorts_last(times, median_s, p90_s, never):
    found = summary([delay(time) for time in times])
    assert (found.changes, found.median_s, found.p90_s, found.never) == (len(times), median_s, p90_s, never)


def test_a_slow_twin_looks_at_every_moment():
    words = {1: HEALTHY, 2: THROTTLED, 3: SLOW}
    import random

    rng = random.Random(5)  # noqa: S311
    for _ in range(200):
        chosen = [words[rng.choice((1, 2, 2, 2, 3))] for _ in range(45)]
        found = delays(windows(*chosen), TRUTH)[1].after_s
        naive = next(
            (
                60 * (end - 20)
                for end in range(21, 39)
                if all(chosen[end - 1 + k] == THROTTLED for k in range(3))
            ),
            None,
        )
        assert found == naive
