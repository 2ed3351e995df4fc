"""The parser: what it reads, where it says the trouble is, and that no text can hurt it."""

from __future__ import annotations

import contextlib
import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import seeds
from tests.promql.generate import random_vector
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.errors import (
    PromQLSyntaxError,
    PromQLTypeError,
    UnsupportedPromQLError,
)
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.parse import MAX_DEPTH, MAX_LENGTH, parse


def shape(expr):
    """A tree as nested brackets, operators first."""
    match expr:
        case ast.NumberLiteral(value=value):
            return f"{value:g}"
        case ast.VectorSelector(selector=selector):
            return str(selector)
        case ast.Unary(op=op, expr=inner):
            return f"({op} {shape(inner)})"
        case ast.Paren(expr=inner):
            return shape(inner)
        case ast.Binary(op=op, left=left, right=right):
            return f"({op} {shape(left)} {shape(right)})"
    raise TypeError(expr)


READ_AS = [
    ("1 + 2 * 3", "(+ 1 (* 2 3))"),
    ("1 - 2 - 3", "(- (- 1 2) 3)"),
    ("2 ^ 3 ^ 2", "(^ 2 (^ 3 2))"),
    ("-1 ^ 2", "(- (^ 1 2))"),
    ("2 ^ -1", "(^ 2 (- 1))"),
    ("2 ^ -1 * 3", "(* (^ 2 (- 1)) 3)"),
    ("-a * b", "(* (- a) b)"),
    ("a or b and c unless d", "(or a (unless (and b c) d))"),
    ("a > 1 and b", "(and (> a 1) b)"),
    ("a + b > c", "(> (+ a b) c)"),
    ("a % b atan2 c", "(atan2 (% a b) c)"),
    ("a AND b Or c", "(or (and a b) c)"),
    ("((a))", "a"),
    ("# nothing\n1 # one\n+ 2", "(+ 1 2)"),
    # Words of the language are metric names where nothing else can stand.
    ("sum + by", "(+ sum by)"),
    ("rate > 1", "(> rate 1)"),
    ("1e3 + 0x1F + 010 + .5 + 5. + 1_000", "(+ (+ (+ (+ (+ 1000 31) 8) 0.5) 5) 1000)"),
    ("5m + 1h30m", "(+ 300 5400)"),
    ("Inf + nan", "(+ inf nan)"),
]


@pytest.mark.parametrize(("text", "expected"), READ_AS)
def test_how_tightly_operators_bind(text, expected):
    assert shape(parse(text)) == expected


def test_every_part_knows_its_place():
    text = "sum by (a) (rate(x{b='1'}[5m] offset 1h)) / 2"
    places = {type(node).__name__: text[slice(*node.span)] for node in ast.walk(parse(text))}
    assert places == {
        "Binary": text,
        "Aggregate": "sum by (a) (rate(x{b='1'}[5m] offset 1h))",
        "Call": "rate(x{b='1'}[5m] offset 1h)",
        "MatrixSelector": "x{b='1'}[5m] offset 1h",
        "VectorSelector": "x{b='1'}",
        "NumberLiteral": "2",
    }


def test_ranges_offsets_and_pins():
    matrix = parse("rate(x[1h30m] offset -5m @ 12.3456)").arguments[0]
    assert (matrix.range_ms, matrix.vector.offset_ms, matrix.vector.at) == (
        5_400_000,
        -300_000,
        ast.At(12346),
    )
    assert parse("x @ start() offset 90").offset_ms == 90_000
    assert parse("x @ end()").at == ast.At("end")
    assert parse("x @ -1.5").at == ast.At(-1500)
    sub = parse("max_over_time(x[5m:] offset 1m)").arguments[0]
    assert (sub.range_ms, sub.step_ms, sub.offset_ms) == (300_000, None, 60_000)


def test_matching_clauses():
    node = parse("a == bool on (x, y) group_right (z) b")
    assert node.return_bool is True
    assert node.matching == ast.Matching(True, ("x", "y"), "right", ("z",))
    assert parse("a * ignoring () b").matching == ast.Matching(False, ())
    assert parse("a * b").matching is None
    assert parse("sum without (a,) (x)") == parse("sum(x) without (a)")


NO_PROMQL = [
    ("", 0, "end of the text"),
    ("1 +", 3, "end of the text"),
    ("sum(x", 5, "a comma, an operator or )"),
    ("a = b", 2, "=="),
    ("a && b", 2, "write and"),
    ("a b", 2, "an operator"),
    ("rte(x[5m])", 0, "was rate meant"),
    ("Rate(x[5m])", 0, "was rate meant"),
    ("x[5m", 4, "]"),
    ("x[0s]", 2, "greater than 0"),
    ("x[5q]", 2, "a number such as"),
    ("x[1m1h]", 2, "units fall"),
    ("x offset 5m [5m]", 12, "range before offset"),
    ("sum(x)[5m]", 6, "metric selector before a range"),
    ("sum(x) offset 5m", 7, "belongs to a selector"),
    ("x offset 5m offset 5m", 12, "one offset"),
    ("x @ 5 @ 6", 6, "one @"),
    ("x @ Inf", 4, "finite time"),
    ("a + bool b", 4, "bool goes with the comparisons"),
    ("a + group_left b", 4, "on(...) or ignoring(...) before"),
    ("a + group_left() b", 4, "on(...) or ignoring(...) before"),
    ("a and on(b) group_left(c) d", 12, "keeps or drops whole series"),
    ("a + on(b) group_left(b) c", 10, "drop b from group_left"),
    ("topk(x)", 4, "2 arguments of topk"),
    ("sum(x, y)", 3, "1 argument of sum"),
    ("x{a=1}", 4, "quotes"),
    ("{a=''}", 0, "does not match an empty value"),
    ("x{a=~'('}", 5, "regular expression"),
    ("1e999", 0, "range of a double"),
    ("a)", 1, "drop the extra )"),
    ("* 2", 0, "operand on its left"),
    ("sum by x (y)", 4, "must directly precede or follow"),
    ("bool", 0, "a metric"),
    ("'a", 0, "closing '"),
    ("first\n  + rte(x)", 10, "line 2, column 5"),
]


@pytest.mark.parametrize(("text", "position", "words"), NO_PROMQL)
def test_an_error_says_where_and_what_helps(text, position, words):
    with pytest.raises(PromQLSyntaxError) as caught:
        parse(text)
    assert caught.value.position == position
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


WRONG_KINDS = [
    ("rate(x)", "add a range"),
    ("sum(x[5m])", "rate(x[5m])"),
    ("x[5m] + 1", "range vector"),
    ("-x[5m]", "unary -"),
    ("1 > 2", "needs bool"),
    ("x and 1", "vector(...)"),
    ("1 + on(a) x", "drop the on(...)"),
    ("abs(1)", "instant vector"),
    ("clamp(x, 1)", "expected 3"),
    ("time(x)", "expected 0"),
    ("scalar(1)", "vector(...)"),
    ("'a' + 1", "string"),
    ("label_join(x, 'a')", "at least 3"),
    ("topk(x, x)", "the parameter of topk"),
    ("max_over_time(1[5m:1m])", "a subquery"),
]


@pytest.mark.parametrize(("text", "words"), WRONG_KINDS)
def test_value_of_wrong_kind_is_named(text, words):
    with pytest.raises(PromQLTypeError) as caught:
        parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("x[5m + 1m]", "`5m +`"),
        ("x anchored", "`x anchored`"),
        ("a + fill(0) b", "fill"),
        ("info(x)", "`info(x)`"),
        ("rate(x[5m] smoothed)", "smoothed"),
        ("a * on(b) fill(0) c", "fill"),
    ],
)
def test_unsupported_parts_are_quoted(text, quoted):
    with pytest.raises(UnsupportedPromQLError) as caught:
        plan_query(text)
    assert quoted in str(caught.value)


def test_unsupported_functions_are_named():
    samples = {"scalar": "1", "vector": "x", "matrix": "x[5m]", "string": "'s'"}
    for function in FUNCTIONS.values():
        text = f"{function.name}({', '.join(samples[kind] for kind in function.takes)})"
        if function.supported:
            plan_query(text)
        else:
            with pytest.raises(UnsupportedPromQLError, match=function.name):
                plan_query(text)


@pytest.mark.parametrize("opening", ["(", "-", "sum(", "abs(", "1+(", "a^", "-("])
def test_depth_is_bounded(opening):
    with pytest.raises(PromQLSyntaxError, match=r"too deeply|too long a chain"):
        parse(opening * 20_000)
    closing = ")" * (opening.count("(") * 40)
    parse(opening * 40 + "x" + closing)


def test_depth_and_length_have_known_bounds():
    plan_query("+".join("x" * (MAX_DEPTH + 1)))
    with pytest.raises(PromQLSyntaxError, match="in a row"):
        parse("+".join("x" * (MAX_DEPTH + 2)))
    with pytest.raises(PromQLSyntaxError, match="too long"):
        parse("x" * (MAX_LENGTH + 1))


def test_deep_stack_gives_error_not_crash():
    """The caller's own stack is deep already."""

    def deep(levels):
        return parse("(" * 100 + "1" + ")" * 100) if levels == 0 else deep(levels - 1)

    with pytest.raises(PromQLSyntaxError, match="nested"):
        deep(850)


_WORDS = [
    "sum",
    "by",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "x",
    "5m",
    "offset",
    "@",
    "-",
    "^",
    "==",
    "bool",
    "on",
    ",",
    ":",
]
_WORDS += [
    "group_left",
    "1",
    "rate",
    "or",
    '"a"',
    "'",
    "=~",
    "!",
    "#",
    "\n",
    "start",
    "and",
    "Inf",
    "topk",
    "`",
]


@given(st.lists(st.sampled_from(_WORDS), max_size=30).map(" ".join) | st.text(string.printable, max_size=60))
def test_every_text_parses_or_fails_cleanly(text):
    with contextlib.suppress(InputError):
        plan_query(text)


@pytest.mark.parametrize("seed", seeds(range(300)))
def test_parser_agrees_with_another_parser(seed):
    """On generated expressions."""
    promql_parser = pytest.importorskip("promql_parser")
    text = random_vector(random.Random(seed), 4)  # noqa: S311
    try:
        promql_parser.parse(text)
    except ValueError as error:
        if "duration must be greater than 0" in str(error) and re.search(r"offset -?0s", text):
            # It refuses an offset of nothing, which Prometheus reads.
            plan_query(text)
            return
        # Both: a bracket behind `group_right` begins its labels.
        with pytest.raises(PromQLSyntaxError):
            plan_query(text)
        assert re.search(r"group_(left|right) +\(", text)
    else:
        plan_query(text)
