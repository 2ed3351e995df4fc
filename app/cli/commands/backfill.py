"""``throttlescope backfill``: a long time of a source into the lake, chunk by chunk."""

from __future__ import annotations

from typing import Annotated

import typer

from throttlescope.app.cli.options import (
    AdminTokenFile,
    ClusterName,
    Config,
    Debug,
    End,
    Every,
    Format,
    FormatOption,
    LakeFolder,
    Master,
    Match,
    Prometheus,
    PulsarAdmin,
    Quiet,
    ReaderOption,
    Start,
    TokenFile,
    Window,
)
from throttlescope.app.cli.settings import CommandOptions, run_request

ChunkLength = Annotated[
    str, typer.Option("--chunk", metavar="DURATION", help="Length of a chunk: whole hours, up to a day.")
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print the chunks with series, estimated samples, bytes and requests; read no samples, write nothing.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="Read days or weeks from a source and compute verdicts, in chunks.")(backfill)


def backfill(
    context: typer.Context,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    start: Start = None,
    end: End = None,
    chunk: ChunkLength = "6h",
    dry_run: DryRun = False,
    lake: LakeFolder = None,
    match: Match = None,
    cluster: ClusterName = None,
    window: Window = None,
    every: Every = None,
    reader: ReaderOption = None,
    master: Master = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Ingest and diagnose a long range in chunks, oldest first: what later hours look back to is there when they are computed, and what
    the source will forget next is read first.

    Each chunk is in the lake when its line is printed, with the time that is left. A backfill that was stopped or killed is
    continued by the same command, from this machine or another: which chunks are done is known from the lake. Backfills may
    overlap each other and other runs. Episodes and anomalies are computed when all chunks are there.

    Hours of which the source has no samples are stored as gaps.
    """
    from throttlescope.app.cli.tables.backfill import write_chunked, write_plan
    from throttlescope.app.services.backfill import plan_backfill, run_backfill

    options = CommandOptions(context)
    request, chunk_ms = run_request("backfill", options), options.duration_ms("chunk")
    if dry_run:
        write_plan(plan_backfill(request, chunk_ms), options)
    else:
        write_chunked(run_backfill(request, chunk_ms, progress=options.progress()), options)
