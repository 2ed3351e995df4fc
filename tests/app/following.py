"""A Prometheus that a followed recording is fed into, bit by bit. In: a recording and a moment. Out: samples up to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.lab.prometheus import NAN_BITS, STALE_BITS, Prometheus, write_arrays

#: One scrape in so many comes late.
LATE_ONE_IN = 11


@dataclass
class Feed:
    """Writes a recording's samples in the order of time.

    Attributes
    ----------
    late : bool
        Every eleventh scrape comes with the bit after the next one.
    """

    server: Prometheus
    folder: Path
    late: bool = False
    written_ms: int = 0
    _series: list = field(default_factory=list)
    _held_back: list = field(default_factory=list)

    def __post_init__(self) -> None:
        for row in pq.read_table(self.folder / "samples.parquet").to_pylist():
            values = np.array(row["values"], np.float64)
            bits = np.where(np.isnan(values), np.uint64(NAN_BITS), values.view(np.uint64))
            times = np.concatenate([row["timestamps_ms"], row["stale_ms"]]).astype(np.int64)
            bits = np.concatenate([bits, np.full(len(row["stale_ms"]), STALE_BITS, np.uint64)])
            order = np.argsort(times, kind="stable")
            self._series.append((dict(row["labels"]), times[order], bits[order]))

    def until(self, until_ms: int) -> None:
        """Write what was scraped since the last call, before ``until_ms``."""
        now, back = [], []
        for labels, times, bits in self._series:
            here = (times >= self.written_ms) & (times < until_ms)
            odd = here & (times // 1000 % LATE_ONE_IN == 5) if self.late else np.zeros(len(times), bool)
            for some, into in ((here & ~odd, now), (odd, back)):
                if some.any():
                    into.append((labels, times[some], bits[some]))
        if self._held_back:
            now += self._held_back.pop(0)
        self._held_back.append(back)
        write_arrays(self.server.url, now)
        self.written_ms = until_ms

    def rest(self) -> None:
        """Write what is still held back."""
        for some in self._held_back:
            write_arrays(self.server.url, some)
        self._held_back = []
