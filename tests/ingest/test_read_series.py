"""One read of a source: a broken answer is read again, undecodable chunks as plain samples, and nothing counts twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.labels import LabelMapping
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import DecodedSeries, Meter, batch_of
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.pull.read_series import read_series
from throttlescope.ingest.sources.access import BrokenStreamError
from throttlescope.ingest.sources.remote_read import UnsupportedChunksError
from throttlescope.transforms.topic_samples import read_topic

TOPIC = "persistent://public/default/orders"
LABELS = {
    "__name__": "pulsar_subscription_back_log", "cluster": "c", "namespace": "public/default", "topic": TOPIC,
    "subscription": "s", "instance": "broker:8080",
}  # fmt: skip
AT_MS = np.array([60_000, 120_000])


class Failing:
    """A source whose reads fail after their first batch, as listed."""

    name, address, stale_is_inferred = "made", "nowhere", False

    def __init__(self, *failures: Exception | None) -> None:
        self.failures, self.plain = list(failures), False

    def with_plain_samples(self) -> Failing:
        other = Failing()
        other.failures, other.plain = self.failures, True
        return other

    def read(self, selector, start_ms, end_ms, meter):
        meter.requests += 1
        one = DecodedSeries(tuple(sorted(LABELS.items())), AT_MS, np.array([1.0, 2.0]), np.empty(0, np.int64))
        yield batch_of([one])
        if self.failures and (failure := self.failures.pop(0)):
            raise failure


def read(source: Failing, meter: Meter):
    return read_series(
        source, [Selector(()), Selector(())], 0, 3_600_000, meter,
        lambda: BlockBuffer(LabelMapping(), Path(), 1 << 40),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("failures", "requests", "again", "plain"),
    [
        ([], 2, 0, False),
        ([BrokenStreamError("cut off")], 3, 1, False),
        ([None, BrokenStreamError("cut off")], 4, 1, False),
        ([UnsupportedChunksError("histograms")], 3, 0, True),
        ([UnsupportedChunksError("histograms"), BrokenStreamError("cut off")], 4, 1, True),
        ([BrokenStreamError("cut off"), UnsupportedChunksError("histograms")], 4, 1, True),
    ],
)
def test_answers_are_completed(failures, requests, again, plain):
    meter = Meter()
    buffer, source = read(Failing(*failures), meter)
    ((_, rows),) = buffer.blocks()
    assert rows["timestamps_ms"].to_pylist() == [AT_MS.tolist()]
    assert (meter.requests, meter.repairs["streams_read_again"], source.plain) == (requests, again, plain)


@pytest.mark.parametrize(
    ("failures", "requests"),
    [([BrokenStreamError("cut off"), BrokenStreamError("cut off")], 2), ([SourceError("refused")], 1)],
)
def test_failures_that_last_are_raised(failures, requests):
    meter = Meter()
    with pytest.raises(SourceError):
        read(Failing(*failures), meter)
    assert meter.requests == requests


def test_now_reads_a_broken_stream_again():
    """`now` had the fallback to plain samples only; it failed where a run and `--follow` read again."""
    found = read_topic(Failing(BrokenStreamError("cut off")), LabelMapping(), TOPIC, 0, 3_600_000)
    assert found.cluster == "c"
    assert found.requests == 3
    assert {one.labels["topic"] for one in found.series} == {TOPIC}
