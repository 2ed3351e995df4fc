"""What a run in chunks does, did, or would do, in words. In: a chunk, a `Chunked`, or a plan. Out: words, a few lines, or a table of chunks."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.backfill.run_chunks import before_words
from throttlescope.app.presentation.output import print_table, write_result, write_rows
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, duration_text, minute_text, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.pipeline.backfill.missed_hours import CaughtUp
    from throttlescope.app.pipeline.backfill.read_estimate import Planned
    from throttlescope.app.pipeline.backfill.run_chunks import Chunked


def print_chunked(found: Chunked) -> None:
    """Print how much came, how long it took, and what was computed."""
    chunks = counted(found.chunks, "chunk")
    if found.idle:
        chunks = sentence("tables.backfill.idle", chunks=chunks, idle=count(found.idle))
    if found.chunks_before:
        chunks = f"{chunks}, {before_words(found.chunks_before)}"
    start, end, took = (
        minute_text(found.start_ms),
        minute_text(found.end_ms),
        duration_text(round(found.took_s * 1000)),
    )
    print(sentence("tables.backfill.done", start=start, end=end, chunks=chunks, took=took))
    print(
        sentence(
            "tables.backfill.samples",
            samples=count(found.samples),
            written=count(found.samples_written),
            requests=count(found.source_requests),
            mb=found.source_bytes / 1e6,
        )
    )
    if found.hours_computed:
        hours = ", ".join(f"{stage} {count(number)}" for stage, number in found.hours_computed.items())
        print(sentence("tables.backfill.hours", hours=hours))
    if found.chunk_s:
        print(
            sentence(
                "tables.backfill.chunk",
                median_s=statistics.median(found.chunk_s),
                longest_s=max(found.chunk_s),
            )
        )
    lake = shlex.quote(found.lake)
    for line in warning_lines(found.warnings, lake):
        print(line)
    if found.verdicts:
        causes = ", ".join(
            f"{cause} {count(number)}"
            for cause, number in sorted(found.verdicts.items(), key=lambda one: -one[1])
        )
        print(sentence("tables.run.verdicts", causes=causes))
        print(sentence("tables.run.next", lake=lake))


def warning_lines(warnings: int, lake: str) -> list[str]:
    """How many warnings the gates gave and the command that prints them; nothing where there were none."""
    if not warnings:
        return []
    if warnings == 1:
        return [sentence("tables.run.warning", lake=lake)]
    return [sentence("tables.run.warnings", warnings=warnings, lake=lake)]


def print_caught_up(found: CaughtUp | None) -> None:
    """Print which hours were diagnosed in addition to the requested ones; nothing where there were none."""
    if found is None or not found.results:
        return
    spans = ", ".join(
        f"{minute_text(one.start_ms)} to {minute_text(one.end_ms)}"
        + (f" of {', '.join(one.clusters)}" if one.clusters else "")
        for one in found.results
    )
    if found.hours_left:
        hours = counted(found.hours_left, "hour")
        print(visible(sentence("tables.backfill.also_left", spans=spans, hours=hours)))
    else:
        print(visible(sentence("tables.backfill.also", spans=spans)))


def print_plan(planned: Sequence[Planned], lines: Sequence[str]) -> None:
    """Print a line per chunk, and the sums."""
    print_table(
        [
            (sentence("label.chunk_utc"), "left"), (sentence("label.series"), "right"), (sentence("label.samples"), "right"), (sentence("label.requests_heading"), "right"),
            (sentence("label.mb_read"), "right"), (sentence("label.mb_stored"), "right"), ("", "left"),
        ],
        [
            [
                f"{minute_text(one.start_ms)} to {minute_text(one.end_ms)}", count(one.series), count(one.samples),
                count(one.requests), _mb(one.bytes_read), _mb(one.bytes_stored), "in the lake" if one.done else "",
            ]
            for one in planned
        ],
        title=sentence("tables.backfill.plan"),
        notes=[sentence("tables.backfill.plan.note")],
    )  # fmt: skip
    print("\n".join(lines))


def _mb(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else f"{size_bytes / 1e6:,.1f}"


def write_chunked(found: Chunked, options: CommandOptions) -> None:
    """Write what was done in the requested format."""
    write_result(options.format, table=lambda: print_chunked(found), document=found.as_dict)


def write_plan(planned: Sequence[Planned], options: CommandOptions) -> None:
    """Write what would be done in the requested format."""
    from throttlescope.app.pipeline.backfill.read_estimate import plan_lines

    write_rows(
        options.format,
        planned,
        table=lambda: print_plan(planned, plan_lines(planned)),
        export=lambda one: one.as_dict(),
    )
