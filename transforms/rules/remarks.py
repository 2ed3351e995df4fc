"""Remarks about a valid rules file. In: a file. Out: one line per remark."""

from __future__ import annotations

from throttlescope.transforms.rules.rule_file import AlertingRule, RuleFile, behind_flag
from throttlescope.transforms.rules.template import TemplateError, check_template, fills_in


def remarks(file: RuleFile) -> list[str]:
    """Where promtool thinks otherwise of a file, and what ``rules run`` could not write."""
    found = []
    for rule in file.rules:
        names = behind_flag(rule.tree)
        if names:
            found.append(
                f"{rule.place}: {', '.join(names)}: promtool and Prometheus want "
                "--enable-feature=promql-experimental-functions"
            )
        if isinstance(rule, AlertingRule):
            found += _labels(rule)
    return found


def _labels(rule: AlertingRule) -> list[str]:
    found = []
    for name, text in rule.labels.items():
        try:
            check_template(text)
        except TemplateError as error:
            # Of the group: Prometheus looks into those only when it fills them in.
            found.append(f"{rule.place}: the group's label {name} cannot be read as a template: {error}")
        else:
            if not fills_in(text):
                found.append(
                    f"{rule.place}: the label {name} is a template that rules run cannot fill in, and refuses"
                )
    return found
