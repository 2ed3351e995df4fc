"""Our evaluator over a lake of 16 shards. In: series, texts. Out: outcomes of queries that ran shard by shard and span by span.

The lake is written by the lake's own writer, a file per metric, hour and shard, and queries run as
``throttlescope promql`` runs them. What an ordinary lake does only for months of data is done here for minutes: every range is
cut into three spans or more.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from tests.naive.promql import NaiveSeries
from tests.promql.conformance.outcome import CRASH, Outcome, our_outcome
from tests.promql.conformance.promqltest import Store
from tests.promql.conformance.targets import TooLongError, alarm
from tests.transforms.lakes import lake_of
from throttlescope.ingest.core.labels import (
    LabelMapping,
    Labels,
    SeriesKey,
    computed_key,
    normalise,
    shard_of,
)
from throttlescope.transforms.promql.engine import Engine, Place
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.query import Options
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.shards import cut, work
from throttlescope.transforms.promql.source import Series

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spans that a range query is cut into at least.
SPANS = 3

KeyOf = Callable[[Labels], SeriesKey]


def as_ingested(labels: Labels) -> SeriesKey:
    """The key that ingest gives a series."""
    return normalise(labels, LabelMapping())


def by_labels(names: Sequence[str]) -> KeyOf:
    """Keys of series as they are, in shards by three labels of theirs: those of a test suite have no topic."""
    first, second, third = (*names, "", "", "")[:3]

    def key_of(labels: Labels) -> SeriesKey:
        key, found = computed_key(labels), dict(labels)
        shard = shard_of(*(found.get(name, "") for name in (first, second, third)))
        return SeriesKey(key.series_id, key.metric_name, key.cluster, shard, key.labels)

    return key_of


class OursInLake:
    """Queries of a lake in this process; a context manager, for the lake's files are temporary.

    Parameters
    ----------
    series : iterable of Series
    shard_labels : sequence of str, optional
        Labels that decide the shard in place of cluster, namespace and topic; series then stay as they are.
    timeout_s : float
        A query that takes longer counts as a crash.
    session : SparkSession, optional
        Queries run there.
    """

    def __init__(
        self,
        series: Iterable[Series],
        shard_labels: Sequence[str] | None = None,
        timeout_s: float = 1800,
        session: SparkSession | None = None,
    ) -> None:
        self._series, self._timeout_s, self._session = list(series), timeout_s, session
        self._place: Place = "local" if session is None else "spark"
        self._shard_labels = shard_labels
        self._stack = contextlib.ExitStack()
        self._engine: Engine | None = None

    def __enter__(self) -> OursInLake:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="throttlescope-conformance-"))
        key_of = as_ingested if self._shard_labels is None else by_labels(self._shard_labels)
        self._engine = Engine(
            lake_of(Path(folder) / "lake", self._series, key_of=key_of), lambda: self._session
        )
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    @property
    def shards(self) -> int:
        """Shards that have a series."""
        return len(self._engine.view().indices)

    @property
    def blocks(self) -> int:
        """Hours that have a sample."""
        return len({file.minimum["block_start_ms"] for file in self._engine.view().all_files})

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        options = Options(lookback_ms=lookback_ms, timeout_s=self._timeout_s)

        def run():
            if step_ms:
                return self._engine.range(text, start_ms, end_ms, step_ms, options, place=self._place)
            return self._engine.instant(text, start_ms, options, place=self._place)

        try:
            with alarm(self._timeout_s), _cut_small(self._shard_labels):
                return our_outcome(run)
        except TooLongError:
            return Outcome(error=CRASH, message=f"no answer within {self._timeout_s:.0f} s")


class LakeEngine:
    """An engine of ``promqltest`` that answers from a lake, rewritten after each load."""

    def __init__(self) -> None:
        self._target: OursInLake | None = None
        self._series: list[Series] = []

    @property
    def series(self) -> int:
        """Series that are loaded."""
        return len(self._series)

    @property
    def shards(self) -> int:
        """Shards that they are in."""
        return self._target.shards if self._target else 0

    def clear(self) -> None:
        self._close()
        self._series = []

    def load(self, store: Store, new: list[NaiveSeries]) -> None:
        self._close()
        self._series = [arrays_of(one) for one in store.series() if one.samples or one.stale_ms]

    def query(
        self, text: str, start_ms: int, end_ms: int, step_ms: int, lookback_ms: int = LOOKBACK_MS
    ) -> Outcome:
        if self._target is None:
            self._target = OursInLake(self._series, telling_labels(self._series)).__enter__()
        return self._target.query(text, start_ms, end_ms, step_ms, lookback_ms)

    def _close(self) -> None:
        if self._target is not None:
            self._target.__exit__(None, None, None)
            self._target = None


def arrays_of(one: NaiveSeries) -> Series:
    """A series as arrays."""
    times, values = zip(*one.samples, strict=True) if one.samples else ((), ())
    return Series(
        one.labels, np.array(times, np.int64), np.array(values, np.float64), np.array(one.stale_ms, np.int64)
    )


def telling_labels(series: Sequence[Series]) -> tuple[str, ...]:
    """What decides the shard: of series with a topic what always does, otherwise the three labels that tell most series apart.

    ``le`` does not decide a shard, as no label of a histogram's bucket does.
    """
    if any("topic" in one.labels for one in series):
        return tuple(sorted(cut.SHARD_LABELS))
    values: dict[str, set[str]] = {}
    for one in series:
        for name, value in one.labels.items():
            if name not in ("__name__", "le"):
                values.setdefault(name, set()).add(value)
    return tuple(sorted(values, key=lambda name: (-len(values[name]), name))[:3])


@contextlib.contextmanager
def _cut_small(shard_labels: Sequence[str] | None) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if shard_labels is not None:
            stack.enter_context(mock.patch.object(cut, "SHARD_LABELS", frozenset(shard_labels)))
        stack.enter_context(mock.patch.object(work, "_span_ms", _short_span_ms))
        yield


def _short_span_ms(steps: Steps, *_: object) -> int:
    return max(steps.step_ms, (steps.last_ms - steps.start_ms) // SPANS)
