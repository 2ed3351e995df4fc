"""JSON of answers: byte for byte what a real Prometheus writes, and fast."""

from __future__ import annotations

import json
import math
import random
import time

import numpy as np
import pytest
import requests

from tests.lab.prometheus import running_prometheus, write_series
from throttlescope.transforms.promql.answer import (
    data_json,
    number,
    points_of,
    positional,
    result_of,
    rows_of,
    truncate,
)
from throttlescope.transforms.promql.matrix import StepMatrix, Steps
from throttlescope.transforms.promql.query import QueryAnswer, instant_query
from throttlescope.transforms.promql.semantics import labels_of
from throttlescope.transforms.promql.source import MemorySource, Series

BASE_MS = 1_795_160_000_000
#: Where the notation changes, and numbers that are hard to print.
ODD_VALUES = (
    0.0, -0.0, 1.0, -1.0, 100.0, 0.1, 1 / 3, -123.456, 2.0**53, 2.0**63, 1e15, 1e16, 1.5e16, 1.2345e17, 123456789012345678.0,
    9.999999999999999e20, 1e20, 1e21, -1e21, 1.0000000000000001e21, 1e22, 1.5e22, 1e23, 1e100, 1.7976931348623157e308,
    1e-5, 1.25e-5, 1e-6, 1.25e-6, -1e-6, 9.99e-7, 9.999999999999999e-7, 1e-7, 1.25e-7, -1.5e-10, 1e-99, 1e-100, 2.2250738585072014e-308,
    5e-324, -5e-324, math.nan, math.inf, -math.inf,
)  # fmt: skip
ODD_LABELS = {
    "Upper": "stands before __name__",
    "all": "".join(chr(code) for code in range(1, 0x180)) + "\u2028\u2029\ufffd\U0001f600",
    "html": '<a href="x">&amp;</a>',
    "utf8.name": "\\b is no backspace, \b is",
}


def random_values(count: int, seed: int = 20) -> np.ndarray:
    """Any bits, and numbers of every size around the places where the notation changes."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, count // 2, dtype=np.uint64).view(np.float64)
    sizes = 10.0 ** rng.uniform(-9, 24, count - len(bits)) * rng.choice([1, -1], count - len(bits))
    values = np.concatenate([bits, sizes, np.round(sizes[:100]), np.array(ODD_VALUES)])
    # A staleness marker is no sample.
    return np.where(np.isnan(values), np.nan, values)


def matrix(rows, steps: Steps) -> StepMatrix:
    """Rows are labels and values; None is no value."""
    cells = np.array([[math.nan if v is None else v for v in values] for _, values in rows], np.float64)
    present = np.array([[v is not None for v in values] for _, values in rows], np.bool_)
    return StepMatrix(tuple(labels_of(labels.items()) for labels, _ in rows), cells, present)


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as prometheus:
        yield prometheus


def data_of(server, path: str, **parameters) -> bytes:
    answer = requests.post(
        f"{server.url}/api/v1/{path}",
        data=parameters,
        headers={"Accept-Encoding": "identity"},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    head = b'{"status":"success","data":'
    assert answer.content.startswith(head)
    # Behind the data stand infos, or the end.
    return answer.content[len(head) :].split(b',"infos":')[0].removesuffix(b"}") + b"}" * (
        b',"infos":' in answer.content
    )


@pytest.mark.prometheus
def test_samples_are_written_as_prometheus_writes_them(server):
    values = random_values(20_000)
    rng = random.Random(7)  # noqa: S311
    gaps_ms = [rng.choice((1, 7, 10, 100, 250, 1000, 15_000)) for _ in values]
    times_ms = BASE_MS + np.cumsum(gaps_ms)
    labels = {"__name__": "odd_floats", **ODD_LABELS}
    write_series(server.url, [(labels, list(zip(times_ms.tolist(), values.tolist(), strict=True)))])
    theirs = data_of(server, "query", query="odd_floats[30d]", time=f"{times_ms[-1] / 1000:.3f}")
    ours = QueryAnswer("matrix", Steps.at(int(times_ms[-1])), [Series(labels, times_ms, values)])
    assert theirs.count(b"],[") == len(values) - 1
    assert data_json(ours) == theirs


@pytest.mark.prometheus
def test_vector_and_range_match_prometheus_output(server):
    labels = [{"__name__": "sparse", "z": str(n)} for n in range(3)]
    at_ms = [BASE_MS, BASE_MS + 10_500, BASE_MS + 21_000]
    samples = [[(at_ms[0], 1e-7), (at_ms[2], 2.5)], [(at_ms[1], -0.0)], [(t, 1e21) for t in at_ms]]
    write_series(server.url, zip(labels, samples, strict=True))
    range_ = {
        "query": "last_over_time(sparse[5s])",
        "start": f"{BASE_MS / 1000:.3f}",
        "end": f"{at_ms[2] / 1000:.3f}",
    }
    steps = Steps(BASE_MS, at_ms[2], 10_500)
    values = [[1e-7, None, 2.5], [None, -0.0, None], [1e21] * 3]
    # Out of order on purpose: a range query's series are sorted when they are written.
    rows = list(zip(labels, values, strict=True))[::-1]
    assert data_json(QueryAnswer("matrix", steps, matrix(rows, steps))) == data_of(
        server, "query_range", step="10.5", **range_
    )
    at_start = matrix([(labels[0], [1e-7]), (labels[2], [1e21])], Steps.at(BASE_MS))
    theirs = data_of(server, "query", query="sort(sparse)", time=range_["start"])
    assert data_json(QueryAnswer("vector", Steps.at(BASE_MS), at_start)) == theirs


@pytest.mark.prometheus
@pytest.mark.parametrize("value", [*ODD_VALUES, 1e-300, 6.02214076e23])
def test_scalars_are_written_as_prometheus_writes_them(server, value):
    text = repr(value).replace("inf", "Inf").replace("nan", "NaN")
    theirs = data_of(server, "query", query=text, time="1795160000.05")
    ours = QueryAnswer("scalar", Steps.at(BASE_MS + 50), np.array([value]))
    assert data_json(ours) == theirs


@pytest.mark.prometheus
@pytest.mark.parametrize("value", ["", *ODD_LABELS.values()])
def test_strings_are_written_as_prometheus_writes_them(server, value):
    # Prometheus reads the replacement character in a text as a fault of its encoding.
    value = value.replace("\ufffd", "")
    theirs = data_of(server, "query", query=json.dumps(value, ensure_ascii=False), time="-0.25")
    assert data_json(QueryAnswer("string", Steps.at(-250), value)) == theirs


@pytest.mark.prometheus
@pytest.mark.parametrize("text", [r'"a\xffb"', r'"\xe2\x82"', r'"\xe2\x82\xac"', r'"\xc0\x80"'])
def test_invalid_utf8_matches_prometheus_output(server, text):
    theirs = data_of(server, "query", query=text, time="1795160000")
    assert data_json(instant_query(text, MemorySource([]), BASE_MS)) == theirs


@pytest.mark.prometheus
def test_early_times_and_scalar_range_match(server):
    """Times before 1970, and the range of a scalar."""
    theirs = data_of(server, "query_range", query="time()", start="-1.5", end="1", step="0.25")
    steps = Steps(-1500, 1000, 250)
    assert data_json(QueryAnswer("matrix", steps, steps.times_ms / 1000)) == theirs


@pytest.mark.prometheus
def test_empty_answer_matches_prometheus_output(server):
    steps = Steps(BASE_MS, BASE_MS + 1000, 1000)
    empty = StepMatrix((), np.empty((0, 2)), np.empty((0, 2), np.bool_))
    range_ = {"start": str(BASE_MS / 1000), "end": str(BASE_MS / 1000 + 1), "step": "1"}
    assert data_json(QueryAnswer("matrix", steps, empty)) == data_of(
        server, "query_range", query="nothing", **range_
    )
    assert data_json(QueryAnswer("vector", steps, empty)) == data_of(server, "query", query="nothing")


@pytest.mark.long
def test_values_match_the_slow_twin():
    values = random_values(400_000, seed=21)
    answer = QueryAnswer("matrix", Steps(0, len(values) - 1, 1), np.asarray(values))
    written = [value for _, value in result_of(answer)[0]["values"]]
    wrong = [
        (text, value) for text, value in zip(written, values.tolist(), strict=True) if text != number(value)
    ]
    assert not wrong, wrong[:5]
    read = np.array([float(text) for text in written])
    assert (read.view(np.uint64) == values.view(np.uint64))[~np.isnan(values)].all()


def test_slow_twin_switches_number_notation():
    assert [number(v) for v in (1e-7, 1e-6, 1e20, 1e21, 5e-324, -0.0, 2.5, 3.0)] == [
        "1e-07", "0.000001", "100000000000000000000", "1e+21", "5e-324", "-0", "2.5", "3",
    ]  # fmt: skip
    assert [positional(v) for v in (1e-7, 1e21, math.nan, math.inf, -math.inf)] == [
        "0.0000001", "1000000000000000000000", "NaN", "+Inf", "-Inf",
    ]  # fmt: skip


def test_batch_size_does_not_change_answer(monkeypatch):
    steps = Steps(BASE_MS, BASE_MS + 9_000, 1_000)
    rows = [({"n": str(n)}, [n + 0.5 if (n + s) % 3 else None for s in range(10)]) for n in range(20)]
    whole = data_json(QueryAnswer("matrix", steps, matrix(rows, steps)))
    monkeypatch.setattr("throttlescope.transforms.promql.answer._POINTS_AT_ONCE", 15)
    assert data_json(QueryAnswer("matrix", steps, matrix(rows, steps))) == whole
    assert len(json.loads(whole)["result"]) == 20


def test_truncation_keeps_first_series_and_warns():
    steps = Steps(BASE_MS, BASE_MS, 1)
    rows = [({"n": n}, [1.0]) for n in "cab"]
    of_range, of_moment = (QueryAnswer(kind, steps, matrix(rows, steps)) for kind in ("matrix", "vector"))
    raw = QueryAnswer(
        "matrix", steps, [Series(labels, np.array([1]), np.array(values)) for labels, values in rows]
    )
    for answer, first in ((of_range, ["a", "b"]), (of_moment, ["c", "a"]), (raw, ["a", "b"])):
        cut, was_cut = truncate(answer, 2)
        assert ([labels["n"] for labels, *_ in rows_of(cut)], was_cut) == (first, True)
        assert points_of(answer) == 3
        assert truncate(answer, 3) == (answer, False)
        assert truncate(answer, 0) == (answer, False)
    scalar = QueryAnswer("scalar", steps, np.array([1.0]))
    assert truncate(scalar, 1) == (scalar, False)


@pytest.mark.long
def test_large_answer_is_written_quickly():
    """Two million points in less than a second of processor time."""
    values = np.random.default_rng(1).random((2000, 1000)) * 1000
    labels = tuple(
        labels_of([("__name__", "m"), ("topic", f"persistent://t/n/{n:04d}")]) for n in range(2000)
    )
    steps = Steps(BASE_MS, BASE_MS + 999 * 30_000, 30_000)
    answer = QueryAnswer("matrix", steps, StepMatrix(labels, values, np.ones(values.shape, np.bool_)))

    def seconds() -> float:
        begun = time.thread_time()
        data_json(answer)
        return time.thread_time() - begun

    # A core that is shared may be half as fast: what Python takes to write the same numbers is what it is held against then.
    begun = time.thread_time()
    list(map(repr, values.ravel().tolist()))
    bare = time.thread_time() - begun
    assert min(seconds() for _ in range(3)) < max(1.0, 1.5 * bare)
