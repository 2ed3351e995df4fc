"""Rules as text. In: rules. Out: a rules file and a part of Alertmanager's configuration, as readable YAML."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from throttlescope.app.rules_export.options import ExportOptions, duration_text
from throttlescope.app.rules_export.rule_records import Alerting, ExportedRecording
from throttlescope.models.messages.catalogue import sentence

GROUP = "throttlescope_live"
_WIDTH = 118
_MATCHERS, _CONDITION = re.compile(r"\{[^}]*\}"), re.compile(r"[<>]|[=!]=|\bunless\b")


def rules_text(rules: Iterable[ExportedRecording | Alerting], options: ExportOptions, heading: str) -> str:
    """A rules file of one group, in which rules see the results of earlier rules of the same evaluation."""
    lines = [*_comment(heading, ""), "groups:", f"  - name: {GROUP}"]
    lines += [f"    interval: {duration_text(options.interval_ms)}", "    rules:"]
    for rule in rules:
        lines.append("")
        if isinstance(rule, ExportedRecording) and rule.why:
            lines += _comment(rule.why, "      ")
        if isinstance(rule, Alerting) and not has_condition(rule.expr):
            # pint, a linter of rules, takes an alert without a condition for one that always fires.
            lines += _comment(
                f"{sentence('exported_rules.rule.alert_without_comparison')}\npint disable alerts/comparison",
                "      ",
            )
        lines += (f"      {line}" for line in _rule(rule))
    return "\n".join(lines) + "\n"


def inhibit_text(rules: Sequence[tuple[str, Mapping]], heading: str) -> str:
    """The part ``inhibit_rules`` of Alertmanager's configuration."""
    lines = [*_comment(heading, ""), "inhibit_rules:"]
    for why, rule in rules:
        lines += _comment(why, "  ")
        for number, (name, values) in enumerate(rule.items()):
            lines.append(
                f"  {'-' if number == 0 else ' '} {name}: [{', '.join(_quoted(value) for value in values)}]"
            )
    return "\n".join(lines) + "\n"


def has_condition(expr: str) -> bool:
    """Whether PromQL compares or excludes, so that it has a result only while something is so."""
    return bool(_CONDITION.search(_MATCHERS.sub("", expr)))


def _rule(rule: ExportedRecording | Alerting) -> Iterator[str]:
    if isinstance(rule, ExportedRecording):
        yield f"- record: {rule.record}"
    else:
        yield f"- alert: {rule.alert}"
    if "\n" in rule.expr:
        yield "  expr: |-"
        yield from (f"    {line}" for line in rule.expr.splitlines())
    else:
        yield f"  expr: {_quoted(rule.expr)}"
    if isinstance(rule, Alerting):
        yield f"  for: {duration_text(rule.for_ms)}"
    yield from _mapping("labels", rule.labels)
    if isinstance(rule, Alerting):
        yield from _mapping("annotations", rule.annotations)


def _mapping(name: str, texts: Mapping[str, str]) -> Iterator[str]:
    if texts:
        yield f"  {name}:"
        yield from (f"    {key}: {_quoted(text)}" for key, text in texts.items())


def _quoted(text: str) -> str:
    """A YAML scalar in single quotes, where only the quote is special; else in double quotes."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)


def _comment(text: str, indent: str) -> list[str]:
    return [
        f"{indent}# {line}".rstrip()
        for paragraph in text.split("\n")
        for line in (textwrap.wrap(paragraph, _WIDTH - len(indent)) or [""])
    ]
