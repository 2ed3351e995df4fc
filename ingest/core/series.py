"""Decoded samples: what every source hands over, whatever it was read from.

In: nothing. Out: :class:`SampleBatch`, many series in flat arrays; :class:`DecodedSeries`, one of them; and
:class:`Meter`, which counts what a source had to serve.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from throttlescope.ingest.core.labels import Labels
from throttlescope.ingest.core.selector import Selector

#: Bits of Prometheus' staleness marker, a signalling NaN. Compared as an integer: float operations may change it.
STALE_BITS = 0x7FF0000000000002
STALE = struct.unpack("<d", STALE_BITS.to_bytes(8, "little"))[0]


@dataclass(frozen=True)
class DecodedSeries:
    """One series of a batch.

    Attributes
    ----------
    labels : tuple of (str, str)
        As the source has them, ``__name__`` among them.
    timestamps_ms : numpy.ndarray
        int64; rising, unless the source sent something else (ingest validation repairs that).
    values : numpy.ndarray
        float64, as many as ``timestamps_ms``.
    stale_ms : numpy.ndarray
        int64, times of staleness markers; never among ``timestamps_ms``.
    """

    labels: Labels
    timestamps_ms: np.ndarray
    values: np.ndarray
    stale_ms: np.ndarray


@dataclass(frozen=True)
class SampleBatch:
    """Many series: series i owns ``timestamps_ms[offsets[i]:offsets[i + 1]]``, likewise its values and markers.

    The same series may come in several batches, and twice in one.
    """

    labels: list[Labels]
    offsets: np.ndarray
    timestamps_ms: np.ndarray
    values: np.ndarray
    stale_offsets: np.ndarray
    stale_ms: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[DecodedSeries]:
        for i, labels in enumerate(self.labels):
            own = slice(self.offsets[i], self.offsets[i + 1])
            stale = slice(self.stale_offsets[i], self.stale_offsets[i + 1])
            yield DecodedSeries(labels, self.timestamps_ms[own], self.values[own], self.stale_ms[stale])

    @property
    def samples(self) -> int:
        """Samples, staleness markers not counted."""
        return len(self.timestamps_ms)


def batch_of(series: list[DecodedSeries]) -> SampleBatch:
    """Put single series into one batch."""

    def flat(arrays: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate([np.asarray(a, dtype) for a in arrays]) if arrays else np.empty(0, dtype)

    return SampleBatch(
        [s.labels for s in series],
        offsets_of([len(s.timestamps_ms) for s in series]),
        flat([s.timestamps_ms for s in series], np.int64),
        flat([s.values for s in series], np.float64),
        offsets_of([len(s.stale_ms) for s in series]),
        flat([s.stale_ms for s in series], np.int64),
    )


def offsets_of(lengths: list[int] | np.ndarray) -> np.ndarray:
    """Offsets of pieces that lie one behind the other."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


@dataclass
class Meter:
    """What a source had to serve and what was repaired on the way. Adds up over tasks."""

    requests: int = 0
    bytes: int = 0
    repairs: Counter = field(default_factory=Counter)

    def add(self, other: Meter) -> None:
        self.requests += other.requests
        self.bytes += other.bytes
        self.repairs.update(other.repairs)


class PullSource(Protocol):
    """A source of samples. Sources are pickled into Spark tasks; connections are made where they are used."""

    #: ``prometheus_remote_read``, ``prometheus_api`` or ``recording``.
    name: str
    #: Address without secrets.
    address: str
    #: Whether staleness markers are a guess: JSON answers carry none.
    stale_is_inferred: bool

    def read(self, selector: Selector, start_ms: int, end_ms: int, meter: Meter) -> Iterator[SampleBatch]:
        """Samples with ``start_ms <= t < end_ms`` of all series that the selector names.

        Raises
        ------
        SourceError
            The source cannot be reached, refuses, or sends what it should not.
        """
        ...
