"""Segments of scalable topics that came from others. In: backlogs and consumers per subscription and segment. Out: what the segments
before them still hold, and who reads the segments after them.

A split or a merge seals segments and makes new ones for the same hash range. A stream subscription reads a new segment when those before it are
drained; until then it has no consumer and its backlog grows. Segments before a segment are those of the same topic with a smaller id and a
common part of the hash range, and the same relation the other way round gives those after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core.labels import HASH_RANGE
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.core.topic_name import is_scalable
from throttlescope.transforms.promql.source import Series

#: A broker looks at growing intervals, 15 minutes at most, whether a sealed segment is drained (5.0.0-M1).
DRAIN_SEEN_WITHIN_MS = 15 * MINUTE_MS
Key = tuple[str, str, str, int, str]


@dataclass
class TopicSegment:
    """A segment of one subscription, and when its backlog was sampled."""

    first: int
    last: int
    number: int
    key: Key
    samples_ms: np.ndarray

    def came_before(self, other: TopicSegment) -> bool:
        return self.number < other.number and self.first <= other.last and other.first <= self.last


def parent_backlogs(
    topics: Sequence[Sequence[TopicSegment]],
    keys: Sequence[Key],
    columns: Mapping[str, np.ndarray],
    ends_ms: np.ndarray,
) -> np.ndarray:
    """Entries that the segments before each segment hold at the ends of minutes (keys x minutes).

    Parameters
    ----------
    topics : sequence of sequence of TopicSegment
        From :func:`segments_of` backlogs, from :data:`DRAIN_SEEN_WITHIN_MS` before the first minute on at least.
    columns : mapping
        ``backlog_entries`` and ``consumers`` by key and minute, NaN where unknown.

    Returns
    -------
    numpy.ndarray
        NaN where no segment before is known, or none of them has a consumer either. 0 where they ended at most
        :data:`DRAIN_SEEN_WITHIN_MS` ago: they are drained, and the broker may not know it yet.
    """
    out = np.full((len(keys), len(ends_ms)), np.nan)
    index = {key: n for n, key in enumerate(keys)}
    for segments in topics:
        for segment in segments:
            before = [one for one in segments if one.came_before(segment)]
            if not before or segment.key not in index:
                continue
            out[index[segment.key]] = _held(before, index, columns, ends_ms)
    return out


def successor_consumers(
    topics: Sequence[Sequence[TopicSegment]],
    keys: Sequence[Key],
    consumers: np.ndarray,
) -> np.ndarray:
    """Consumers of the subscription on the segments that came from each segment, at the ends of minutes (keys x minutes).

    Parameters
    ----------
    topics : sequence of sequence of TopicSegment
        From :func:`segments_of` backlogs.
    consumers : numpy.ndarray
        Connected consumers by key and minute, NaN where unknown.

    Returns
    -------
    numpy.ndarray
        NaN where no segment after it is known, or of none of them the consumers are.
    """
    out = np.full(consumers.shape, np.nan)
    index = {key: n for n, key in enumerate(keys)}
    for segments in topics:
        for segment in segments:
            after = [index[one.key] for one in segments if segment.came_before(one) and one.key in index]
            if not after or segment.key not in index:
                continue
            known = consumers[after]
            out[index[segment.key]] = np.where(np.isnan(known).all(axis=0), np.nan, np.nansum(known, axis=0))
    return out


def _held(
    before: Sequence[TopicSegment],
    index: Mapping[Key, int],
    columns: Mapping[str, np.ndarray],
    ends_ms: np.ndarray,
) -> np.ndarray:
    held, is_there, recently = (
        np.zeros(len(ends_ms)),
        np.zeros(len(ends_ms), bool),
        np.zeros(len(ends_ms), bool),
    )
    for one in before:
        row = index.get(one.key)
        if row is not None:
            entries, consumers = columns["backlog_entries"][row], columns["consumers"][row]
            with np.errstate(invalid="ignore"):
                read = ~np.isnan(entries) & (consumers > 0)
            held += np.where(read, entries, 0.0)
            is_there |= read
        at = np.searchsorted(one.samples_ms, ends_ms) - 1
        last_ms = np.where(at >= 0, one.samples_ms[np.maximum(at, 0)], -DRAIN_SEEN_WITHIN_MS)
        gone = np.ones(len(ends_ms), bool) if row is None else np.isnan(columns["backlog_entries"][row])
        recently |= gone & (ends_ms - last_ms < DRAIN_SEEN_WITHIN_MS)
    return np.where(is_there, held, np.where(recently, 0.0, np.nan))


def segments_of(series: Iterable[tuple[Key | None, Series]]) -> list[list[TopicSegment]]:
    """Segments of each subscription of a scalable topic; the series of a segment that moved between brokers are one.

    Parameters
    ----------
    series : iterable of (key, Series)
        Backlogs; their labels name the segments. Those of other topics are passed over.
    """
    found: dict[Key, TopicSegment] = {}
    for key, one in series:
        hash_range = one.labels.get(HASH_RANGE)
        if key is None or hash_range is None or not is_scalable(key[2]):
            continue
        known = found.get(key)
        if known is None:
            first, last = (int(end, 16) for end in hash_range.split("-"))
            found[key] = TopicSegment(first, last, key[3], key, np.asarray(one.timestamps_ms, np.int64))
        else:
            known.samples_ms = np.union1d(known.samples_ms, one.timestamps_ms)
    grouped: dict[tuple, list[TopicSegment]] = {}
    for key, segment in found.items():
        grouped.setdefault((*key[:3], key[4]), []).append(segment)
    return list(grouped.values())
