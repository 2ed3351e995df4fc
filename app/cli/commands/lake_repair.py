"""``throttlescope lake repair``: what is damaged is read again, recomputed, or named as lost."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    Format,
    FormatOption,
    LakeFolder,
    Master,
    Match,
    Prometheus,
    PulsarAdmin,
    Quiet,
    ReaderOption,
    Recording,
    Tables,
    TokenFile,
    Yes,
    known_tables,
)
from throttlescope.app.cli.settings import CommandOptions, run_request
from throttlescope.ingest.core.errors import EXIT_FAILED


def repair(
    context: typer.Context,
    lake: LakeFolder = None,
    table: Tables = None,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    recording: Recording = None,
    match: Match = None,
    cluster: ClusterName = None,
    reader: ReaderOption = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    master: Master = None,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget",
            help="Also remove from the logs what cannot be restored, so that the rest of its table can be read.",
        ),
    ] = False,
    yes: Yes = False,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check a lake, read again from a source what is missing or damaged, recompute what follows from it, and print what cannot be restored.

    Sources are those of run: a Prometheus, recordings, or the clusters of the configuration. What is damaged is set aside and not
    deleted. A log that cannot be read is reset to its last readable version. A stopped repair continues where it was. Answers of an
    admin API, findings of the gates and records of runs cannot be read again: their damaged files stay, and are listed, until
    --forget.

    Exit code 1 where damage is left, or, without --yes, where something is to be done.
    """
    from throttlescope.app.cli.tables.lake_repair import write_plan, write_repaired
    from throttlescope.app.services.lake_repair import planned, repair

    options, tables = CommandOptions(context), known_tables(table)
    request = run_request("run", options)
    if yes:
        whole = write_repaired(repair(request, tables, options.progress(4), forget=forget), options)
    else:
        whole = write_plan(planned(options.lake(), tables, recordings=bool(request.recordings)), options)
    if not whole:
        raise typer.Exit(EXIT_FAILED)
