"""The evaluator against a real Prometheus 3.5: written queries, and random expressions on random data.

``THROTTLESCOPE_PROMQL_CASES`` sets how many random expressions are tried (default 400), ``THROTTLESCOPE_PROMQL_SEED``
where they begin.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
import requests

from tests.lab.prometheus import STALE, running_prometheus, write_series
from tests.promql.compare import answer_of, difference, server_answer_of, source_of
from tests.promql.generate import BASE_MS, random_series, random_vector
from tests.promql.test_parse import NO_PROMQL, READ_AS, WRONG_KINDS
from throttlescope.ingest.errors import InputError
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.matrix import Steps

pytestmark = pytest.mark.prometheus

_CASES = int(os.environ.get("THROTTLESCOPE_PROMQL_CASES", "400"))
_SEED = int(os.environ.get("THROTTLESCOPE_PROMQL_SEED", "0"))
_DATASETS = 8
_END_MS = BASE_MS + 12 * 60_000
# Across series Prometheus goes in storage order, we go by labels: the last digits of a sum, and which of 0 and -0 is the
# smaller one, may differ. Nothing else may.
_ACROSS_SERIES = ("sum ", "avg ", "min ", "max ")
_SUMMED = 1e-12


@pytest.fixture(scope="module")
def server():
    with running_prometheus() as prometheus:
        yield prometheus


@pytest.fixture(scope="module")
def datasets(server):
    """Random series, each set under its own metric names, written to the server."""
    sets = []
    for number in range(_DATASETS):
        series = random_series(random.Random(_SEED * 1000 + number), f"s{number}_")  # noqa: S311
        write_series(
            server.url,
            [
                (one.labels, sorted([*one.samples, *((t, STALE) for t in one.stale_ms)], key=lambda s: s[0]))
                for one in series
            ],
        )
        sets.append(series)
    return sets


def theirs(server, text, step_ms):
    """Prometheus' answer, or ``"refused"`` (no PromQL) or ``"failed"`` (no answer)."""
    answer = requests.post(
        f"{server.url}/api/v1/query_range",
        data={
            "query": text,
            "start": f"{BASE_MS / 1000:.3f}",
            "end": f"{_END_MS / 1000:.3f}",
            "step": f"{step_ms}ms",
        },
        timeout=60,
    )
    if answer.status_code == 400:
        return "refused"
    if answer.status_code == 422:
        return "failed"
    answer.raise_for_status()
    return server_answer_of(answer.json()["data"]["result"])


def ours(text, series, step_ms):
    steps = Steps(BASE_MS, _END_MS, step_ms)
    try:
        return answer_of(evaluate(plan_query(text), source_of(series), steps), steps)
    except InputError:
        return "refused"
    except QueryError:
        return "failed"


def compare(server, text, series, step_ms):
    mine, real = ours(text, series, step_ms), theirs(server, text, step_ms)
    if isinstance(mine, str) or isinstance(real, str):
        return (
            None if mine == real else f"ours {mine if isinstance(mine, str) else 'answered'}, theirs {real}"
        )
    return difference(mine, real, _SUMMED if any(word in text for word in _ACROSS_SERIES) else 0.0)


@pytest.mark.parametrize("text", [text for text, *_ in NO_PROMQL + WRONG_KINDS])
def test_what_we_refuse_to_read_prometheus_refuses(server, text):
    assert theirs(server, text, 60_000) == "refused"


@pytest.mark.parametrize("text", [text for text, _ in READ_AS])
def test_what_we_read_prometheus_reads(server, text):
    assert theirs(server, text, 60_000) != "refused"


def test_random_expressions(server, datasets):
    found, answered, failed = [], 0, 0
    for case in range(_CASES):
        rng = random.Random(_SEED * 1_000_003 + case)  # noqa: S311
        number = rng.randrange(_DATASETS)
        step_ms = rng.choice((15_000, 60_000, 47_000))
        text = random_vector(rng, rng.choice((0, 1, 2, 3, 4)), f"s{number}_")
        trouble = compare(server, text, datasets[number], step_ms)
        if trouble:
            found.append(f"case {case}, data {number}, step {step_ms}: {text}\n    {trouble}")
        mine = ours(text, datasets[number], step_ms)
        failed += mine == "failed"
        answered += isinstance(mine, dict) and any(mine.values())
    assert not found, f"{len(found)} of {_CASES} differ:\n" + "\n".join(found[:20])
    # Empty answers agree too easily.
    assert answered > _CASES * 0.35
    assert failed > _CASES * 0.01


@pytest.mark.parametrize("function", ["rate", "increase", "delta", "irate", "changes", "resets"])
def test_range_functions_have_prometheus_bits(server, datasets, function):
    for number, series in enumerate(datasets):
        for length in ("15s", "1m", "5m", "7m30s"):
            for name in ("ctr", "gauge", "other"):
                text = f"{function}(s{number}_{name}[{length}])"
                assert compare(server, text, series, 15_000) is None, text


@pytest.mark.parametrize("function", ["avg", "min", "max", "sum", "count", "last"])
def test_functions_over_time_have_prometheus_bits(server, datasets, function):
    for number, series in enumerate(datasets):
        for length in ("15s", "1m", "5m"):
            for name in ("ctr", "gauge", "other"):
                text = f"{function}_over_time(s{number}_{name}[{length}])"
                assert compare(server, text, series, 15_000) is None, text


@pytest.mark.parametrize(
    "text",
    [
        "time() ^ 2",
        "1.5 ^ -7",
        "(-2) ^ 3",
        "(-2) ^ 0.5",
        "0 ^ -1",
        "vector(7) ^ 0.5",
        "vector(3) ^ vector(5)",
        "2 ^ 1000 ^ 2",
    ],
)
def test_powers(server, text):
    text = text if "vector" in text else f"vector({text})"
    assert compare(server, text, [], 60_000) is None


@pytest.mark.parametrize(
    "text", ["vector(2.7) ^ 3.3", "vector(0.3) ^ vector(-1.7)", "vector(1) atan2 vector(3)"]
)
def test_powers_and_angles_of_broken_numbers_agree_to_a_few_units_of_the_last_digit(server, text):
    assert difference(ours(text, [], 60_000), theirs(server, text, 60_000), 1e-15) is None
    assert np.isfinite(next(iter(ours(text, [], 60_000)[frozenset()].values())))
