"""From options to what the rest of the product takes. In: options of a command. Out: settings, lake, times, a request of a run.

The configuration file is read first; options replace its values, and those that name sources narrow it to these sources.
"""

from __future__ import annotations

import difflib
import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    from throttlescope.app.config import Settings
    from throttlescope.app.incident.notifications.notifier import Notifier
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class SourceFlags:
    """The flags that name sources; what was not given is None and leaves the file's value."""

    prometheus: str | None = None
    pulsar_admin: Sequence[str] | None = None
    cluster: str | None = None
    match: Sequence[str] | None = None
    reader: str | None = None
    token_file: Path | None = None
    admin_token_file: Path | None = None


def settings_with(
    config: Path | None, flags: Mapping[str, Any], sources: SourceFlags = SourceFlags()
) -> Settings:
    """Settings of the file that ``--config``, the environment or the working folder names, under the flags.

    Without a flag that names a source, all clusters of the file are meant. ``--cluster`` narrows them to one;
    ``--prometheus`` and ``--pulsar-admin`` are of one cluster, the file's of that name if there is one.

    Raises
    ------
    InputError
        The file is not right, or ``--cluster`` names none of its clusters and no address is given.
    """
    from throttlescope.app.config import UNNAMED, find_config, load_settings
    from throttlescope.ingest.core.errors import InputError

    file = find_config(config)
    addressed = sources.prometheus is not None or bool(sources.pulsar_admin)
    if not addressed:
        settings = load_settings(file, flags)
        known = settings.clusters
        if sources.cluster is not None:
            if sources.cluster not in known:
                near = difflib.get_close_matches(sources.cluster, known, n=1)
                raise InputError(
                    "--cluster names no cluster of the configuration",
                    got=f"{sources.cluster} ({file or 'no configuration file'})",
                    expected="one of " + ", ".join(known) if known else None,
                    fix=f"did you mean {near[0]}?"
                    if near
                    else "add --prometheus URL, or the cluster to the file",
                )
            known = {sources.cluster: known[sources.cluster]}
        names = list(known)
    else:
        names = [sources.cluster or UNNAMED]
    given = {
        "prometheus": {"url": sources.prometheus, "reader": sources.reader, "token_file": sources.token_file},
        "pulsar_admin": {
            "urls": list(sources.pulsar_admin) if sources.pulsar_admin else None,
            "token_file": sources.admin_token_file,
        },
        "match": list(sources.match) if sources.match else None,
    }
    if not addressed:
        # A flag such as --reader reaches only the sources that the file has; it must not make new ones.
        given_by_name = {
            name: {
                key: value
                for key, value in given.items()
                if key == "match" or getattr(known[name], key) is not None
            }
            for name in names
        }
    else:
        given_by_name = dict.fromkeys(names, given)
    settings = load_settings(file, {**flags, "clusters": given_by_name})
    return settings.model_copy(update={"clusters": {name: settings.clusters[name] for name in names}})


class CommandOptions:
    """The options of one command in the types that the rest needs: settings, the lake, times, durations.

    Parameters
    ----------
    context : typer.Context
        The command's context; ``given`` are its options by parameter name.

    Attributes
    ----------
    now_ms : int
        The moment the command started: what relative times and ages count from.
    """

    def __init__(self, context: typer.Context) -> None:
        self.given: dict[str, Any] = context.params
        self.now_ms = time.time_ns() // 1_000_000

    @property
    def format(self) -> str:
        """``table``, ``json`` or ``csv``."""
        return str(self.given["format"])

    @functools.cached_property
    def sources(self) -> SourceFlags:
        """The options that name sources, as far as the command has them."""
        return SourceFlags(
            **{
                field.name: self.given[field.name]
                for field in fields(SourceFlags)
                if field.name in self.given
            }
        )

    def settings(self, *names: str, sources: SourceFlags = SourceFlags()) -> Settings:
        """Settings of the configuration under ``--lake``, ``--master`` and the options called ``names``."""
        flags = {"lake": self.given.get("lake"), "spark": {"master": self.given.get("master")}}
        return settings_with(
            self.given.get("config"), flags | {name: self.given[name] for name in names}, sources
        )

    def lake(self, *, absolute: bool = True) -> Lake:
        """The lake that ``--lake`` or the configuration names."""
        from throttlescope.ingest.lake import Lake

        address = self.settings().lake
        return Lake(address.absolute() if absolute else address)

    def lake_as_of(self, table: str) -> Lake:
        """The lake at the version or time that ``--as-of`` names."""
        from throttlescope.ingest.lake.time_travel import lake_as_of

        if self.given["as_of"] is None:
            return self.lake(absolute=False)
        return lake_as_of(self.settings().lake, self.given["as_of"], table, now_ms=self.now_ms)

    def time_ms(self, name: str) -> int | None:
        """The time that an option names; None where it was not given."""
        from throttlescope.ingest.core.times import parse_time

        text = self.given[name]
        return None if text is None else parse_time(text, now_ms=self.now_ms)

    def duration_ms(
        self, name: str, fault: str | None = None, *, expected: str = "more than 0", least_ms: int = 1
    ) -> int:
        """The duration that an option names.

        Raises
        ------
        InputError
            It is not a duration; or it is shorter than ``least_ms``, and ``fault`` says what is wrong with that.
        """
        from throttlescope.ingest.core.errors import InputError
        from throttlescope.ingest.core.times import parse_duration

        duration_ms = parse_duration(self.given[name])
        if fault is not None and duration_ms < least_ms:
            raise InputError(fault, got=self.given[name], expected=expected)
        return duration_ms

    def times_ms(self) -> dict[str, int | None]:
        """``start_ms`` and ``end_ms`` of ``--start`` and ``--end``."""
        return {"start_ms": self.time_ms("start"), "end_ms": self.time_ms("end")}

    def range_ms(self, *, check: bool = True) -> tuple[int, int]:
        """[start, end) of ``--start``, which must be given, and ``--end``, by default now.

        Raises
        ------
        InputError
            The start is missing, or the range is empty.
        """
        from throttlescope.ingest.core.errors import InputError
        from throttlescope.ingest.core.times import check_range

        start_ms, end_ms = self.time_ms("start"), self.time_ms("end")
        if start_ms is None:
            raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
        end_ms = self.now_ms if end_ms is None else end_ms
        if check:
            check_range(start_ms, end_ms)
        return start_ms, end_ms

    def selection(self) -> dict[str, Any]:
        """What the filters of most queries take: ``cluster``, ``subscription``, ``start_ms``, ``end_ms``."""
        return {
            "cluster": self.given["cluster"],
            "subscription": self.given["subscription"],
            **self.times_ms(),
        }

    def progress(self, steps: int = 0, *, quiet: bool = False) -> TerminalProgress:
        """Progress lines on stderr, unless ``--quiet`` was given."""
        from throttlescope.app.presentation.progress import TerminalProgress

        return TerminalProgress(steps, quiet=quiet or self.given["quiet"])

    def plot_progress(self, steps: int) -> TerminalProgress:
        """As :meth:`progress`, with one more step for ``--plot``, whose file is checked here.

        Raises
        ------
        InputError
            The plot could not be written.
        """
        if self.given["plot"] is None:
            return self.progress(steps)
        from throttlescope.app.presentation.figures.image import check_plot

        check_plot(self.given["plot"])
        return self.progress(steps + 1)


def run_request(command: str, options: CommandOptions) -> RunRequest:
    """What the options of ``run``, ``ingest``, ``backfill`` and ``lake repair`` request.

    Raises
    ------
    InputError
        Options contradict each other, or the range is missing or empty.
    """
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.core.times import BLOCK_MS, check_range

    given = options.given
    recordings, following = given.get("recording"), given.get("follow") is not None
    since_watermark = given.get("since_watermark", False)
    _check_combination(given)
    flags = {
        "lake": given["lake"],
        "window": given.get("window"),
        "every": given.get("every") or ("1m" if following else None),
        "spark": {"master": given["master"]},
    }
    settings = settings_with(given["config"], flags, options.sources)
    # A repair has no range of its own: what is damaged is its range.
    start_ms, end_ms = (options.time_ms(name) if name in given else None for name in ("start", "end"))
    if not recordings:
        if start_ms is None and "start" in given and not following and not since_watermark:
            raise InputError("The start of the range is missing", fix="add --start, such as --start -6h")
        end_ms = options.now_ms if end_ms is None else end_ms
    if "start" not in given:
        start_ms = options.now_ms - BLOCK_MS
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


def notifier_of(options: CommandOptions, settings: Settings, wanted: Sequence[str] | None) -> Notifier | None:
    """What sends messages to the channels that were requested; None where none was.

    Raises
    ------
    InputError
        There is no such channel, or its address or secret cannot be read.
    """
    if not wanted:
        return None
    from throttlescope.app.incident.notifications.delivery import open_channels
    from throttlescope.app.incident.notifications.notifier import Notifier
    from throttlescope.ingest.lake import Lake

    notifications = settings.notifications
    max_age_ms = notifications.max_age
    if options.given.get("notify_max_age") is not None:
        max_age_ms = options.duration_ms("notify_max_age", "--notify-max-age must be more than 0")
    channels = open_channels(notifications, wanted)
    return Notifier(Lake(settings.lake.absolute()), notifications, channels, max_age_ms)


def diagnosis_request(options: CommandOptions) -> RunRequest:
    """What the options of ``diagnose`` request.

    Raises
    ------
    InputError
        The range is missing or empty.
    """
    from throttlescope.app.pipeline.request import RunRequest

    given, span = options.given, options.range_ms()
    clusters = () if given["cluster"] is None else (given["cluster"],)
    return RunRequest(
        "diagnose",
        options.settings("window", "every"),
        *span,
        clusters=clusters,
        again=given["recompute"],
        debug=given["debug"],
    )


def _check_combination(given: Mapping[str, Any]) -> None:
    """Refuse options of ``run`` that exclude each other."""
    from throttlescope.ingest.core.errors import InputError

    recordings, following = given.get("recording"), given.get("follow") is not None
    if recordings and (given["prometheus"] or given["pulsar_admin"] or given["cluster"]):
        raise InputError(
            "A recording is a source of its own", got="--recording with --prometheus, --pulsar-admin or --cluster",
            fix="make two runs into the same lake",
        )  # fmt: skip
    if given.get("since_watermark", False) and (recordings or following):
        raise InputError(
            "--since-watermark is for one read of a Prometheus",
            got="--since-watermark with " + ("--recording" if recordings else "--follow"),
            fix="leave one of them out",
        )
    if following and (recordings or given["end"] is not None):
        raise InputError(
            "--follow runs without an end, but a recording has an end",
            got="--follow with --end or --recording",
            fix="leave one of them out",
        )
