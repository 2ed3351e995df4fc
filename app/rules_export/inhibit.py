"""Inhibition for Alertmanager. In: nothing. Out: rules by which an alert with a cause inhibits alerts that would mislead."""

from __future__ import annotations

from throttlescope.app.rules_export import alert_rules as a
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES

_KEY = list(SUBSCRIPTION_KEY_NAMES)
_HELD_BY_LIMITER = f'alertname=~"{a.THROTTLED}|{a.BOTH}"'
_KNOWS_A_CAUSE = (
    f'alertname=~"{"|".join((a.THROTTLED, a.BOTH, a.NO_CONSUMERS, a.BLOCKED, a.REDELIVERY, a.SLOW))}"'
)


def inhibit_rules() -> list[tuple[str, dict]]:
    """A comment, and the rule in Alertmanager's format."""
    return [
        (
            "Throttled inhibits alerts whose action is to add consumers: that would not help. Give your own alerts the same label.",
            {
                "source_matchers": [_HELD_BY_LIMITER],
                "target_matchers": [f'action="{a.ADD_CONSUMERS}"'],
                "equal": _KEY,
            },
        ),
        (
            "A cause inhibits alerts on symptoms.",
            {
                "source_matchers": [_KNOWS_A_CAUSE],
                "target_matchers": [
                    f'alertname=~"{a.THROTTLING_AND_GROWING}|{a.DISPATCH_THROTTLED}|{a.UNEXPLAINED}"'
                ],
                "equal": _KEY,
            },
        ),
        (
            "If a limit throttles a subscription, the alert that it is nearly used adds nothing.",
            {
                "source_matchers": [_HELD_BY_LIMITER],
                "target_matchers": [f'alertname="{a.LIMIT_NEARLY_USED}"', 'scope="subscription"'],
                "equal": [*_KEY, "level", "unit"],
            },
        ),
    ]
