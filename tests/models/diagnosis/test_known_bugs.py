"""Known bugs: which versions have the fix, and which verdicts name them."""

from __future__ import annotations

import pytest

from throttlescope.models.diagnosis.known_bugs import KNOWN_BUGS, bugs_behind
from throttlescope.models.diagnosis.symptoms import SYMPTOMS

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
    seen = ["dispatch_below_before"]
    assert _BUG_OF[26289] in bugs_behind("permit_drift", ["4.2.5", "4.2.4"], seen)
    assert _BUG_OF[26289] not in bugs_behind("permit_drift", ["4.2.5", "5.0.0"], seen)


def test_bug_is_named_by_its_signature_only():
    def issues(*symptoms):
        return {bug.issue for bug in bugs_behind("permit_drift", ["4.2.4"], symptoms)}

    assert issues() == set()
    assert issues("dispatch_below_before") == {26289}
    assert issues("unacked_negative", "backlog_growing") == {26422}
    assert not {26289, 26422, 26620, 6437} & {bug.issue for bug in bugs_behind("unknown", ["4.0.1"])}
    assert {bug.issue for bug in bugs_behind("dispatch_contention", ["5.0.0-M1"])} == {24695, 26620}
    assert {bug.issue for bug in bugs_behind("snapshot_markers", ["4.2.4"])} == {6437, 22926}


def test_healthy_names_no_bug():
    assert bugs_behind("healthy", ["4.0.1"]) == ()


def test_every_bug_has_its_texts():
    for bug in KNOWN_BUGS:
        assert bug.what.endswith(".")
        assert bug.sign.endswith(".")
        # Without a signature in the metrics none names it.
        assert bug.causes or bug.issue == 20591
        assert set(bug.symptoms) <= set(SYMPTOMS)
        assert str(bug.issue) in bug.url


def test_bug_of_one_type_is_not_named_for_another():
    def issues(subscription_type):
        found = bugs_behind("hung_consumers", ["4.0.12"], subscription_type=subscription_type)
        return {bug.issue for bug in found} & {26174, 26236, 26268}

    assert issues("Failover") == {26174}
    assert issues("Key_Shared") == {26236, 26268}
    assert issues("Shared") == set()
    assert issues(None) == {26174, 26236, 26268}
