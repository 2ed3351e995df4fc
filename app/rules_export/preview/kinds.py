"""Kinds of alerts. In: a rule. Out: its kind: the verdicts that confirm a firing, with words for it."""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.rules_export import alert_rules as a
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.transforms.rules.rule_file import AlertingRule

LIMIT, CONSUMERS, BOTH, ANY = KINDS = ("limit", "consumers", "both", "any")


@dataclass(frozen=True)
class AlertKind:
    """The verdicts that confirm a firing.

    Attributes
    ----------
    words : str
        Completes "a firing is real where the verdict then names ...".
    sides, causes : frozenset
        Either is enough.
    """

    words: str
    sides: frozenset[str] = frozenset()
    causes: frozenset[str] = frozenset()

    def fits(self, side: str, cause: str) -> bool:
        """Whether a verdict confirms the firing."""
        return side in self.sides or cause in self.causes


_BY_NAME = {
    LIMIT: AlertKind(
        "a dispatch limit as the cause of the backlog (side throttle or both)",
        frozenset(("throttle", "both")),
    ),
    CONSUMERS: AlertKind(
        "the consumers as the cause of the backlog (side consumer_capacity or both)",
        frozenset(("consumer_capacity", "both")),
    ),
    BOTH: AlertKind("a limit and the consumers at once (side both)", frozenset(("both",))),
    ANY: AlertKind("any trouble: every cause but healthy", causes=frozenset(CAUSES) - {"healthy"}),
}
_LIMITS = (a.THROTTLING_AND_GROWING, a.DISPATCH_THROTTLED, a.LIMIT_NEARLY_USED)
#: Verdicts are about a subscription's backlog; these alerts are not.
_UNJUDGED = (a.PUBLISH_THROTTLED, a.LIMITS_MISSING, a.LIMITS_OLD)
_BY_CAUSE = {"throttled": LIMIT, "both": BOTH, "slow_consumers": CONSUMERS, "unknown": ANY, "healthy": ANY}


def kind_of(rule: AlertingRule, chosen: str | None = None) -> AlertKind | None:
    """The kind of a rule; None if verdicts cannot decide it.

    Chosen by a person, or by the rule's label ``cause``, or by its name; any trouble by default.
    """
    if chosen is not None:
        return _BY_NAME[chosen]
    if rule.name in _UNJUDGED:
        return None
    cause = rule.labels.get("cause")
    if cause in _BY_CAUSE:
        return _BY_NAME[_BY_CAUSE[cause]]
    if cause in CAUSES:
        return AlertKind(f"the cause {cause}", causes=frozenset((cause,)))
    return _BY_NAME[LIMIT if rule.name in _LIMITS else ANY]
