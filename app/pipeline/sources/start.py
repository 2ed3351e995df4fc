"""Where a read begins. In: a source and its watermark in the lake. Out: the source with a start, or one line that says why not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from throttlescope.ingest import gaps
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.times import block_start
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.pull import watermarks
from throttlescope.ingest.pull.manifest import new_run_id
from throttlescope.ingest.pull.plan import widened
from throttlescope.ingest.pull.watermarks import SourceKey
from throttlescope.ingest.sources.access import clean_url, public_url

if TYPE_CHECKING:
    from throttlescope.app.pipeline.request import RunRequest
    from throttlescope.app.pipeline.sources.prometheus import ClusterSource


def begin_of(
    lake: Lake, key: SourceKey, start_ms: int | None, end_ms: int | None, now_ms: int, retention_ms: int
) -> int:
    """Where a read that goes on begins: the watermark less the overlap, not before what the source still keeps.

    A range that was read whole before begins at its own start: a repeated request reads it again.

    Raises
    ------
    InputError
        The source was never read, and no start is given for that.
    """
    mark = watermarks.watermark(lake, key)
    if mark is None:
        if start_ms is None:
            raise InputError(
                "There is no watermark yet: this source was never read into this lake",
                got=f"{key.source} {key.selectors}".strip(),
                fix="add --start, such as --start -24h: where to begin the first time",
            )
        return start_ms
    if start_ms is not None and end_ms is not None and end_ms <= mark.complete_until_ms:
        return start_ms
    return max(watermarks.begin_ms(mark), block_start(now_ms - retention_ms))


def begun(source: ClusterSource, request: RunRequest) -> ClusterSource:
    """The source with its start, after a look at its watermark.

    Raises
    ------
    InputError
        The watermark lies in the future, or there is none to begin at.
    """
    lake, now_ms = Lake(request.settings.lake.absolute()), time.time_ns() // 1_000_000
    reader = source.reader(lake)
    if not request.reset_watermark:
        watermarks.check_clock(lake, reader.key(), now_ms)
    if request.since_watermark:
        start_ms = begin_of(
            lake, reader.key(), request.start_ms, request.end_ms, now_ms, reader.retention_ms()
        )
        return replace(source, start_ms=start_ms)
    return source


def note_down(request: RunRequest, url: str, selectors: Sequence[Selector], cluster: str | None) -> None:
    """Write down that a source that was read before did not answer for a range."""
    lake, now_ms = Lake(request.settings.lake.absolute()), time.time_ns() // 1_000_000
    key = SourceKey.of(public_url(clean_url(url)), selectors, cluster)
    mark = watermarks.watermark(lake, key)
    if mark is None or request.start_ms is None or request.end_ms is None:
        return
    start_ms, end_ms = widened(request.start_ms, request.end_ms, now_ms)
    if start_ms < end_ms:
        of = replace(key, cluster=mark.cluster)
        gaps.record(lake, of, start_ms, end_ms, "source_down", now_ms=now_ms, run_id=new_run_id(now_ms))
