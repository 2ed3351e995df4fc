"""``throttlescope run`` and ``throttlescope ingest``: from a source to verdicts, or only to samples."""

from __future__ import annotations

from typing import Annotated, Any

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
    Match,
    Prometheus,
    PulsarAdmin,
    Quiet,
    ReaderOption,
    Recording,
    Start,
    TokenFile,
    Window,
)

Follow = Annotated[
    str | None,
    typer.Option(
        "--follow",
        metavar="DURATION",
        help="Go on: read what is new every so often, such as 60s. Takes no --end.",
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
    reader: ReaderOption = None,
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
    reader: ReaderOption = None,
    token_file: TokenFile = None,
    admin_token_file: AdminTokenFile = None,
    format: FormatOption = Format.table,
    config: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read a range from a source into a lake, check it, and stop before anything is computed from it.

    As run, without signals, verdicts and what follows from them: samples, policies, limits and admin statistics only.
    """
    _run("ingest", context.params)


def _run(command: str, given: dict[str, Any]) -> None:
    import time

    from throttlescope.app.cli.settings import SourceFlags, settings_with
    from throttlescope.app.pipeline import Request, run_pipeline
    from throttlescope.app.render import write_json
    from throttlescope.app.render_run import print_run
    from throttlescope.ingest.errors import InputError
    from throttlescope.ingest.times import check_range, parse_duration, parse_time

    now_ms = int(time.time() * 1000)
    if given["recording"] and (given["prometheus"] or given["pulsar_admin"] or given["cluster"]):
        raise InputError(
            "A recording is a source of its own", got="--recording beside --prometheus, --pulsar-admin or --cluster",
            fix="make two runs into the same lake",
        )  # fmt: skip
    sources = SourceFlags(
        prometheus=given["prometheus"],
        pulsar_admin=given["pulsar_admin"],
        cluster=given["cluster"],
        match=given["match"],
        reader=given["reader"],
        token_file=given["token_file"],
        admin_token_file=given["admin_token_file"],
    )
    following = given.get("follow") is not None
    if following and (given["recording"] or given["end"] is not None):
        raise InputError(
            "--follow goes on without an end, and a recording has one",
            got="--follow beside --end or --recording",
            fix="leave one of them out",
        )
    every = given.get("every") or ("1m" if following else None)
    flags = {"lake": given["lake"], "window": given.get("window"), "every": every}
    settings = settings_with(given["config"], flags, sources)
    start_ms = None if given["start"] is None else parse_time(given["start"], now_ms=now_ms)
    end_ms = None if given["end"] is None else parse_time(given["end"], now_ms=now_ms)
    if not given["recording"]:
        if start_ms is None and not following:
            raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
        end_ms = now_ms if end_ms is None else end_ms
    if start_ms is not None and end_ms is not None:
        check_range(start_ms, end_ms)
    request = Request(
        command=command,
        settings=settings,
        start_ms=start_ms,
        end_ms=end_ms,
        recordings=tuple(given["recording"] or ()),
        override_cluster=given["cluster"] is not None and given["prometheus"] is not None,
        debug=given["debug"],
    )
    if following:
        from throttlescope.app.following.begin import begin

        every_ms = parse_duration(given["follow"])
        return begin(request, every_ms, quiet=given["quiet"], as_json=given["format"] is Format.json)
    result = run_pipeline(request, quiet=given["quiet"])
    if given["format"] is Format.json:
        write_json(result.as_dict())
    else:
        print_run(result)
