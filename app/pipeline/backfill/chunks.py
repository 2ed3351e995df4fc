"""Chunks of a long range. In: a range and a length. Out: pieces on the epoch grid, oldest first."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, block_start, check_range

#: Long enough that what every chunk costs by itself is little compared with its samples, short enough to be repeated after a kill.
CHUNK_MS = 6 * BLOCK_MS


@dataclass(frozen=True)
class Chunk:
    """A range [start, end)."""

    start_ms: int
    end_ms: int


def chunks_of(start_ms: int, end_ms: int, chunk_ms: int = CHUNK_MS) -> list[Chunk]:
    """Cut a range into pieces whose edges lie on the epoch grid, so that a range given otherwise finds the same pieces again.

    Raises
    ------
    InputError
        The range is empty, or a chunk is not a number of whole hours up to a day.
    """
    check_range(start_ms, end_ms)
    if chunk_ms % BLOCK_MS or not BLOCK_MS <= chunk_ms <= DAY_MS:
        raise InputError(
            "A chunk is not a number of whole hours", got=f"{chunk_ms} ms", expected="1h to 24h, such as 6h"
        )
    first_ms = block_start(start_ms)
    edges = [first_ms, *range(first_ms - first_ms % chunk_ms + chunk_ms, end_ms, chunk_ms), end_ms]
    return [Chunk(low, high) for low, high in itertools.pairwise(edges)]
