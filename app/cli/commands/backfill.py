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
    app.command(short_help="Days or weeks from a source to verdicts, in chunks.")(backfill)


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
    overlap each other and other runs. Episodes and anomalies are made when all chunks are there.

    Hours of which the source has nothing are written down as gaps.
    """
    import time

    from throttlescope.app.cli.commands.run import request_of
    from throttlescope.app.cli.tables.backfill import print_chunked, print_plan
    from throttlescope.app.pipeline.backfill.chunks import chunks_of
    from throttlescope.app.pipeline.backfill.finished_chunks import left_of
    from throttlescope.app.presentation.output import write_json
    from throttlescope.ingest.core.times import parse_duration
    from throttlescope.ingest.lake import Lake

    request = request_of("backfill", context.params, int(time.time() * 1000))
    stored = Lake(request.settings.lake.absolute())
    chunks = chunks_of(request.start_ms, request.end_ms, parse_duration(chunk))
    left = left_of(stored, request, chunks)
    if dry_run:
        from throttlescope.app.pipeline.backfill.plan import plan_chunks, plan_lines
        from throttlescope.app.pipeline.sources.open import open_sources

        planned = plan_chunks(stored, open_sources(request), chunks, left)
        if format is Format.json:
            write_json([one.as_dict() for one in planned])
        else:
            print_plan(planned, plan_lines(planned))
        return
    from throttlescope.app.pipeline.backfill.run import run_chunks
    from throttlescope.app.presentation.progress import TerminalProgress

    found = run_chunks(request, left, before=len(chunks) - len(left), progress=TerminalProgress(quiet=quiet))
    if format is Format.json:
        write_json(found.as_dict())
    else:
        print_chunked(found)
