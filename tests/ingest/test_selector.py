"""Selectors: what is read, what is refused and where, and that a real Prometheus reads them the same way."""

from __future__ import annotations

import pickle

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.selector import (
    Matcher,
    Selector,
    SelectorSyntaxError,
    metric_selector,
    parse_selector,
    parse_selector_at,
    quote,
)

READ = {
    "up": [("__name__", "=", "up")],
    ":rule:name_5m": [("__name__", "=", ":rule:name_5m")],
    "sum{}": [("__name__", "=", "sum")],
    'up{job="a"}': [("__name__", "=", "up"), ("job", "=", "a")],
    "up { job = 'it''s' }": None,
    "up { job = 'it\\'s' , }": [("__name__", "=", "up"), ("job", "=", "it's")],
    'up{a="x" # a comment }\n}': [("__name__", "=", "up"), ("a", "=", "x")],
    'up{or="b", on="x", offset="1"}': [
        ("__name__", "=", "up"),
        ("or", "=", "b"),
        ("on", "=", "x"),
        ("offset", "=", "1"),
    ],
    r"{a=~`\d+\n`}": [("a", "=~", "\\d+\\n")],
    "{a=`x\ny`}": [("a", "=", "x\ny")],
    r'{a="\a\b\f\n\r\t\v\\\"\x41\101\u00e9\U0001F600"}': [("a", "=", '\a\b\f\n\r\t\v\\"AAé😀')],
    r'{a="\xc3\xa9"}': [("a", "=", "é")],
    '{"name with.dots", "label-x"="v"}': [("__name__", "=", "name with.dots"), ("label-x", "=", "v")],
    '{b="c", "a"}': [("__name__", "=", "a"), ("b", "=", "c")],
    '{__name__=~"a.*",__name__!="ab"}': [("__name__", "=~", "a.*"), ("__name__", "!=", "ab")],
    '{__name__="a","a"}': [("__name__", "=", "a")],
    'up{a!="",b!~"x|y"}': [("__name__", "=", "up"), ("a", "!=", ""), ("b", "!~", "x|y")],
    '{"é"="x"}': [("é", "=", "x")],
    # Refused, by Prometheus too.
    "": None,
    "{}": None,
    '{a=""}': None,
    '{a=~".*"}': None,
    '{""}': None,
    "up{,}": None,
    'up{a="b",,}': None,
    'up{a="b" or b="c"}': None,
    'up{a=="b"}': None,
    "up{a=b}": None,
    'up{a:b="c"}': None,
    'up{a.b="c"}': None,
    'up{é="c"}': None,
    'up{a="x\ny"}': None,
    r'up{a="\'"}': None,
    r'up{a="\q"}': None,
    r'up{a="\400"}': None,
    r'up{a="\ud800"}': None,
    r'up{a="\x4"}': None,
    'up{"down"}': None,
    'up{__name__=~"x"}': None,
    'up{a="b"': None,
    "up{a=`b": None,
    "up{a": None,
    'up{a="b"}}': None,
    "up{a=~`(?=x)`}": None,
    "up{a=~`x**`}": None,
    "up{a=~`\\C`}": None,
    "up{a=~`\\\\C`}": [("__name__", "=", "up"), ("a", "=~", "\\\\C")],
    "\u201cup\u201d": None,
}


@pytest.mark.parametrize("text", READ)
def test_reads_and_refuses(text: str) -> None:
    if READ[text] is None:
        with pytest.raises(SelectorSyntaxError) as caught:
            parse_selector(text)
        assert 0 <= caught.value.position <= len(text)
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 2
    else:
        assert [(m.name, m.op, m.value) for m in parse_selector(text).matchers] == READ[text]


@pytest.mark.prometheus
def test_prometheus_reads_the_same() -> None:
    with running_prometheus() as server:
        for text, expected in READ.items():
            answer = requests.post(
                f"{server.url}/api/v1/parse_query", data={"query": text}, timeout=30
            ).json()
            if expected is None:
                assert answer["status"] == "error", text
                continue
            matchers = {(m["name"], m["type"], m["value"]) for m in answer["data"]["matchers"]}
            assert matchers == set(expected), text


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ('up{a="1" or b="2"}', 9, ["or", "comma", "a|b"]),
        ("up{a=1}", 5, ["quotes"]),
        ('up{a=="1"}', 5, ["one ="]),
        ("up{a=\u201c1\u201d}", 5, ["straight quotes"]),
        ('up{\n  a="1",\n  a-b="2"}', 16, ["line 3, column 4", "quotes"]),
        ("up[5m]", 2, ["brackets"]),
        ("rate(up)", 4, ["function"]),
        ('up{a="\\d"}', 6, ["`...`"]),
        ('{a=~".*"}', 0, [".+"]),
        ('up{"down"}', 0, ["'up'", "'down'"]),
    ],
)
def test_error_says_where_and_how_to_mend(text: str, position: int, words: list[str]) -> None:
    with pytest.raises(SelectorSyntaxError) as caught:
        parse_selector(text)
    assert caught.value.position == position
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_bytes_that_are_not_text_are_refused() -> None:
    """Prometheus takes any bytes here; a label of ours is text, and no scraped label can hold such bytes."""
    with pytest.raises(SelectorSyntaxError, match="UTF-8"):
        parse_selector(r'up{a="\xff"}')


def test_reads_inside_an_expression() -> None:
    text = 'rate(up{a="b"}[5m]) + 1'
    selector, end = parse_selector_at(text, 5)
    assert (str(selector), text[end:]) == ('up{a="b"}', "[5m]) + 1")
    selector, end = parse_selector_at("up + down", 0)
    assert (str(selector), end) == ("up", 2)


MATCHES = [
    ("=", "a", "a", True), ("=", "a", "ab", False), ("=", "", None, True), ("!=", "a", None, True),
    ("=~", "a|b", "b", True), ("=~", "a", "xa", False), ("=~", "a", "ax", False), ("=~", "a.b", "a\nb", True),
    ("=~", ".*", None, True), ("=~", ".+", None, False), ("!~", "a.*", "abc", False), ("!~", ".+", None, True),
    ("=~", "(?i)ABC", "abc", True), ("=~", r"\d+", "12", True), ("=~", "a||b", "", True), ("=~", "é.", "éü", True),
]  # fmt: skip


@pytest.mark.parametrize(("op", "value", "seen", "expected"), MATCHES)
def test_matching(op: str, value: str, seen: str | None, expected: bool) -> None:
    assert Matcher("l", op, value).matches(seen) is expected


@given(
    st.sampled_from(
        sorted(
            {(op, value) for op, value, *_ in MATCHES} | {("=~", r"\Qa.b"), ("!~", r"a\Q|b"), ("=~", "a$|^b")}
        )
    ),
    st.lists(st.text("ab\n.|éx1", max_size=4), max_size=8),
)
def test_many_values_match_as_each_does(matcher: tuple[str, str], values: list[str]) -> None:
    matcher = Matcher("l", *matcher)
    assert matcher.matches_each(values) == [matcher.matches(value) for value in values]


def test_regex_faults_are_input_errors() -> None:
    with pytest.raises(InputError, match="regular expression"):
        Matcher("a", "=~", "(")
    with pytest.raises(InputError, match="operator"):
        Matcher("a", "==", "x")


def test_metric_name_and_narrowing() -> None:
    assert parse_selector('{__name__="a", x="1"}').metric_name == "a"
    assert parse_selector('{__name__=~"a", x="1"}').metric_name is None
    narrowed = metric_selector("up", [Matcher("job", "=", "x")])
    assert str(narrowed) == 'up{job="x"}'
    assert narrowed.with_matchers([Matcher("job", "=", "x")]) == narrowed
    assert narrowed.matches({"__name__": "up", "job": "x", "y": "1"})
    assert not narrowed.matches({"__name__": "up"})


text_strategy = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
matcher_strategy = st.builds(Matcher, text_strategy.filter(bool), st.sampled_from(["=", "!="]), text_strategy)


@given(st.lists(matcher_strategy, max_size=4), text_strategy.filter(bool))
def test_text_reads_back(matchers: list[Matcher], name: str) -> None:
    selector = metric_selector(name, [m for m in matchers if m.name != "__name__"])
    assert parse_selector(str(selector)) == selector
    assert pickle.loads(pickle.dumps(selector)) == selector  # noqa: S301
    assert "\n" not in str(selector)


@given(text_strategy)
def test_never_fails_otherwise(text: str) -> None:
    """Whatever the text: a selector or the one kind of error."""
    for candidate in (text, "{" + text, "up{a=" + text, quote(text)):
        try:
            assert isinstance(parse_selector(candidate), Selector)
        except SelectorSyntaxError as error:
            assert 0 <= error.position <= len(candidate)  # noqa: PT017
