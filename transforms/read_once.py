"""A broker that is scraped twice is counted once. In: a source of series. Out: the same source without duplicates.

Two jobs, or two Prometheus servers with different labels, may scrape the same broker: under one value of ``instance``
or under two (a host's name and its address). All that is summed would be doubled then, from counters to the use of limits.

A topic partition has one owner, so two targets that show a subscription *at the same time* are one broker scraped twice,
unless their counters differ: then one of them is left over from before a move, or two clusters have one name. So what
decides is whether the values of one target lie between the neighbouring values of the other. Two clusters that replicate a topic
to each other count the same as well, under one name; but each shows a replicator to the other, so targets with
different replicators are never one broker. Of targets that are one broker
the first in the order of labels is read; another's samples count only while the first has none.

What is found for an hour rests on its samples and those of the hour before, and on nothing else: however the work is cut, the
same samples are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES, TOPIC_KEY_NAMES
from throttlescope.ingest.core.metrics import REPLICATION_BACKLOG
from throttlescope.ingest.core.selector import NAME_LABEL, Selector, metric_selector, parse_selector
from throttlescope.ingest.core.subscription_name import REMOTE_CLUSTER
from throttlescope.transforms.promql.source import MemorySource, SampleSource, Series

#: Each subscription partition has it once per target.
BACKLOG = metric_selector("pulsar_subscription_back_log")
#: Counters that show whether two targets are one broker.
COUNTERS = (
    parse_selector('pulsar_out_messages_total{subscription!="", consumer_name="", consumer_id=""}'),
    metric_selector("pulsar_in_messages_total"),
)
#: Each replicator of a topic partition has it once per target.
REPLICATORS = metric_selector(REPLICATION_BACKLOG)
#: So many samples of either target lie in the time of both, and so many values between two of the other's.
_SAMPLES = 3
#: Of those values this share has to fit: scrapes may overtake each other.
_FITTING_SHARE = 0.9
#: A target has no sample any more when none came for so many of its usual distances.
_DISTANCES = 2.5

Topic = tuple[str, ...]
#: Values of the labels that distinguish targets.
Target = tuple[str, ...]


@dataclass(frozen=True)
class ReadTwice:
    """Targets of topic partitions that are one broker.

    Attributes
    ----------
    names : tuple of str
        Labels that distinguish targets.
    instead_of : mapping
        By topic partition and target the target that is read instead of it.
    scraped_ms : mapping
        Times at which a target that is read instead was scraped, by topic partition and target.
    """

    names: tuple[str, ...]
    instead_of: Mapping[tuple[Topic, Target], Target]
    scraped_ms: Mapping[tuple[Topic, Target], np.ndarray]

    def pairs(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Labels of the targets that are read and of those that repeat them, in order."""
        targets = sorted({(kept, repeating) for (_, repeating), kept in self.instead_of.items()})
        return [tuple(dict(zip(self.names, one, strict=True)) for one in pair) for pair in targets]


class ReadOnce(SampleSource):
    """A source without the samples of targets that repeat another's."""

    def __init__(self, source: SampleSource, found: ReadTwice) -> None:
        self._source, self._found = source, found

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        series = (_left(one, self._found) for one in self._source.select(selector, start_ms, end_ms))
        return [one for one in series if len(one.timestamps_ms) or len(one.stale_ms)]


def counted_once(series: Sequence[Series], start_ms: int, end_ms: int) -> Sequence[Series]:
    """Series in memory without the samples of targets that repeat another's."""
    source = MemorySource(series)
    twice = read_twice(source, source.select(BACKLOG, start_ms, end_ms), start_ms, end_ms)
    if twice is None:
        return series
    return [left for one in series if len((left := _left(one, twice)).timestamps_ms)]


def overlap(backlog: Sequence[Series]) -> list[tuple[Series, ...]]:
    """Series of one subscription partition or replicator each that several targets show at the same time.

    Parameters
    ----------
    backlog : sequence of Series
        Of :data:`BACKLOG`.
    """
    of: dict[tuple, list[Series]] = {}
    for one in backlog:
        key = tuple(one.labels.get(name, "") for name in (*SUBSCRIPTION_KEY_NAMES, REMOTE_CLUSTER))
        of.setdefault(key, []).append(one)
    return [
        tuple(some)
        for some in of.values()
        if len(some) > 1 and any(_together(*pair) for pair in combinations(some, 2))
    ]


def read_twice(
    source: SampleSource, backlog: Sequence[Series], start_ms: int, end_ms: int
) -> ReadTwice | None:
    """Find targets that are one broker; None where there is none.

    Parameters
    ----------
    source : SampleSource
        Has the counters, and the replicators where there are any.
    backlog : sequence of Series
        Of :data:`BACKLOG`, in [start_ms, end_ms).
    """
    shown_twice = overlap(backlog)
    if not shown_twice:
        return None
    topics = {_topic(some[0].labels) for some in shown_twice}
    of_topics = [one for one in backlog if _topic(one.labels) in topics]
    not_of_target = {*SUBSCRIPTION_KEY_NAMES, NAME_LABEL, REMOTE_CLUSTER}
    names = tuple(sorted({name for one in of_topics for name in one.labels} - not_of_target))
    fits: dict[tuple[Topic, Target, Target], list[int]] = {}
    for selector in COUNTERS:
        counters: dict[tuple, list[Series]] = {}
        for one in source.select(selector, start_ms, end_ms):
            if (topic := _topic(one.labels)) in topics:
                counters.setdefault((topic, one.labels.get("subscription")), []).append(one)
        for (topic, _), some in counters.items():
            some = sorted(some, key=lambda one: target_of(one.labels, names))
            for first, second in combinations(some, 2):
                if not _together(first, second):
                    continue
                pair = topic, target_of(first.labels, names), target_of(second.labels, names)
                counts = fits.setdefault(pair, [0, 0])
                for inner, outer in ((first, second), (second, first)):
                    fitting, all_of_them = between(inner, outer)
                    counts[0] += fitting
                    counts[1] += all_of_them
    replicated: dict[tuple[Topic, Target], set[str]] = {}
    for one in source.select(REPLICATORS, start_ms, end_ms):
        place = _topic(one.labels), target_of(one.labels, names)
        replicated.setdefault(place, set()).add(
            one.labels.get("subscription") or one.labels.get(REMOTE_CLUSTER, "")
        )
    instead_of: dict[tuple[Topic, Target], Target] = {}
    for (topic, first, second), (fitting, all_of_them) in sorted(fits.items()):
        if replicated.get((topic, first)) != replicated.get((topic, second)):
            continue
        if first != second and all_of_them >= _SAMPLES and fitting >= _FITTING_SHARE * all_of_them:
            instead_of.setdefault((topic, second), instead_of.get((topic, first), first))
    if not instead_of:
        return None
    return ReadTwice(names, instead_of, _scraped_ms(of_topics, instead_of, names))


def between(inner: Series, outer: Series) -> tuple[int, int]:
    """How many values of a counter lie between the values of another around them, and how many there are.

    Where the other one restarted, it is not compared.
    """
    after = np.searchsorted(outer.timestamps_ms, inner.timestamps_ms)
    inside = (after > 0) & (after < len(outer.timestamps_ms))
    after, values = after[inside], inner.values[inside]
    low, high = outer.values[after - 1], outer.values[after]
    compared = low <= high
    return int((compared & (low <= values) & (values <= high)).sum()), int(compared.sum())


def is_covered(times_ms: np.ndarray, scraped_ms: np.ndarray) -> np.ndarray:
    """Which times lie so soon after a scrape that the target is still there."""
    if len(scraped_ms) < 2:
        return np.zeros(len(times_ms), np.bool_)
    reach_ms = _DISTANCES * float(np.median(np.diff(scraped_ms)))
    newest = np.searchsorted(scraped_ms, times_ms, side="right") - 1
    return (newest >= 0) & (times_ms - scraped_ms[newest] <= reach_ms)


def target_of(labels: Mapping[str, str], names: Iterable[str]) -> Target:
    """The labels that identify the target of a series."""
    return tuple(labels.get(name, "") for name in names)


def _left(one: Series, found: ReadTwice) -> Series:
    topic = _topic(one.labels)
    kept = found.instead_of.get((topic, target_of(one.labels, found.names)))
    if kept is None:
        return one
    repeats = is_covered(one.timestamps_ms, found.scraped_ms[topic, kept])
    if not repeats.any():
        return one
    # What is left out ends the series, or its last value would be looked back to.
    stale_ms = np.union1d(one.stale_ms, one.timestamps_ms[repeats])
    return replace(
        one, timestamps_ms=one.timestamps_ms[~repeats], values=one.values[~repeats], stale_ms=stale_ms
    )


def _topic(labels: Mapping[str, str]) -> Topic:
    return tuple(labels.get(name, "") for name in TOPIC_KEY_NAMES)


def _together(one: Series, other: Series) -> bool:
    """Whether both have several samples in the time in which both are there."""
    if not len(one.timestamps_ms) or not len(other.timestamps_ms):
        return False
    start_ms = max(one.timestamps_ms[0], other.timestamps_ms[0])
    end_ms = min(one.timestamps_ms[-1], other.timestamps_ms[-1])
    return all(
        np.searchsorted(times_ms, end_ms, side="right") - np.searchsorted(times_ms, start_ms) >= _SAMPLES
        for times_ms in (one.timestamps_ms, other.timestamps_ms)
    )


def _scraped_ms(
    series: Iterable[Series], instead_of: Mapping[tuple[Topic, Target], Target], names: tuple[str, ...]
) -> dict[tuple[Topic, Target], np.ndarray]:
    wanted = {(topic, kept) for (topic, _), kept in instead_of.items()}
    times: dict[tuple[Topic, Target], list[np.ndarray]] = {place: [] for place in wanted}
    for one in series:
        place = _topic(one.labels), target_of(one.labels, names)
        if place in times:
            times[place].append(one.timestamps_ms)
    return {place: np.unique(np.concatenate(some)) for place, some in times.items()}
