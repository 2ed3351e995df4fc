"""Every function of Prometheus 3.5 against a real one: values to the last bit, errors, and what it warns of."""

from __future__ import annotations

import math
import random

import pytest

from tests.naive.promql import NaiveSeries
from tests.promql.generate import random_series
from tests.promql.reference import BASE_MS, FAILED, REFUSED, SPAN_MS, running_reference
from throttlescope.transforms.promql.functions import FUNCTIONS

pytestmark = [pytest.mark.prometheus, pytest.mark.sampled(5)]

_SETS = 5
_METRICS = [f"s{number}_{name}" for number in range(_SETS) for name in ("ctr", "gauge", "other")]
_LENGTHS = ("15s", "1m", "5m", "7m30s")

#: Dates and far from dates.
_MOMENTS = (
    0.0, -1.0, 1.5, -1.5, 86_399.0, 951_782_399.9, 951_782_400.0, 951_868_800.0, 1_078_012_800.0, 4_107_542_400.0,
    4_107_456_000.0, 1_732_233_599.0, 1_704_067_199.0, 1_704_067_200.0, -2_208_988_800.0, -62_135_596_801.0, 253_402_300_800.0, 1e13,
    -1e13, 1e18, -1e18, 9.2e18, -9.2e18, 9.3e18, -9.3e18, 1e300, math.inf, -math.inf, math.nan, 1e15, 6.2e16,
)  # fmt: skip

_NUMBERS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e-9, 3.0, 7.25, 10.0, 99.5, 100.0, 1000.0, 123456.789, 1e6, 1e15,
    1e22, 1e300, -1e300, 5e-324, 2.0**53, 709.0, 710.0, -745.0, 0.7853981633974483, 1.5707963267948966, 3.141592653589793, 6.1,
    -123.456, 1e-300, math.inf, -math.inf, math.nan,
)  # fmt: skip

_BUCKETS = {
    "plain": {"0.1": 2, "0.2": 5, "0.5": 9, "1": 14, "+Inf": 15},
    "negative": {"-1": 5, "0": 8, "+Inf": 10},
    "below": {"-2": 0, "-1": 5, "+Inf": 10},
    "falling": {"0.1": 2, "0.2": 5, "0.5": 4, "1": 9, "+Inf": 10},
    "noisy": {"0.1": 2, "0.2": 5, "0.5": 5 * (1 - 1e-14), "1": 9, "+Inf": 9 * (1 + 1e-13)},
    "endless": {"0.1": 2, "0.2": 5},
    "lonely": {"+Inf": 5},
    "empty": {"0.1": 0, "+Inf": 0},
    "nothing_low": {"0.1": 0, "0.2": 0, "1": 7, "+Inf": 7},
    "twice": {"0.1": 1, "1": 3, "1.0": 4, "1e0": 2, "+Inf": 12, "inf": 1},
    "odd": {"0x1p-1": 1, "1_0": 3, "Infinity": 9, "nan_": 3, " 1": 4, "1e999": 5, "": 6, "+NaN": 1},
    "unknown": {"1": math.nan, "2": 4, "3": math.nan, "+Inf": 6},
    "unknown_end": {"1": 1, "2": 4, "+Inf": math.nan},
    "endless_counts": {"1": 1, "2": math.inf, "+Inf": math.inf},
}

_NAMES = {
    "one": {"host": "web-10", "path": "/a/b", "x": "ab12"},
    "two": {"host": "web-9", "path": "/a", "x": "", "y": "$1"},
    "three": {"host": "web-09", "path": "line\nbreak", "y": "é世"},
    "four": {"host": "db-2-10", "path": 'q"uote\\', "x": "12ab"},
    "five": {"host": "db-2-9", "x": "99999999999999999999", "y": "z"},
    "six": {"host": "10", "x": "100000000000000000000"},
}


def _times(step_ms: int = 15_000) -> range:
    return range(BASE_MS - 300_000, SPAN_MS[1] + 300_000, step_ms)


def _steady(labels: dict[str, str], value: float) -> NaiveSeries:
    return NaiveSeries(labels, [(t, value) for t in _times()])


def _all_series() -> list[NaiveSeries]:
    series = [
        one
        for number in range(_SETS)
        for one in random_series(random.Random(number), f"s{number}_")  # noqa: S311
    ]
    series += [_steady({"__name__": "moment", "i": str(i)}, v) for i, v in enumerate(_MOMENTS)]
    rng = random.Random(3)  # noqa: S311
    wide = [rng.choice((-1, 1, 1)) * 2 ** rng.uniform(-70, 70) for _ in range(150)]
    near = [rng.choice((-1, 1, 1)) * rng.uniform(0, rng.choice((1, 1, 3, 30, 800))) for _ in range(250)]
    for name, values in (("wide", wide), ("near", near)):
        series += [_steady({"__name__": name, "i": str(i)}, v) for i, v in enumerate(values)]
    series += [_steady({"__name__": "number", "i": str(i)}, v) for i, v in enumerate(_NUMBERS)]
    for job, buckets in _BUCKETS.items():
        for le, count in buckets.items():
            labels = {"__name__": "lat_bucket", "job": job, "le": le}
            series.append(
                NaiveSeries(
                    {name: value for name, value in labels.items() if value},
                    [(t, count * (1 + i // 7)) for i, t in enumerate(_times(30_000))],
                )
            )
    # A bucket that falls behind the others for a while, and one that comes late.
    for le, counts in (("1", [5] * 12 + [9] * 8 + [5] * 30), ("2", [7] * 50), ("+Inf", [8] * 50)):
        labels = {"__name__": "late_bucket", "le": le}
        first = 13 if le == "2" else 0
        series.append(NaiveSeries(labels, list(zip(_times(30_000), counts, strict=False))[first:]))
    for job, labels in _NAMES.items():
        pairs = {"__name__": "named", "job": job, **labels}
        series.append(_steady({name: value for name, value in pairs.items() if value}, float(len(job))))
    # The same labels under two names, at times that meet and at times that do not.
    for name, part in (
        ("early_total", slice(0, 30)),
        ("later_total", slice(45, None)),
        ("always_total", slice(None)),
    ):
        series.append(NaiveSeries({"__name__": name, "job": "a"}, [(t, t % 7.0) for t in _times()][part]))
    series.append(
        _steady({"__name__": "typed_total", "__type__": "counter", "__unit__": "bytes", "job": "a"}, 3)
    )
    return series


@pytest.fixture(scope="module")
def reference():
    with running_reference(_all_series()) as running:
        yield running


# -- over a range ---------------------------------------------------------------------------------

_PLAIN_WINDOWS = [
    name for name, function in FUNCTIONS.items() if function.family == "range" and len(function.takes) == 1
]


@pytest.mark.parametrize("function", _PLAIN_WINDOWS)
def test_range_functions(reference, function):
    texts = [f"{function}({metric}[{length}])" for metric in _METRICS for length in _LENGTHS]
    reference.check(texts)
    reference.check(texts, moments=False, step_ms=15_000)
    assert reference.trouble(f"{function}(number[2m])") is None


@pytest.mark.parametrize("function", _PLAIN_WINDOWS)
def test_range_functions_shifted_pinned_and_of_subqueries(reference, function):
    reads = [
        "[3m] offset 47s",
        "[3m] offset -47s",
        f"[3m] @ {BASE_MS / 1000 + 60}",
        "[4m] @ end() offset 1m",
        "[4m:30s]",
    ]
    reference.check(
        [f"{function}(s{number}_gauge{read})" for number in range(_SETS) for read in reads], filled=False
    )


@pytest.mark.parametrize(
    "text",
    [
        "predict_linear({metric}[4m], 3600)",
        "predict_linear({metric}[4m] offset 1m, 60)",
        "predict_linear({metric}[4m] @ end(), 60)",
        "predict_linear({metric}[4m:20s], -60)",
        "predict_linear({metric}[4m], time() - 1.7e9)",
        "predict_linear({metric}[4m], scalar(number{{i='36'}}))",
        "quantile_over_time(0.5, {metric}[4m])",
        "quantile_over_time(0.99, {metric}[7m])",
        "quantile_over_time(0, {metric}[4m])",
        "quantile_over_time(1, {metric}[4m])",
        "quantile_over_time(1.5, {metric}[4m])",
        "quantile_over_time(-3e7, {metric}[4m])",
        "quantile_over_time(NaN, {metric}[4m])",
        "quantile_over_time((scalar(number{{i='7'}})), {metric}[4m])",
        "quantile_over_time((2), {metric}[4m])",
        "quantile_over_time((2), {metric}[4m] @ end())",
        "quantile_over_time((time() - 1.7e9) / 300, {metric}[4m])",
        "quantile_over_time((time() % 600) / 300, {metric}[4m:30s])",
        "double_exponential_smoothing({metric}[5m], 0.3, 0.6)",
        "double_exponential_smoothing({metric}[5m:30s], 0.9, 0.01)",
        "double_exponential_smoothing({metric}[5m], 0.001 * (time() - 1.699e9) / 1e6, 0.5)",
        "double_exponential_smoothing({metric}[5m], NaN, 0.5)",
    ],
)  # fmt: skip
def test_range_functions_with_numbers(reference, text):
    reference.check([text.format(metric=metric) for metric in _METRICS], filled=False)


@pytest.mark.parametrize("factors", ["0, 0.5", "1, 0.5", "0.5, 1.2", "0.5, -1", "0.5, scalar(number{i='2'})"])
def test_smoothing_factors_have_bounds(reference, factors):
    assert (
        reference.ours(f"double_exponential_smoothing(number[5m], {factors})", None, 30_000).outcome == FAILED
    )
    for metric in ("number", "nothing"):
        assert reference.trouble(f"double_exponential_smoothing({metric}[5m], {factors})") is None


def test_rate_of_a_non_counter_is_annotated(reference):
    texts = [
        "rate(s0_ctr[5m])",
        "increase((s0_ctr[5m]))",
        "  rate(  s0_ctr[5m]) + increase(s1_ctr[5m])",
        "sum(\n  rate(s0_ctr[5m]))",
        "rate(s0_ctr[5m:30s])",
        "rate(s0_ctr[5m] @ end())",
        "rate(always_total[5m])",
        "rate(lat_bucket[5m])",
        "irate(s0_ctr[5m])",
        "rate({__name__=~'s0_.*'}[5m] offset 1m)",
        # A message is given once, with the last of its places, which count bytes.
        "rate(s0_ctr[5m]) + increase(s0_ctr[5m])",
        "rate(s0_ctr[5m]) + rate(s0_ctr[5m])",
        "sum(rate(s0_ctr[5m])) > 0 and rate(s0_ctr[1m]) or increase(s0_ctr[2m])",
        "quantile_over_time(2, s0_ctr[5m]) + quantile_over_time(2, s0_ctr[5m])",
        "quantile(-1, s0_ctr)\n + quantile(-1, s0_ctr)",
        "label_replace(s0_ctr, 'a', 'é世', 'a', '.*') + rate(s0_ctr[1m])",
    ]
    for text in texts:
        assert reference.trouble(text) is None
    assert reference.ours(texts[3], None, 30_000).infos == {
        'PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "s0_ctr" (2:8)'
    }


# -- numbers ------------------------------------------------------------------------------------------

_OF_NUMBERS = [
    name
    for name, one in FUNCTIONS.items()
    if one.family in ("number", "trigonometry") and len(one.takes) == 1
]


@pytest.mark.parametrize("function", _OF_NUMBERS)
def test_functions_of_numbers(reference, function):
    """Also exponentials, logarithms and angles: Go's formulas, not C's."""
    metrics = ("number", "wide", "near", "s0_gauge", "s1_ctr", "-s2_other")
    reference.check([f"{function}({metric})" for metric in metrics])


@pytest.mark.parametrize(
    "operation", ["{x} ^ 2.3", "{x} ^ -0.7", "2.5 ^ {x}", "0.3 ^ {x}", "{x} ^ 7", "{x} ^ -31", "{x} ^ 1e300", "-0.5 ^ {x}",
                  "{x} atan2 0.3", "{x} atan2 -2", "-1e-9 atan2 {x}", "{x} atan2 on (i) near", "near ^ on (i) {x}"]
)  # fmt: skip
def test_powers_and_angles(reference, operation):
    reference.check([operation.format(x=metric) for metric in ("number", "wide", "near")])


@pytest.mark.parametrize(
    "text",
    [
        "round({metric})",
        "round({metric}, 0.1)",
        "round({metric}, 7)",
        "round({metric}, 0)",
        "round({metric}, -2.5)",
        "round({metric}, time() % 7)",
        "clamp({metric}, -1, 2)",
        "clamp({metric}, 2, -1)",
        "clamp({metric}, NaN, 1)",
        "clamp({metric}, 0, Inf)",
        "clamp({metric}, -(time() % 60), time() % 50 - 10)",
        "clamp_min({metric}, 0)",
        "clamp_max({metric}, -0)",
        "clamp_min({metric}, Inf)",
        "clamp_max({metric}, -Inf)",
        "clamp_max({metric}, NaN)",
        "clamp_min({metric}, time() % 60)",
    ],
)
def test_functions_of_numbers_with_numbers(reference, text):
    reference.check([text.format(metric=metric) for metric in ("number", "s0_gauge", "s1_ctr")], filled=False)


# -- dates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [name for name, one in FUNCTIONS.items() if one.family == "date"])
def test_dates(reference, function):
    reference.check([f"{function}(moment)", f"{function}()", f"{function}(timestamp(s0_gauge) * 37.7)"])
    assert reference.trouble(f"{function}(s0_gauge @ end())") is None
    for at_ms in (-1, -86_400_001, 0, 999, 951_868_799_999, 4_102_444_799_999):
        assert reference.trouble(f"{function}()", at_ms) is None


# -- times, presence, scalars -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "timestamp({metric})",
        "timestamp(({metric}))",
        "timestamp({metric} offset 1m)",
        "timestamp({metric} offset -1m)",
        "timestamp({metric} @ end())",
        f"timestamp({{metric}} @ {BASE_MS // 1000 + 47})",
        "timestamp({metric} @ start() offset 1m)",
        f"timestamp({{metric}} @ {BASE_MS // 1000 + 47} offset 90s)",
        "timestamp({metric} @ end() offset -90s)",
        "timestamp({metric} @ end() offset 4m)",
        "timestamp({metric} @ end() offset 5m)",
        "timestamp({metric} @ end() offset -299s)",
        "timestamp({metric} + 1)",
        "timestamp(timestamp({metric}))",
        "timestamp(sum({metric}) @ end())",
        "absent({metric})",
        "absent_over_time({metric}[1m])",
        "present_over_time({metric}[1m])",
        "scalar({metric})",
        "vector(scalar({metric}))",
        "last_over_time({metric}[1m])",
    ],
)
def test_times_and_presence(reference, text):
    for metric in _METRICS:
        for at in (None, BASE_MS + 123_456, SPAN_MS[1]):
            if "@ end())" in text and text.startswith("timestamp(sum"):
                assert reference.theirs(text.format(metric=metric), at, 30_000).outcome == REFUSED
            assert reference.trouble(text.format(metric=metric), at) is None


@pytest.mark.parametrize(
    "selector",
    [
        'x{a="1"}', 'x{a="1",b="2"}', 'x{a="1",a="2"}', 'x{a=~"1",a="1"}', 'x{a="1",a=~"1"}', 'x{a=~".*",a="1"}', 'x{a!="",a="1"}', 'x{a!~"",a="1",a!="3"}', 'x{a!~"2",a="1"}',
        'x{a="",a!="2"}', 'x{a="",b="1",a=""}', 'x{a="1",a!="2"}', 'x{a!="2",a="1"}', 'x{a=~"1"}',
        'x{a=""}', 'x{a!="1",b="2"}', '{__name__="x",a="1"}', '{__name__=~"x",a="1"}', '(x{a="1"})', 'x{a!="2",a="1",a="3"}',
        'x{a="1"} @ end()', 'x{a="1"} offset 1m', '{a="1",a!="2",b="zz"}',
    ],
)  # fmt: skip
def test_labels_of_what_is_absent(reference, selector):
    reference.check([f"absent({selector})"])
    name, _, shift = selector.removeprefix("(").removesuffix("})").partition(" ")
    name += "}" * selector.endswith("})")
    reference.check(
        [f"absent_over_time({name}[1m]{' ' + shift if shift else ''})", f"absent_over_time({name}[1m:30s])"]
    )


def test_what_else_is_absent(reference):
    reference.check(
        ["absent(sum(x{a='1'}))", "absent(x{a='1'} + 1)", "absent_over_time(sum(x)[5m:])", "absent(x > 1)"]
    )
    reference.check(
        ["absent_over_time(early_total[1m])", "absent(early_total)", "absent(absent(early_total))"]
    )
    # Two names with the same labels are no trouble here, although they are one for present_over_time.
    text = "_over_time({__name__=~'early_total|always_total'}[1m])"
    assert reference.trouble(f"absent{text}") is None
    assert reference.ours(f"present{text}", None, 30_000).outcome == FAILED
    assert reference.trouble(f"present{text}") is None


def test_pi_time_and_vector(reference):
    reference.check(["pi()", "time()", "vector(time())", "vector(pi() * 2)", "vector(scalar(number{i='2'}))"])


# -- names that go ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "selector", ["{__name__=~'(early|later)_total'}", "{__name__=~'(early|always)_total'}", "typed_total"]
)
@pytest.mark.parametrize(
    "text",
    [
        "abs({x})", "floor({x})", "clamp_min({x}, 1)", "round({x})", "hour({x})", "timestamp({x})", "timestamp(0 + {x})",
        "rate({x}[1m])", "last_over_time({x}[1m])", "present_over_time({x}[1m])", "quantile_over_time(0.5, {x}[1m])",
        "absent_over_time({x}[1m])", "sort({x})", "label_replace({x}, 'a', 'b', 'job', '.*')", "-{x}", "sum({x})",
        "sum without (job) ({x})", "sum by (__type__, job) ({x})", "histogram_quantile(0.5, {x})", "topk(1, {x})",
        "label_replace({x}, '__name__', 'n', 'job', '.*')", "label_replace({x}, '__name__', '', 'job', '.*')",
        "label_join({x}, '__name__', '-', 'job', 'job')", "label_join({x}, 'job', '-', '__name__', 'job')",
        "count_values('job', {x})", "count_values without (job) ('v', {x})", "ts_of_last_over_time({x}[1m:])",
    ],
)  # fmt: skip
def test_dropped_names_must_leave_distinct_series(reference, text, selector):
    for at in (None, BASE_MS, SPAN_MS[1]):
        assert reference.trouble(text.format(x=selector), at) is None


# -- labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replacement", "source", "pattern"),
    [
        ("$1", "host", "(.*)-(.*)"), ("$1_$2", "host", "(.*)-(.*)"), ("${1}_$2", "host", "(.*)-(.*)"), ("$1x", "host", "(.*)-.*"),
        ("$$1", "host", "(.*)"), ("$", "host", "(.*)"), ("a$", "host", ".*"), ("$a$b", "host", "(?P<a>.*)-(?P<b>.*)"),
        ("${a}${b}", "host", "(?P<a>[a-z]+)-(?P<b>.*)"), ("$0", "host", "web.*"), ("$00", "host", "web.*"), ("$9", "host", "web.*"),
        ("${", "host", ".*"), ("${1", "host", "(.*)"), ("${}", "host", "(.*)"), ("$-1", "host", "(.*)"), ("$é", "host", "(?P<é>.*)"),
        ("${1}é", "host", "(w).*"), ("$1é", "host", "(w).*"), ("", "host", ".*"), ("x", "missing", ""), ("x", "missing", ".*"),
        ("x", "missing", ".+"), ("$1", "path", "line(.)break"), ("$1", "path", "(.*)"), ("$1", "x", "(a)|(b).*"), ("[$2]", "x", "(a)?(12)?.*"),
        ("$1", "host", "(?i)WEB-(.*)"), ("$100000000", "host", "(.*)"), ("$a", "host", "(?<a>.*)"), ("$1$1$$$1", "host", "(.).*"),
        ("$1", "host", "web-(\\\\d+)"), ("x", "host", "^web.*$"), ("$1", "path", "(?s).(.).*"), ("$1", "path", "(?-s:(.*))"), ("x", "", "(.*)"),
        ("$_", "host", "(?P<_>.*)"), ("${1}${2}", "host", "(w*)(.*?)"), ("$1", "y", "(.).*"), ("\\\\$1", "host", "(.).*"), ("$1²", "host", "(.).*"),
        ("$1٣", "host", "(.).*"),
    ],
)  # fmt: skip
def test_label_replace(reference, replacement, source, pattern):
    for target in ("new", "host", "__name__", "odd name-é"):
        text = f'label_replace(named, "{target}", "{replacement}", "{source}", "{pattern}")'
        for at in (None, BASE_MS):
            assert reference.trouble(text, at) is None


@pytest.mark.parametrize(
    "arguments",
    [
        "named, 'a', 'b', 'c', '('", "named, 'a', 'b', 'c', '\\\\C'", "named, '', 'b', 'job', '.*'", "named, '', 'b', 'job', 'no'",
        "nothing, '', 'b', 'job', 'no'", "nothing, 'a', 'b', 'c', '*'", "named, 'job', 'x', 'host', '.*'", "named, 'job', '', 'job', '.*'",
        "named, 'a', '$1', 'host', '(?P<a>.)(?P<a>.).*'", "named, 'a', '$1', 'host', '(?=x)'", "named, 'a', '$1', 'host', 'a{1001}'",
        "named, '\\xff', 'x', 'host', '.*'", "named, 'a', 'x', '\\xff', 'no'", "named, 'a', 'x', 'host', '\\xff'",
        "named, ('a'), 'x', 'host', '.*'", "named, '~invalid', 'x', 'host', '.*'", "{__name__=~'.*_total'}, '__name__', '', 'job', '.*'",
    ],
)  # fmt: skip
def test_label_replace_that_fails(reference, arguments):
    for at in (None, BASE_MS):
        assert reference.trouble(f"label_replace({arguments})", at) is None


@pytest.mark.parametrize(
    "arguments",
    [
        "named, 'new', '-', 'host', 'path'", "named, 'new', '', 'host', 'missing', 'x'", "named, 'host', '-'", "named, 'new', '-', ''",
        "named, '', '-', 'host'", "named, '\\xff', '-', 'host'", "named, 'a', '-', '\\xff'", "named, 'job', '-', 'host'", "named, 'job', '-', 'path'", "named, 'new', 'é', 'y', 'y', 'y'",
        "named, 'new', '-', 'missing', 'gone'", "named, '__name__', '_', 'job', '__name__'", "named, 'host', '', 'missing'",
        "named, 'odd name', '-', 'host'", "nothing, '', '-', 'host'", "{__name__=~'.*_total'}, '__name__', '', 'gone'",
    ],
)  # fmt: skip
def test_label_join(reference, arguments):
    for at in (None, BASE_MS):
        assert reference.trouble(f"label_join({arguments})", at) is None


# -- order ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["sort", "sort_desc"])
def test_order_by_value(reference, function):
    for text in (
        "named",
        "named * 2",
        "moment{i!~'2.|30'}",
        "abs(moment{i!~'[12].|30|1|2|3'})",
        "sum by (job) (named)",
    ):
        mine, real = (ask(f"{function}({text})", BASE_MS, 0) for ask in (reference.ours, reference.theirs))
        rows = [[next(iter(values.values())) for values in reply.values.values()] for reply in (mine, real)]
        assert len(rows[0]) > 3
        # Equal values may change places, and so may several NaN.
        assert [repr(v) for v in rows[0]] == [repr(v) for v in rows[1]]
    reference.check([f"{function}(number)", f"{function}(s0_gauge)"])
    assert reference.trouble(f"{function}(named) * 2", BASE_MS) is None


@pytest.mark.parametrize("function", ["sort_by_label", "sort_by_label_desc"])
@pytest.mark.parametrize(
    "labels",
    [
        "'host'",
        "'x'",
        "'path', 'host'",
        "'missing'",
        "'y', 'x'",
        "'job'",
        "'missing', 'job'",
        "'host', 'job'",
        "'__name__', 'path'",
    ],
)
def test_order_by_label(reference, function, labels):
    text = f"{function}(named, {labels})"
    assert len(reference.ours(text, BASE_MS, 0).order) == len(_NAMES)
    assert reference.trouble(text, BASE_MS, ordered=True) is None
    assert reference.trouble(text) is None


def test_order_by_label_of_many(reference):
    for text in (
        "sort_by_label(moment, 'i')",
        "sort_by_label_desc(number, 'i')",
        "sort_by_label(moment)",
        "sort_by_label_desc(moment)",
    ):
        assert reference.trouble(text, BASE_MS, ordered=True) is None
    assert len(reference.ours("sort_by_label(moment, 'i')", BASE_MS, 0).order) > 12


# -- histograms -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", _BUCKETS)
@pytest.mark.parametrize(
    "quantile",
    [
        "0",
        "0.3",
        "0.45",
        "0.5",
        "0.9",
        "0.95",
        "1",
        "-1",
        "1.5",
        "NaN",
        "(time() - 1.7e9) / 400",
        "(2)",
        "1e-300",
    ],
)
def test_histogram_quantile(reference, job, quantile):
    reference.check([f"histogram_quantile({quantile}, lat_bucket{{job='{job}'}})"])


@pytest.mark.parametrize("job", _BUCKETS)
@pytest.mark.parametrize(
    "bounds",
    [
        "0, 1",
        "0.15, 0.3",
        "0.2, 0.5",
        "-Inf, 0.3",
        "0.3, Inf",
        "1, 0.5",
        "NaN, 1",
        "0, NaN",
        "-5, 0.05",
        "0.05, 0.07",
        "-Inf, Inf",
        "5, 7",
    ],
)
def test_histogram_fraction(reference, job, bounds):
    reference.check([f"histogram_fraction({bounds}, lat_bucket{{job='{job}'}})"])


def test_histograms_of_many(reference):
    reference.check(
        [
            "histogram_quantile(0.9, rate(lat_bucket[5m]))",
            "histogram_quantile(0.9, sum by (le) (lat_bucket{job=~'plain|twice'}))",
            "histogram_quantile(0.5, (lat_bucket))",
            "histogram_quantile(0.5, lat_bucket @ end())",
            "histogram_quantile(0.5, late_bucket)",
            "histogram_quantile(0.5, {__name__=~'(lat|late)_bucket'})",
            "histogram_fraction(0.1, 0.3, rate(lat_bucket[5m]))",
            "histogram_fraction(time() % 7 / 10, 0.9, {__name__=~'(lat|late)_bucket'})",
        ],
        relative=1e-12,
    )
    for text in (
        "histogram_quantile(0.5, named)",
        "histogram_fraction(0, 1, named)",
        "histogram_quantile(7, nothing)",
    ):
        assert reference.trouble(text) is None


@pytest.mark.parametrize("name", ["avg", "count", "stddev", "stdvar", "sum"])
def test_functions_of_native_histograms_ignore_numbers(reference, name):
    for text in ("named", "rate(s0_ctr[5m])", "{__name__=~'(early|always)_total'}"):
        assert reference.trouble(f"histogram_{name}({text})") is None


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_what_a_function_takes(reference, function):
    """Each argument of each kind in turn, one argument too few and too many."""
    samples = {"scalar": "0.5", "vector": "number", "matrix": "number[5m]", "string": "'s'"}
    right = [samples[kind] for kind in function.takes]
    calls = [right, right[:-1], right[:-2], [*right, right[-1] if right else "1"], [*right, *["'s'"] * 3]]
    for i in range(len(right)):
        calls += [[*right[:i], other, *right[i + 1 :]] for other in samples.values()]
    if function.name == "info":
        return
    for arguments in calls:
        text = f"{function.name}({', '.join(arguments)})"
        mine, real = reference.ours(text, None, 30_000), reference.theirs(text, None, 30_000)
        assert (mine.outcome == REFUSED) == (real.outcome == REFUSED), text
