"""Every aggregation of Prometheus 3.5 against a real one: values, parameters that change, errors, and what it warns of.

The server was given the series in the order of their labels, which is the order that we go in: where Prometheus goes by
its storage, both go the same way.
"""

from __future__ import annotations

import math
import random

import pytest

from tests.naive.promql import NaiveSeries
from tests.promql.compare import Answer
from tests.promql.generate import random_series
from tests.promql.reference import BASE_MS, FAILED, REFUSED, SPAN_MS, Reference, running_reference

pytestmark = [pytest.mark.prometheus, pytest.mark.sampled(5)]

_SETS = 5
_METRICS = [f"s{number}_{name}" for number in range(_SETS) for name in ("ctr", "gauge", "other")]
_CLAUSES = (
    "",
    "by (a)",
    "by (a, b)",
    "by (missing)",
    "by (__name__, b)",
    "by ()",
    "without (a)",
    "without ()",
    "without (a, b, instance)",
)
_ODD = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e16, -1e16, 5e-324, 0.1, 1.0)

#: Parameters that stay, and parameters that change from step to step.
_STEADY_K = ("0", "1", "2.9", "3", "100", "-1", "-Inf", "(2)", "1e18")
_MOVING_K = ("time() / 60 % 4", "scalar(level)", "-(time() / 60 % 3) + 2", "scalar(s0_ctr) * 0 + 2")


def _times() -> range:
    return range(BASE_MS - 300_000, SPAN_MS[1] + 300_000, 15_000)


def _all_series() -> list[NaiveSeries]:
    series = [
        one
        for number in range(_SETS)
        for one in random_series(random.Random(100 + number), f"s{number}_")  # noqa: S311
    ]
    rng = random.Random(7)  # noqa: S311
    for i in range(40):
        # No two values of a step are equal, but for the ones that come every third time.
        labels = {"__name__": "rank", "i": str(i), "zone": "abc"[i % 3]}
        values = [(i * 17 + n * 5) % 41 + i / 100 for n, _ in enumerate(_times())]
        series.append(NaiveSeries(labels, list(zip(_times(), values, strict=True))))
        tied = [float((i + n) % 5) for n, _ in enumerate(_times())]
        series.append(NaiveSeries({**labels, "__name__": "tied"}, list(zip(_times(), tied, strict=True))))
        kept = [(t, rng.choice(_ODD)) for t in _times() if rng.random() < 0.8]
        series.append(NaiveSeries({**labels, "__name__": "odd"}, kept))
    for i, value in enumerate(_ODD):
        labels = {"__name__": "steady_odd", "i": str(i)}
        series.append(NaiveSeries(labels, [(t, value) for t in _times()]))
    for i, value in enumerate((1.0, 1.0, -0.0, 0.0, 1e22, 1e-7, 123456789.125, math.nan, math.nan, math.inf)):
        labels = {"__name__": "counted", "i": str(i), "v": "own" if i % 2 else "other"}
        series.append(NaiveSeries(labels, [(t, value + (t // 60_000 % 2)) for t in _times()]))
    series.append(NaiveSeries({"__name__": "level"}, [(t, float(t // 60_000 % 5) - 1) for t in _times()]))
    return series


@pytest.fixture(scope="module")
def reference():
    with running_reference(_all_series()) as running:
        yield running


# -- one value per group ------------------------------------------------------------------------------


@pytest.mark.parametrize("clause", _CLAUSES)
@pytest.mark.parametrize("op", ["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar"])
def test_one_value_per_group(reference, op, clause):
    metrics = [*_METRICS, "odd", "rank", "steady_odd"]
    # The selectors' series come in the same order: not even a last digit differs.
    reference.check([f"{op} {clause} ({metric})" for metric in metrics])
    texts = [f"{op} {clause} (rate({metric}[2m]))" for metric in metrics]
    reference.check(texts, relative=1e-12, filled=False)


@pytest.mark.parametrize("clause", _CLAUSES)
@pytest.mark.parametrize(
    "parameter",
    ["0.5", "0", "1", "0.99", "-1", "2", "NaN", "-Inf", "(1.5)", "scalar(level) / 2", "scalar(nothing)", "time() % 600 / 500", "-1e-9"],
)  # fmt: skip
def test_quantiles(reference, clause, parameter):
    for metric in (*_METRICS[:6], "odd", "rank"):
        for at in (None, BASE_MS + 123_456):
            # Which of 0 and -0 comes first is the sorting's choice.
            assert reference.trouble(f"quantile {clause} ({parameter}, {metric})", at, relative=1e-15) is None


# -- some elements of a group -----------------------------------------------------------------------------


@pytest.mark.parametrize("clause", ["", "by (zone)", "without (i)", "by (i)"])
@pytest.mark.parametrize("k", [*_STEADY_K, *_MOVING_K])
@pytest.mark.parametrize("op", ["topk", "bottomk"])
def test_strongest_elements(reference, op, k, clause):
    text = f"{op} {clause} ({k}, rank)"
    assert reference.trouble(text) is None
    for at_ms in (BASE_MS, BASE_MS + 123_456):
        assert reference.trouble(text, at_ms, ordered=clause in ("", "by (i)") or "zone" in clause) is None


@pytest.mark.parametrize("op", ["topk", "bottomk"])
def test_strongest_elements_of_odd_numbers(reference, op):
    for k in range(1, len(_ODD) + 2):
        for at_ms in (None, BASE_MS):
            assert reference.trouble(f"{op}({k}, steady_odd)", at_ms, ordered=at_ms is not None) is None


@pytest.mark.parametrize("op", ["topk", "bottomk"])
def test_of_equal_elements_the_first_are_kept(reference, op):
    """Which of them Prometheus keeps is its storage's choice: the values must agree, and ours are the first ones."""
    for metric, k, clause in (
        ("tied", 3, ""),
        ("tied", 5, "by (zone)"),
        ("odd", 4, ""),
        ("s1_gauge", 2, "by (a)"),
    ):
        text = f"{op} {clause} ({k}, {metric})"
        mine, real = reference.ours(text, None, 30_000).values, reference.theirs(text, None, 30_000).values
        assert by_step(mine) == by_step(real)
    mine = reference.ours(f"{op}(3, tied)", BASE_MS, 0)
    best = max if op == "topk" else min
    values = {labels: row[BASE_MS] for labels, row in reference.ours("tied", BASE_MS, 0).values.items()}
    first = [labels for labels, value in values.items() if value == best(values.values())][:3]
    assert mine.order == first
    assert len(first) == 3


def by_step(values: Answer) -> dict[int, list[str]]:
    """The values of each step, whoever has them; 0 and -0 are equal."""
    out: dict[int, list[str]] = {}
    for row in values.values():
        for step, value in row.items():
            out.setdefault(step, []).append(repr(value + 0.0))
    return {step: sorted(found) for step, found in out.items()}


@pytest.mark.parametrize("clause", ["", "by (zone)", "without (i)", "by (a)"])
@pytest.mark.parametrize("k", [*_STEADY_K, *_MOVING_K])
def test_limitk(reference, k, clause):
    for metric in ("rank", "s0_gauge", "s2_ctr"):
        for at in (None, BASE_MS + 123_456):
            assert reference.trouble(f"limitk {clause} ({k}, {metric})", at) is None


@pytest.mark.parametrize(
    "ratio",
    ["0", "0.3", "0.999", "1", "1.5", "-0.3", "-0.7", "-1", "-7", "NaN", "Inf", "(2)", "-0", "time() % 420 / 400", "-(time() % 420 / 400)",
     "scalar(level)", "scalar(nothing)", "scalar(level) * 0"],
)  # fmt: skip
def test_limit_ratio(reference, ratio):
    for metric in ("rank", "rank{i='99'}", "{__name__=~'rank|odd'}"):
        for clause in ("", "by (zone)"):
            for at in (None, BASE_MS + 123_456):
                assert reference.trouble(f"limit_ratio {clause} ({ratio}, {metric})", at) is None


def test_limit_ratio_of_long_labels(reference):
    """Lengths from 255 on are written with four bytes."""
    for length in (200, 254, 255, 256, 300, 70_000):
        for ratio in ("0.5", "-0.5"):
            text = f"limit_ratio({ratio}, label_replace(rank, 'é', '{'x' * length}', 'i', '.*'))"
            assert reference.trouble(text, BASE_MS) is None


@pytest.mark.parametrize("op", ["topk", "bottomk", "limitk"])
@pytest.mark.parametrize(
    "k", ["NaN", "Inf", "1e30", "-1e30", "scalar(nothing)", "9223372036854775807", "time() + NaN"]
)
def test_numbers_of_elements_have_bounds(reference, op, k):
    for metric in ("rank", "rank{i='99'}"):
        for at in (None, BASE_MS):
            assert reference.trouble(f"{op}({k}, {metric})", at) is None
    expected = FAILED if k != "-1e30" else "answered"
    assert reference.ours(f"{op}({k}, rank)", None, 30_000).outcome == expected


# -- values as labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clause",
    ["", "by (v)", "by (i)", "without (i)", "without (v)", "without (i, v)", "by (n)", "by (__name__)"],
)
@pytest.mark.parametrize("label", ["v", "n", "i", "__name__", "odd name", "é"])
def test_count_values(reference, label, clause):
    for metric in ("counted", "s0_gauge", "tied"):
        for at in (None, BASE_MS):
            assert reference.trouble(f'count_values {clause} ("{label}", {metric})', at) is None
    assert reference.ours(f'count_values {clause} ("{label}", counted)', None, 30_000).values


def test_count_values_needs_a_label(reference):
    for text in (
        'count_values("", counted)',
        'count_values("", nothing)',
        'count_values(("v"), counted)',
        "count_values('a-b', tied)",
    ):
        assert reference.trouble(text) is None
    assert reference.ours('count_values("", counted)', None, 30_000).outcome == FAILED


# -- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "topk({parameter}, rank @ {at})",
        "quantile({parameter} / 3, rank @ {at})",
        "limitk({parameter}, rank @ {at})",
        "topk({parameter}, rate(rank[2m] @ {at}))",
        "limitk({parameter}, rank @ {at} + 1)",
        "sum_over_time(topk({parameter}, rank @ {at})[3m:1m])",
        "count_over_time(topk({parameter}, rank)[3m:1m])",
        "topk({parameter}, rank)",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "parameter",
    [
        "scalar(level)",
        "(time() / 60 % 4)",
        "2",
        "scalar(level @ start())",
        "scalar(max_over_time(level[2m:1m] @ end()))",
    ],
)
def test_parameters_of_what_is_pinned(reference: Reference, text, parameter):
    """What is the same at every step is computed once by Prometheus, its parameter too."""
    for at in (f"{BASE_MS // 1000 + 60}", "end()"):
        filled = text.format(parameter=parameter, at=at)
        for at_ms in (None, BASE_MS + 60_000):
            assert reference.trouble(filled, at_ms, relative=1e-12) is None


@pytest.mark.parametrize(
    "parameter",
    [
        "scalar(level @ {at})", "scalar(level @ {at} offset 1m)", "scalar(level @ {at} or vector(7))", "scalar(timestamp(level @ {at})) % 4",
        "scalar(absent(level @ {at} offset -2m) or vector(2))", "scalar(sum_over_time((level @ {at})[2m:1m]))",
        "scalar(quantile(scalar(level), level @ {at}))", "scalar(sum_over_time(level[2m] @ {at}))",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "text",
    [
        "limitk({parameter}, rank)",
        "quantile({parameter} / 4, rank)",
        "count_over_time(limitk({parameter}, rank)[4m:1m])",
    ],
)
def test_what_a_parameter_pins_grows_old(reference: Reference, text, parameter):
    """Prometheus looks for it the further back from each step, until the look-back ends."""
    filled = text.format(parameter=parameter.format(at=BASE_MS // 1000 + 60))
    for at_ms in (None, BASE_MS + 60_000):
        assert reference.trouble(filled, at_ms, relative=1e-12) is None


@pytest.mark.parametrize(
    "text",
    [
        "topk('a', rank)", "topk(rank, rank)", "topk(rank[5m], rank)", "count_values(1, rank)", "count_values(rank, rank)",
        "quantile(0.5, 0.5)", "quantile(0.5, rank[5m])", "limit_ratio('1', rank)", "sum(1)", "sum('a')", "topk(3)", "sum(rank, rank)",
        "quantile(rank)", "stddev(0.1, rank)",
    ],
)  # fmt: skip
def test_kinds_that_are_refused(reference, text):
    assert reference.theirs(text, None, 30_000).outcome == REFUSED
    assert reference.ours(text, None, 30_000).outcome == REFUSED
