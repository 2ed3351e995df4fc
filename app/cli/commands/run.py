"""``throttlescope run`` and ``throttlescope ingest``: from a source to verdicts, or only to samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

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
    Recompute,
    Recording,
    Start,
    TokenFile,
    Window,
)

if TYPE_CHECKING:
    from throttlescope.app.pipeline.backfill.chunks import Chunk
    from throttlescope.app.pipeline.request import RunRequest

Follow = Annotated[
    str | None,
    typer.Option(
        "--follow",
        metavar="DURATION",
        help="Go on: read what is new every so often, such as 60s. Takes no --end.",
    ),
]
SinceWatermark = Annotated[
    bool,
    typer.Option(
        "--since-watermark",
        help="Begin where this source was read to, less the overlap that late scrapes need, or at --start the first time and where the "
        "whole range was read before. A long time is read in chunks of 6 hours, oldest first. run then diagnoses hours too that were read "
        "before and that no run has come to.",
    ),
]
ResetWatermark = Annotated[
    bool,
    typer.Option(
        "--reset-watermark",
        help="Forget up to when this source was read; the range takes its place. For a watermark from the future.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(short_help="From a source to verdicts, for a range.")(run)
    app.command(short_help="From a source to checked samples, for a range.")(ingest)


def run(
    context: typer.Context,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    recording: Recording = None,
    start: Start = None,
    end: End = None,
    lake: LakeFolder = None,
    match: Match = None,
    cluster: ClusterName = None,
    window: Window = None,
    every: Every = None,
    follow: Follow = None,
    since_watermark: SinceWatermark = False,
    reset_watermark: ResetWatermark = False,
    recompute: Recompute = False,
    reader: ReaderOption = None,
    master: Master = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read a range from a source and write its samples, limits, signals, verdicts and what follows from them into a lake.

    What follows: episodes and shared incidents, forecasts of drains and deadlines, anomalies beside the weeks before (series
    with less than two weeks of history are learned, and the run says until when).

    Sources are a Prometheus (with the admin API for limits), recordings, or the clusters of the
    configuration file. The range is widened to whole UTC hours, clipped at now. The same range twice
    changes nothing; an interrupted run is repeated by the same command. Nothing is written to a cluster.

    Only hours are computed whose samples, limits or settings are not those that they were computed from, and what looks back to
    them. Up to when a source was read, and what it did not have, is kept in the lake (watermarks, gaps); open gaps are tried again
    first, as long as the source keeps their time. A range without samples of a source that was read before is such a gap, not an
    error.

    With --follow it goes on until it is asked to end (SIGTERM, Ctrl-C; exit code 0): verdicts of windows that slide by a minute,
    episodes and forecasts are kept at most two minutes behind. It begins at --start, by default where the lake ends, and says a
    line per cycle (a JSON object per line with --format json). Limits are asked for every 15 minutes. No Spark is started.
    """
    _run("run", context.params)


def ingest(
    context: typer.Context,
    prometheus: Prometheus = None,
    pulsar_admin: PulsarAdmin = None,
    recording: Recording = None,
    start: Start = None,
    end: End = None,
    lake: LakeFolder = None,
    match: Match = None,
    cluster: ClusterName = None,
    since_watermark: SinceWatermark = False,
    reset_watermark: ResetWatermark = False,
    reader: ReaderOption = None,
    master: Master = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read a range from a source into a lake, check it, and stop before anything is computed from it.

    As run, without signals, verdicts and what follows from them: samples, policies, limits and admin statistics only. diagnose
    goes on from there.
    """
    _run("ingest", context.params)


def _run(command: str, given: dict[str, Any]) -> None:
    import time
    from dataclasses import replace

    from throttlescope.app.cli.tables.backfill import print_caught_up, print_chunked
    from throttlescope.app.cli.tables.run import print_run
    from throttlescope.app.pipeline.run import run_pipeline
    from throttlescope.app.presentation.output import write_json
    from throttlescope.ingest.core.times import format_time, parse_duration

    now_ms = int(time.time() * 1000)
    request = request_of(command, given, now_ms)
    if given.get("follow") is not None:
        from throttlescope.app.pipeline.follow.start import begin

        every_ms = parse_duration(given["follow"])
        return begin(request, every_ms, quiet=given["quiet"], as_json=given["format"] is Format.json)
    goes_on = request.since_watermark
    chunks: list[Chunk] = []
    if goes_on:
        from throttlescope.app.log import tell
        from throttlescope.app.pipeline.backfill.catch_up import chunks_since_watermark

        request, chunks = chunks_since_watermark(request)
        if not given["quiet"]:
            # Whoever runs this by a schedule reads it too (airflow_dags/commands.py).
            told = f"{format_time(request.start_ms)} to {format_time(request.end_ms)}"
            tell(
                f"Since the watermark: {told}",
                event="since_watermark",
                start_ms=request.start_ms,
                end_ms=request.end_ms,
            )
    from throttlescope.app.presentation.progress import TerminalProgress

    progress = TerminalProgress(quiet=given["quiet"])
    show: Callable[[Any], None]
    if len(chunks) > 1:
        from throttlescope.app.pipeline.backfill.run import run_chunks

        found, show = run_chunks(request, chunks, progress=progress), print_chunked
    else:
        found, show = run_pipeline(request, progress=progress), print_run
    also = None
    if goes_on and command == "run" and found.clusters:
        # What a run before brought and did not come to.
        from throttlescope.app.pipeline.backfill.missed_hours import diagnose_missed

        also = diagnose_missed(replace(request, clusters=found.clusters), progress=progress)
    if given["format"] is Format.json:
        write_json(found.as_dict() | ({} if also is None else {"missed": also.as_dict()}))
    else:
        show(found)
        print_caught_up(also)


def request_of(command: str, given: dict[str, Any], now_ms: int) -> RunRequest:
    """What the flags of ``run``, ``ingest`` and ``backfill`` ask for.

    Raises
    ------
    InputError
        Flags contradict each other, or the range is missing or empty.
    """
    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import check_range, parse_time

    recordings, following = given.get("recording"), given.get("follow") is not None
    since_watermark = given.get("since_watermark", False)
    if recordings and (given["prometheus"] or given["pulsar_admin"] or given["cluster"]):
        raise InputError(
            "A recording is a source of its own", got="--recording beside --prometheus, --pulsar-admin or --cluster",
            fix="make two runs into the same lake",
        )  # fmt: skip
    if since_watermark and (recordings or following):
        raise InputError(
            "--since-watermark is for one read of a Prometheus",
            got="--since-watermark beside " + ("--recording" if recordings else "--follow"),
            fix="leave one of them out",
        )
    if following and (recordings or given["end"] is not None):
        raise InputError(
            "--follow goes on without an end, and a recording has one",
            got="--follow beside --end or --recording",
            fix="leave one of them out",
        )
    sources = SourceFlags(
        prometheus=given["prometheus"],
        pulsar_admin=given["pulsar_admin"],
        cluster=given["cluster"],
        match=given["match"],
        reader=given["reader"],
        token_file=given["token_file"],
        admin_token_file=given["admin_token_file"],
    )
    flags = {
        "lake": given["lake"],
        "window": given.get("window"),
        "every": given.get("every") or ("1m" if following else None),
        "spark": {"master": given["master"]},
    }
    settings = settings_with(given["config"], flags, sources)
    start_ms = None if given["start"] is None else parse_time(given["start"], now_ms=now_ms)
    end_ms = None if given["end"] is None else parse_time(given["end"], now_ms=now_ms)
    if not recordings:
        if start_ms is None and not following and not since_watermark:
            raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
        end_ms = now_ms if end_ms is None else end_ms
    if start_ms is not None and end_ms is not None:
        check_range(start_ms, end_ms)
    return RunRequest(
        command=command,
        settings=settings,
        start_ms=start_ms,
        end_ms=end_ms,
        recordings=tuple(recordings or ()),
        override_cluster=given["cluster"] is not None and given["prometheus"] is not None,
        again=given.get("recompute", False),
        since_watermark=since_watermark,
        reset_watermark=given.get("reset_watermark", False),
        debug=given["debug"],
    )
