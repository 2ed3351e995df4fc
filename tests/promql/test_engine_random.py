"""Random queries of a lake: results of shards and spans together equal one evaluation over all series.

``python -m tests.promql.conformance random --through lake`` asks a real Prometheus the same.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.promql.conformance import lake_pairs
from tests.promql.conformance.outcome import CRASH
from tests.promql.conformance.pairs import PAIRS_PER_DATA, judged
from tests.promql.conformance.targets import Ours

pytestmark = pytest.mark.long

_ON_SPARK = 20


@pytest.mark.study
def test_spark_gives_what_threads_give(spark):
    series = lake_pairs.raw_data_of(0, 1)
    with (
        lake_pairs.OursInLake(series) as here,
        lake_pairs.OursInLake(series, session=spark) as there,
    ):
        for number in range(PAIRS_PER_DATA, PAIRS_PER_DATA + _ON_SPARK):
            one = lake_pairs.pair(0, number)
            mine, wanted = (target.query(str(one.piece), *one.asked) for target in (there, here))
            assert mine == wanted, one.piece


@pytest.mark.sampled(3)
@pytest.mark.parametrize("data", range(6))
def test_shards_and_spans_equal_one_evaluation(data):
    series = lake_pairs.raw_data_of(0, data)
    whole, found = Ours.over(lake_pairs.normalised(series)), []
    seen: Counter[str] = Counter()
    with lake_pairs.OursInLake(series) as lake:
        assert lake.blocks >= 3
        assert lake.shards > 1
        for number in range(data * PAIRS_PER_DATA, (data + 1) * PAIRS_PER_DATA):
            one = lake_pairs.pair(0, number)
            mine, wanted = (target.query(str(one.piece), *one.asked) for target in (lake, whole))
            verdict, trouble = judged(one.piece, mine, wanted)
            if verdict == "differs" or CRASH in (mine.error, wanted.error):
                found.append(f"pair {number}, {one.asked}: {one.piece}\n    {trouble} {mine.message}")
            seen["failed" if wanted.error else "filled" if wanted.filled else "empty"] += 1
    assert not found, "\n".join(found)
    assert seen["filled"] > PAIRS_PER_DATA / 3, seen
