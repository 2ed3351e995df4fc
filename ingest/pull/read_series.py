"""One read of a source. In: selectors and a range. Out: a buffer of the source's series, complete.

A run, ``--follow`` and ``now`` read with this function: what can be read in another form, or again, is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from throttlescope.ingest.core.retry import retry
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import Meter, PullSource
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.sources.remote_read import UnsupportedChunksError

_ATTEMPTS = 2


def read_series(
    source: PullSource,
    selectors: Sequence[Selector],
    start_ms: int,
    end_ms: int,
    meter: Meter,
    new_buffer: Callable[[], BlockBuffer],
) -> tuple[BlockBuffer, PullSource]:
    """Read the series of some selectors; of several that name a series, the first counts.

    Parameters
    ----------
    meter : Meter
        Counts every request, those of failed attempts included.
    new_buffer : callable
        Makes the buffer of one attempt: what a failed attempt read is dropped.

    Returns
    -------
    (BlockBuffer, PullSource)
        What was read, and the source that answered: the given one, or the same in plain samples where the server has chunks that we
        cannot decode.

    Raises
    ------
    SourceError
        The source failed, twice if the error is transient.
    """

    def read(reader: PullSource) -> BlockBuffer:
        buffer = new_buffer()
        for i, selector in enumerate(selectors):
            if i:
                buffer.next_selector()
            for batch in reader.read(selector, start_ms, end_ms, meter):
                buffer.add(batch)
        return buffer

    def count_retry() -> None:
        meter.repairs["streams_read_again"] += 1

    def read_with(reader: PullSource) -> BlockBuffer:
        return retry(lambda: read(reader), attempts=_ATTEMPTS, before_retry=count_retry)

    try:
        return read_with(source), source
    except UnsupportedChunksError:
        plain = source.with_plain_samples()
        return read_with(plain), plain
