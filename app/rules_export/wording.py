"""Annotations of alerts. In: an alert's definition and options. Out: Go templates: the cause in words, the first action, and the link."""

from __future__ import annotations

from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH, SUBSCRIPTIONS_PATH
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import AlertDefinition, Alerting
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import kind_words, level_words
from throttlescope.models.messages.units import exact_duration

#: The time range of a link.
LINK_S = 3600


def _either(label: str, value: str, then: str, otherwise: str) -> str:
    """A Go template: one word where a label has a value, else another one."""
    return f'{{{{ if eq $labels.{label} "{value}" }}}}{then}{{{{ else }}}}{otherwise}{{{{ end }}}}'


_PART = (
    '{{ if match "^topic://" $labels.topic }}-segment-{{ else }}-partition-{{ end }}{{ $labels.partition }}'
)
_TOPIC = '{{ $labels.topic }}{{ if ne $labels.partition "-1" }}' + _PART + "{{ end }}"
_CLUSTER = "{{ $labels.cluster }}"


def _subject(subject: str) -> str:
    if subject == "subscription":
        return sentence("exported_rules.subscription", name="{{ $labels.subscription }}", topic=_TOPIC)
    if subject == "broker":
        return sentence("exported_rules.broker", cluster=_CLUSTER)
    return {"topic": _TOPIC, "cluster": _CLUSTER}[subject]


def _limiter() -> str:
    kind = _either("unit", "msg", kind_words("msg"), kind_words("bytes"))
    return sentence("exported_rules.limiter", level=_level(), message_or_byte=kind)


def _level() -> str:
    """Whose limit, by the label; the words of English are the values of the label."""
    words = {level: level_words(level) for level in LEVELS}
    if all(word == level for level, word in words.items()):
        return "{{ $labels.level }}"
    parts = [f'{{{{ if eq $labels.level "{level}" }}}}{word}{{{{ end }}}}' for level, word in words.items()]
    return "".join(parts)


def _rate() -> str:
    of = (sentence("exported_rules.messages"), sentence("exported_rules.bytes"))
    return sentence("exported_rules.rate", messages_or_bytes=_either("unit", "msg", *of))


def alerting(alert: AlertDefinition, options: ExportOptions) -> Alerting:
    """The alert as a rule with its annotations."""
    subject = _subject(alert.subject)
    return Alerting(
        alert.name,
        alert.expr(options),
        options.for_ms if alert.for_ms is None else alert.for_ms,
        {"severity": alert.severity, **alert.labels, **options.labels},
        {
            "summary": _text(f"{alert.name}.summary", subject, options),
            "description": _text(f"{alert.name}.description", subject, options),
            "first_action": _text(alert.first_action or f"{alert.name}.first_action", subject, options),
            "link": _link(alert, options),
        },
    )


def _text(key: str, subject: str, options: ExportOptions) -> str:
    return sentence(
        f"exported_rules.alert.{key}",
        subject=subject,
        limiter=_limiter(),
        share="{{ $value | humanizePercentage }}",
        count="{{ $value | humanize }}",
        value="{{ $value }}",
        duration="{{ $value | humanizeDuration }}",
        window=options.window,
        objective=exact_duration(options.backlog_age_s),
        flow=_either(
            "flow",
            "publish",
            sentence("exported_rules.flow.publish"),
            sentence("exported_rules.flow.consume"),
        ),
        rate=_rate(),
    )


def _link(alert: AlertDefinition, options: ExportOptions) -> str:
    """The subscription's page with the last hour, or the overview of a topic's or cluster's subscriptions."""
    base = options.external_url.rstrip("/")
    if alert.subject == "subscription":
        pairs = [(name, _encoded(name)) for name in ("cluster", "topic", "partition", "subscription")]
        pairs += [("from", _epoch_s(f"time() - {LINK_S}")), ("to", _epoch_s("time()"))]
        return f"{base}{SUBSCRIPTION_PATH}?{'&'.join(f'{name}={value}' for name, value in pairs)}"
    pairs = [("cluster", _encoded("cluster"))]
    if alert.subject == "topic":
        pairs.insert(0, ("q", _encoded("topic")))
    return f"{base}{SUBSCRIPTIONS_PATH}?{'&'.join(f'{name}={value}' for name, value in pairs)}"


def _encoded(label: str) -> str:
    return f"{{{{ $labels.{label} | urlquery }}}}"


def _epoch_s(expr: str) -> str:
    return f'{{{{ with query "{expr}" }}}}{{{{ . | first | value | printf "%.0f" }}}}{{{{ end }}}}'
