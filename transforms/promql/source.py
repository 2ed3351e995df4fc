"""Sources of samples. In: a selector and a range. Out: the matching series, with their samples and staleness markers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql.semantics import Labels, labels_of

_NO_TIMES = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Series:
    """One series.

    Attributes
    ----------
    labels : mapping
        With ``__name__``.
    timestamps_ms, stale_ms : ndarray of int64, rising
        Times of samples and of staleness markers.
    values : ndarray of float64
    """

    labels: Mapping[str, str]
    timestamps_ms: np.ndarray
    values: np.ndarray
    stale_ms: np.ndarray = field(default_factory=lambda: _NO_TIMES)


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of several series end to end; ``bounds`` and ``stale_bounds`` say where each series begins."""

    labels: tuple[Labels, ...]
    times_ms: np.ndarray
    values: np.ndarray
    bounds: np.ndarray
    stale_ms: np.ndarray
    stale_bounds: np.ndarray


def join(series: Sequence[Series]) -> Samples:
    """Lay the samples of several series end to end."""
    return Samples(
        tuple(labels_of(one.labels.items()) for one in series),
        _joined([one.timestamps_ms for one in series], np.int64),
        _joined([one.values for one in series], np.float64),
        bounds_of([len(one.timestamps_ms) for one in series]),
        _joined([one.stale_ms for one in series], np.int64),
        bounds_of([len(one.stale_ms) for one in series]),
    )


def bounds_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where each series begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


class SampleSource(ABC):
    """Anything that series can be read from."""

    @abstractmethod
    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        """Series that fit, with what they have in [start, end), sorted by labels; none without a sample or marker."""

    def samples(self, selector: Selector, start_ms: int, end_ms: int) -> Samples:
        """What :meth:`select` gives, end to end."""
        return join(self.select(selector, start_ms, end_ms))


class MemorySource(SampleSource):
    """Series that are already here."""

    def __init__(self, series: Iterable[Series]) -> None:
        self._series = sorted(series, key=_order)

    def select(self, selector: Selector, start_ms: int, end_ms: int) -> list[Series]:
        found = (_cut(series, start_ms, end_ms) for series in self._series if selector.matches(series.labels))
        return [series for series in found if series is not None]


def _cut(series: Series, start_ms: int, end_ms: int) -> Series | None:
    first, after = np.searchsorted(series.timestamps_ms, (start_ms, end_ms))
    first_marker, after_marker = np.searchsorted(series.stale_ms, (start_ms, end_ms))
    if first == after and first_marker == after_marker:
        return None
    return Series(
        series.labels,
        series.timestamps_ms[first:after],
        series.values[first:after],
        series.stale_ms[first_marker:after_marker],
    )


def _order(series: Series) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(series.labels.items()))


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(0, dtype)
