"""Bugs of brokers that make or keep a backlog. In: a cause, the versions of the brokers. Out: the bugs that may be behind it.

Only bugs with an issue or a change of apache/pulsar are listed, with the first version of each line that has the fix. What was fixed in no
release yet has none. ``docs/background/known-bugs.md`` is made from this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from throttlescope.models.diagnosis.causes import (
    DELAYED_DELIVERY,
    DISPATCH_CONTENTION,
    HUNG_CONSUMERS,
    PERMIT_DRIFT,
    REMOTE_DISCONNECTED,
    REPLICATOR_STUCK,
    SNAPSHOT_MARKERS,
    UNKNOWN,
    Cause,
)
from throttlescope.models.messages.catalogue import sentence

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-M(\d+))?")
#: A release comes after its milestones.
_RELEASED = 1_000


@dataclass(frozen=True)
class KnownBug:
    """One bug.

    Attributes
    ----------
    issue : int
        Number of the issue, or of the change that mends it, in apache/pulsar.
    causes : tuple of Cause
        The verdicts that it hides behind.
    fixed_in : tuple of str
        The first version of each line that has the fix; versions before it have the bug, later lines do not.
    symptoms : tuple of str
        Its signature: where some are listed, one of them has to hold.
    subscription_type : str
        The only type of subscription that has it; empty: any.
    """

    issue: int
    causes: tuple[Cause, ...]
    fixed_in: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    subscription_type: str = ""

    @property
    def what(self) -> str:
        """What it does to a backlog, and what helps meanwhile."""
        return sentence(f"known_bug.what.{self.issue}")

    @property
    def sign(self) -> str:
        """What a reader of metrics sees of it."""
        return sentence(f"known_bug.sign.{self.issue}")

    @property
    def fix(self) -> str:
        """Where it is fixed."""
        if not self.fixed_in:
            return sentence("known_bug.fix.none")
        return sentence("known_bug.fix.versions", versions=", ".join(self.fixed_in))

    @property
    def text(self) -> str:
        """All of it in a line."""
        return sentence("known_bug.line", what=self.what, sign=self.sign, fix=self.fix, issue=str(self.issue))

    @property
    def url(self) -> str:
        return f"https://github.com/apache/pulsar/issues/{self.issue}"

    def is_fixed(self, version: str) -> bool | None:
        """Whether a broker has the fix; None where that is not known, as for a line of which no version is listed.

        >>> bug = KnownBug(26289, (), ("4.0.14", "4.2.5", "5.0.0-M2"))
        >>> bug.is_fixed("4.0.13"), bug.is_fixed("4.2.5"), bug.is_fixed("5.0.0-M1"), bug.is_fixed("5.0.0"), bug.is_fixed("5.1.0")
        (False, True, False, True, True)
        >>> bug.is_fixed("4.1.1") is None, bug.is_fixed("3.0.9") is None, bug.is_fixed("of my own") is None
        (True, True, True)
        """
        found = _numbers(version)
        fixes = [_numbers(one) for one in self.fixed_in]
        if found is None:
            return None
        if not fixes:
            return False
        of_line = [fix for fix in fixes if fix[:2] == found[:2]]
        if of_line:
            return found >= of_line[0]
        return True if found > max(fixes) else None


#: In the order of their numbers.
KNOWN_BUGS: tuple[KnownBug, ...] = (
    KnownBug(6437, (SNAPSHOT_MARKERS,)),
    KnownBug(20591, ()),
    KnownBug(22926, (SNAPSHOT_MARKERS,)),
    KnownBug(24695, (DISPATCH_CONTENTION,)),
    KnownBug(25097, (REPLICATOR_STUCK,)),
    KnownBug(25625, (REPLICATOR_STUCK,), ("5.0.0-M1",)),
    KnownBug(26002, (REPLICATOR_STUCK,), ("4.2.3", "5.0.0-M2")),
    KnownBug(26005, (REPLICATOR_STUCK,), ("4.2.3", "5.0.0-M2")),
    KnownBug(26012, (DELAYED_DELIVERY, HUNG_CONSUMERS, UNKNOWN), ("4.2.3", "5.0.0-M1")),
    KnownBug(26106, (REPLICATOR_STUCK,), ("4.2.3", "5.0.0-M2")),
    KnownBug(26174, (HUNG_CONSUMERS, UNKNOWN), ("4.0.13", "4.2.4"), subscription_type="Failover"),
    KnownBug(26188, (DELAYED_DELIVERY, UNKNOWN), ("4.2.4", "5.0.0-M2")),
    KnownBug(26236, (HUNG_CONSUMERS, UNKNOWN), ("4.0.13", "4.2.4"), subscription_type="Key_Shared"),
    KnownBug(26268, (HUNG_CONSUMERS, UNKNOWN), ("4.0.14", "4.2.5"), subscription_type="Key_Shared"),
    KnownBug(26289, (PERMIT_DRIFT,), ("4.0.14", "4.2.5", "5.0.0-M2"), ("dispatch_below_before",)),
    KnownBug(26422, (PERMIT_DRIFT,), ("4.0.14", "4.2.5", "5.0.0-M2"), ("unacked_negative", "permits_lost")),
    KnownBug(26451, (REMOTE_DISCONNECTED,), ("4.0.14", "4.2.5", "5.0.0-M2")),
    KnownBug(26620, (DISPATCH_CONTENTION,), ("5.0.0",)),
)


def may_hide_bugs(cause: str) -> bool:
    """Whether any bug is listed for this cause: otherwise the versions of brokers need not be read."""
    return any(one.name == cause for bug in KNOWN_BUGS for one in bug.causes)


def bugs_behind(
    cause: str, versions: Iterable[str], symptoms: Iterable[str] = (), subscription_type: str | None = None
) -> tuple[KnownBug, ...]:
    """Bugs that a verdict of this cause may hide, and that some broker has; of a version that is not known none is named.

    Parameters
    ----------
    symptoms : iterable of str
        Those that speak for the cause: a bug with a signature is named only with one of its own.
    subscription_type : str, optional
        None where it was not read: then bugs of every type are named.
    """
    known, seen = set(versions), set(symptoms)
    return tuple(
        bug
        for bug in KNOWN_BUGS
        if cause in {one.name for one in bug.causes}
        and (not bug.subscription_type or subscription_type in (None, bug.subscription_type))
        and (not bug.symptoms or seen.intersection(bug.symptoms))
        and any(bug.is_fixed(one) is False for one in known)
    )


def _numbers(version: str) -> tuple[int, int, int, int] | None:
    found = _VERSION.match(version)
    if found is None:
        return None
    major, minor, patch, milestone = found.groups()
    return int(major), int(minor), int(patch), int(milestone) if milestone else _RELEASED
