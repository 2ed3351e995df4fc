"""Rules in every format. In: checked files, written files, a `RulesResult`. Out: tables or JSON on stdout, faults on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.log import say
from throttlescope.app.presentation.output import Column, print_rows, write_result, write_rows
from throttlescope.models.messages.units import count, minute_text

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.rules_export.export import WrittenFiles
    from throttlescope.transforms.rules.run import RulesResult

_CHECKED = (
    Column("file", lambda row: row["file"]),
    Column("groups", lambda row: str(row["groups"]), "right"),
    Column("recording rules", lambda row: str(row["recording_rules"]), "right"),
    Column("alerting rules", lambda row: str(row["alerting_rules"]), "right"),
)
_EXPORTED = (
    Column("file", lambda one: str(one.path)),
    Column("recording rules", lambda one: str(one.recording_rules), "right"),
    Column("alerting rules", lambda one: str(one.alerting_rules), "right"),
    Column("inhibit rules", lambda one: str(one.inhibit_rules), "right"),
)
_EVALUATED = (
    Column("rule", lambda rule: rule.name),
    Column("kind", lambda rule: rule.kind),
    Column("evaluations", lambda rule: count(rule.outcome.evaluations), "right"),
    Column("failed", lambda rule: count(rule.outcome.failures), "right"),
    Column("samples", lambda rule: count(rule.outcome.samples), "right"),
    Column("staleness markers", lambda rule: count(rule.outcome.markers), "right"),
)


def write_checked(rows: Sequence[dict[str, Any]], options: CommandOptions) -> bool:
    """Write checked files in the requested format, and faults to stderr; whether all files are good."""
    write_rows(options.format, rows, table=lambda: _print_checked(rows))
    refused = [row for row in rows if row["fault"] is not None]
    for row in refused:
        say(row["fault"].rstrip(".") + ("; Prometheus would load this" if row["promtool_accepts"] else ""))
    return not refused


def write_shipped() -> None:
    """Print the rules of signals as they are shipped."""
    from throttlescope.transforms.rules import RULES_FILE

    sys.stdout.write(RULES_FILE.read_text(encoding="utf-8"))


def write_exported(written: Sequence[WrittenFiles], options: CommandOptions) -> None:
    """Write a row per exported file in the requested format."""
    title = f"{len(written)} files are written"
    write_rows(
        options.format,
        written,
        table=lambda: print_rows(_EXPORTED, written, title=title),
        export=lambda one: vars(one) | {"path": str(one.path)},
    )


def write_evaluated(result: RulesResult, options: CommandOptions) -> None:
    """Write a row per rule in the requested format."""
    write_result(options.format, table=lambda: _print_evaluated(result), document=result.as_dict)


def _print_checked(rows: Sequence[dict[str, Any]]) -> None:
    good = [row for row in rows if row["fault"] is None]
    if good:
        remarks = [remark for row in rows for remark in row["remarks"]]
        print_rows(_CHECKED, good, title=f"{len(good)} of {len(rows)} files are good", notes=remarks)


def _print_evaluated(result: RulesResult) -> None:
    span = f"{minute_text(result.start_ms)} to {minute_text(result.end_ms)} UTC"
    failed = [rule for rule in result.rules if rule.outcome.failures]
    print_rows(
        _EVALUATED,
        result.rules,
        title=f"{len(result.rules)} rules from {span}",
        notes=[f"{rule.place} failed first at {rule.outcome.first_error}" for rule in failed],
    )
