"""Reads a rules file. In: YAML of Prometheus' format. Out: recording rules in their order, each with its plan."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from throttlescope.ingest.contracts.results import RULE_COLUMNS
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.selector import NAME_LABEL, Selector
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.plan import Plan, reads

RULES_FILE = Path(__file__).with_name("throttlescope.rules.yml")

#: What a rule's name begins with where the rule is a column of ``signals``.
PREFIX = "throttlescope:"

_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_GROUP_FIELDS = {"name", "interval", "rules"}
_RULE_FIELDS = {"record", "expr"}


@dataclass(frozen=True)
class RecordingRule:
    """One rule: the series it writes, its text, its plan."""

    name: str
    expr: str
    plan: Plan

    @property
    def selectors(self) -> set[Selector]:
        """What it reads."""
        return {read.selector for read in reads(self.plan)}


def load_rules(path: Path = RULES_FILE) -> list[RecordingRule]:
    """Read the recording rules of a file.

    Raises
    ------
    InputError
        No YAML, a field that is not known, a name twice, or a rule that reads another rule's series.
    PromQLSyntaxError, PromQLTypeError, UnsupportedPromQLError
        An expression that cannot be evaluated.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"The rules file {path.name} is no YAML", got=str(error)) from error
    _only(path, content, {"groups"}, "the file")
    rules: dict[str, RecordingRule] = {}
    for group in content.get("groups") or []:
        _only(path, group, _GROUP_FIELDS, "a group")
        for entry in group.get("rules") or []:
            _only(path, entry, _RULE_FIELDS, f"a rule of {group.get('name')}")
            name = str(entry.get("record", ""))
            if not _METRIC_NAME.fullmatch(name):
                raise InputError(
                    f"A rule of {path.name} has no name", got=repr(name), expected="record: a metric name"
                )
            if name in rules:
                raise InputError(
                    f"The rules file {path.name} has a rule twice", got=name, fix="rename or drop one"
                )
            expr = str(entry.get("expr", ""))
            rules[name] = RecordingRule(name, expr, plan_query(expr))
    for rule in rules.values():
        for selector in rule.selectors:
            _refuse_chains(path, rule, selector, rules)
    return list(rules.values())


@functools.cache
def column_rules() -> dict[str, RecordingRule]:
    """The shipped rule of each column of ``signals`` that comes from PromQL, in the contract's order."""
    by_name = {rule.name: rule for rule in load_rules()}
    return {column: by_name[PREFIX + column] for column in RULE_COLUMNS}


def _refuse_chains(
    path: Path, rule: RecordingRule, selector: Selector, rules: dict[str, RecordingRule]
) -> None:
    # Over the lake all rules are evaluated at once; a rule that reads another's series would find none.
    read = [name for name in rules if selector.matches({NAME_LABEL: name}) or selector.metric_name == name]
    if read:
        raise InputError(
            f"In {path.name} the rule {rule.name} reads the rule {read[0]}",
            expected="rules that read metrics only",
            fix="write the other rule's expression in its place",
        )


def _only(path: Path, entry: object, known: set[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"In {path.name} {where} is no mapping", got=repr(entry))
    strange = sorted(set(entry) - known)
    if strange:
        raise InputError(
            f"The rules file {path.name} has a field that is not known",
            got=f"{', '.join(strange)} in {where}",
            expected=", ".join(sorted(known)),
        )
