"""A query's work in this process. In: its pieces. Out: its value; threads share the work, files that were read are kept."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

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
    threads = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        # A thread takes longer to begin than a short query to answer.
        results = (map if len(work.pieces) == 1 else threads.map)(run, work.pieces)
        # Pieces are in order; a span's results are put together, and given up, before the next one's.
        pieces_of_span = Counter(piece.span for piece in work.pieces)
        for number in range(len(work.spans)):
            gathering.add(list(islice(results, pieces_of_span[number])))
    finally:
        threads.shutdown(cancel_futures=True)
    return gathering.value
