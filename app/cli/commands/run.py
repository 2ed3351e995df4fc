"""``throttlescope run`` and ``throttlescope ingest``: from a source to verdicts, or only to samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    Notify,
    NotifyMaxAge,
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
from throttlescope.app.cli.settings import CommandOptions, notifier_of, run_request

if TYPE_CHECKING:
    from throttlescope.app.incident.notifications.notifier import Notifier
    from throttlescope.app.pipeline.request import RunRequest

Follow = Annotated[
    str | None,
    typer.Option(
        "--follow",
        metavar="DURATION",
        help="Keep running: read new samples at this interval, such as 60s. Not with --end.",
    ),
]
SinceWatermark = Annotated[
    bool,
    typer.Option(
        "--since-watermark",
        help="Begin where this source was read to, minus an overlap for late scrapes; or at --start the first time, and where the "
        "whole range was read before. A long range is read in chunks of 6 hours, oldest first. run then also diagnoses hours that were "
        "read before and that no run has diagnosed.",
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
    app.command(short_help="Read a range from a source and compute its verdicts.")(run)
    app.command(short_help="Read a range from a source into the lake, and check it.")(ingest)


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
    notify: Notify = None,
    notify_max_age: NotifyMaxAge = None,
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

    What follows: episodes and shared incidents, forecasts of drains and deadlines, anomalies compared with the weeks before (series
    need two weeks of history; the run prints when they have it).

    Sources are a Prometheus (with the admin API for limits), recordings, or the clusters of the
    configuration file. The range is widened to whole UTC hours, clipped at now. The same range twice
    changes nothing; an interrupted run is continued by the same command. Nothing is written to a cluster.

    An hour is recomputed only if its samples, limits or settings have changed, or if it depends on such an hour. The lake stores
    how far a source was read, and what it did not have (watermarks, gaps); open gaps are tried again first, as long as the source
    retains their time. A range without samples of a source that was read before is such a gap, not an error.

    With --follow it keeps running until it is stopped (SIGTERM, Ctrl-C; exit code 0): verdicts of windows that slide by a minute,
    episodes and forecasts are at most two minutes behind. It begins at --start, by default where the lake ends, and prints a
    line per cycle (a JSON object per line with --format json). Limits are read every 15 minutes. No Spark is started.

    With --notify messages are sent about backlogs that began, changed their cause or are gone, each once. A channel that does not
    accept them is a warning and not an error: the exit code is the run's, and the next run tries again.
    """
    _run("run", CommandOptions(context))


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
    continues from there.
    """
    _run("ingest", CommandOptions(context))


def _run(command: str, options: CommandOptions) -> None:
    from throttlescope.app.cli.tables.run import write_run
    from throttlescope.app.services.source_run import run_source

    request = run_request(command, options)
    # Before anything is read: a channel that does not exist is a mistake of the command.
    notifier = notifier_of(options, request.settings, options.given.get("notify"))
    if options.given.get("follow") is not None:
        return _follow(request, options, notifier)
    found = run_source(request, progress=options.progress())
    write_run(found, options)
    if notifier is not None:
        from throttlescope.app.incident.notifications.notifier import report

        report(notifier.notify(found.clusters), quiet=options.given["quiet"])


def _follow(request: RunRequest, options: CommandOptions, notifier: Notifier | None) -> None:
    from throttlescope.app.incident.notifications.notifier import in_background
    from throttlescope.app.pipeline.follow.start import begin

    quiet, as_json = options.given["quiet"], options.format == Format.json
    with in_background(notifier) as judged:
        begin(request, options.duration_ms("follow"), quiet=quiet, as_json=as_json, judged=judged)
