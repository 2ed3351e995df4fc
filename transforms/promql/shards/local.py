"""A query's work in this process. In: its pieces. Out: its value; threads share the work, files that were read are kept."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from throttlescope.transforms.promql.blocks import BlockCache
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import Value
from throttlescope.transforms.promql.lake_source import LakeSource
from throttlescope.transforms.promql.notes import Notes
from throttlescope.transforms.promql.shards.gather import joined, parts_of, value_of_span
from throttlescope.transforms.promql.shards.parts import Part
from throttlescope.transforms.promql.shards.work import LakeView, Piece, Work


def run_here(work: Work, view: LakeView, cache: BlockCache, notes: Notes, budget: Budget) -> Value:
    """Do a query's work with one thread per core.

    Raises
    ------
    QueryError
        Of the first piece, in the order of time and shards, that failed.
    """

    def run(piece: Piece) -> list[Part]:
        budget.check_time()
        source = LakeSource(piece.files, view.indices[piece.shard], cache, piece.limits)
        return parts_of(piece, source, notes, budget)

    lookback_ms = work.lookback_ms
    values = []
    with ThreadPoolExecutor(max(1, min(len(work.pieces), os.cpu_count() or 1))) as threads:
        # Pieces wait in order; a span's results are put together, and given up, before the next one's.
        waiting = [(piece, threads.submit(run, piece)) for piece in work.pieces]
        try:
            for number, span in enumerate(work.spans):
                parts = []
                while waiting and waiting[0][0].span == number:
                    parts.append(waiting.pop(0)[1].result())
                values.append(value_of_span(work.plan, span, parts, lookback_ms, notes, budget))
        finally:
            for _, future in waiting:
                future.cancel()
    return joined(values, work.spans)
