"""The evaluator against its slow twin: random expressions of the whole language on random data.

``THROTTLESCOPE_PROMQL_SEED`` sets where the random numbers begin. What is compared to the last digit here are sums and
windows; functions of the mathematical library have a test of their own, for C's and Go's last digits differ.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import re
from collections import Counter
from dataclasses import dataclass, replace

import pytest
import requests

from tests.lab.prometheus import STALE, running_prometheus, write_series
from tests.naive import promql as naive
from tests.promql.compare import (
    Answer,
    answer_of,
    difference,
    server_answer_of,
    source_of,
    twin_answer_of,
)
from tests.promql.conformance.expressions import Language, Writer, whole_language
from tests.promql.generate import BASE_MS, random_data, random_series
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.elementary import NAMES as ELEMENTARY
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.query import instant_query

pytestmark = pytest.mark.long

_SEED = int(os.environ.get("THROTTLESCOPE_PROMQL_SEED", "0"))
_CASES, _CASES_OF_EACH, _MOMENTS, _PINNED, _PINNED_REAL = 1000, 8, 400, 400, 150
#: A whole number of most steps before the data's own time, which is of none: then steps of a query meet those inside.
_WHOLE_MS = BASE_MS - 200_000
#: Of numbers, they give nothing.
_OF_NATIVE = {f"histogram_{name}" for name in ("avg", "count", "stddev", "stdvar", "sum")}
#: The order of series has a say in the last digits.
_ACROSS_SERIES = {"sum", "avg", "stddev", "stdvar", "quantile"}
_SUMMED = 1e-12
#: What must be seen in answers.
WORDS = ({name for name, one in FUNCTIONS.items() if one.supported} - set(ELEMENTARY) - _OF_NATIVE) | set(
    ast.AGGREGATIONS
)


@dataclass
class Outcome:
    """What became of one text: ``refused``, ``failed``, ``empty``, ``filled``, or ``open`` where order decides."""

    text: str
    state: str
    trouble: str | None = None

    @property
    def words(self) -> set[str]:
        """The functions and aggregations in the text."""
        return {
            node.function if isinstance(node, ast.Call) else node.op
            for node in ast.walk(parse(self.text))
            if isinstance(node, ast.Call | ast.Aggregate)
        }


def language_of(base_ms: int) -> Language:
    """The whole language without what C and Go compute apart."""
    whole = whole_language(base_ms)
    return replace(
        whole,
        functions=tuple(name for name in whole.functions if name not in ELEMENTARY),
        arithmetic=tuple(op for op in whole.arithmetic if op not in ("^", "atan2")),
    )


def moved(series: list[naive.NaiveSeries], by_ms: int) -> list[naive.NaiveSeries]:
    """The same series at other times."""
    return [
        naive.NaiveSeries(
            one.labels, [(t + by_ms, v) for t, v in one.samples], [t + by_ms for t in one.stale_ms]
        )
        for one in series
    ]


def compared(text: str, series: list[naive.NaiveSeries], steps: Steps, *, near: bool = False) -> Outcome:
    """Both answers to a range query; ``near`` lets the last digits go."""
    try:
        plan = plan_query(text)
    except InputError:
        return Outcome(text, "refused")
    tree = parse(text)
    ours = twin = None
    with contextlib.suppress(QueryError):
        ours = answer_of(evaluate(plan, source_of(series), steps), steps)
    with contextlib.suppress(naive.NaiveError):
        twin = twin_of(tree, series, steps)
    if ours is None or twin is None:
        return Outcome(
            text, "failed", None if ours is twin else f"only {'ours' if twin is None else 'twin'} answers"
        )
    aggregations = {node.op for node in ast.walk(tree) if isinstance(node, ast.Aggregate)}
    relative = _SUMMED if near or aggregations & _ACROSS_SERIES else 0.0
    if aggregations and difference(twin, twin_of(tree, series, steps, backwards=True), relative):
        # Which of equal ones is taken, or where a sum overflows, is then of no rule.
        return Outcome(text, "open")
    if near:
        ours = {
            labels: {t: snapped(v, twin, labels, t) for t, v in row.items()} for labels, row in ours.items()
        }
    return Outcome(text, "filled" if any(twin.values()) else "empty", difference(ours, twin, relative))


def snapped(value: float, twin: Answer, labels: frozenset, step: int) -> float:
    """A value, or the twin's where both are as good as 0."""
    other = twin.get(labels, {}).get(step, value)
    return other if abs(value - other) < 1e-15 else value


def twin_of(tree: ast.Expr, series: list[naive.NaiveSeries], steps: Steps, **flags: bool) -> Answer:
    flags = {"faults": False} | flags
    value = naive.evaluate_range(tree, series, steps.start_ms, steps.end_ms, steps.step_ms, **flags)
    return twin_answer_of(value, steps)


def report(outcomes: list[Outcome]) -> str:
    return "\n".join(f"{one.text}\n    {one.trouble}" for one in outcomes if one.trouble)


def random_case(rng: random.Random, only: str | None = None) -> Outcome:
    """One text on data of its own, half of them on steps that are those of subqueries too."""
    base_ms = rng.choice((BASE_MS, _WHOLE_MS))
    series = moved(random_data(rng), base_ms - BASE_MS)
    language = language_of(base_ms)
    if only in FUNCTIONS:
        language = replace(language, functions=(only, "abs", "rate"))
    elif only:
        language = replace(language, aggregations=(only,))
    writer, text = Writer(rng, language), ""
    if only:
        while not re.search(rf"\b{only}\b", text):
            text = str(writer.vector(rng.choice((1, 2, 3))))
    else:
        write = writer.scalar if rng.random() < 0.05 else writer.vector
        text = str(write(rng.choice((0, 1, 2, 3, 4))))
    steps = Steps(base_ms, base_ms + rng.choice((6, 10)) * 60_000, rng.choice((60_000, 15_000, 47_000)))
    return compared(text, series, steps)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Range queries of everything at once, and more of each function and aggregation."""
    words = [None] * _CASES + [word for word in sorted(WORDS) for _ in range(_CASES_OF_EACH)]
    return [
        random_case(random.Random(f"{_SEED} {case}"), word)  # noqa: S311
        for case, word in enumerate(words)
    ]


def test_any_expression_is_what_its_parts_say(outcomes):
    assert not report(outcomes), report(outcomes)


def test_the_texts_reach_answers_and_errors(outcomes):
    """Texts that gave empty answers only would prove nothing."""
    states = Counter(one.state for one in outcomes)
    assert states["filled"] > len(outcomes) / 2
    assert states["failed"] > len(outcomes) / 100
    assert states["refused"] < len(outcomes) / 50
    assert states["open"] < len(outcomes) / 20


def test_answers_cover_every_function_and_aggregation(outcomes):
    seen = Counter(word for one in outcomes if one.state == "filled" for word in one.words)
    assert {word: seen[word] for word in WORDS if seen[word] < 3} == {}


# -- pins and windows within windows ---------------------------------------------------------------


class Pinned:
    """Writes subqueries within subqueries, most of them with ``@`` and offsets, and parameters that are pinned."""

    def __init__(self, rng: random.Random, prefix: str) -> None:
        self.rng = rng
        self.metrics = [prefix + name for name in ("ctr", "gauge", "other")]

    def vector(self, depth: int) -> str:
        pick, chance = self.rng.choice, self.rng.random()
        if depth <= 0:
            return pick(self.metrics) + self._shift()
        if chance < 0.6:
            return f"{pick(_OVER_WINDOWS)}({self._window(depth)})"
        if chance < 0.65:
            return f"predict_linear({self._window(depth)}, 10)"
        if chance < 0.7:
            return f"quantile_over_time(scalar({self.vector(depth - 2)}), {self._window(depth)})"
        if chance < 0.78:
            return f"timestamp({self.vector(depth - 1)})"
        if chance < 0.9:
            parameter = f"scalar({self.vector(depth - 1)})"
            return f"{pick(('topk', 'bottomk', 'quantile'))}({parameter}, {self.vector(depth - 1)})"
        return f"({self.vector(depth - 1)} {pick('+-')} {pick((self.vector(depth - 1), 'time()'))})"

    def _window(self, depth: int) -> str:
        pick = self.rng.choice
        if self.rng.random() < 0.25:
            return pick(self.metrics) + pick(("[1m]", "[5m]", "[20s]")) + self._shift()
        lengths = f"[{pick(('1m', '5m', '30s', '90s'))}:{pick(('1m', '30s', '5m', '15s', '7s'))}]"
        return f"({self.vector(depth - 1)}){lengths}{self._shift()}"

    def _shift(self) -> str:
        pick, at = self.rng.choice, _WHOLE_MS // 1000
        parts = []
        if self.rng.random() < 0.4:
            parts.append(f" @ {pick(('start()', 'end()', at, at + 60, at - 37))}")
        if self.rng.random() < 0.4:
            parts.append(f" offset {pick(('1m', '-1m', '-30s', '15s', '7s', '-90s', '5m'))}")
        return "".join(self.rng.sample(parts, len(parts)))


_OVER_WINDOWS = ("sum_over_time", "last_over_time", "count_over_time", "max_over_time", "rate", "deriv")


def pinned_case(rng: random.Random, prefix: str = "") -> tuple[str, list[naive.NaiveSeries], Steps]:
    """A text, its data, and steps that may not come to the end of the range."""
    series = moved(random_series(rng, prefix), _WHOLE_MS - BASE_MS)
    start_ms = _WHOLE_MS + rng.choice((0, 60_000, 15_000, -20_000))
    steps = Steps(start_ms, start_ms + rng.choice((0, 120_000, 300_000)), rng.choice((60_000, 47_000)))
    return Pinned(rng, prefix).vector(rng.choice((2, 3, 4))), series, steps


def test_pins_and_windows_within_windows():
    found = []
    for case in range(_PINNED):
        text, series, steps = pinned_case(random.Random(f"{_SEED} pinned {case}"))  # noqa: S311
        found.append(compared(text, series, steps))
    assert not report(found), report(found)
    assert Counter(one.state for one in found)["filled"] > _PINNED / 2


@pytest.mark.parametrize(
    ("text", "start_s", "theirs"),
    [
        ("last_over_time((m @ 1700000000)[1m:1m] offset -30s)", 1_699_999_980, 38),
        (
            "predict_linear(topk(1 / (time() <= bool 1700000000), m)[5m:1m] @ 1700000000, 10)",
            1_700_000_000,
            None,
        ),
        ("quantile(scalar(delta(m[90s] @ 1700000000)) / 1000, m)", 1_700_000_000, -math.inf),
    ],
)
def test_three_prometheus_faults_are_not_reproduced(text, start_s, theirs):
    """Seen on a 3.5.3: what it answers at the last step, None for an error. The twin has these faults, ours has not."""
    data = [
        naive.NaiveSeries({"__name__": "m"}, [(BASE_MS + (i - 40) * 15_000, float(i)) for i in range(120)])
    ]
    steps = Steps(start_s * 1000, start_s * 1000 + 300_000, 60_000)
    assert compared(text, data, steps).trouble is None
    assert compared(text, data, steps).state != "failed"
    if theirs is None:
        with pytest.raises(naive.NaiveError):
            twin_of(parse(text), data, steps, faults=True)
        return
    (row,) = twin_of(parse(text), data, steps, faults=True).values()
    assert row[steps.end_ms] == theirs
    (ours,) = twin_of(parse(text), data, steps).values()
    assert ours[steps.end_ms] != theirs


@pytest.mark.parametrize("text", ["predict_linear(nothing[1m], {})", "quantile_over_time({}, nothing[1m])"])
def test_argument_error_needs_no_series(text):
    """An error in an argument is an error even if there is no series."""
    text = text.format("scalar(topk(NaN, vector(1)))")
    assert compared(text, [], Steps(BASE_MS, BASE_MS, 1)).trouble is None


@pytest.mark.prometheus
def test_the_twin_pins_as_prometheus_does():
    """With its faults the twin is compared with a real server, where its rules are the least obvious."""
    filled = 0
    with running_prometheus(extra_flags=["--enable-feature=promql-experimental-functions"]) as server:
        for case in range(_PINNED_REAL):
            rng = random.Random(f"{_SEED} pinned {case}")  # noqa: S311
            text, series, steps = pinned_case(rng, f"s{case}_")
            write_series(
                server.url,
                [
                    (
                        one.labels,
                        sorted([*one.samples, *((t, STALE) for t in one.stale_ms)], key=lambda s: s[0]),
                    )
                    for one in series
                ],
            )
            theirs = answered(server.url, text, steps)
            twin = other = None
            with contextlib.suppress(naive.NaiveError):
                twin, other = (
                    twin_of(parse(text), series, steps, faults=True, backwards=backwards)
                    for backwards in (False, True)
                )
            assert (twin is None) == (theirs is None), text
            if twin is not None and difference(twin, other, _SUMMED) is None:
                assert difference(twin, theirs, _SUMMED) is None, text
                filled += any(twin.values())
    assert filled > _PINNED_REAL / 3


def answered(url: str, text: str, steps: Steps) -> Answer | None:
    """A server's answer, None for an error."""
    times = {"start": steps.start_ms, "end": steps.end_ms, "step": steps.step_ms}
    data = {"query": text} | {name: f"{ms / 1000:.3f}" for name, ms in times.items()}
    reply = requests.post(f"{url}/api/v1/query_range", data=data, timeout=60)
    if reply.status_code == 422:
        return None
    reply.raise_for_status()
    return server_answer_of(reply.json()["data"]["result"])


# -- one moment ------------------------------------------------------------------------------


def test_one_moment_gives_vectors_numbers_and_ranges():
    kinds: Counter[str] = Counter()
    for case in range(_MOMENTS):
        rng = random.Random(_SEED * 1_000_003 + case)  # noqa: S311
        series = moved(random_data(rng), _WHOLE_MS - BASE_MS)
        writer = Writer(rng, language_of(_WHOLE_MS))
        write = rng.choice((writer.vector, writer.vector, writer.matrix, writer.scalar, writer.string))
        text, at_ms = str(write(rng.choice((0, 1, 2, 3)))), _WHOLE_MS + rng.choice((0, 60_000, 123_456))
        try:
            ours = instant_query(text, source_of(series), at_ms)
        except InputError:
            continue
        except QueryError:
            with pytest.raises(naive.NaiveError):
                naive.evaluate_instant(parse(text), series, at_ms)
            kinds["failed"] += 1
            continue
        twin, other = (
            naive.evaluate_instant(parse(text), series, at_ms, backwards=backwards)
            for backwards in (False, True)
        )
        kinds[ours.kind] += bool(twin)
        if ours.kind == "string":
            assert ours.value == twin, text
            continue
        twin, other = samples_of(twin, at_ms), samples_of(other, at_ms)
        if difference(twin, other, _SUMMED) is None:
            found = range_of(ours.value) if ours.kind == "matrix" else answer_of(ours.value, ours.steps)
            assert difference(found, twin, _SUMMED) is None, text
    assert min(kinds[kind] for kind in ("vector", "matrix", "scalar", "string")) > _MOMENTS / 20
    assert kinds["failed"]


def samples_of(value, at_ms: int) -> Answer:
    """The twin's answer at one moment as one over a range."""
    if isinstance(value, float):
        value = {frozenset(): value}
    return {labels: dict(one) if isinstance(one, list) else {at_ms: one} for labels, one in value.items()}


def range_of(series) -> Answer:
    return {
        frozenset(one.labels.items()): dict(zip(one.timestamps_ms.tolist(), one.values.tolist(), strict=True))
        for one in series
    }


# -- the mathematical library --------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ELEMENTARY, "^", "atan2"])
def test_library_functions_agree_within_last_digits(name):
    """Ours have Go's digits, the twin's are C's; near a zero of the function they have few digits in common."""
    filled = 0
    for case in range(40):
        rng = random.Random(f"{_SEED} {name} {case}")  # noqa: S311
        writer = Writer(rng, language_of(BASE_MS))
        inner = writer.vector(rng.choice((0, 1, 2)))
        text = f"({inner}) {name} {writer.scalar(1)}" if name in ast.ARITHMETIC else f"{name}({inner})"
        outcome = compared(text, random_data(rng), Steps(BASE_MS, BASE_MS + 300_000, 60_000), near=True)
        assert outcome.trouble is None, (text, outcome.trouble)
        filled += outcome.state == "filled"
    assert filled > 10
