"""Labels of a rule's results. In: a rule. Out: what is known of them before evaluation."""

from __future__ import annotations

from collections.abc import Mapping

from throttlescope.ingest.core.selector import NAME_LABEL, Selector
from throttlescope.transforms.promql.semantics import Labels, labels_of
from throttlescope.transforms.rules.rule_file import ALERT_NAME, ALERT_STATE, AlertingRule, Rule
from throttlescope.transforms.rules.template import filled_in


def metric_names(rule: Rule) -> list[str]:
    """Names of the metrics that a rule writes."""
    return list(dict.fromkeys(known[NAME_LABEL] for known in rule.known_labels))


def may_read(selector: Selector, rule: Rule) -> bool:
    """Whether a selector could find a series of a rule."""
    return any(
        all(matcher.matches(known[matcher.name]) for matcher in selector.matchers if matcher.name in known)
        for known in rule.known_labels
    )


def may_write(rule: Rule, labels: Mapping[str, str]) -> bool:
    """Whether a series could be one of a rule's."""
    return any(
        all(labels.get(name, "") == value for name, value in known.items()) for known in rule.known_labels
    )


def recorded_labels(rule: Rule, element: Labels) -> Labels:
    """Labels of the series that a recording rule writes for an element of its result."""
    return labels_of({**dict(element), **rule.labels, NAME_LABEL: rule.name}.items())


def alert_labels(rule: AlertingRule, element: Labels) -> Labels:
    """What names an alert: the element's labels but the metric's name, those of the rule, and the alert's name."""
    labels = dict(element)
    # A template sees the element as it was, its metric's name included.
    own = {name: filled_in(text, labels) for name, text in rule.labels.items()}
    labels.pop(NAME_LABEL, None)
    return labels_of({**labels, **own, ALERT_NAME: rule.name}.items())


def alert_series(rule: AlertingRule, alert: Labels, metric: str, state: str | None) -> Labels:
    """The series of an alert. A label whose template came out empty has the template's text there, as in Prometheus."""
    labels = {**rule.labels, **dict(alert), NAME_LABEL: metric, ALERT_NAME: rule.name}
    return labels_of({**labels, **({ALERT_STATE: state} if state else {})}.items())


def alert_of(rule: AlertingRule, series: Mapping[str, str]) -> Labels:
    """The alert that a series of ``ALERTS`` or ``ALERTS_FOR_STATE`` is about."""
    return labels_of(
        (name, value)
        for name, value in series.items()
        if name not in (NAME_LABEL, ALERT_STATE) and not ("{{" in value and rule.labels.get(name) == value)
    )
