"""``throttlescope rules``: check, export and run rules files of Prometheus' format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from throttlescope.app.cli.options import (
    Config,
    Debug,
    End,
    Format,
    FormatOption,
    LakeFolder,
    Quiet,
    Start,
)
from throttlescope.app.log import say

if TYPE_CHECKING:
    from throttlescope.transforms.rules.recording_run import RulesResult, RunProgress

_BAR = 24


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Recording and alerting rules in Prometheus' own format.",
    )
    family.command("check", short_help="Check rules files.")(check)
    family.command("export", short_help="Write live rules for Prometheus and Alertmanager.")(export)
    family.command("run", short_help="Evaluate rules over a range of a lake.")(run)
    app.add_typer(family, name="rules")


def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Rules files (YAML).", show_default=False)
    ],
    format: FormatOption = Format.table,
    debug: Debug = False,
) -> None:
    """Check rules files as promtool check rules does, and that their rules can be put in order.

    Refused beyond what promtool refuses: rules or groups that read one another, and queries that are not
    carried here; the line says so. What promtool would refuse and we take is a remark.
    """
    from throttlescope.app.presentation.output import print_table, write_json
    from throttlescope.ingest.core.errors import EXIT_INPUT

    rows = [_checked(path) for path in files]
    if format is Format.json:
        write_json(rows)
    elif any(row["fault"] is None for row in rows):
        print_table(
            [
                ("file", "left"),
                ("groups", "right"),
                ("recording rules", "right"),
                ("alerting rules", "right"),
            ],
            [
                [
                    row["file"],
                    str(row["groups"]),
                    str(row["recording_rules"]),
                    str(row["alerting_rules"]),
                ]
                for row in rows
                if row["fault"] is None
            ],
            title=f"{sum(row['fault'] is None for row in rows)} of {len(rows)} files are good",
            notes=[remark for row in rows for remark in row["remarks"]],
        )
    for row in rows:
        if row["fault"] is not None:
            say(
                row["fault"].rstrip(".") + ("; Prometheus would load this" if row["promtool_accepts"] else "")
            )
    if any(row["fault"] is not None for row in rows):
        raise typer.Exit(EXIT_INPUT)


def export(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for the files; made where it is missing."),
    ] = None,
    external_url: Annotated[
        str,
        typer.Option(
            "--external-url", metavar="URL", help="Where people reach throttlescope serve: alerts link to it."
        ),
    ] = "http://127.0.0.1:8050",
    cluster_label: Annotated[
        str,
        typer.Option(
            "--cluster-label",
            metavar="LABEL",
            help="Label of Pulsar's metrics on that Prometheus that names the cluster.",
        ),
    ] = "cluster",
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            help="Name of the cluster where metrics carry none.",
            show_default=False,
        ),
    ] = None,
    scrape_interval: Annotated[
        str,
        typer.Option(
            "--scrape-interval", metavar="DURATION", help="How often that Prometheus scrapes the brokers."
        ),
    ] = "1m",
    interval: Annotated[
        str, typer.Option("--interval", metavar="DURATION", help="How often the rules are evaluated.")
    ] = "1m",
    hold: Annotated[
        str,
        typer.Option("--for", metavar="DURATION", help="How long a cause must hold before its alert fires."),
    ] = "5m",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME=VALUE",
            help="A label for every alert, such as team=messaging; repeatable.",
        ),
    ] = None,
    signals: Annotated[
        bool, typer.Option("--signals", help="Print the rules of signals instead, as they are shipped.")
    ] = False,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Write rules for a live Prometheus: recording and alerting rules, and inhibition rules for Alertmanager.

    They tell causes as verdicts do, where PromQL can, from Pulsar's metrics and the limits that
    throttlescope serve exposes at /metrics; with a specification in the configuration, what a cluster and its topic
    partitions use of it. See docs/guides/alerts.md.
    """
    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.output import print_table, write_json
    from throttlescope.app.rules_export.export import export_rules
    from throttlescope.app.rules_export.options import ExportOptions
    from throttlescope.app.rules_export.specification import specified
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import parse_duration
    from throttlescope.transforms.rules import RULES_FILE

    if signals:
        sys.stdout.write(RULES_FILE.read_text(encoding="utf-8"))
        return
    if out is None:
        raise InputError("The folder for the rules is missing", fix="add --out DIR")
    options = ExportOptions(
        external_url=external_url,
        cluster_label=cluster_label,
        cluster=cluster,
        scrape_interval_ms=parse_duration(scrape_interval),
        interval_ms=parse_duration(interval),
        for_ms=parse_duration(hold),
        labels=dict(_pair(text) for text in label or ()),
        specified=specified(settings_with(config, {}).clusters),
    )
    written = export_rules(out, options)
    if format is Format.json:
        write_json([vars(one) | {"path": str(one.path)} for one in written])
        return
    print_table(
        [
            ("file", "left"),
            ("recording rules", "right"),
            ("alerting rules", "right"),
            ("inhibit rules", "right"),
        ],
        [
            [
                str(one.path),
                *(str(count) for count in (one.recording_rules, one.alerting_rules, one.inhibit_rules)),
            ]
            for one in written
        ],
        title=f"{len(written)} files are written",
    )


def _pair(text: str) -> tuple[str, str]:
    from throttlescope.ingest.core.errors import InputError

    name, found, value = text.partition("=")
    if not found or not value:
        raise InputError("--label is no pair", got=text, expected="NAME=VALUE")
    return name, value


def run(
    lake: LakeFolder = None,
    rules: Annotated[
        list[Path] | None,
        typer.Option("--rules", metavar="FILE", help="Rules file; repeatable. Default: the shipped one."),
    ] = None,
    start: Start = None,
    end: End = None,
    interval: Annotated[
        str,
        typer.Option(
            "--interval",
            metavar="DURATION",
            help="Interval of groups that name none, as evaluation_interval of a Prometheus.",
        ),
    ] = "1m",
    lookback: Annotated[
        str,
        typer.Option(
            "--lookback", metavar="DURATION", help="How long a sample is its series' current value."
        ),
    ] = "5m",
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Evaluate rules at every multiple of their interval in a range, and write their series into the lake.

    Recording rules feed one another and alerts in order; alerts become ALERTS and ALERTS_FOR_STATE. What the
    rules wrote in the range before is replaced; the same run twice changes nothing. An evaluation that
    fails leaves the others alone and is counted.
    """
    import time

    from throttlescope.app.cli.settings import settings_with
    from throttlescope.app.presentation.output import write_json
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import parse_duration, parse_time
    from throttlescope.ingest.lake import Lake
    from throttlescope.transforms.rules import RULES_FILE, read_rule_file
    from throttlescope.transforms.rules.recording_run import run_rules

    settings = settings_with(config, {"lake": lake})
    now_ms = int(time.time() * 1000)
    if start is None:
        raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
    bounds = [now_ms if text is None else parse_time(text, now_ms=now_ms) for text in (start, end)]
    spans = {}
    for name, text in (("--interval", interval), ("--lookback", lookback)):
        spans[name] = parse_duration(text)
        if spans[name] <= 0:
            raise InputError(f"{name} is nothing", got=text, expected="more than 0")
    files = [read_rule_file(path) for path in rules or [RULES_FILE]]
    found = Lake(settings.lake)
    if found.version("samples") is None:
        raise InputError(
            "There are no samples in this lake",
            got=str(settings.lake),
            fix="read some with throttlescope ingest --lake DIR, or try throttlescope demo",
        )
    progress = TerminalProgress(1, quiet=quiet)
    with progress.step("Evaluating rules"):
        result = run_rules(
            found,
            files,
            *bounds,
            evaluation_interval_ms=spans["--interval"],
            lookback_ms=spans["--lookback"],
            progress=lambda now: progress.note(_bar(now)),
        )
        progress.note(f"{sum(rule.outcome.samples for rule in result.rules):,} samples")
    if format is Format.json:
        write_json(result.as_dict())
    else:
        _print(result)


def _checked(path: Path) -> dict[str, Any]:
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.transforms.rules import AlertingRule, read_rule_file
    from throttlescope.transforms.rules.order import check_order
    from throttlescope.transforms.rules.remarks import remarks
    from throttlescope.transforms.rules.rule_file import promtool_accepts

    row: dict[str, Any] = {"file": str(path), "fault": None, "promtool_accepts": True, "remarks": []}
    counts = {"groups": None, "recording_rules": None, "alerting_rules": None}
    try:
        file = read_rule_file(path)
        check_order(file)
    except InputError as error:
        return row | counts | {"fault": str(error), "promtool_accepts": promtool_accepts(error)}
    found = remarks(file)
    alerting = sum(isinstance(rule, AlertingRule) for rule in file.rules)
    return row | {
        "groups": len(file.groups),
        "recording_rules": len(list(file.rules)) - alerting,
        "alerting_rules": alerting,
        "promtool_accepts": not any("promtool" in remark for remark in found),
        "remarks": found,
    }


def _bar(now: RunProgress) -> str:
    from throttlescope.models.messages.units import minute_text

    full = round(now.share * _BAR)
    bar = "#" * full + "." * (_BAR - full)
    return f"{bar} {100 * now.share:.0f} %, at {minute_text(now.at_ms)} UTC, {now.samples:,} samples"


def _print(result: RulesResult) -> None:
    from throttlescope.app.presentation.output import print_table
    from throttlescope.models.messages.units import count, minute_text

    failed = [rule for rule in result.rules if rule.outcome.failures]
    print_table(
        [
            ("rule", "left"),
            ("kind", "left"),
            ("evaluations", "right"),
            ("failed", "right"),
            ("samples", "right"),
            ("staleness markers", "right"),
        ],
        [
            [
                rule.name,
                rule.kind,
                count(rule.outcome.evaluations),
                count(rule.outcome.failures),
                count(rule.outcome.samples),
                count(rule.outcome.markers),
            ]
            for rule in result.rules
        ],
        title=f"{len(result.rules)} rules from {minute_text(result.start_ms)} to {minute_text(result.end_ms)} UTC",
        notes=[f"{rule.place} failed first at {rule.outcome.first_error}" for rule in failed],
    )
