"""The last hours of samples, in memory. In: what was read of each metric. Out: series as rules and files want them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from throttlescope.ingest.core.metrics import BACKLOG, BROKER_MARKS, PUBLISH_PAUSES
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import DecodedSeries, Meter, SampleBatch, batch_of
from throttlescope.ingest.core.system_names import is_system_topic
from throttlescope.ingest.core.topic_name import SCALABLE
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.sources.pulsar_admin import AdminTopic
from throttlescope.transforms.promql.source import SampleSource, Series

_FOR_EVER = np.iinfo(np.int64).max


class SampleWindow(SampleSource):
    """Series with normalised labels, by metric and id."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, Series]] = {}
        # Which series a selector means changes only with the set of series.
        self._meant: dict[Selector, list[str]] = {}

    def take(self, metric_name: str, buffer: BlockBuffer, since_ms: int) -> None:
        """Replace the samples from ``since_ms`` on by what a source answered."""
        by_id = self._of.setdefault(metric_name, {})
        for series_id, new in series_of(buffer):
            old = by_id.get(series_id)
            if old is None:
                self._meant.clear()
            by_id[series_id] = new if old is None else with_tail(old, new, since_ms)

    def replace(self, metric_name: str, buffer: BlockBuffer, start_ms: int, end_ms: int) -> None:
        """Replace the samples of [start_ms, end_ms) by what a source answered."""
        by_id = self._of.setdefault(metric_name, {})
        for series_id, new in series_of(buffer):
            old = by_id.get(series_id)
            if old is None:
                self._meant.clear()
                by_id[series_id] = new
                continue
            later = _cut(old, end_ms, _FOR_EVER)
            before = with_tail(_cut(old, 0, end_ms), new, start_ms)
            by_id[series_id] = with_tail(before, later, end_ms)

    def put_before(self, metric_name: str, series: dict[str, Series], end_ms: int) -> None:
        """Add earlier samples of series, none of them beyond ``end_ms``."""
        by_id = self._of.setdefault(metric_name, {})
        for series_id, one in series.items():
            later = by_id.get(series_id)
            by_id[series_id] = one if later is None else with_tail(one, later, end_ms)
        self._meant.clear()

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        metric_name = selector.metric_name
        # Rules name their metrics; no metric is looked for by a pattern.
        by_id = self._of.get(metric_name, {}) if metric_name is not None else {}
        meant = self._meant.get(selector)
        if meant is None:
            fitting = [series_id for series_id, one in by_id.items() if selector.matches(one.labels)]
            meant = sorted(fitting, key=lambda series_id: tuple(sorted(by_id[series_id].labels.items())))
            self._meant[selector] = meant
        found = (_cut(by_id[series_id], start_ms, end_ms) for series_id in meant)
        return [one for one in found if len(one.timestamps_ms) or len(one.stale_ms)]

    def forget_before(self, time_ms: int) -> None:
        """Let go of samples before a time, and of series that have none after it."""
        for by_id in self._of.values():
            for series_id, one in list(by_id.items()):
                rest = _cut(one, time_ms, _FOR_EVER)
                if len(rest.timestamps_ms) or len(rest.stale_ms):
                    # A slice would keep the whole array alive.
                    by_id[series_id] = Series(
                        one.labels, rest.timestamps_ms.copy(), rest.values.copy(), rest.stale_ms.copy()
                    )
                else:
                    del by_id[series_id]
        self._meant.clear()

    def of_metric(self, metric_name: str) -> list[Series]:
        return list(self._of.get(metric_name, {}).values())

    @property
    def metrics(self) -> list[str]:
        return sorted(name for name, by_id in self._of.items() if by_id)

    def newest_ms(self) -> dict[str, int]:
        """Time of each cluster's newest sample or marker of a backlog."""
        found: dict[str, int] = {}
        for one in self.of_metric(BACKLOG):
            last_ms = max(*one.timestamps_ms[-1:].tolist(), *one.stale_ms[-1:].tolist(), 0)
            found[one.labels["cluster"]] = max(last_ms, found.get(one.labels["cluster"], 0))
        return found

    def instances(self, cluster: str) -> set[str]:
        """Values of ``instance`` of a cluster's brokers."""
        marks = (one for name in BROKER_MARKS for one in self.of_metric(name))
        return {
            one.labels["instance"]
            for one in marks
            if one.labels["cluster"] == cluster and "instance" in one.labels
        }

    def topics_with_backlog(self, cluster: str, since_ms: int) -> list[AdminTopic]:
        """Topics of which a subscription had a backlog since then, the largest first, as a run finds them in the lake."""
        return self._topics_above_zero(BACKLOG, cluster, since_ms)

    def topics_with_pauses(self, cluster: str, since_ms: int) -> list[AdminTopic] | None:
        """Topics of which the broker paused producers since then, the most often paused first; None where that is not read."""
        if not self.of_metric(PUBLISH_PAUSES):
            return None
        return self._topics_above_zero(PUBLISH_PAUSES, cluster, since_ms)

    def _topics_above_zero(self, metric_name: str, cluster: str, since_ms: int) -> list[AdminTopic]:
        largest: dict[str, float] = {}
        partitions: dict[str, set[int]] = {}
        for one in self.of_metric(metric_name):
            name = one.labels["topic"]
            of_interest = name.startswith(("persistent://", SCALABLE)) and not is_system_topic(name)
            if one.labels["cluster"] != cluster or not of_interest:
                continue
            values = one.values[np.searchsorted(one.timestamps_ms, since_ms) :]
            if (values > 0).any():
                largest[name] = max(float(np.nanmax(values)), largest.get(name, 0.0))
                partitions.setdefault(name, set()).add(int(one.labels["partition"]))
        ordered = sorted(largest, key=lambda name: (-largest[name], name))
        return [AdminTopic(name, tuple(sorted(partitions[name]))) for name in ordered]


class SampleWindowReader:
    """The samples in memory as a source that a pull reads, so that they pass ingest validation on the way into the lake."""

    def __init__(self, window: SampleWindow, name: str, address: str, stale_is_inferred: bool) -> None:
        self.window, self.name, self.address, self.stale_is_inferred = (
            window,
            name,
            address,
            stale_is_inferred,
        )

    def read(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Iterator[SampleBatch]:
        """All samples of the selector's metric: they were selected when they were read."""
        found = (_cut(one, start_ms, end_ms) for one in self.window.of_metric(selector.metric_name or ""))
        yield batch_of(
            [
                DecodedSeries(tuple(sorted(one.labels.items())), one.timestamps_ms, one.values, one.stale_ms)
                for one in found
                if len(one.timestamps_ms) or len(one.stale_ms)
            ]
        )


def series_of(buffer: BlockBuffer) -> Iterator[tuple[str, Series]]:
    """The series of a buffer by id, their hours one behind the other."""
    labels_of = {key.series_id: dict(key.labels) for key, _, _ in buffer.series()}
    rows = ((hour_ms, table) for (_, hour_ms, _), table in buffer.blocks())
    yield from joined_hours(rows, labels_of)


def joined_hours(
    blocks: Iterable[tuple[int, pa.Table]], labels_of: dict[str, dict[str, str]]
) -> Iterator[tuple[str, Series]]:
    """Series from rows of blocks: the start of the hour, and a table of ``series_id`` and the three lists."""
    parts: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    for _, table in sorted(blocks, key=lambda block: block[0]):
        lists = [table[name].combine_chunks() for name in ("timestamps_ms", "values", "stale_ms")]
        bounds = [np.asarray(one.offsets) for one in lists]
        flat = [one.values.to_numpy(zero_copy_only=False) for one in lists]
        for row, series_id in enumerate(table["series_id"].to_pylist()):
            arrays = (some[at[row] : at[row + 1]] for some, at in zip(flat, bounds, strict=True))
            parts.setdefault(series_id, []).append(tuple(arrays))
    for series_id, some in parts.items():
        if series_id in labels_of:
            yield (
                series_id,
                Series(labels_of[series_id], *(np.concatenate(each) for each in zip(*some, strict=True))),
            )


def with_tail(old: Series, new: Series, since_ms: int) -> Series:
    """A series whose samples from ``since_ms`` on were read again.

    Where the answer has fewer samples than were known, the source has lost some: those known are kept, and what is newer
    than they are is added.
    """
    at = int(np.searchsorted(old.timestamps_ms, since_ms))
    marked = int(np.searchsorted(old.stale_ms, since_ms))
    first, first_marked = 0, 0
    if len(new.timestamps_ms) < len(old.timestamps_ms) - at:
        at, marked = len(old.timestamps_ms), len(old.stale_ms)
        first = int(np.searchsorted(new.timestamps_ms, old.timestamps_ms[-1], side="right"))
        last_ms = old.stale_ms[-1] if marked else since_ms - 1
        first_marked = int(np.searchsorted(new.stale_ms, last_ms, side="right"))
    return Series(
        old.labels,
        np.concatenate([old.timestamps_ms[:at], new.timestamps_ms[first:]]),
        np.concatenate([old.values[:at], new.values[first:]]),
        np.concatenate([old.stale_ms[:marked], new.stale_ms[first_marked:]]),
    )


def _cut(series: Series, start_ms: int, end_ms: int) -> Series:
    first, after = np.searchsorted(series.timestamps_ms, (start_ms, end_ms))
    first_marker, after_marker = np.searchsorted(series.stale_ms, (start_ms, end_ms))
    return Series(
        series.labels,
        series.timestamps_ms[first:after],
        series.values[first:after],
        series.stale_ms[first_marker:after_marker],
    )
