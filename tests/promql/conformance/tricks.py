"""Two laws of PromQL, checked on evals. In: an eval that an engine answers as written. Out: further queries with the same answer.

What is pinned by ``@`` gives the same at whatever time it is asked; and an instant query gives what the middle step
of a range query around it gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.promql.conformance.notation import Eval
from tests.promql.conformance.outcome import Outcome
from tests.promql.conformance.promqltest import Engine
from tests.promql.conformance.verdict import wrong, wrong_value
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.parse import parse

#: Functions whose answer may move with the evaluation time although every selector is pinned.
_MOVES = frozenset(
    [
        "time",
        "timestamp",
        "predict_linear",
        "minute",
        "hour",
        "month",
        "year",
        "day_of_month",
        "day_of_week",
        "day_of_year",
        "days_in_month",
    ]
)
_AROUND_MS = 60_000


@dataclass(frozen=True)
class Variant:
    """The eval in another form: ``law`` is ``instant``, ``pinned``, ``middle`` or ``pinned middle``."""

    law: str
    text: str
    time_ms: int


def variants(one: Eval) -> Iterator[Variant]:
    """All other ways to ask an instant eval; none of a range eval, nor of one that asks for the query's bounds."""
    if one.step_ms or _names_bounds(one.text):
        return
    times = [(one.text, one.start_ms, "")]
    text = pinned(one.text, one.start_ms)
    if text is not None:
        at = one.start_ms
        # -10t, 0, t/5, t and 10t; around 0 where t is 0.
        others = (-1000, 0, 1000) if at == 0 else (-10 * at, 0, int(at / 5), at, 10 * at)
        times += [(text, other, "pinned") for other in others]
    for text, time_ms, law in times:
        if law:
            yield Variant(law, text, time_ms)
        if not one.ordered and not one.must_fail and one.string is None and one.vector_ms is None:
            yield Variant(f"{law} middle".strip(), text, time_ms)


def _names_bounds(text: str) -> bool:
    try:
        nodes = list(ast.walk(parse(text)))
    except InputError:
        return False
    return any(
        isinstance(node, ast.VectorSelector | ast.Subquery) and node.at and isinstance(node.at.time, str)
        for node in nodes
    )


def pinned(text: str, time_ms: int) -> str | None:
    """The text with ``@`` at every selector or outermost subquery that has none; None where that changes its meaning."""
    try:
        tree = parse(text)
    except InputError:
        return None
    if any(isinstance(node, ast.Call) and node.function in _MOVES for node in ast.walk(tree)):
        return None
    ends: list[int] = []
    _open_ends(tree, ends)
    sign = "-" if time_ms < 0 else ""
    moment = f" @ {sign}{abs(time_ms) // 1000}.{abs(time_ms) % 1000:03d} "
    for end in sorted(ends, reverse=True):
        text = text[:end] + moment + text[end:]
    return text


def _open_ends(node: ast.Expr, ends: list[int]) -> None:
    match node:
        case ast.MatrixSelector(vector=vector):
            if vector.at is None:
                ends.append(node.span[1])
        case ast.VectorSelector() | ast.Subquery():
            # What is inside a pinned subquery moves with it.
            if node.at is None:
                ends.append(node.span[1])
        case _:
            for child in ast.children(node):
                _open_ends(child, ends)


def broken_law(one: Eval, variant: Variant, engine: Engine) -> str | None:
    """What is wrong with the engine's answer to a variant, None where nothing is."""
    at = variant.time_ms
    if "middle" not in variant.law:
        return wrong(_moved(one, at), engine.query(variant.text, at, at, 0), messages=False)
    outcome = engine.query(variant.text, at - _AROUND_MS, at + _AROUND_MS, _AROUND_MS)
    if outcome.error:
        return f"{outcome.error}: {outcome.message}"
    rows = tuple(
        (labels, tuple(point for point in points if point[0] == at)) for labels, points in outcome.rows
    )
    middle = Outcome("scalar" if one.number is not None else "vector", tuple(row for row in rows if row[1]))
    if middle.kind == "scalar" and not middle.rows:
        return "nothing at the middle step"
    return wrong_value(_moved(one, at), middle)


def _moved(one: Eval, time_ms: int) -> Eval:
    return replace(one, start_ms=time_ms, end_ms=time_ms)
