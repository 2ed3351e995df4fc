"""Kinds of alerts. In: a rule. Out: its kind: the verdicts that confirm a firing, with words for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from throttlescope.app.rules_export.alert_rules import ALERTS
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.models.messages.catalogue import Message, message, sentence
from throttlescope.transforms.rules.rule_file import AlertingRule

LIMIT, CONSUMERS, BOTH, ANY = KINDS = ("limit", "consumers", "both", "any")


@dataclass(frozen=True)
class AlertKind:
    """The verdicts that confirm a firing.

    Attributes
    ----------
    says : tuple of Message
        Each completes "a firing is real where the verdict then names ...".
    sides, causes : frozenset
        Either is enough.
    """

    says: tuple[Message, ...] = field(hash=False)
    sides: frozenset[str] = frozenset()
    causes: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """The same as text."""
        return sentence("label.or").join(one.text for one in self.says)

    def fits(self, side: str, cause: str) -> bool:
        """Whether a verdict confirms the firing."""
        return side in self.sides or cause in self.causes


_KINDS = {
    LIMIT: AlertKind((message("exported_rules.real_if.limit"),), frozenset(("throttle", "both"))),
    CONSUMERS: AlertKind(
        (message("exported_rules.real_if.consumers"),), frozenset(("consumer_capacity", "both"))
    ),
    BOTH: AlertKind((message("exported_rules.real_if.both"),), frozenset(("both",))),
    ANY: AlertKind((message("exported_rules.real_if.any"),), causes=frozenset(CAUSES) - {"healthy"}),
}
_BY_CAUSE = {"throttled": LIMIT, "both": BOTH, "slow_consumers": CONSUMERS, "unknown": ANY, "healthy": ANY}
_BY_NAME = {alert.name: alert.real_if for alert in ALERTS}


def kind_of(rule: AlertingRule, chosen: str | None = None) -> AlertKind | None:
    """The kind of a rule; None if verdicts cannot decide it.

    Chosen by a person, or by the rule's label ``cause``, or by its name; any trouble by default.
    """
    if chosen is not None:
        return _KINDS[chosen]
    exported = _BY_NAME.get(rule.name, ANY)
    if exported is None:
        return None
    cause = rule.labels.get("cause")
    if cause in CAUSES and cause not in _BY_CAUSE:
        return AlertKind((message("exported_rules.real_if.cause", cause=cause),), causes=frozenset((cause,)))
    return _KINDS[_BY_CAUSE.get(cause, exported)]
