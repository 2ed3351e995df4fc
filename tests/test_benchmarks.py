"""The PromQL benchmark's own parts: a comparison that finds what differs, data that is the same every time."""

from __future__ import annotations

import itertools
import os

import numpy as np
import orjson
import pytest

from benchmarks.side_by_side import workload as data
from benchmarks.side_by_side.same import difference, points
from benchmarks.side_by_side.usage import cpu_s, peak_mb


def _answer(*series: tuple[dict, list], ends: bytes = b"") -> bytes:
    result = [{"metric": metric, "values": values} for metric, values in series]
    return orjson.dumps({"resultType": "matrix", "result": result}) + ends


_A = ({"topic": "a"}, [[1.0, "1"], [2.0, "NaN"]])
_B = ({"topic": "b"}, [[1.0, "0.1"]])


@pytest.mark.parametrize(
    "ours",
    [
        pytest.param([_A, _B], id="itself"),
        pytest.param([_B, _A], id="another order"),
        pytest.param([_A, ({"topic": "b"}, [[1, "0.10000000000000001"]])], id="the same number, written otherwise"),
    ],
)  # fmt: skip
def test_answers_that_are_the_same(ours):
    assert difference(_answer(_A, _B), _answer(*ours)) is None


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        pytest.param([_A], "2 series and 1", id="a series less"),
        pytest.param([_A, ({"topic": "c"}, _B[1])], "topic", id="another label"),
        pytest.param([_A, ({"topic": "b"}, [[1.0, "0.1000000000002"]])], "0.1000000000002", id="another value"),
        pytest.param([_A, ({"topic": "b"}, [[1.001, "0.1"]])], "other times", id="another time"),
        pytest.param([_A, ({"topic": "b"}, [[1.0, "0.1"], [2.0, "0.1"]])], "1 points and 2", id="a point more"),
        pytest.param([({"topic": "a"}, [[1.0, "1"], [2.0, "0"]]), _B], "nan", id="a number for NaN"),
    ],
)  # fmt: skip
def test_what_differs_is_told(ours, told):
    assert told in difference(_answer(_A, _B), _answer(*ours))


def test_an_answer_may_stand_inside_a_response():
    assert difference(b'{"status":"success","data":' + _answer(_A, _B, ends=b"}"), _answer(_A, _B)) is None
    assert points(_answer(_A, _B)) == 3
    assert difference(_answer(), _answer()) is None
    assert difference(_answer(_A), _answer()) == "1 series and 0"


def test_generated_data_is_repeatable_and_consistent():
    workload = data.Workload("small", 60)
    once, again = list(data.series(workload)), list(data.series(workload))
    assert len(once) == workload.series == 420
    for (labels, times, bits), (same_labels, same_times, same_bits) in zip(once, again, strict=True):
        assert labels == same_labels
        assert np.array_equal(times, same_times)
        assert np.array_equal(bits, same_bits)
        assert (np.diff(times) > 0).all()
        assert times[0] >= data.START_MS
        assert times[-1] < data.START_MS + data.DAY_MS
    assert len({tuple(sorted(labels.items())) for labels, _, _ in once}) == 420
    larger = itertools.islice(data.series(data.Workload("larger", 200)), 420)
    assert all(np.array_equal(one[2], other[2]) for one, other in zip(once, larger, strict=True))


@pytest.mark.long
def test_the_data_has_what_makes_queries_hard():
    values = {metric: [] for metric in data.METRICS}
    markers = gaps = resets = 0
    for labels, times, bits in data.series(data.Workload("small", 200)):
        stale = bits == data.STALE_BITS
        markers += int(stale.sum())
        gaps += int((np.diff(times) > 5 * 60_000).sum())
        numbers = bits[~stale].view(np.float64)
        values[labels["__name__"]].append(numbers)
        if "reason" in labels:
            resets += int((np.diff(numbers) < 0).sum())
    assert markers > 0
    assert gaps > 0
    assert resets > 0
    above = np.concatenate([numbers > 1_000 for numbers in values[data.BACKLOG]]).mean()
    moving = np.mean([numbers.max() > 0 for numbers in values[data.THROTTLED_MSG]])
    assert 0.1 < above < 0.9
    assert 0.1 < moving < 0.9


def test_slices_contain_every_sample_once():
    whole = list(data.series(data.Workload("small", 2)))
    slices = list(data.in_time_order(iter(whole)))
    newest = max(times[-1] for _, times, _ in slices[: len(whole)])
    assert newest - data.START_MS < 40 * 60_000
    for labels, times, bits in whole:
        own = [one for one in slices if one[0] == labels]
        assert np.array_equal(np.concatenate([one[1] for one in own]), times)
        assert np.array_equal(np.concatenate([one[2] for one in own]), bits)


def test_usage_of_this_process():
    before_s = cpu_s(os.getpid())
    while cpu_s(os.getpid()) < before_s + 0.05:
        sum(range(100_000))
    assert peak_mb(os.getpid()) > 10
