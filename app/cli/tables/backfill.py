"""What a run in chunks does, did, or would do, in words. In: a chunk, a `Chunked`, or a plan. Out: words, a few lines, or a table of chunks."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.pipeline.backfill.run import before_words
from throttlescope.app.presentation.output import print_table, write_result, write_rows
from throttlescope.models.messages.units import count, duration_text, minute_text, visible

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.app.pipeline.backfill.missed_hours import CaughtUp
    from throttlescope.app.pipeline.backfill.plan import Planned
    from throttlescope.app.pipeline.backfill.run import Chunked


def print_chunked(found: Chunked) -> None:
    """Print how much came, how long it took, and what was computed."""
    before = f", {before_words(found.chunks_before)}" if found.chunks_before else ""
    idle = f", {count(found.idle)} of them without samples" if found.idle else ""
    print(
        f"{minute_text(found.start_ms)} to {minute_text(found.end_ms)} (UTC): {_many(found.chunks, 'chunk')}{idle}{before}, "
        f"in {duration_text(round(found.took_s * 1000))}."
    )
    print(
        f"{count(found.samples)} samples ({count(found.samples_written)} of them new), {count(found.source_requests)} requests, "
        f"{found.source_bytes / 1e6:,.1f} MB."
    )
    if found.hours_computed:
        hours = ", ".join(f"{stage} {count(number)}" for stage, number in found.hours_computed.items())
        print(f"Hours computed: {hours}.")
    if found.chunk_s:
        print(
            f"A chunk took {statistics.median(found.chunk_s):.1f} s in the median, {max(found.chunk_s):.1f} s at most."
        )
    lake = shlex.quote(found.lake)
    if found.warnings:
        plural = "s" if found.warnings > 1 else ""
        print(f"{found.warnings} warning{plural} of the quality gates: throttlescope quality --lake {lake}")
    if found.verdicts:
        causes = ", ".join(
            f"{cause} {count(number)}"
            for cause, number in sorted(found.verdicts.items(), key=lambda one: -one[1])
        )
        print(f"Verdicts by cause (windows): {causes}.")
        print(f"Next: throttlescope verdicts --lake {lake}, or throttlescope serve --lake {lake}")


def print_caught_up(found: CaughtUp | None) -> None:
    """Print which hours were diagnosed beside those that were asked for; nothing where there were none, or nobody asked."""
    if found is None or not found.results:
        return
    spans = ", ".join(
        f"{minute_text(one.start_ms)} to {minute_text(one.end_ms)}"
        + (f" of {', '.join(one.clusters)}" if one.clusters else "")
        for one in found.results
    )
    left = f"; {_many(found.hours_left, 'hour')} more are left to the next run" if found.hours_left else ""
    print(visible(f"Also diagnosed, because no run had come to it: {spans}{left}."))


def print_plan(planned: Sequence[Planned], lines: Sequence[str]) -> None:
    """Print a line per chunk, and the sums."""
    print_table(
        [
            ("chunk (UTC)", "left"), ("series", "right"), ("samples", "right"), ("requests", "right"),
            ("MB read", "right"), ("MB stored", "right"), ("", "left"),
        ],
        [
            [
                f"{minute_text(one.start_ms)} to {minute_text(one.end_ms)}", count(one.series), count(one.samples),
                count(one.requests), _mb(one.bytes_read), _mb(one.bytes_stored), "in the lake" if one.done else "",
            ]
            for one in planned
        ],
        title="What would be read, oldest first",
        notes=["Estimates: series as the source counts them at a few moments of the whole range. Nothing was read."],
    )  # fmt: skip
    print("\n".join(lines))


def _many(number: int, word: str) -> str:
    return f"{count(number)} {word}{'' if number == 1 else 's'}"


def _mb(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else f"{size_bytes / 1e6:,.1f}"


def write_chunked(found: Chunked, options: CommandOptions) -> None:
    """Write what was done in the requested format."""
    write_result(options.format, table=lambda: print_chunked(found), document=found.as_dict)


def write_plan(planned: Sequence[Planned], options: CommandOptions) -> None:
    """Write what would be done in the requested format."""
    from throttlescope.app.pipeline.backfill.plan import plan_lines

    write_rows(
        options.format,
        planned,
        table=lambda: print_plan(planned, plan_lines(planned)),
        export=lambda one: one.as_dict(),
    )
