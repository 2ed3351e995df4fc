"""Known bugs: which versions have the fix, and which verdicts name them."""

from __future__ import annotations

import pytest

from throttlescope.models.diagnosis.known_bugs import KNOWN_BUGS, bugs_behind

_BUG_OF = {bug.issue: bug for bug in KNOWN_BUGS}


@pytest.mark.parametrize(
    ("issue", "version", "is_fixed"),
    [
        (26289, "4.2.4", False),
        (26289, "4.2.5", True),
        (26289, "4.0.13", False),
        (26289, "4.0.14", True),
        (26289, "5.0.0-M1", False),
        (26289, "5.0.0-M2", True),
        (26289, "5.0.0", True),
        # Of 4.1 no fix is known, and 6.0 comes after every line that has it.
        (26289, "4.1.1", None),
        (26289, "6.0.0", True),
        (26289, "my build", None),
        # Not fixed anywhere.
        (25097, "5.0.1", False),
        # Milestones come before their release.
        (26620, "5.0.0-M2", False),
        (26620, "5.0.0-SNAPSHOT", True),
    ],
)
def test_versions_with_the_fix(issue, version, is_fixed):
    assert _BUG_OF[issue].is_fixed(version) is is_fixed


def test_a_verdict_names_bugs_without_a_known_fix():
    stuck = {bug.issue for bug in bugs_behind("replicator_stuck", ["4.2.4"])}
    assert stuck == {25097}
    assert {bug.issue for bug in bugs_behind("replicator_stuck", ["4.2.2"])} == {25097, 26002, 26005, 26106}
    assert bugs_behind("replicator_stuck", []) == ()


def test_one_old_broker_is_enough():
    assert _BUG_OF[26289] in bugs_behind("unknown", ["4.2.5", "4.2.4"])
    assert _BUG_OF[26289] not in bugs_behind("unknown", ["4.2.5", "5.0.0"])


def test_healthy_names_no_bug():
    assert bugs_behind("healthy", ["4.0.1"]) == ()


def test_every_bug_has_its_texts():
    for bug in KNOWN_BUGS:
        assert bug.what.endswith(".")
        assert bug.sign.endswith(".")
        assert bug.causes
        assert str(bug.issue) in bug.url
