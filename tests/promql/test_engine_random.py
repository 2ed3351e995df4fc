"""Random queries of a lake: whatever is asked, shards and spans put together give what one evaluation over all series gives."""

from __future__ import annotations

import contextlib
import random
from collections import Counter

import numpy as np
import pytest

from tests.promql.compare import answer_of, difference
from tests.promql.conformance.expressions import Writer, whole_language
from tests.promql.generate import BASE_MS, SPAN_MS, random_series
from tests.transforms.lakes import lake_of
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.labels import LabelMapping, normalise
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.query import range_query
from throttlescope.transforms.promql.source import MemorySource, Series

pytestmark = pytest.mark.long

QUERIES, STEP_MS = 80, 60_000


def series_of(rng: random.Random) -> list[Series]:
    """Random series of several topics, so that they lie in several shards; some without a topic, in a shard of their own."""
    found = {}
    for topic in range(6):
        of_topic = (
            {"namespace": f"t/n{topic % 2}", "topic": f"persistent://t/n{topic % 2}/{topic}"} if topic else {}
        )
        for one in random_series(rng):
            if not one.samples:
                continue
            labels = {**one.labels, "cluster": "c", **of_topic}
            times, values = zip(*one.samples, strict=True)
            arrays = np.array(times, np.int64), np.array(values), np.array(one.stale_ms, np.int64)
            found[tuple(sorted(labels.items()))] = Series(labels, *arrays)
    return list(found.values())


def as_the_lake_knows(series: list[Series]) -> MemorySource:
    """With the labels that the door gives them."""
    return MemorySource(
        Series(
            dict(normalise(tuple(one.labels.items()), LabelMapping()).labels),
            one.timestamps_ms,
            one.values,
            one.stale_ms,
        )
        for one in series
    )


@pytest.mark.parametrize("seed", range(3))
def test_shards_and_spans_give_what_one_evaluation_gives(tmp_path, seed):
    rng = random.Random(seed)  # noqa: S311
    series = series_of(rng)
    engine, whole = Engine(lake_of(tmp_path / "lake", series)), as_the_lake_knows(series)
    writer = Writer(rng, whole_language(BASE_MS))
    seen: Counter[str] = Counter()
    for _ in range(QUERIES):
        text = str(writer.vector(4))
        asked = (text, BASE_MS, BASE_MS + SPAN_MS, STEP_MS)
        wanted = found = None
        try:
            with contextlib.suppress(QueryError):
                wanted = range_query(asked[0], whole, *asked[1:])
        except InputError:
            seen["refused"] += 1
            continue
        with contextlib.suppress(QueryError):
            found = engine.range(*asked)
        assert (found is None) == (wanted is None), text
        if wanted is None:
            seen["failed"] += 1
            continue
        ours, theirs = (answer_of(one.value, one.steps) for one in (found, wanted))
        assert difference(ours, theirs, 1e-12) is None, text
        assert set(found.warnings) == set(wanted.warnings), text
        seen["filled" if any(theirs.values()) else "empty"] += 1
    assert seen["filled"] > QUERIES / 5, seen
