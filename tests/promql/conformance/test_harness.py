"""The harness itself: what it reads, and that it sees what is wrong."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from tests.promql.conformance import compliance, pairs
from tests.promql.conformance.expressions import Piece, Writer, whole_language
from tests.promql.conformance.notation import (
    STALE,
    Clear,
    Eval,
    Load,
    Native,
    NotationError,
    almost_equal,
    duration_ms,
    read_file,
    sequence,
    series_line,
)
from tests.promql.conformance.outcome import Outcome, difference, same_but_for_ties
from tests.promql.conformance.promqltest import OurEngine, play
from tests.promql.conformance.tricks import pinned, variants
from tests.promql.conformance.verdict import wrong
from throttlescope.transforms.promql.parse import parse

FILE = """
# a comment
load 30s
  requests_total{topic="a", kind='x'} 1+2x2 _ stale
  {"odd name", "l.x"="y\\n"} _x2 7x1 0x3   # behind it

eval instant at 1m requests_total
  expect no_warn
  requests_total{topic="a", kind="x"} 5

clear
eval range from 0 to 1m step 30s sum(requests_total)
  expect info msg: something
  {} 1 _ 3

eval_fail instant at 1h30m foo +
  expected_fail_message no

eval instant at 0 1 + 1
  0x2
"""


def test_a_file_is_read():
    load, first, clear, second, third, last = read_file(FILE)
    assert isinstance(load, Load)
    assert (load.gap_ms, isinstance(clear, Clear)) == (30_000, True)
    assert load.series[0].labels == {"__name__": "requests_total", "topic": "a", "kind": "x"}
    assert load.series[0].items == [1, 3, 5, None, STALE]
    assert load.series[1].labels == {"__name__": "odd name", "l.x": "y\n"}
    assert load.series[1].items == [None, None, 7, 7, 0, 0, 0, 0]
    assert (first.start_ms, first.step_ms, first.line) == (60_000, 0, 7)
    assert first.notes == {"no_warn": [("any", "")]}
    assert (second.start_ms, second.end_ms, second.step_ms) == (0, 60_000, 30_000)
    assert second.notes == {"info": [("msg", "something")]}
    assert second.series[0].items == [1, None, 3]
    assert (third.must_fail, third.notes) == (True, {"fail": [("msg", "no")]})
    assert last.number == 2


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1-1x2", [1, 0, -1]),
        ("-1.5+0.5x1", [-1.5, -1]),
        ("1e3 Inf -Inf", [1000, math.inf, -math.inf]),
        ("stalex1", [STALE, STALE]),
        ("0x2", [0, 0, 0]),
        ("", []),
    ],
)
def test_a_sequence_is_spelled_out(text, items):
    assert sequence(text) == items


def test_a_sequence_adds_step_by_step():
    assert sequence("0+0.1x3")[3] == 0.1 + 0.1 + 0.1 != 0.3


def test_histograms_are_kept_by_name_only():
    assert isinstance(series_line("h {{schema:0 sum:1}}x3 4").items, Native)
    (load,) = read_file('load_with_nhcb 1m\n  h_bucket{le="1", a="b"} 1\n')
    assert load.native == [{"__name__": "h", "a": "b"}]


@pytest.mark.parametrize(
    "text", ["load 1m\n  m 1+", "eval instant at soon m", "sing", "eval instant at 0 m\n  expect luck"]
)
def test_invalid_notation_is_refused_with_line(text):
    with pytest.raises(NotationError, match="line 1"):
        read_file(text)


def test_durations():
    assert [duration_ms(text) for text in ("0", "1h30m", "20s500ms", "-5s", "1d")] == [
        0,
        5_400_000,
        20_500,
        -5_000,
        86_400_000,
    ]


def test_the_tolerance_is_that_of_promqltest():
    assert almost_equal(1, 1 + 1e-6)
    assert not almost_equal(1, 1 + 3e-6)
    assert almost_equal(math.nan, math.nan)
    assert not almost_equal(0, 1e-300)
    assert not almost_equal(math.inf, 1e308)


def vector(*rows, kind="vector", **notes):
    return Outcome(
        kind,
        tuple((frozenset(labels.items()), tuple(points)) for labels, points in rows),
        **{name: frozenset(texts) for name, texts in notes.items()},
    )


ONE = vector(({"a": "1"}, [(0, "1")]), ({"a": "2"}, [(0, "2")]))


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ('  {a="1"} 1\n', ONE),
        ('  {a="1"} 1\n  {a="2"} 3\n', ONE),
        ('  {a="1"} 1\n  {a="2"} 2\n  {a="3"} 2\n', ONE),
        ('  expect ordered\n  {a="2"} 2\n  {a="1"} 1\n', ONE),
        ("  expect fail\n", ONE),
        ('  expect warn\n  {a="1"} 1\n  {a="2"} 2\n', ONE),
        (
            '  expect no_info\n  {a="1"} 1\n  {a="2"} 2\n',
            vector(*[({"a": v}, [(0, v)]) for v in "12"], infos=["x"]),
        ),
        (
            '  expect warn msg: y\n  {a="1"} 1\n  {a="2"} 2\n',
            vector(*[({"a": v}, [(0, v)]) for v in "12"], warnings=["x"]),
        ),
        ("  1\n", ONE),
        ('  expect string "1"\n', ONE),
        ('  {a="1"} 1\n  {a="2"} 2\n', Outcome(error="execution", message="no")),
        ("  expect fail\n", Outcome(error="unsupported", message="no")),
        ("  expect fail\n", Outcome(error="crash", message="no")),
    ],
)
def test_what_is_not_as_expected_is_seen(expected, outcome):
    (one,) = read_file("eval instant at 0 m\n" + expected)
    assert wrong(one, outcome, messages=True)


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ('  {a="2"} 2\n  {a="1"} 1\n', ONE),
        ('  expect ordered\n  {a="1"} 1\n  {a="2"} 2\n', ONE),
        ("  expect fail msg: no\n", Outcome(error="execution", message="no")),
        ("  expect fail regex: ^n\n", Outcome(error="bad_data", message="no")),
        ("  expect warn msg: x\n", vector(warnings=["x (1:5)"])),
        ("  expect warn msg: x (1:5)\n", vector(warnings=["x (1:5)"])),
        ("  2\n", vector(({}, [(0, "2")]), kind="scalar")),
        ('  expect string "s"\n', vector(({}, [(0, "s")]), kind="string")),
    ],
)
def test_what_is_as_expected_passes(expected, outcome):
    (one,) = read_file("eval instant at 0 m\n" + expected)
    assert wrong(one, outcome, messages=True) is None


def test_times_of_a_range_are_compared():
    (one,) = read_file("eval range from 0 to 2m step 1m m\n  m 1 _ 3\n")
    name = {"__name__": "m"}
    assert wrong(one, vector((name, [(0, "1"), (120_000, "3")]), kind="matrix"), messages=True) is None
    assert wrong(one, vector((name, [(0, "1"), (60_000, "3")]), kind="matrix"), messages=True)


def test_unsupported_evals_are_skipped():
    """Those of native histograms and of start timestamps."""
    text = 'load 1m\n  h {{sum:1}}\n  f 1\n\neval instant at 0 h\n\neval instant at 0 f\n  f 1\n\neval instant at 0 {__name__=~"h|f"}\n'
    assert [played.skipped for played in play(read_file(text), [OurEngine()])] == [
        "native histograms",
        "",
        "native histograms",
    ]
    (played,) = play(read_file("load 1m\n  f@st 0\n  f 1\n\neval instant at 0 f\n"), [OurEngine()])
    assert played.skipped == "start timestamps"


def test_clear_empties_the_store():
    text = "load 1m\n  f 1\n\neval instant at 0 f\n  f 1\n\nclear\neval instant at 0 f\n"
    outcomes = [played.outcomes[0] for played in play(read_file(text), [OurEngine()])]
    assert [len(outcome.rows) for outcome in outcomes] == [1, 0]


def test_pins_are_added_where_missing():
    """To every selector and subquery."""
    assert pinned("rate(a[5m]) + b offset 1m", 1_500) == "rate(a[5m] @ 1.500 ) + b offset 1m @ 1.500 "
    assert (
        pinned("sum_over_time((a + b @ 3)[5m:1m])", -2_000) == "sum_over_time((a + b @ 3)[5m:1m] @ -2.000 )"
    )
    assert pinned("a @ 3", 0) == "a @ 3"
    assert pinned("time()", 0) is None


def test_query_bound_has_no_variants():
    assert not list(variants(Eval(1, "m @ end()", 0, 0, 0)))
    assert len(list(variants(Eval(1, "m", 60_000, 60_000, 0)))) == 11


def test_differences_are_seen():
    assert difference(ONE, ONE) is None
    assert difference(ONE, vector(({"a": "1"}, [(0, "1")]), ({"a": "2"}, [(0, "2.0000001")])))
    assert (
        difference(ONE, vector(({"a": "1"}, [(0, "1")]), ({"a": "2"}, [(0, "2.0000000000001")])), 1e-12)
        is None
    )
    assert difference(ONE, vector(({"a": "1"}, [(0, "1")])))
    assert difference(
        ONE, vector(*reversed([({"a": "1"}, [(0, "1")]), ({"a": "2"}, [(0, "2")])])), ordered=True
    )
    assert difference(Outcome(error="bad_data"), Outcome(error="execution"))
    assert difference(Outcome(error="unsupported"), Outcome(error="bad_data")) is None
    assert difference(Outcome(error="unsupported"), ONE)
    assert difference(vector(infos=["x (1:1)"]), vector(infos=["x (1:2)"]))


def test_only_ties_may_differ():
    mine = vector(({"a": "1"}, [(0, "5")]), ({"a": "2"}, [(0, "7")]))
    assert same_but_for_ties(mine, vector(({"a": "3"}, [(0, "5")]), ({"a": "2"}, [(0, "7")])))
    assert not same_but_for_ties(mine, vector(({"a": "3"}, [(0, "6")]), ({"a": "2"}, [(0, "7")])))
    assert not same_but_for_ties(
        mine, vector(({"a": "1"}, [(0, "7")]), ({"a": "2"}, [(0, "5")]), ({"a": "3"}, [(0, "5")]))
    )


def test_templates_are_filled_with_every_combination():
    filled = list(compliance._filled("{{.topBottomOp}}({{.offset}})", ["topBottomOp", "offset"]))
    assert len(filled) == 6
    assert filled[0] == "topk(1m)"


@pytest.mark.long
def test_random_queries_cover_the_language():
    """Of the whole language; unbracketed operators may bind to what has no meaning, but rarely."""
    words: Counter[str] = Counter()
    refused = 0
    for number in range(4_000):
        text = str(pairs.pair(0, number).piece)
        found = pairs._words(text)
        refused += not found and "(" in text
        words.update(found)
    language = whole_language(0)
    assert set(language.functions) | set(language.aggregations) <= set(words)
    assert {"@", "offset", "subquery", "and", "or", "unless", "^", "atan2", "=="} <= set(words)
    assert refused < 200


def test_query_shrinks_to_parts_of_its_kind():
    piece = Writer(random.Random(5), whole_language(0)).vector(4)  # noqa: S311
    smaller = list(piece.smaller())
    assert smaller
    for less in smaller:
        assert less.kind == piece.kind
        parse(str(less))


def test_selector_shrinks_by_dropping_modifiers():
    piece = Piece("vector", ('up{a="1"} offset 1m @ end()',))
    assert {str(less) for less in piece.smaller()} == {
        'up{a="1"} @ end()',
        'up{a="1"} offset 1m',
        "up offset 1m @ end()",
    }


def test_a_pair_is_repeated_from_its_number():
    assert pairs.pair(3, 77) == pairs.pair(3, 77)
    assert pairs.data_of(3, 1)[0].samples == pairs.data_of(3, 1)[0].samples
    assert pairs.base_of(30) == pairs._EARLY_BASE_MS
