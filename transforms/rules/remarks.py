"""What is worth a word about a rules file that is taken. In: a file. Out: one line per remark."""

from __future__ import annotations

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.rules.rule_file import AlertingRule, Rule, RuleFile
from throttlescope.transforms.rules.template import TemplateError, check_template, fills_in

#: Aggregations that Prometheus 3.5 carries behind a flag.
_EXPERIMENTAL_AGGREGATIONS = ("limitk", "limit_ratio")


def remarks(file: RuleFile) -> list[str]:
    """Where promtool thinks otherwise of a file, and what ``rules run`` could not write."""
    found = []
    for rule in file.rules:
        behind_flag = sorted(_experimental(rule))
        if behind_flag:
            found.append(
                f"{rule.place}: {', '.join(behind_flag)}: promtool and Prometheus want "
                "--enable-feature=promql-experimental-functions"
            )
        if isinstance(rule, AlertingRule):
            found += _labels(rule)
    return found


def _experimental(rule: Rule) -> set[str]:
    names = set()
    for node in ast.walk(rule.tree):
        if isinstance(node, ast.Call) and FUNCTIONS[node.function].experimental:
            names.add(node.function)
        elif isinstance(node, ast.Aggregate) and node.op in _EXPERIMENTAL_AGGREGATIONS:
            names.add(node.op)
    return names


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
