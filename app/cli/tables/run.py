"""What a run did. In: a `RunResult`. Out: a table of its sources and a few lines."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from throttlescope.app.cli.tables.backfill import print_caught_up, print_chunked, warning_lines
from throttlescope.app.pipeline.results import anomalies_note
from throttlescope.app.presentation.output import print_table, write_result
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, minute_text, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.pipeline.results import RunResult
    from throttlescope.app.services.source_run import SourceRun

_SHOWN = 5


def print_run(result: RunResult) -> None:
    """Print what each source had to serve and what came of it, then the verdicts by cause and the next command."""
    if result.idle:
        start, end = minute_text(result.start_ms), minute_text(result.end_ms)
        print(sentence("tables.run.idle", start=start, end=end))
        return
    print_table(
        [
            (sentence("label.source"), "left"),
            (sentence("label.clusters"), "left"),
            (sentence("label.range_utc"), "left"),
            (sentence("label.requests_heading"), "right"),
            (sentence("label.admin_calls"), "right"),
            (sentence("label.mb_read"), "right"),
            (sentence("label.series"), "right"),
            (sentence("label.samples"), "right"),
            (sentence("label.new_samples"), "right"),
            (sentence("label.refused_heading"), "right"),
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
        notes=[sentence("tables.run.note")],
    )
    lake = shlex.quote(result.lake)
    lines = warning_lines(result.warnings, lake)
    if result.verdicts is not None:
        causes = ", ".join(f"{cause} {count(number)}" for cause, number in result.verdicts.items())
        lines.append(sentence("tables.run.verdicts", causes=causes or "none"))
    if result.results is not None:
        found = result.results
        episodes = ", ".join(f"{state} {count(number)}" for state, number in found.episodes.items())
        lines.append(
            sentence(
                "tables.run.results",
                episodes=episodes or "none",
                incidents=count(found.incidents),
                forecasts=count(found.forecasts),
                anomalies=anomalies_note(found),
            )
        )
    if result.verdicts is not None:
        lines.append(sentence("tables.run.next", lake=lake))
    print("\n".join(visible(line) for line in lines), file=sys.stdout)


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def write_run(found: SourceRun, options: CommandOptions) -> None:
    """Write what a run did in the requested format."""
    write_result(options.format, table=lambda: _print(found), document=found.as_dict)


def _print(found: SourceRun) -> None:
    from throttlescope.app.pipeline.results import RunResult

    (print_run if isinstance(found.result, RunResult) else print_chunked)(found.result)
    print_caught_up(found.missed)
