"""A query's work in this process. In: its pieces. Out: its value; threads share the work, files that were read are kept."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.blocks import BlockCache
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import Value
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.shards.gather import Gathering, result_of_piece
from throttlescope.transforms.promql.shards.parts import PieceResult
from throttlescope.transforms.promql.shards.work import LakeView, Piece, Work


def run_here(
    work: Work, view: LakeView, cache: BlockCache, annotations: Annotations, budget: Budget
) -> Value:
    """Do a query's work with one thread per core.

    Raises
    ------
    QueryError
        Of the first piece, in the order of time and shards, that failed.
    """

    def run(piece: Piece) -> PieceResult:
        budget.check_time()
        source = LakeSampleSource(piece.files, view.indices[piece.shard], cache, piece.limits)
        return result_of_piece(piece, work.text, source, budget)

    gathering = Gathering(work, annotations, budget)
    with ThreadPoolExecutor(max(1, min(len(work.pieces), os.cpu_count() or 1))) as threads:
        # Pieces wait in order; a span's results are put together, and given up, before the next one's.
        waiting = [(piece, threads.submit(run, piece)) for piece in work.pieces]
        try:
            for number in range(len(work.spans)):
                results = []
                while waiting and waiting[0][0].span == number:
                    results.append(waiting.pop(0)[1].result())
                gathering.add(results)
        finally:
            for _, future in waiting:
                future.cancel()
    return gathering.value
