"""Texts of alerts. In: options. Out: Go templates: the cause in words, the first action, and the link."""

from __future__ import annotations

from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH, SUBSCRIPTIONS_PATH
from throttlescope.app.rules_export.options import ExportOptions

#: The time range of a link.
LINK_S = 3600

TOPIC_WORDS = (
    '{{ $labels.topic }}{{ if ne $labels.partition "-1" }}-partition-{{ $labels.partition }}{{ end }}'
)
SUBSCRIPTION_WORDS = f"{{{{ $labels.subscription }}}} on {TOPIC_WORDS}"
LIMITER_WORDS = '{{ $labels.level }}\'s {{ if eq $labels.unit "msg" }}message{{ else }}byte{{ end }} limit'
SHARE = "{{ $value | humanizePercentage }}"
COUNT = "{{ $value | humanize }}"


def annotations(summary: str, description: str, first_action: str, link: str) -> dict[str, str]:
    """The four annotations of every alert."""
    return {"summary": summary, "description": description, "first_action": first_action, "link": link}


def subscription_link(options: ExportOptions) -> str:
    """The subscription's page and the last hour."""
    pairs = [
        (name, f"{{{{ $labels.{name} | urlquery }}}}")
        for name in ("cluster", "topic", "partition", "subscription")
    ]
    pairs += [("from", _epoch_s(f"time() - {LINK_S}")), ("to", _epoch_s("time()"))]
    return f"{_base(options)}{SUBSCRIPTION_PATH}?{'&'.join(f'{name}={value}' for name, value in pairs)}"


def topic_link(options: ExportOptions) -> str:
    """The overview of a topic's subscriptions."""
    return f"{_base(options)}{SUBSCRIPTIONS_PATH}?q={{{{ $labels.topic | urlquery }}}}&cluster={{{{ $labels.cluster | urlquery }}}}"


def cluster_link(options: ExportOptions) -> str:
    """The overview of a cluster."""
    return f"{_base(options)}{SUBSCRIPTIONS_PATH}?cluster={{{{ $labels.cluster | urlquery }}}}"


def _base(options: ExportOptions) -> str:
    return options.external_url.rstrip("/")


def _epoch_s(expr: str) -> str:
    return f'{{{{ with query "{expr}" }}}}{{{{ . | first | value | printf "%.0f" }}}}{{{{ end }}}}'
