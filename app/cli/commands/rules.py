"""``throttlescope rules``: check, export and run rules files of Prometheus' format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from throttlescope.app.cli.options import (
    Config,
    Debug,
    End,
    Format,
    FormatOption,
    LakeFolder,
    Lookback,
    Quiet,
    Start,
)
from throttlescope.app.cli.settings import CommandOptions
from throttlescope.ingest.core.errors import EXIT_INPUT

if TYPE_CHECKING:
    from throttlescope.app.rules_export.options import ExportOptions

Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for the files; made where it is missing."),
]
Dashboards = Annotated[
    Path | None,
    typer.Option(
        "--dashboards",
        metavar="DIR",
        help="Folder for Grafana dashboards of the rules' series, with the same options.",
    ),
]
ExternalUrl = Annotated[
    str,
    typer.Option(
        "--external-url", metavar="URL", help="Where people reach throttlescope serve: alerts link to it."
    ),
]
ClusterLabel = Annotated[
    str,
    typer.Option(
        "--cluster-label",
        metavar="LABEL",
        help="Label of Pulsar's metrics on that Prometheus that names the cluster.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="Name of the cluster where metrics carry none.",
        show_default=False,
    ),
]
ScrapeInterval = Annotated[
    str,
    typer.Option(
        "--scrape-interval", metavar="DURATION", help="How often that Prometheus scrapes the brokers."
    ),
]
Interval = Annotated[
    str, typer.Option("--interval", metavar="DURATION", help="How often the rules are evaluated.")
]
Hold = Annotated[
    str,
    typer.Option("--for", metavar="DURATION", help="How long a cause must hold before its alert fires."),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=VALUE",
        help="A label for every alert, such as team=messaging; repeatable.",
    ),
]
Signals = Annotated[
    bool, typer.Option("--signals", help="Print the rules of signals instead, as they are shipped.")
]


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
    context: typer.Context,
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
    from throttlescope.app.cli.tables.rules import write_checked
    from throttlescope.app.services.rule_files import check_rule_files

    if not write_checked(check_rule_files(files), CommandOptions(context)):
        raise typer.Exit(EXIT_INPUT)


def export(
    context: typer.Context,
    out: Out = None,
    external_url: ExternalUrl = "http://127.0.0.1:8050",
    cluster_label: ClusterLabel = "cluster",
    cluster: Cluster = None,
    scrape_interval: ScrapeInterval = "1m",
    interval: Interval = "1m",
    hold: Hold = "5m",
    label: Label = None,
    signals: Signals = False,
    dashboards: Dashboards = None,
    format: FormatOption = Format.table,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Write rules for a live Prometheus: recording and alerting rules, and inhibition rules for Alertmanager.

    They name causes as verdicts do, where PromQL can, from Pulsar's metrics and the limits that
    throttlescope serve exposes at /metrics; with a specification in the configuration, what a cluster and its topic
    partitions use of it; with an objective there for the age of backlogs, when it is exceeded. See docs/guides/alerts.md
    and, for dashboards, docs/guides/grafana.md.
    """
    from throttlescope.app.cli.tables.rules import write_exported, write_shipped
    from throttlescope.app.rules_export.export import export_files

    if signals:
        return write_shipped()
    options = CommandOptions(context)
    write_exported(export_files(out, dashboards, _export_options(options)), options)


def _pair(text: str) -> tuple[str, str]:
    from throttlescope.ingest.core.errors import InputError

    name, found, value = text.partition("=")
    if not found or not value:
        raise InputError("--label is no pair", got=text, expected="NAME=VALUE")
    return name, value


def run(
    context: typer.Context,
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
    lookback: Lookback = "5m",
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
    from throttlescope.app.cli.tables.rules import write_evaluated
    from throttlescope.app.services.rule_files import evaluate_rule_files

    options = CommandOptions(context)
    stored, span = options.lake(absolute=False), options.range_ms(check=False)
    durations = {
        f"{name}_ms": options.duration_ms(name, f"--{name} must be more than 0")
        for name in ("interval", "lookback")
    }
    write_evaluated(
        evaluate_rule_files(stored, rules, *span, **durations, progress=options.progress(1)), options
    )


def _export_options(options: CommandOptions) -> ExportOptions:
    from throttlescope.app.rules_export.options import ExportOptions
    from throttlescope.app.rules_export.specification import specified

    given, age_s = options.given, options.settings().objectives.backlog_age_s
    return ExportOptions(
        external_url=given["external_url"],
        cluster_label=given["cluster_label"],
        cluster=given["cluster"],
        scrape_interval_ms=options.duration_ms("scrape_interval"),
        interval_ms=options.duration_ms("interval"),
        for_ms=options.duration_ms("hold"),
        labels=dict(_pair(text) for text in given["label"] or ()),
        specified=specified(options.settings().clusters),
        **({} if age_s is None else {"backlog_age_s": age_s}),
    )
