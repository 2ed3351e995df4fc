"""Samples of one topic. In: a source, its labels' mapping, a topic and a range. Out: series, normalised and validated as on ingest.

The source is read twice: the topic's series of all metrics that signals and consumers need, and the brokers' own series. A third
read, of the other subscriptions that share a broker's limit, is made only where a broker has a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.metrics import BACKLOG, METRICS
from throttlescope.ingest.core.selector import NAME_LABEL, REGEX, Matcher, Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.series import PullSource as Reader
from throttlescope.ingest.core.times import format_time
from throttlescope.ingest.core.topic_name import topic_pattern
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.pull.read_series import read_series
from throttlescope.transforms.minutes import metrics_read
from throttlescope.transforms.promql.source import MemorySource, SampleSource, Series

_OUT = ("pulsar_out_messages_total", "pulsar_out_bytes_total")
#: Metrics that give a subscription's share in the use of its broker's limit; the last two only where entries are counted.
SHARING_METRICS = (BACKLOG, *_OUT, "pulsar_in_messages_total", "pulsar_storage_write_rate")
#: A buffer of this process never goes to scratch: a topic's hours are far below it.
_IN_MEMORY = 1 << 40


@dataclass(frozen=True)
class TopicSamples:
    """What was read.

    Attributes
    ----------
    series : tuple of Series
        With normalised labels, sorted by time.
    refused : dict
        How many series ingest validation refused, by reason.
    """

    cluster: str
    series: tuple[Series, ...]
    requests: int
    bytes: int
    refused: dict[str, int]

    @property
    def samples(self) -> int:
        return sum(len(one.timestamps_ms) for one in self.series)

    @cached_property
    def span_ms(self) -> tuple[int, int]:
        """From the first scrape that was seen to the newest, brokers' own included; (0, 0) where there is none."""
        names = {BACKLOG, *_of_level(broker=True)}
        bounds = [
            (int(times[0]), int(times[-1]))
            for one in self.series
            if one.labels[NAME_LABEL] in names
            for times in (one.timestamps_ms, one.stale_ms)
            if len(times)
        ]
        return (min(first for first, _ in bounds), max(last for _, last in bounds)) if bounds else (0, 0)


class IndexedSource(SampleSource):
    """Series in memory, found by their metric: rules read one metric after the other."""

    def __init__(self, series: Iterable[Series]) -> None:
        of: dict[str, list[Series]] = {}
        for one in series:
            of.setdefault(one.labels[NAME_LABEL], []).append(one)
        self._of = {name: MemorySource(some) for name, some in of.items()}

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        name = selector.metric_name
        if name is not None:
            return self._of[name].select(selector, start_ms, end_ms) if name in self._of else []
        found = [one for source in self._of.values() for one in source.select(selector, start_ms, end_ms)]
        return sorted(found, key=lambda one: tuple(sorted(one.labels.items())))


def read_topic(
    reader: Reader,
    mapping: LabelMapping,
    topic: str,
    start_ms: int,
    end_ms: int,
    *,
    match: Sequence[Selector] = (),
) -> TopicSamples:
    """Read a topic, all partitions and subscriptions, and the brokers' own series.

    Parameters
    ----------
    match : sequence of Selector
        The configuration's: each narrows what is read, in the source's own labels.

    Raises
    ------
    InputError
        The topic is not there, several clusters have it, or its cluster has no name.
    SourceError
    """
    meter = Meter()
    of_topic = Matcher(_theirs(mapping, "topic"), REGEX, topic_pattern(topic, None))
    of_subscriptions = _any_of(_of_level(broker=False))
    buffer, reader = _read(
        reader, [(of_subscriptions, of_topic, *narrowing) for narrowing in _narrowings(match)],
        mapping, start_ms, end_ms, meter,
    )  # fmt: skip
    # The pattern also fits a topic of its own that is named like a partition.
    series = [one for one in _series(buffer) if one.labels.get("topic") == topic]
    name = _cluster(series, buffer, mapping, topic, start_ms, end_ms)
    series = [one for one in series if one.labels["cluster"] == name]
    narrowings = _narrowings(match, only=(_theirs(mapping, "cluster"), "instance", "job"))
    brokers, _ = _read(
        reader, [(_any_of(_of_level(broker=True)), *narrowing) for narrowing in narrowings],
        replace(mapping, cluster=mapping.cluster or name), start_ms, end_ms, meter,
    )  # fmt: skip
    series += [one for one in _series(brokers) if one.labels["cluster"] == name]
    refused: dict[str, int] = {}
    for one in (*buffer.refused.values(), *brokers.refused.values()):
        refused[one.reason] = refused.get(one.reason, 0) + 1
    return TopicSamples(name, tuple(series), meter.requests, meter.bytes, refused)


def read_sharing(
    reader: Reader,
    mapping: LabelMapping,
    cluster: str,
    topic: str,
    instances: Iterable[str],
    start_ms: int,
    end_ms: int,
    *,
    in_entries: bool,
) -> list[Series]:
    """What all other topics of some brokers dispatch: a broker's limit is shared by everything that it serves.

    Parameters
    ----------
    instances : iterable of str
        Values of the label ``instance`` of the brokers.
    in_entries : bool
        Whether the broker's limits count entries: then how many messages an entry has is read as well.
    """
    served = Matcher("instance", REGEX, "|".join(re.escape(one) for one in sorted(instances)))
    names = SHARING_METRICS if in_entries else SHARING_METRICS[: 1 + len(_OUT)]
    mapping = replace(mapping, cluster=mapping.cluster or cluster)
    buffer, _ = _read(reader, [(_any_of(names), served)], mapping, start_ms, end_ms, Meter())
    return [
        one
        for one in _series(buffer)
        if one.labels["cluster"] == cluster
        and one.labels.get("topic") != topic
        and not one.labels.get("consumer_name")
        and not one.labels.get("consumer_id")
    ]


# -- asking -------------------------------------------------------------------------------------


def _of_level(*, broker: bool) -> list[str]:
    return sorted(name for name in metrics_read() if (METRICS[name].level == "broker") == broker)


def _any_of(names: Iterable[str]) -> Matcher:
    return Matcher(NAME_LABEL, REGEX, "|".join(re.escape(name) for name in names))


def _theirs(mapping: LabelMapping, ours: str) -> str:
    """What the source calls one of our labels."""
    return next((theirs for theirs, mine in mapping.renames.items() if mine == ours), ours)


def _narrowings(match: Sequence[Selector], only: Sequence[str] | None = None) -> list[tuple[Matcher, ...]]:
    """The matchers of the configuration's selectors, but for the metrics' names; one empty set where there is none."""
    found = [
        tuple(m for m in one.matchers if m.name != NAME_LABEL and (only is None or m.name in only))
        for one in match
    ]
    return list(dict.fromkeys(found)) or [()]


def _read(
    reader: Reader,
    selectors: Iterable[tuple[Matcher, ...]],
    mapping: LabelMapping,
    start_ms: int,
    end_ms: int,
    meter: Meter,
) -> tuple[BlockBuffer, Reader]:
    return read_series(
        reader, [Selector(matchers) for matchers in selectors], start_ms, end_ms, meter,
        lambda: BlockBuffer(mapping, Path(), _IN_MEMORY),
    )  # fmt: skip


# -- what came ----------------------------------------------------------------------------------


def _series(buffer: BlockBuffer) -> list[Series]:
    """The series of a buffer, whole: their hours one behind the other."""
    labels_of = {key.series_id: dict(key.labels) for key, _, _ in buffer.series()}
    parts: dict[str, list[tuple[int, pa.Table, int]]] = {}
    for (_, hour_ms, _), table in buffer.blocks():
        table = table.combine_chunks()
        for row, series_id in enumerate(table["series_id"].to_pylist()):
            parts.setdefault(series_id, []).append((hour_ms, table, row))
    return [
        Series(
            labels_of[series_id], *(_joined(some, name) for name in ("timestamps_ms", "values", "stale_ms"))
        )
        for series_id, some in parts.items()
    ]


def _joined(parts: list[tuple[int, pa.Table, int]], name: str) -> np.ndarray:
    ordered = sorted(parts, key=lambda part: part[0])
    arrays = [table[name][row].values.to_numpy(zero_copy_only=False) for _, table, row in ordered]
    return np.concatenate(arrays)


def _cluster(
    series: list[Series], buffer: BlockBuffer, mapping: LabelMapping, topic: str, start_ms: int, end_ms: int
) -> str:
    found = sorted({one.labels["cluster"] for one in series if one.labels[NAME_LABEL] == BACKLOG})
    between = f"{topic}, {format_time(start_ms)} to {format_time(end_ms)}"
    if mapping.cluster in found:
        return mapping.cluster
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            "Several clusters have this topic",
            got=", ".join(found),
            expected="one",
            fix="name one: --cluster NAME of the configuration, with match = ['{cluster=\"...\"}'] in its table",
        )
    if any(one.reason == "missing_key_label" for one in buffer.refused.values()):
        raise InputError(
            "The topic's series lack a label",
            got=next(one.detail for one in buffer.refused.values() if one.reason == "missing_key_label"),
            expected="labels cluster, namespace, topic and subscription",
            fix="give --cluster NAME, or say in the configuration how the source calls them",
        )
    raise InputError(
        "There is no backlog of this topic at the source",
        got=between,
        expected="series of pulsar_subscription_back_log with this topic",
        fix="see how it is spelt with throttlescope doctor, or choose a range in which it was scraped",
    )
