"""Rules files. In: a file of Prometheus' rules format. Out: its groups and rules, checked as ``promtool check rules`` does.

Accepted is what Prometheus 3.5 accepts. Refused beyond that: what :attr:`RuleFileError.promtool_accepts` marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import NAME_LABEL, Selector
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.functions import FUNCTIONS, KIND_WORDS, SCALAR, VECTOR
from throttlescope.transforms.promql.kinds import kind_of
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.plan import Plan
from throttlescope.transforms.rules.template import TemplateError, check_template
from throttlescope.transforms.rules.yaml_document import (
    DocumentError,
    YamlNode,
    fields_of,
    items_of,
    parse_document,
    text_of,
    texts_of,
    whole_of,
)

ALERTS, ALERTS_FOR_STATE = "ALERTS", "ALERTS_FOR_STATE"
ALERT_NAME, ALERT_STATE = "alertname", "alertstate"
PENDING, FIRING = "pending", "firing"

_FILE_FIELDS = ("groups",)
_GROUP_FIELDS = ("name", "interval", "query_offset", "limit", "labels", "rules")
_RULE_FIELDS = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_UNITS_MS = {
    "y": 31_536_000_000, "w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1,
}  # fmt: skip
_DURATION = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit in _UNITS_MS))
_EXPERIMENTAL_AGGREGATIONS = ("limitk", "limit_ratio")
#: Prometheus keeps durations as nanoseconds in 63 bits.
_LONGEST_MS = (2**63 - 1) // 1_000_000


class RuleFileError(InputError):
    """A rules file is refused.

    Attributes
    ----------
    promtool_accepts : bool
        Whether Prometheus would load a file with this fault alone.
    """

    promtool_accepts = False


@dataclass(frozen=True)
class Rule:
    """What recording and alerting rules have in common.

    Attributes
    ----------
    name : str
        The metric that is recorded, or the alert.
    labels : mapping
        Of the group and of the rule, which wins.
    place : str
        File, line, group and rule, for messages.
    """

    name: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)
    place: str = ""

    @cached_property
    def tree(self) -> ast.Expr:
        """The expression as it was read."""
        return parse(self.expr)

    @cached_property
    def plan(self) -> Plan:
        """The expression, ready to evaluate."""
        return plan_query(self.expr)

    @cached_property
    def selectors(self) -> frozenset[Selector]:
        """What it reads."""
        return frozenset(
            node.selector for node in ast.walk(self.tree) if isinstance(node, ast.VectorSelector)
        )

    @cached_property
    def known_labels(self) -> tuple[Mapping[str, str], ...]:
        """Labels that all series it writes have, one entry per kind of series; an empty value says that there is none."""
        return ({**self.labels, NAME_LABEL: self.name},)


@dataclass(frozen=True)
class RecordingRule(Rule):
    """Writes what its expression gives as the metric ``name``."""


@dataclass(frozen=True)
class AlertingRule(Rule):
    """Writes ``ALERTS`` for what its expression gives.

    Attributes
    ----------
    for_ms : int
        How long an element must be there before its alert fires.
    keep_firing_for_ms : int
        How long an alert goes on firing when its element is gone.
    annotations : mapping
        Templates, as they were written.
    """

    for_ms: int = 0
    keep_firing_for_ms: int = 0
    annotations: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def known_labels(self) -> tuple[Mapping[str, str], ...]:
        """As of any rule; what a template will give is not known."""
        fixed = {name: text for name, text in self.labels.items() if "{{" not in text}
        alert = {**fixed, ALERT_NAME: self.name}
        states = ({**alert, NAME_LABEL: ALERTS, ALERT_STATE: state} for state in (PENDING, FIRING))
        return (*states, {**alert, NAME_LABEL: ALERTS_FOR_STATE})


@dataclass(frozen=True)
class Group:
    """Rules that are evaluated one after the other at the same moments.

    Attributes
    ----------
    interval_ms : int or None
        Distance of two evaluations; None: the server's ``evaluation_interval``.
    query_offset_ms : int
        How far back the rules look, and write.
    limit : int
        Most series of a rule; 0: no limit.
    """

    name: str
    rules: tuple[Rule, ...]
    interval_ms: int | None = None
    query_offset_ms: int = 0
    limit: int = 0


@dataclass(frozen=True)
class RuleFile:
    """One file."""

    name: str
    groups: tuple[Group, ...]

    @property
    def rules(self) -> Iterator[Rule]:
        """All rules, in the order of the file."""
        for group in self.groups:
            yield from group.rules


def read_rule_file(path: Path) -> RuleFile:
    """Read and check a rules file.

    Raises
    ------
    RuleFileError
        No YAML, a field that is not known, a name twice, a duration or label that is none.
    PromQLSyntaxError, PromQLTypeError, UnsupportedPromQLError
        An expression that cannot be evaluated.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            "A rules file cannot be read", got=f"{path}: {error.strerror}", fix="check its name"
        ) from error
    except UnicodeDecodeError as error:
        raise RuleFileError(f"{path.name} is no UTF-8", got=str(error)) from error
    return read_rule_text(text, path.name)


def read_rule_text(text: str, name: str) -> RuleFile:
    """As :func:`read_rule_file`, of a text; ``name`` is used in messages as the file's name."""
    return _Reading(name).file(text)


def parse_duration(text: str) -> int:
    """Milliseconds of a duration of Prometheus' configuration, such as ``1h30m``; ``0`` needs no unit.

    Raises
    ------
    ValueError
        It is none: a sign, a fraction, a unit twice or before a larger one.
    """
    found = _DURATION.fullmatch(text)
    if text != "0" and (not text or found is None):
        raise ValueError(text)
    counts = found.groups(default="0") if found and text != "0" else ("0",) * len(_UNITS_MS)
    total = sum(int(count) * unit_ms for count, unit_ms in zip(counts, _UNITS_MS.values(), strict=True))
    if total > _LONGEST_MS:
        raise ValueError(text)
    return total


class _Reading:
    """A file being read; it knows the place, for messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.where = ""

    def file(self, text: str) -> RuleFile:
        try:
            root = parse_document(text)
            fields = {} if root is None or root.is_null else fields_of(root, _FILE_FIELDS, "the file")
            groups, lines = [], {}
            for node in items_of(fields.get("groups"), "groups"):
                self.where = ""
                group = self._group(node)
                if group.name in lines:
                    raise self._error(
                        node, "the group comes twice", got=f"{group.name!r}, first in line {lines[group.name]}",
                        fix="rename one of them",
                    )  # fmt: skip
                lines[group.name] = node.line
                groups.append(group)
        except DocumentError as error:
            refused = RuleFileError(
                f"{self._place(error.line)}: {error.what}",
                got=error.got,
                expected=error.expected,
                fix=error.fix,
            )
            refused.promtool_accepts = error.deliberate
            raise refused from error
        file = RuleFile(self.name, tuple(groups))
        self._refuse_duplicates(file)
        return file

    def _group(self, node: YamlNode) -> Group:
        fields = fields_of(node, _GROUP_FIELDS, "the group")
        name = text_of(fields.get("name"), "the group's name")
        if not name:
            raise self._error(node, "the group has no name", expected="name: a text")
        self.where = f", group {name!r}"
        labels = self._labels(fields.get("labels"), node)
        rules = []
        for number, rule in enumerate(items_of(fields.get("rules"), "rules"), start=1):
            self.where = f", group {name!r}, rule {number}"
            rules.append(self._rule(rule, labels))
            self.where = f", group {name!r}"
        interval_ms = self._duration(fields.get("interval"), "interval")
        query_offset_ms = self._duration(fields.get("query_offset"), "query_offset")
        limit = whole_of(fields.get("limit"), "limit") or 0
        return Group(name, tuple(rules), interval_ms or None, query_offset_ms or 0, max(0, limit))

    def _rule(self, node: YamlNode, group_labels: Mapping[str, str]) -> Rule:
        fields = fields_of(node, _RULE_FIELDS, "the rule")
        record, alert, expr = (text_of(fields.get(name), name) or "" for name in ("record", "alert", "expr"))
        if record or alert:
            self.where += f" {(alert or record)!r}"
        if bool(record) == bool(alert):
            raise self._error(
                node,
                "the rule has both record and alert" if record else "the rule has neither record nor alert",
                fix="drop one of them" if record else "name what it writes: record, or alert",
            )
        if record:
            self._check_record(fields, record)
        if not expr:
            raise self._error(fields.get("expr", node), "the rule has no expr", expected="expr: a query")
        self._check_expr(fields["expr"], expr)
        own = self._labels(fields.get("labels"), node)
        labels = {**group_labels, **own}
        place = self._place(node.line)
        waits = [self._duration(fields.get(name), name) or 0 for name in ("for", "keep_firing_for")]
        annotations = texts_of(fields.get("annotations"), "annotations")
        if record:
            given = {"for": waits[0], "keep_firing_for": waits[1], "annotations": annotations}
            unfit = [name for name, value in given.items() if value]
            if unfit:
                raise self._error(
                    fields[unfit[0]], "a recording rule has a field of alerts", got=unfit[0], fix="drop it"
                )
            return RecordingRule(record, expr, labels, place)
        if "" in annotations:
            raise self._error(fields["annotations"], "an annotation has no name")
        for what, texts in (("labels", own), ("annotations", annotations)):
            for name, text in texts.items():
                try:
                    check_template(text)
                except TemplateError as error:
                    raise self._error(
                        fields[what], f"{what} {name}: the template cannot be read", got=str(error)
                    ) from error
        return AlertingRule(alert, expr, labels, place, *waits, annotations)

    def _check_record(self, fields: Mapping[str, YamlNode], record: str) -> None:
        if "{" in record or "}" in record:
            raise self._error(
                fields["record"], "the recorded name has braces", got=repr(record),
                fix="write the name alone; selectors belong into expr",
            )  # fmt: skip

    def _check_expr(self, node: YamlNode, expr: str) -> None:
        tree = None
        try:
            tree = parse(expr)
            plan_query(expr)
        except InputError as error:
            # Of the same class, so that a caller can distinguish an invalid query from an unsupported one.
            refused = type(error)(
                f"{self._place(node.line)}: {error.what}",
                got=error.got,
                expected=error.expected,
                fix=error.fix,
            )
            # A query that parses but is not supported is PromQL; some of it needs a flag.
            refused.promtool_accepts = tree is not None and not behind_flag(tree)
            raise refused from error
        kind = kind_of(tree)
        if kind not in (SCALAR, VECTOR):
            error = self._error(
                node, "the expression gives nothing that can be written", got=KIND_WORDS[kind],
                expected="instant vector or scalar", fix="Prometheus loads such a rule and fails at every evaluation",
            )  # fmt: skip
            error.promtool_accepts = True
            raise error

    def _labels(self, node: YamlNode | None, around: YamlNode) -> dict[str, str]:
        labels = texts_of(node, "labels")
        for name in ("", NAME_LABEL):
            if name in labels:
                raise self._error(
                    node or around, "a label has a name that it cannot have", got=repr(name),
                    expected="a name other than __name__", fix="the name of a series is record" if name else None,
                )  # fmt: skip
        return labels

    def _duration(self, node: YamlNode | None, name: str) -> int | None:
        text = text_of(node, name)
        if text is None:
            return None
        try:
            return parse_duration(text)
        except ValueError:
            raise self._error(
                node, f"{name} is no duration", got=repr(text), expected="such as 30s, 5m or 1h30m"
            ) from None

    def _refuse_duplicates(self, file: RuleFile) -> None:
        seen: dict[tuple, Rule] = {}
        for rule in file.rules:
            key = (rule.name, *sorted(rule.labels.items()))
            first = seen.setdefault(key, rule)
            if first is not rule:
                raise RuleFileError(
                    f"{rule.place}: the rule comes twice",
                    got=f"the same name and labels as in {first.place.removeprefix(self.name + ', ')}",
                    fix="rename one, or give it a distinguishing label",
                )

    def _place(self, line: int | None) -> str:
        return self.name + (f", line {line}" if line else "") + self.where

    def _error(self, node: YamlNode, what: str, **parts: str | None) -> RuleFileError:
        return RuleFileError(f"{self._place(node.line)}: {what}", **parts)


def promtool_accepts(error: InputError) -> bool:
    """Whether Prometheus would load a file that has this fault alone."""
    return getattr(error, "promtool_accepts", False)


def behind_flag(tree: ast.Expr) -> list[str]:
    """Functions and aggregations of an expression that Prometheus 3.5 has behind a flag."""
    names = {
        node.function
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and FUNCTIONS[node.function].experimental
    }
    names |= {
        node.op
        for node in ast.walk(tree)
        if isinstance(node, ast.Aggregate) and node.op in _EXPERIMENTAL_AGGREGATIONS
    }
    return sorted(names)
