"""What a run did, for eyes. In: a `RunResult`. Out: a table of its sources and a few lines."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.results import anomalies_note
from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.units import count, minute_text, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.pipeline.results import RunResult
    from throttlescope.app.services.source_run import SourceRun

_SHOWN = 5


def print_run(result: RunResult) -> None:
    """Print what each source had to serve and what came of it, then the verdicts by cause and the next command."""
    if result.idle:
        print(
            f"Idle interval: the lake holds no samples from {minute_text(result.start_ms)} to {minute_text(result.end_ms)} "
            "(UTC); nothing was computed."
        )
        return
    print_table(
        [
            ("source", "left"),
            ("clusters", "left"),
            ("range (UTC)", "left"),
            ("requests", "right"),
            ("admin calls", "right"),
            ("MB read", "right"),
            ("series", "right"),
            ("samples", "right"),
            ("new samples", "right"),
            ("refused", "right"),
        ],
        [
            [
                done.source,
                _few(done.clusters),
                f"{minute_text(done.start_ms)} to {minute_text(done.end_ms)}",
                count(done.source_requests),
                count(done.admin_requests),
                f"{done.source_bytes / 1e6:,.1f}",
                count(done.series),
                count(done.samples),
                count(done.samples_written),
                count(done.rows_quarantined),
            ]
            for done in result.sources
        ],
        title=f"Run {result.run_id}",
        notes=["Times are UTC; a Prometheus is read in whole UTC hours, clipped at now."],
    )
    lake = shlex.quote(result.lake)
    lines = []
    if result.warnings:
        plural = "s" if result.warnings > 1 else ""
        lines.append(
            f"{result.warnings} warning{plural} of the quality gates: throttlescope quality --lake {lake}"
        )
    if result.verdicts is not None:
        causes = ", ".join(f"{cause} {count(number)}" for cause, number in result.verdicts.items())
        lines.append(f"Verdicts by cause (windows): {causes or 'none'}.")
    if result.results is not None:
        found = result.results
        episodes = ", ".join(f"{state} {count(number)}" for state, number in found.episodes.items())
        lines.append(
            f"Episodes by state: {episodes or 'none'}; {count(found.incidents)} shared incidents, "
            f"{count(found.forecasts)} forecasts, {anomalies_note(found)}."
        )
    if result.verdicts is not None:
        lines.append(f"Next: throttlescope verdicts --lake {lake}, or throttlescope serve --lake {lake}")
    print("\n".join(visible(line) for line in lines), file=sys.stdout)


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def write_run(found: SourceRun, options: CommandOptions) -> None:
    """Write what a run did in the requested format."""
    write_result(options.format, table=lambda: _print(found), document=found.as_dict)


def _print(found: SourceRun) -> None:
    from throttlescope.app.cli.tables.backfill import print_caught_up, print_chunked
    from throttlescope.app.pipeline.results import RunResult

    (print_run if isinstance(found.result, RunResult) else print_chunked)(found.result)
    print_caught_up(found.missed)
