"""Random pairs for a lake. In: a seed and a number. Out: the pair, and the series of its data set.

The same names and labels stand in several topics, partitions and clusters, so that they lie in several shards; each series is
made of up to four stretches of 26 minutes, which begin and end inside hours. Queries group and match by the labels that decide
the shard as often as by others. With an even seed there are two metrics more, of which one is repeated in topics that lack the
other, and matches of the two.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.naive.promql import NaiveSeries
from tests.promql.conformance.expressions import Writer, whole_language
from tests.promql.conformance.pairs import PAIRS_PER_DATA, DataSet, Draw, Pair, piece_of
from tests.promql.conformance.through_lake import OursInLake, arrays_of, as_ingested
from tests.promql.generate import BASE_MS, random_data
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.transforms.promql.functions import MATRIX, STRING
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.source import Series

#: Partitions as a broker names them by default, names that two namespaces and two clusters share.
_TOPICS = ("x-partition-0", "x-partition-1", "y", "y-partition-1", "z")
_PLACES = (
    *(
        {"cluster": cluster, "namespace": namespace, "topic": f"persistent://{namespace}/{topic}"}
        for cluster in ("c1", "c2")
        for namespace in ("t/n0", "t/n1")
        for topic in _TOPICS
    ),
    {"cluster": "c1"},
    {"cluster": "c2"},
)
_REPEATED = ("once", "twice")
_TOPIC_LABELS = ("cluster", "namespace", "topic", "partition")
_STRETCHES, _STRETCH_MS = 4, 40 * MINUTE_MS
#: From the first moment with a sample after it to the last.
_LENGTH_MS = _STRETCHES * _STRETCH_MS - 20 * MINUTE_MS
_MOST_STEPS = 200


def base_of(data: int) -> int:
    """Where hours begin differs from data set to data set."""
    return BASE_MS + (data * 7 % 60) * MINUTE_MS


def prefix(data: int) -> str:
    """What the metric names of a data set begin with: as Pulsar's, so that ingest normalises their labels."""
    return f"pulsar_s{data}_"


def pair(seed: int, number: int, depth: int = 5) -> Pair:
    """A pair by its number."""
    rng = random.Random(f"lake:{seed}:{number}")  # noqa: S311
    data = number // PAIRS_PER_DATA
    base_ms = base_of(data)
    language = replace(whole_language(base_ms), topic_labels=_TOPIC_LABELS)
    if _has_repeats(seed):
        language = replace(language, repeated=_REPEATED, metrics=(*language.metrics, *_REPEATED * 2))
    kind, piece = piece_of(rng, Writer(rng, language, prefix(data)), depth)
    lookback_ms = rng.choice((15_000, 60_000, 600_000)) if rng.random() < 0.1 else LOOKBACK_MS
    start_ms = base_ms + rng.choice((0, 0, rng.randint(0, _LENGTH_MS), rng.randint(-400_000, 0)))
    if rng.random() < (0.9 if kind in (MATRIX, STRING) else 0.2):
        return Pair(number, piece, start_ms, start_ms, 0, lookback_ms)
    step_ms = rng.choice((60_000, 60_000, 240_000, 47_000, 15_000, 601_000, 1_800_000))
    length_ms = rng.choice((_LENGTH_MS, _LENGTH_MS, rng.randint(0, _LENGTH_MS)))
    return Pair(
        number, piece, start_ms, start_ms + min(length_ms, _MOST_STEPS * step_ms), step_ms, lookback_ms
    )


def raw_data_of(seed: int, data: int) -> list[Series]:
    """A data set by its number, under the labels that a broker gives."""
    rng = random.Random(f"lake:{seed}:data:{data}")  # noqa: S311
    by_ms = base_of(data) - BASE_MS
    found: dict[tuple, NaiveSeries] = {}
    for place in rng.sample(_PLACES, rng.randint(4, 14)):
        for stretch in range(_STRETCHES):
            if rng.random() < 0.2:
                continue
            for one in random_data(rng, prefix(data)):
                if rng.random() < 0.6:
                    continue
                labels = one.labels | place
                whole = found.setdefault(tuple(sorted(labels.items())), NaiveSeries(labels, [], []))
                later_ms = by_ms + stretch * _STRETCH_MS
                whole.samples.extend((t + later_ms, v) for t, v in one.samples)
                whole.stale_ms.extend(t + later_ms for t in one.stale_ms)
    if _has_repeats(seed):
        for one in _repeats(rng, prefix(data), by_ms):
            found[tuple(sorted(one.labels.items()))] = one
    return [arrays_of(found[key]) for key in sorted(found) if found[key].samples]


def _has_repeats(seed: int) -> bool:
    """Even seeds."""
    return seed % 2 == 0


def _repeats(rng: random.Random, names: str, by_ms: int) -> Iterator[NaiveSeries]:
    """One metric that some topics have once, and one that they have once and some other topics twice, for a while."""
    once, twice = (f"{names}{name}" for name in _REPEATED)
    # Partitions of a topic lie in one shard.
    places = [place for place in _PLACES if "partition" not in place.get("topic", "")]
    for place in rng.sample(places, rng.randint(3, 6)):
        if rng.random() < 0.6:
            yield NaiveSeries({"__name__": once, "a": "1", **place}, _steady(rng, by_ms))
            yield NaiveSeries({"__name__": twice, "a": "1", "instance": "i1", **place}, _steady(rng, by_ms))
            continue
        for instance in ("i1", "i2")[: rng.choice((1, 2, 2))]:
            labels = {"__name__": twice, "a": "1", "instance": instance, **place}
            yield NaiveSeries(labels, _steady(rng, by_ms))


def _steady(rng: random.Random, by_ms: int) -> list[tuple[int, float]]:
    """A sample a minute, over all the time or a part of it."""
    first_ms, after_ms = BASE_MS + by_ms - 6 * MINUTE_MS, BASE_MS + by_ms + _LENGTH_MS
    if rng.random() < 0.5:
        first_ms += rng.randint(0, _LENGTH_MS // 2)
    if rng.random() < 0.5:
        after_ms -= rng.randint(0, _LENGTH_MS // 2)
    return [(time_ms, float(rng.randint(0, 9))) for time_ms in range(first_ms, after_ms, MINUTE_MS)]


def normalised(series: list[Series]) -> list[NaiveSeries]:
    """The series as the lake knows them, in the order of their labels."""
    found = {}
    for one in series:
        labels = as_ingested(tuple(one.labels.items())).labels
        samples = list(zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True))
        found[labels] = NaiveSeries(dict(labels), samples, one.stale_ms.tolist())
    if len(found) != len(series):
        raise ValueError("two series have become one")
    return [found[labels] for labels in sorted(found)]


def _through_lake(seed: int, data: int) -> DataSet:
    series = raw_data_of(seed, data)
    return DataSet(normalised(series), OursInLake(series))


THROUGH_LAKE = Draw(pair, _through_lake)


def shape(seed: int, data: int) -> dict[str, int]:
    """How many series a data set has, and over how many shards and hours they lie."""
    series = raw_data_of(seed, data)
    return {
        "series": len(series),
        "shards": len({as_ingested(tuple(one.labels.items())).shard for one in series}),
        "hours": len({int(hour) for one in series for hour in one.timestamps_ms // BLOCK_MS}),
    }
