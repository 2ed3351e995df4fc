"""Inhibition for Alertmanager. In: nothing. Out: rules by which an alert with a cause inhibits alerts that would mislead."""

from __future__ import annotations

from throttlescope.app.rules_export import alert_rules as a
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.messages.catalogue import sentence

_KEY = list(SUBSCRIPTION_KEY_NAMES)
_THROTTLED = f'alertname=~"{a.THROTTLED}|{a.BOTH}"'
_WITH_CAUSE = f'alertname=~"{"|".join((a.THROTTLED, a.BOTH, a.NO_CONSUMERS, a.BLOCKED, a.REDELIVERY, a.SLOW, a.DISCONNECTED))}"'


def inhibit_rules() -> list[tuple[str, dict]]:
    """A comment, and the rule in Alertmanager's format."""
    return [
        (
            sentence("exported_rules.inhibit.throttled"),
            {
                "source_matchers": [_THROTTLED],
                "target_matchers": [f'action="{a.ADD_CONSUMERS}"'],
                "equal": _KEY,
            },
        ),
        (
            sentence("exported_rules.inhibit.cause"),
            {
                "source_matchers": [_WITH_CAUSE],
                "target_matchers": [
                    f'alertname=~"{a.THROTTLING_AND_GROWING}|{a.DISPATCH_THROTTLED}|{a.UNEXPLAINED}"'
                ],
                "equal": _KEY,
            },
        ),
        (
            sentence("exported_rules.inhibit.limit_nearly_used"),
            {
                "source_matchers": [_THROTTLED],
                "target_matchers": [f'alertname="{a.LIMIT_NEARLY_USED}"', 'scope="subscription"'],
                "equal": [*_KEY, "level", "unit"],
            },
        ),
    ]
