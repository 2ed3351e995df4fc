"""What a run in chunks does, did, or would do, in words. In: a chunk, a `Chunked`, or a plan. Out: words, a few lines, or a table of chunks."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from throttlescope.app.render import count, duration_text, minute_text, print_table, visible

if TYPE_CHECKING:
    from throttlescope.app.backfill.missed import CaughtUp
    from throttlescope.app.backfill.plan import Planned
    from throttlescope.app.backfill.run import Chunked
    from throttlescope.app.pipeline import RunResult


def before_words(chunks: int) -> str:
    """Chunks that were done before, in words."""
    return f"{_many(chunks, 'chunk')} {'was' if chunks == 1 else 'were'} done before"


def chunk_words(result: RunResult, chunk_s: Sequence[float], left: int) -> str:
    """What a chunk brought, and how long the others will take by the median so far, in words.

    Parameters
    ----------
    chunk_s : sequence of float
        Seconds of the chunks so far, this one's included.
    left : int
        How many are still to be done.
    """
    text = "no samples" if result.idle else f"{count(sum(done.samples for done in result.sources))} samples"
    if result.verdicts is not None:
        text += f", {count(sum(result.verdicts.values()))} verdicts"
    if left:
        # The lower of two in the middle: the first chunk also starts Spark's workers and compiles, and takes several times as long.
        text += f", about {duration_text(round(statistics.median_low(chunk_s) * left * 1000))} left"
    return text


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
