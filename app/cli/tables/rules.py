"""Rules in every format. In: checked files, written files, a `RulesResult`. Out: tables or JSON on stdout, faults on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.log import say
from throttlescope.app.presentation.output import TableColumn, print_rows, write_result, write_rows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.rules_export.export import WrittenFiles
    from throttlescope.transforms.rules.recording_run import RulesResult


def _checked() -> tuple:
    return (
        TableColumn(sentence("label.file"), lambda row: row["file"]),
        TableColumn(sentence("label.groups"), lambda row: str(row["groups"]), "right"),
        TableColumn(sentence("label.recording_rules"), lambda row: str(row["recording_rules"]), "right"),
        TableColumn(sentence("label.alerting_rules"), lambda row: str(row["alerting_rules"]), "right"),
    )


def _exported() -> tuple:
    return (
        TableColumn(sentence("label.file"), lambda one: str(one.path)),
        TableColumn(sentence("label.recording_rules"), lambda one: str(one.recording_rules), "right"),
        TableColumn(sentence("label.alerting_rules"), lambda one: str(one.alerting_rules), "right"),
        TableColumn(sentence("label.inhibit_rules"), lambda one: str(one.inhibit_rules), "right"),
        TableColumn(sentence("label.panels"), lambda one: str(one.panels), "right"),
    )


def _evaluated() -> tuple:
    return (
        TableColumn(sentence("label.rule"), lambda rule: rule.name),
        TableColumn(sentence("label.kind"), lambda rule: rule.kind),
        TableColumn(sentence("label.evaluations"), lambda rule: count(rule.outcome.evaluations), "right"),
        TableColumn(sentence("label.failed"), lambda rule: count(rule.outcome.failures), "right"),
        TableColumn(sentence("label.samples"), lambda rule: count(rule.outcome.samples), "right"),
        TableColumn(sentence("label.staleness_markers"), lambda rule: count(rule.outcome.markers), "right"),
    )


def write_checked(rows: Sequence[dict[str, Any]], options: CommandOptions) -> bool:
    """Write checked files in the requested format, and faults to stderr; whether all files are good."""
    write_rows(options.format, rows, table=lambda: _print_checked(rows))
    refused = [row for row in rows if row["fault"] is not None]
    for row in refused:
        fault = row["fault"].rstrip(".")
        say(sentence("tables.rules.accepted", fault=fault) if row["promtool_accepts"] else fault)
    return not refused


def write_shipped() -> None:
    """Print the rules of signals as they are shipped."""
    from throttlescope.transforms.rules import RULES_FILE

    sys.stdout.write(RULES_FILE.read_text(encoding="utf-8"))


def write_exported(written: Sequence[WrittenFiles], options: CommandOptions) -> None:
    """Write a row per exported file in the requested format."""
    title = sentence("tables.rules.written", files=len(written))
    write_rows(
        options.format,
        written,
        table=lambda: print_rows(_exported(), written, title=title),
        export=lambda one: vars(one) | {"path": str(one.path)},
    )


def write_evaluated(result: RulesResult, options: CommandOptions) -> None:
    """Write a row per rule in the requested format."""
    write_result(options.format, table=lambda: _print_evaluated(result), document=result.as_dict)


def _print_checked(rows: Sequence[dict[str, Any]]) -> None:
    good = [row for row in rows if row["fault"] is None]
    if good:
        remarks = [remark for row in rows for remark in row["remarks"]]
        title = sentence("tables.rules.good", good=len(good), files=len(rows))
        print_rows(_checked(), good, title=title, notes=remarks)


def _print_evaluated(result: RulesResult) -> None:
    failed = [rule for rule in result.rules if rule.outcome.failures]
    print_rows(
        _evaluated(),
        result.rules,
        title=sentence(
            "tables.rules.evaluated",
            rules=len(result.rules),
            start=minute_text(result.start_ms),
            end=minute_text(result.end_ms),
        ),
        notes=[
            sentence("tables.rules.failed", rule=rule.place, error=rule.outcome.first_error)
            for rule in failed
        ],
    )
