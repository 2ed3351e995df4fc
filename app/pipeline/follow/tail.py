"""What is new at a source. In: an opened Prometheus and what was read before. Out: samples in memory, counted.

Every metric is read from shortly before its newest sample, so that late scrapes are found; a new metric is read from the first
hour in memory. What ingest validation refuses of a range goes to the quarantine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from throttlescope.ingest.core.errors import EmptyRangeError
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.pull.pull import named_cluster
from throttlescope.ingest.pull.read_series import read_series
from throttlescope.ingest.pull.wanted_metrics import wanted_metrics
from throttlescope.ingest.sources.prometheus import PrometheusSource
from throttlescope.transforms.sample_window import SampleWindow

#: Read again in every cycle: scrapes this late are found by the next cycle, later ones when the hour is closed.
OVERLAP_MS = 5 * MINUTE_MS
#: A buffer of a cycle never goes to scratch.
_IN_MEMORY = 1 << 40


class StoppedError(Exception):
    """A stop was requested; nothing was written since the last commit."""


class Tail:
    """Reads one source into the samples in memory.

    Parameters
    ----------
    first_ms : int
        From here on everything is read: a whole UTC hour.
    stopping : callable
        Called between two reads; true: stop.
    """

    def __init__(
        self,
        source: PrometheusSource,
        selectors: Sequence[Selector],
        recent: SampleWindow,
        first_ms: int,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.source, self.selectors, self.recent, self.first_ms = source, selectors, recent, first_ms
        self.meter, self.samples = Meter(), 0
        self._stopping = stopping
        self._read_until: dict[str, int] = {}
        self._mapping = None
        self._reader = source.samples
        self.selectors_of: dict[str, tuple[Selector, ...]] = {}

    def read(self, until_ms: int) -> int:
        """Read what is new up to ``until_ms``, excluded.

        Returns
        -------
        int
            From when on anything may have changed (epoch ms).

        Raises
        ------
        InputError
            There is no Pulsar metric, or the cluster has no name.
        SourceError
        StoppedError
        """
        self._ask_names(until_ms)
        changed_ms = until_ms
        answers = []
        for metric_name, selectors in self.selectors_of.items():
            since_ms = max(self.first_ms, self._read_until.get(metric_name, self.first_ms) - OVERLAP_MS)
            buffer = self._buffer(selectors, since_ms, until_ms)
            answers.append((metric_name, since_ms, buffer))
        # Only once all of it is here: rules must not see half of a cycle after a source went away.
        for metric_name, since_ms, buffer in answers:
            self.recent.take(metric_name, buffer, since_ms)
            self._read_until[metric_name] = until_ms
            self.samples += buffer.samples
            changed_ms = min(changed_ms, since_ms)
        return changed_ms

    def read_again(self, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
        """Read a closed hour again, completely; rows for what ingest validation refused of it."""
        refused = []
        answers = {
            name: self._buffer(selectors, start_ms, end_ms) for name, selectors in self.selectors_of.items()
        }
        for metric_name, buffer in answers.items():
            self.recent.replace(metric_name, buffer, start_ms, end_ms)
            refused += [one.row() for one in buffer.refused.values()]
        return refused

    def _ask_names(self, until_ms: int) -> None:
        # A metric that the source does not list now is still read: it may only be late.
        try:
            self.selectors_of |= wanted_metrics(
                self.source.api, self.selectors, self.source.mapping, self.first_ms, until_ms, self.meter
            ).selectors_of
        except EmptyRangeError:
            # All scrapes are missing since the last hour was closed: a gap like any other, unless there never was a metric.
            if not self.selectors_of:
                raise
        if self._mapping is None or not self._mapping.cluster:
            self._mapping = named_cluster(self.source, self.first_ms, until_ms, self.meter)

    @property
    def cluster(self) -> str | None:
        """The name that series without a cluster get; None where there are several."""
        return None if self._mapping is None else self._mapping.cluster

    def _buffer(self, selectors: Sequence[Selector], start_ms: int, end_ms: int) -> BlockBuffer:
        if self._stopping():
            raise StoppedError
        buffer, self._reader = read_series(
            self._reader, selectors, start_ms, end_ms, self.meter,
            lambda: BlockBuffer(self._mapping, Path(), _IN_MEMORY),
        )  # fmt: skip
        return buffer
