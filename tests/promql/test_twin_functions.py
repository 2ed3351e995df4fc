"""The evaluator against its slow twin, function by function, on data at the edges: few samples, odd numbers, exact times.

Expected values that are written out were seen on a Prometheus 3.5.3, or follow from a rule in one step; they hold the
twin and the evaluator to the same truth.
"""

from __future__ import annotations

import contextlib
import itertools
import math

import pytest

from tests.naive import promql as naive
from tests.naive.promql import NaiveSeries
from tests.promql.compare import Answer, answer_of, difference, source_of, twin_answer_of
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.functions import FUNCTIONS, MATRIX
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.query import instant_query

NAN, INF = math.nan, math.inf
#: The moment at which most is asked; whole minutes, so that steps of subqueries meet it.
NOW_MS = 1_699_999_800_000


def series(name: str, samples, stale_s=(), **labels: str) -> NaiveSeries:
    """A series; times are seconds before or after the moment."""
    points = [(NOW_MS + round(t * 1000), float(v)) for t, v in samples]
    return NaiveSeries({"__name__": name, **labels}, points, [NOW_MS + round(t * 1000) for t in stale_s])


def every(step_s: float, values) -> list[tuple[float, float]]:
    """Values ``step_s`` apart, the last one at the moment."""
    values = list(values)
    return [((i + 1 - len(values)) * step_s, value) for i, value in enumerate(values)]


def both(text: str, data: list[NaiveSeries], steps: Steps) -> tuple[Answer | None, Answer | None]:
    """Our answer and the twin's, None for an error."""
    ours = twin = None
    with contextlib.suppress(QueryError):
        ours = answer_of(evaluate(plan_query(text), source_of(data), steps), steps)
    with contextlib.suppress(naive.NaiveError):
        value = naive.evaluate_range(parse(text), data, steps.start_ms, steps.end_ms, steps.step_ms)
        twin = twin_answer_of(value, steps)
    return ours, twin


def alike(text: str, data: list[NaiveSeries], steps: Steps, relative: float = 0.0) -> Answer | None:
    """The answer that both give."""
    ours, twin = both(text, data, steps)
    assert (ours is None) == (twin is None), text
    if ours is not None:
        found = difference(ours, twin, relative)
        assert found is None, f"{text}: {found}"
    return twin


def at_moment(text: str, data: list[NaiveSeries], relative: float = 0.0) -> dict[frozenset, float] | None:
    """The vector that both give at the moment."""
    answer = alike(text, data, Steps.at(NOW_MS), relative)
    return None if answer is None else {labels: row[NOW_MS] for labels, row in answer.items()}


def value(text: str, data: list[NaiveSeries]) -> float | None:
    """The one number that both give at the moment, None for an empty vector."""
    vector = at_moment(text, data)
    assert vector is not None, text
    assert len(vector) <= 1, text
    return next(iter(vector.values()), None)


def same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


# -- ranges ----------------------------------------------------------------------------------------

#: By name, the samples of a series before the moment.
WINDOWS = {
    "one": [(-30, 5)],
    "one_at_the_end": [(0, 7)],
    "two": [(-30, 5), (-10, 9)],
    "two_equal": [(-30, 5), (-10, 5)],
    "two_down": [(-30, 9), (-10, 5)],
    # A window is open on the left: the sample at its begin is not in it.
    "at_both_edges": [(-60, 1), (-30, 4), (0, 9)],
    "just_inside": [(-59.999, 1), (-30, 4), (0, 9)],
    "just_past_the_end": [(-30, 4), (0.001, 9)],
    "steady": every(15, range(100, 130, 3)),
    "from_zero": every(10, [0, 1, 2, 4, 8, 16]),
    "starts_inside": every(5, [0.5, 3, 5.5]),
    "ends_inside": [(-58, 10), (-50, 20), (-42, 30)],
    # Gaps to the edges of exactly 1.1 of the time between samples, where extrapolation stops.
    "at_the_threshold": [(-49, 3), (-39, 4), (-29, 5), (-19, 6), (-11, 7)],
    "as_far_as_the_threshold": [(-38, 20), (-18, 30)],
    "resets": every(8, [10, 20, 5, 15, 25, 3, 8]),
    "reset_to_zero": every(15, [4, 0, 0, 2]),
    "only_resets": every(15, [9, 7, 4, 2]),
    "negative": every(15, [-5, -3, -8, -1]),
    "zeros": every(12, [0.0, -0.0, 0.0, 0.0]),
    "minus_zeros": every(12, [-0.0, -0.0]),
    "flat": every(9, [3, 3, 3, 3]),
    "not_a_number_first": every(12, [NAN, 1, 2, 4]),
    "not_a_number_last": every(12, [1, 2, 4, NAN]),
    "not_a_number_between": every(12, [1, NAN, 3, NAN, 2]),
    "no_number_at_all": every(12, [NAN, NAN, NAN]),
    "infinite": every(12, [1, INF, 2]),
    "infinite_last": every(12, [1, 2, INF]),
    "infinite_first": every(12, [-INF, 2, 5]),
    "infinite_always": every(12, [INF, INF, INF]),
    "infinite_both_ways": every(12, [INF, -INF, 1]),
    "too_large_a_sum": every(12, [1e308, 1e308, 1e308, -1e308]),
    "too_large_a_mean": every(8, [1.7e308, 1.7e308, -1.7e308, 3, 1e308, 2]),
    "cancelling": every(9, [0, 1, 1e16, 1, -1e16, 1]),
    "tiny": every(12, [5e-324, 1e-310, 0, 2.5e-320]),
    "tenths": every(7, [0.1, 0.2, 0.3, 0.4, 0.7, 0.1, 0.1]),
    "a_millisecond_apart": every(0.001, [1, 2, 4, 3]),
    "with_a_gap": [(-59, 1), (-58, 2), (-57, 3), (-4, 5), (-3, 9)],
}
MARKED = {
    "marker_between": ([(-45, 1), (-30, 2), (-5, 4)], [-20]),
    "marker_last": ([(-45, 1), (-30, 2), (-5, 4)], [-1]),
    "marker_at_the_end": ([(-45, 1), (-30, 2)], [0]),
    "markers_alone": ([(-200, 1)], [-50, -40, -30]),
}
WINDOW_DATA = [series("x", samples, case=name) for name, samples in WINDOWS.items()] + [
    series("x", samples, stale, case=name) for name, (samples, stale) in MARKED.items()
]
RANGE_FUNCTIONS = [name for name, one in FUNCTIONS.items() if MATRIX in one.takes]
#: How many samples a function needs.
NEEDS = dict.fromkeys(
    (
        "rate",
        "increase",
        "delta",
        "irate",
        "idelta",
        "deriv",
        "predict_linear",
        "double_exponential_smoothing",
    ),
    2,
)


def call(function: str, window: str, numbers: tuple[str, ...]) -> str:
    """A call whose scalars are ``numbers``."""
    given = iter(numbers)
    words = [window if kind == MATRIX else next(given) for kind in FUNCTIONS[function].takes]
    return f"{function}({', '.join(words)})"


def numbers_for(function: str) -> list[tuple[str, ...]]:
    match len(FUNCTIONS[function].takes):
        case 1:
            return [()]
        case 2:
            return [(q,) for q in ("0.5", "0", "1", "0.9", "-1", "60", "NaN", "-Inf")]
    return [("0.5", "0.1"), ("0.9", "0.9"), ("NaN", "0.5")]


@pytest.mark.sampled(5)
@pytest.mark.long
@pytest.mark.parametrize("function", RANGE_FUNCTIONS)
@pytest.mark.parametrize(
    "window",
    ["x[1m]", "x[15s]", "x[1001ms]", "x[90s] offset 7s", "x[1m] offset -15s", "x[5m] @ 1699999790.5", "x[1m:15s]",
     "x[2m:7s] offset 10s", "(x > 1)[3m:]"],
)  # fmt: skip
def test_windows(function, window):
    filled = 0
    for numbers in numbers_for(function):
        steps = Steps(NOW_MS - 30_000, NOW_MS + 60_000, 7500)
        answer = alike(call(function, window, numbers), WINDOW_DATA, steps)
        filled += len(answer)
    assert filled or function == "absent_over_time"


@pytest.mark.parametrize("function", sorted(set(RANGE_FUNCTIONS) - {"absent_over_time"}))
def test_a_window_without_enough_samples_gives_nothing(function):
    """None, one and two samples, at the moment itself and where a window ends at the first of them."""
    text = call(function, "few[1m]", numbers_for(function)[0])
    for count in (0, 1, 2):
        data = [series("few", every(20, range(1, count + 1)))]
        found = at_moment(text, data)
        assert (len(found) == 1) == (count >= NEEDS.get(function, 1)), (function, count)
    # Ten seconds before the first of two samples there is nothing in a window, at it one sample, then two.
    steps = Steps(NOW_MS - 30_000, NOW_MS, 10_000)
    (row,) = alike(text, data, steps).values()
    first = NOW_MS if function in NEEDS else NOW_MS - 20_000
    assert min(row) == first


def test_an_absent_window_is_one():
    data = [series("few", [(-30, 1)], [-10])]
    steps = Steps(NOW_MS - 60_000, NOW_MS + 60_000, 15_000)
    answer = alike('absent_over_time(few{a="1",b=~"x"}[1m])', data, steps)
    assert answer == {frozenset({("a", "1")}): dict.fromkeys(steps.times_ms.tolist(), 1.0)}
    # A window of 15 s holds the sample from its own time on, and no longer 15 s later.
    answer = alike("absent_over_time(few[15s])", data, steps)
    here = [NOW_MS - 30_000]
    assert answer == {frozenset(): {t: 1.0 for t in steps.times_ms.tolist() if t not in here}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate(c1[5m])", 0.19999999999999998),
        ("increase(c1[5m])", 60),
        ("count_over_time(c1[5m])", 20),
        ("increase(c1[15s])", None),
        ("increase(c2[5m])", 71.66666666666667),
        ("increase(c3[5m])", 48.33333333333333),
        ("increase(c4[200s])", 12.666666666666666),
        ("rate(c4[200s])", 0.06333333333333332),
        ("irate(c4[200s])", 0.16666666666666666),
        ("resets(c4[200s])", 1),
        ("changes(c4[200s])", 2),
        ("deriv(c4[200s])", -0.2833333333333333),
        ("predict_linear(c4[200s], 60)", -47.5),
        ("increase(g2[4m])", 3.5),
        ("quantile_over_time(0.5, g2[4m])", 2),
        ("sum_over_time(c1[1m:20s])", 465),
        ("avg_over_time(o1[10m])", 0.5),
        ("sum_over_time(o1[10m])", 3),
        ("quantile(0.5, three)", NAN),
    ],
)
def test_what_a_real_server_answered(text, expected):
    def later(samples):
        return [(t - 300, v) for t, v in samples]

    data = [
        series("c1", later([(t, 100 + 3 * i) for i, t in enumerate(range(0, 301, 15))])),
        series("c2", later([(t, 5 + 10 * i) for i, t in enumerate(range(200, 300, 15))])),
        series("c3", later([(t, 10 * i) for i, t in enumerate(range(10, 251, 60))])),
        series("c4", later([(30 * i, v) for i, v in enumerate([10, 20, 5, 15, 25, 3, 8])])),
        series("g2", later([(30 * i, v) for i, v in enumerate([1, NAN, 3, 2, NAN, 4])])),
        series("o1", later([(10 * i, v) for i, v in enumerate([0, 1, 1e16, 1, -1e16, 1])])),
        *(series("three", [(0, v)], i=str(i)) for i, v in enumerate((1, 2, INF))),
    ]
    assert same(value(text, data), expected)


# -- look-back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age_ms", "marker_age_ms", "seen"),
    [
        (0, None, True), (299_999, None, True), (300_000, None, False), (300_001, None, False), (-1, None, False),
        (1000, 500, False), (1000, 1500, True), (1000, 0, False), (1000, -1, True),
    ],
)  # fmt: skip
def test_sample_is_visible_until_old_or_marked(age_ms, marker_age_ms, seen):
    """Until it is older than the look-back, or a staleness marker follows."""
    stale = [] if marker_age_ms is None else [-marker_age_ms / 1000]
    data = [series("x", [(-age_ms / 1000, 3)], stale)]
    assert value("x", data) == (3 if seen else None)
    assert value("timestamp(x)", data) == ((NOW_MS - age_ms) / 1000 if seen else None)
    assert value("count_over_time(x[5m])", data) == (1 if 0 <= age_ms < 300_000 else None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x offset 1m", 1), ("x offset -1m", 3), ("x @ 1699999740", 1), ("x @ end()", 2), ("x @ start() offset 1m", 1),
        ("timestamp(x offset 1m)", 1699999740), ("timestamp(x @ 1699999740)", 1699999740),
        ("timestamp(-x)", 1699999800), ("timestamp(x @ 1699999800 offset 1m)", 1699999740),
        ("sum_over_time(x[2m])", 3), ("sum_over_time(x[61s] offset -1m)", 5), ("sum_over_time(x[3m:1m])", 3),
        ("sum_over_time(x[3m:1m] @ 1699999740)", 1), ("sum_over_time(x[1m:1m] offset -1m)", 3),
        ("sum_over_time((x offset -1m)[1m:1m])", 3), ("max_over_time(sum_over_time(x[2m])[3m:1m])", 3),
        ("sum_over_time(vector(time())[1m:30s]) - 2 * time()", -30),
    ],
)  # fmt: skip
def test_what_offsets_and_pins_read(text, expected):
    data = [series("x", [(-60, 1), (0, 2), (60, 3)])]
    assert value(text, data) == expected


# -- numbers ----------------------------------------------------------------------------------------

NUMBERS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 0.49999999999999994, 3.7, -3.7, 1e15 + 0.5,
    2.0**53, -(2.0**53), 1e100, -1e100, 1e308, 5e-324, -5e-324, NAN, INF, -INF,
)  # fmt: skip
NUMBER_DATA = [series("n", [(0, v)], i=f"{i:02}") for i, v in enumerate(NUMBERS)]
_PLAIN = ("abs", "ceil", "floor", "round", "sgn", "sqrt", "deg", "rad")


@pytest.mark.parametrize("function", _PLAIN)
def test_functions_of_a_number(function):
    assert len(at_moment(f"{function}(n)", NUMBER_DATA)) == len(NUMBERS)


@pytest.mark.parametrize("function", ["clamp_min", "clamp_max", "round"])
@pytest.mark.parametrize("limit", ["0", "-0", "1", "0.1", "-2", "1e-5", "1e308", "NaN", "Inf", "-Inf"])
def test_functions_of_a_number_and_a_scalar(function, limit):
    assert len(at_moment(f"{function}(n, {limit})", NUMBER_DATA)) == len(NUMBERS)


@pytest.mark.parametrize(
    ("low", "high"), list(itertools.product(("0", "-0", "1", "-1.5", "NaN", "Inf", "-Inf"), repeat=2))
)
def test_clamp_between_two_scalars(low, high):
    found = at_moment(f"clamp(n, {low}, {high})", NUMBER_DATA)
    crossed = float(high) < float(low)
    assert len(found) == (0 if crossed else len(NUMBERS))


@pytest.mark.long
@pytest.mark.parametrize(
    "op", ["+", "-", "*", "/", "%", "==", "!=", ">", "<", ">=", "<=", "== bool", "<= bool"]
)
def test_operators_between_all_pairs_of_numbers(op):
    """Vector and scalar both ways, and vector with vector."""
    bare, returns_bool = op.split()[0], op.endswith("bool")
    for number in ("0", "-0", "2.5", "-3", "1e308", "NaN", "Inf", "-Inf"):
        for text in (f"n {op} {number}", f"{number} {op} n"):
            found = at_moment(text, NUMBER_DATA)
            if bare in ("+", "-", "*", "/", "%") or returns_bool:
                assert len(found) == len(NUMBERS)
    for shift in range(1, len(NUMBERS)):
        turned = [
            series("m", [(0, NUMBERS[(i + shift) % len(NUMBERS)])], i=f"{i:02}") for i in range(len(NUMBERS))
        ]
        at_moment(f"n {op} m", NUMBER_DATA + turned)


def test_scalar_wants_one_element():
    assert same(value("vector(scalar(n))", NUMBER_DATA), NAN)
    assert same(value("vector(scalar(nothing))", NUMBER_DATA), NAN)
    assert same(value('vector(scalar(n{i="01"}))', NUMBER_DATA), -0.0)


# -- dates ------------------------------------------------------------------------------------------

_DATES = [name for name, one in FUNCTIONS.items() if one.family == "date"]
_MOMENTS = (
    0.0, -1.0, -0.5, 59.9, 86_399.0, 86_400.0, -86_401.0, 951_782_400.0, 951_868_799.0, 1_709_164_800.0, 4_107_542_399.0,
    -2_203_977_600.0, 1_735_689_599.0, -62_135_596_800.0, -62_135_596_801.0, 253_402_300_800.0, 1e11, 1e15, -1e15, 1e18,
    9.2e18, -9.2e18, -9.22337203e18, 9.3e18, -9.3e18, NAN, INF, -INF,
)  # fmt: skip


@pytest.mark.parametrize("function", _DATES)
def test_dates(function):
    data = [series("t", [(0, v)], i=f"{i:02}") for i, v in enumerate(_MOMENTS)]
    assert len(at_moment(f"{function}(t)", data)) == len(_MOMENTS)
    assert same(value(f"{function}()", data), value(f"{function}(vector(time()))", data))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 29 February 2000, a Tuesday, at 13:45.
        ("year(vector(951831900))", 2000), ("month(vector(951831900))", 2), ("day_of_month(vector(951831900))", 29),
        ("day_of_week(vector(951831900))", 2), ("day_of_year(vector(951831900))", 60),
        ("days_in_month(vector(951831900))", 29), ("hour(vector(951831900))", 13), ("minute(vector(951831900))", 45),
        ("days_in_month(vector(-2203977600))", 28),
        # What is no number is the last second that Go's clock knows, seen from the other side.
        ("year(vector(NaN))", 292277026596), ("month(vector(Inf))", 12), ("day_of_month(vector(-Inf))", 4),
        ("day_of_week(vector(NaN))", 0), ("day_of_year(vector(1e300))", 339), ("hour(vector(NaN))", 15),
        ("minute(vector(NaN))", 30), ("year(vector(-9223372030000000000))", 292277026814),
    ],
)  # fmt: skip
def test_dates_are_those_of_the_calendar(text, expected):
    assert value(text, []) == expected


# -- aggregations -----------------------------------------------------------------------------------

GROUPS = {
    "one": [4], "two": [1, 2], "ties": [3, 1, 3, 2, 3], "not_a_number": [NAN, 2, NAN, 1], "no_number": [NAN, NAN],
    "infinite_first": [INF, 1, 2], "infinite_last": [1, 2, INF], "both_ways": [INF, -INF], "zeros": [0.0, -0.0],
    "cancelling": [1, 1e16, 1, -1e16], "large": [1e308, 1e308, 1e308], "large_both": [1.7e308, 1.7e308, -1.7e308, 5],
    "tenths": [0.1] * 10,
}  # fmt: skip
GROUP_DATA = [
    series("g", [(0, v)], group=group, i=f"{i:02}")
    for group, members in GROUPS.items()
    for i, v in enumerate(members)
]


@pytest.mark.parametrize("op", ["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar"])
@pytest.mark.parametrize(
    "clause", ["by (group)", "without (i)", "by (group, i)", "by ()", "without (group, i)"]
)
def test_aggregations(op, clause):
    assert at_moment(f"{op} {clause} (g)", GROUP_DATA)


@pytest.mark.parametrize("q", ["0", "0.5", "1", "0.25", "0.999", "-0.1", "1.1", "-Inf", "Inf", "NaN"])
def test_quantiles_of_series_and_of_windows(q):
    assert len(at_moment(f"quantile by (group) ({q}, g)", GROUP_DATA)) == len(GROUPS)
    assert at_moment(f"quantile_over_time({q}, x[1m])", WINDOW_DATA)


def test_aggregations_of_extreme_values():
    assert same(value('stddev(g{group="infinite_first"})', GROUP_DATA), NAN)
    assert same(value('avg(g{group="both_ways"})', GROUP_DATA), NAN)
    assert same(value('avg(g{group="large"})', GROUP_DATA), 1e308)
    assert same(value('sum(g{group="cancelling"})', GROUP_DATA), 2)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        # Among equal values the order of labels decides.
        ('topk(1, g{group="ties"})', ["00"]), ('topk(2, g{group="ties"})', ["00", "02"]),
        ('topk(4, g{group="ties"})', ["00", "02", "04", "03"]), ('bottomk(3, g{group="ties"})', ["01", "03", "00"]),
        ('limitk(2, g{group="ties"})', ["00", "01"]), ('topk(1.9, g{group="ties"})', ["00"]),
        # What is no number comes last, and is taken where nothing else is left.
        ('topk(2, g{group="not_a_number"})', ["01", "03"]), ('topk(3, g{group="not_a_number"})', ["01", "03", "00"]),
        ('bottomk(1, g{group="not_a_number"})', ["03"]), ('topk(1, g{group="no_number"})', ["00"]),
        ('topk(0, g{group="ties"})', []), ('topk(-Inf, g{group="ties"})', []), ('bottomk(0.99, g{group="ties"})', []),
        ('topk(scalar(nothing), nothing)', []), ('limitk(9223372036854774784, g{group="two"})', ["00", "01"]),
    ],
)  # fmt: skip
def test_what_topk_and_its_like_choose(text, chosen):
    found = at_moment(text, GROUP_DATA)
    assert {dict(labels)["i"] for labels in found} == set(chosen)
    if not text.startswith("limitk"):
        twin = naive.evaluate_instant(parse(text), GROUP_DATA, NOW_MS)
        ours = instant_query(text, source_of(GROUP_DATA), NOW_MS)
        assert [dict(labels)["i"] for labels in twin] == chosen
        assert [dict(labels)["i"] for labels in ours.value.labels] == chosen


@pytest.mark.parametrize(
    "text",
    [
        "topk(NaN, g)", "topk(Inf, g)", "limitk(1e300, g)", "limit_ratio(NaN, g)", "topk(scalar(nothing), g)",
        'count_values("", g)', "rate({__name__=~\"x|y\"}[1m])", '-{__name__=~"x|y"}', 'abs({__name__=~"x|y"})',
        "g + on (group) g", "g / on (group) group_left g", 'label_replace(g, "i", "", "", "")', 'label_join(g, "i", "")',
        'label_replace(g, "", "a", "i", ".*")', 'label_replace(nothing, "a", "b", "c", "(")', 'label_join(g, "new", "", "")',
        "double_exponential_smoothing(x[1m], 0, 0.5)", "double_exponential_smoothing(x[1m], 0.5, 1)",
        'x or on () y or {__name__=~"x|y"} * 1',
    ],
)  # fmt: skip
def test_what_has_no_answer(text):
    data = [*GROUP_DATA, series("x", every(15, [1, 2])), series("y", every(15, [1, 2]))]
    assert at_moment(text, data) is None


@pytest.mark.parametrize("ratio", ["0.5", "-0.5", "0.1", "-0.9", "1", "-1", "0", "3", "-3"])
def test_limit_ratio_selects_series_by_hash(ratio):
    data = [series("s", [(0, i)], i=str(i), long="w" * (i * 13 + 1)) for i in range(30)]
    found = at_moment(f"limit_ratio({ratio}, s)", data)
    rest = at_moment(f"limit_ratio({float(ratio) - math.copysign(1, float(ratio))}, s)", data)
    if 0 < abs(float(ratio)) < 1:
        assert 0 < len(found) < 30
        assert len(found) + len(rest) == 30
    else:
        assert len(found) == (0 if ratio == "0" else 30)


def test_values_as_labels():
    data = [series("v", [(0, v)], i=f"{i:02}") for i, v in enumerate((*NUMBERS, 1e16, 1e21, 0.1, 1e-7))]
    words = {dict(labels).get("v") for labels in at_moment('count_values("v", v)', data)}
    assert {
        "0",
        "-0",
        "NaN",
        "+Inf",
        "-Inf",
        "10000000000000000",
        "0.0000001",
        "0.49999999999999994",
    } <= words
    for clause in ("by (i)", "without (i)", "by (v)", "without (v)", "by (__name__)"):
        assert at_moment(f'count_values {clause} ("v", v)', data)
    assert len(at_moment('count_values ("__name__", v)', data)) == len(words)


# -- vectors that meet ----------------------------------------------------------------------------------

MATCHED = [
    series("a", [(0, 10)], a="1", b="x"), series("a", [(0, 20)], a="2", b="x"),
    series("n", [(0, 2)], a="1", c="k"), series("n", [(0, 4)], a="2", c="k"), series("n", [(0, 8)], a="3", c="k"),
    series("p", [(0, 1)], a="1"), series("q", [(0, 3)], a="1"), series("r", [(0, 2)], a="1", __unit__="s"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > on (a) n", {"a=1": 10, "a=2": 20}),
        ("a > on (__name__, a) a", {}),
        ("a >= on (__name__, a) a", {"__name__=a a=1": 10, "__name__=a a=2": 20}),
        ("a > ignoring (b, c) n", {"__name__=a a=1": 10, "__name__=a a=2": 20}),
        ("a > bool ignoring (b, c) n", {"a=1": 1, "a=2": 1}),
        ("a - on (a) n", {"a=1": 8, "a=2": 16}),
        ("n * on (a) group_left (b) a", {"a=1 b=x c=k": 20, "a=2 b=x c=k": 80}),
        ("a * on (a) group_right (b) n", {"a=1 b=x c=k": 20, "a=2 b=x c=k": 80}),
        ("a < on (a) group_right () n", {}),
        # A filter gives the value of the left side, with the labels of the many.
        ("a > on (a) group_right () n", {"__name__=n a=1 c=k": 10, "__name__=n a=2 c=k": 20}),
        # A label that the one side lacks is taken from the many side.
        ("n * on (a) group_left (c) a", {"a=1": 20, "a=2": 80}),
        ("n + on (a) group_left (__name__) a", {"__name__=a a=1 c=k": 12, "__name__=a a=2 c=k": 24}),
        ("n != bool on (a) group_left (__name__) a", {"a=1 c=k": 1, "a=2 c=k": 1}),
        ("15 < a", {"__name__=a a=2 b=x": 20}),
        ("15 < bool a", {"a=1 b=x": 0, "a=2 b=x": 1}),
        ("15 - a", {"a=1 b=x": 5, "a=2 b=x": -5}),
        ("r > 1", {"__name__=r __unit__=s a=1": 2}),
        ("r + 1", {"a=1": 3}),
        ("p + ignoring (__unit__) r", {"a=1": 3}),
        ("a and on (a) p", {"__name__=a a=1 b=x": 10}),
        ("a unless on (a) p", {"__name__=a a=2 b=x": 20}),
        ("p or q", {"__name__=p a=1": 1}),
        ("p or on (b) q", {"__name__=p a=1": 1}),
        ("p or on (__name__) q", {"__name__=p a=1": 1, "__name__=q a=1": 3}),
        ("a + on (a) nothing", {}),
        # Two on the one side are an error even where nothing meets them, but not where the other side is empty.
        ('n{a="9"} / on (b) a', {}),
        ("n / on (c) a", None),
        ('n{a="3"} / on (x) group_left a', None),
        # Of two left series that meet one, a filter counts those that pass.
        ('{__name__=~"p|q"} > on (a) r', {"a=1": 3}),
        ('{__name__=~"p|q"} > ignoring (__unit__) r', {"__name__=q a=1": 3}),
        ('{__name__=~"p|q"} > ignoring (__unit__) r - 2', None),
        ('{__name__=~"p|q"} * ignoring (__unit__) group_left r', None),
        (
            '{__name__=~"p|q"} > ignoring (__unit__) group_left r - 2',
            {"__name__=p a=1": 1, "__name__=q a=1": 3},
        ),
    ],
)
def test_what_vectors_keep_when_they_meet(text, expected):
    if expected is not None:
        expected = {
            frozenset(tuple(pair.split("=")) for pair in labels.split()): float(v)
            for labels, v in expected.items()
        }
    assert at_moment(text, MATCHED) == expected


# -- labels and order ---------------------------------------------------------------------------------

LABEL_DATA = [
    series("l", [(0, 1)], a="ab", b="i1"),
    series("l", [(0, 2)], a="a\nb", c="x-y"),
    series("l", [(0, 3)], b="i10"),
]


@pytest.mark.parametrize(
    "template", ["$1", "${1}", "$1x", "${1}x", "$0", "$2", "$$1", "x", "", "$", "${", "$1-$first", "${01}"]
)
@pytest.mark.parametrize("pattern", ["(.*)", "(?P<first>.)(.*)", "", "a", "a.b", "(a|i)(.*)", ".+", "(x)?.*"])
def test_label_replace(template, pattern):
    for to, source in (("a", "a"), ("new", "a"), ("__name__", "b"), ("c", "nothing"), ("a", "__name__")):
        assert at_moment(f'label_replace(l, "{to}", "{template}", "{source}", "{pattern}")', LABEL_DATA)


@pytest.mark.parametrize(
    "sources", ['"a"', '"a", "b"', '"b", "nothing", "a"', '"__name__", "b", "b"', '"nothing"']
)
def test_label_join(sources):
    for to in ("new", "a", "__name__"):
        for separator in ("", "-", ", "):
            at_moment(f'label_join(l, "{to}", "{separator}", {sources})', LABEL_DATA)
    joined = at_moment(f'label_join(l, "new", "-", {sources})', LABEL_DATA)
    assert len(joined) == 3


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("absent(nothing)", {}), ('absent(nothing{a="1"})', {"a": "1"}), ('absent((nothing{a="1"}))', {"a": "1"}),
        ('absent(nothing{a="1",b=~"x"})', {"a": "1"}), ('absent(nothing{a="1",a="2"})', {}),
        ('absent(nothing{a="1",a="2",a="3"})', {}), ('absent(nothing{a="1",a!="2"})', {}),
        ('absent(nothing{a!="2",a="1"})', {}), ('absent(nothing{a=~".*",a="1"})', {"a": "1"}),
        ('absent(nothing{a!="",a="1"})', {"a": "1"}), ('absent(nothing{a="",b="1"})', {"b": "1"}),
        ('absent(sum(nothing{a="1"}))', {}), ('absent({__name__="nothing",a="1"})', {"a": "1"}), ("absent(l)", None),
        ('absent(nothing{a="1"} > 0)', {}), ('absent(nothing{a="1"} offset 1h @ 5)', {"a": "1"}),
        ('absent_over_time(nothing{a="1"}[1m])', {"a": "1"}), ('absent_over_time(nothing{a="1"}[1m:])', {}),
    ],
)  # fmt: skip
def test_the_labels_of_what_is_absent(text, labels):
    expected = {} if labels is None else {frozenset(labels.items()): 1.0}
    assert at_moment(text, LABEL_DATA) == expected


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("sort(o)", ["a10", "9", "10", "a9", "A", "b"]), ("sort_desc(o)", ["A", "a9", "10", "9", "a10", "b"]),
        ('sort_by_label(o, "w")', ["9", "10", "A", "a9", "a10", "b"]),
        ('sort_by_label_desc(o, "w")', ["b", "a10", "a9", "A", "10", "9"]),
    ],
)  # fmt: skip
def test_order(text, order):
    """Values, with what is no number last; words with numbers inside by these numbers."""
    values = {"10": 2, "9": 1, "a10": -INF, "a9": 3, "A": INF, "b": NAN}
    data = [series("o", [(0, v)], w=word) for word, v in values.items()]
    twin = naive.evaluate_instant(parse(text), data, NOW_MS)
    ours = instant_query(text, source_of(data), NOW_MS)
    assert [dict(labels)["w"] for labels in twin] == order
    assert [dict(labels)["w"] for labels in ours.value.labels] == order


# -- histograms ---------------------------------------------------------------------------------------

HISTOGRAMS = {
    "plain": {"0.1": 2, "0.2": 5, "0.5": 9, "1": 9, "+Inf": 10},
    "falling": {"0.1": 2, "0.2": 5, "0.5": 4, "1": 9, "+Inf": 10},
    "below_zero": {"-1": 5, "0": 8, "+Inf": 10},
    "all_above": {"0.1": 0, "1": 0, "+Inf": 7},
    "empty_first": {"0.1": 0, "1": 4, "+Inf": 4},
    "nothing_seen": {"0.1": 0, "1": 0, "+Inf": 0},
    "without_the_last": {"0.1": 2, "1": 4},
    "last_alone": {"+Inf": 4},
    "bounds_twice": {"0.1": 2, "1": 3, "1.0": 1, "1e0": 1, "+Inf": 9, "Inf": 1},
    "no_bounds": {"0.1": 2, "much": 3, "": 4, "1e400": 9, " 1": 3, "+Inf": 5},
    "odd_bounds": {"1_0": 3, "1.": 5, "0x1p+6": 6, "+inf": 7},
    "minus_infinite": {"-Inf": 1, "1": 2, "+Inf": 3},
    "nearly_equal": {"0.1": 1e15, "1": 1e15 - 1, "2": 1e15 + 500, "+Inf": 1e15 + 500},
    "not_a_number": {"0.1": NAN, "1": 3, "+Inf": 5},
    "last_not_a_number": {"0.1": 1, "1": 3, "+Inf": NAN},
    "infinite": {"0.1": 1, "1": INF, "+Inf": INF},
    "bound_not_a_number": {"0.1": 1, "1": 2, "+Inf": 3, "NaN": 4},
    "negative": {"0.1": -2, "1": -1, "+Inf": -3},
}
BUCKET_DATA = [
    series("h_bucket", [(0, count)], **({"h": name, "le": le} if le else {"h": name}))
    for name, buckets in HISTOGRAMS.items()
    for le, count in buckets.items()
]


@pytest.mark.parametrize("q", ["0", "0.3", "0.5", "0.45", "0.9", "0.999", "1", "-1", "2", "NaN"])
def test_histogram_quantile(q):
    assert len(at_moment(f"histogram_quantile({q}, h_bucket)", BUCKET_DATA)) == len(HISTOGRAMS)


@pytest.mark.sampled(5)
@pytest.mark.long
@pytest.mark.parametrize(
    ("low", "high"),
    [
        *itertools.product(
            ("-Inf", "-0.5", "0", "0.15", "1", "NaN"), ("-1", "0.1", "0.7", "1", "5", "Inf", "NaN")
        )
    ],
)
def test_histogram_fraction(low, high):
    found = at_moment(f"histogram_fraction({low}, {high}, h_bucket)", BUCKET_DATA)
    assert len(found) == len(HISTOGRAMS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('histogram_quantile(0.5, h_bucket{h="falling"})', 0.2),
        ('histogram_quantile(0.3, h_bucket{h="falling"})', 0.13333333333333333),
        ('histogram_quantile(0.45, h_bucket{h="falling"})', 0.18333333333333335),
        ('histogram_quantile(0.95, h_bucket{h="falling"})', 1),
        ('histogram_quantile(0.3, h_bucket{h="below_zero"})', -1),
        ('histogram_quantile(0.7, h_bucket{h="below_zero"})', -0.33333333333333337),
        ('histogram_quantile(0.9, h_bucket{h="below_zero"})', 0),
        ('histogram_quantile(0, h_bucket{h="empty_first"})', NAN),
        ('histogram_quantile(0.5, h_bucket{h="without_the_last"})', NAN),
        ('histogram_quantile(0.5, h_bucket{h="last_alone"})', NAN),
        ('histogram_quantile(-1, h_bucket{h="last_alone"})', -INF),
        ('histogram_quantile(0.5, h_bucket{h="odd_bounds"})', 0.7),
        ('histogram_fraction(0, 0.2, h_bucket{h="plain"})', NAN),
        ('histogram_fraction(0.1, 0.2, h_bucket{h="plain"})', 0.3),
    ],
)
def test_what_a_real_server_makes_of_buckets(text, expected):
    assert same(value(text, BUCKET_DATA), expected)


def test_histogram_functions_skip_plain_numbers():
    for name in ("avg", "count", "stddev", "stdvar", "sum"):
        assert at_moment(f"histogram_{name}(h_bucket)", BUCKET_DATA) == {}


# -- one moment ----------------------------------------------------------------------------------------


def test_string_and_range_at_one_moment():
    data = [series("r", every(15, [1, NAN, 3]), [-20], a="2"), series("r", [(-60, 1), (0, 2)], a="1")]
    for text in ('"w\\u00e4rme"', "('it''s')".replace("''", ""), "`\\d`"):
        assert (
            naive.evaluate_instant(parse(text), data, NOW_MS)
            == instant_query(text, source_of(data), NOW_MS).value
        )
    for text, times in (
        ("r[1m]", [[0], [-30, -15, 0]]),
        ("(r[1m:30s])", [[-30, 0], [-30, 0]]),
        ("r[15s] offset 30s", [[-30]]),
    ):
        twin = naive.evaluate_instant(parse(text), data, NOW_MS)
        assert [[(t - NOW_MS) / 1000 for t, _ in samples] for samples in twin.values()] == times
        ours = instant_query(text, source_of(data), NOW_MS).value
        found = {
            frozenset(one.labels.items()): dict(
                zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True)
            )
            for one in ours
        }
        assert difference(found, {labels: dict(samples) for labels, samples in twin.items()}) is None
