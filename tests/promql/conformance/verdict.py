"""Whether an outcome is what an eval expects. In: an :class:`Eval`, an :class:`Outcome`. Out: what is wrong, in words."""

from __future__ import annotations

import re

from tests.promql.conformance.notation import STALE, Eval, almost_equal
from tests.promql.conformance.outcome import BAD_DATA, EXECUTION, Labels, Outcome, plain_note


def wrong(one: Eval, outcome: Outcome, *, messages: bool) -> str | None:
    """The first thing that is not as the eval says, None where all is.

    Parameters
    ----------
    messages : bool
        Whether the text of an expected error is compared; ours are worded otherwise.
    """
    if one.must_fail:
        return _wrong_failure(one, outcome, messages=messages)
    if outcome.error:
        return f"{outcome.error}: {outcome.message}"
    return _wrong_notes(one, outcome) or wrong_value(one, outcome)


def _wrong_failure(one: Eval, outcome: Outcome, *, messages: bool) -> str | None:
    if not outcome.error:
        return "answered, an error was expected"
    if outcome.error not in (BAD_DATA, EXECUTION):
        return f"{outcome.error}: {outcome.message}"
    if messages and not all(_fits(expected, outcome.message) for expected in one.notes["fail"]):
        return f"another error: {outcome.message}"
    return None


def _fits(expected: tuple[str, str], text: str) -> bool:
    kind, wanted = expected
    if kind == "msg":
        return wanted == text
    return kind == "any" or re.search(wanted, text) is not None


def _wrong_notes(one: Eval, outcome: Outcome) -> str | None:
    for word, notes in (("warn", outcome.warnings), ("info", outcome.infos)):
        found = sorted(notes)
        if f"no_{word}" in one.notes and found:
            return f"{word}: none was expected, got {found}"
        expected = one.notes.get(word, [])
        for each in expected:
            if not any(_note_fits(each, text) for text in found):
                return f"{word}: {each} was expected, got {found}"
        for text in found if expected else ():
            if not any(_note_fits(each, text) for each in expected):
                return f"{word}: not expected: {text}"
    return None


def _note_fits(expected: tuple[str, str], text: str) -> bool:
    # Files of some versions write the place in the query, those of others do not.
    return _fits(expected, text) or _fits(expected, plain_note(text))


def wrong_value(one: Eval, outcome: Outcome) -> str | None:
    """What is wrong with the values alone."""
    if one.string is not None or outcome.kind == "string":
        got = outcome.rows[0][1][0][1] if outcome.kind == "string" else f"a {outcome.kind}"
        return (
            None
            if outcome.kind == "string" and got == one.string
            else f"expected string {one.string!r}, got {got!r}"
        )
    if one.number is not None or outcome.kind == "scalar":
        if outcome.kind != "scalar" or one.number is None:
            return f"a {outcome.kind} where {'a scalar' if one.number is not None else 'series'} was expected"
        got = outcome.rows[0][1][0][1]
        return None if almost_equal(float(got), one.number) else f"expected {one.number}, got {got}"
    if outcome.kind == "matrix" and one.ordered:
        return "a matrix where an ordered vector was expected"
    return _wrong_rows(one, outcome)


def _wrong_rows(one: Eval, outcome: Outcome) -> str | None:
    expected = expected_rows(one)
    found = dict(outcome.rows)
    if len(found) != len(outcome.rows):
        return "two rows with the same labels"
    if found.keys() != expected.keys():
        return f"rows: missing {_show(expected.keys() - found.keys())}, not expected {_show(found.keys() - expected.keys())}"
    for labels, points in expected.items():
        got = {t: float(v) for t, v in found[labels]}
        if got.keys() != points.keys():
            return f"{_show([labels])}: times {sorted(got)[:20]}, expected {sorted(points)[:20]}"
        for time_ms, value in points.items():
            if not almost_equal(got[time_ms], value):
                return f"{_show([labels])} at {time_ms}: {got[time_ms]!r}, expected {value!r}"
    order = [labels for labels, _ in outcome.rows]
    if one.ordered and order != list(expected):
        return f"order: {_show(order)}"
    if outcome.kind == "matrix" and order != sorted(order, key=_sort_key):
        return f"a matrix that is not sorted by labels: {_show(order)}"
    return None


def expected_rows(one: Eval) -> dict[Labels, dict[int, float]]:
    """Per label set, epoch milliseconds to value; rows without a value are left out."""
    start_ms, _, step_ms = one.vector_ms or (one.start_ms, one.end_ms, one.step_ms)
    rows: dict[Labels, dict[int, float]] = {}
    for line in one.series:
        points = {
            start_ms + index * step_ms: item
            for index, item in enumerate(line.items)
            if item is not None and item is not STALE
        }
        if points:
            rows[frozenset(line.labels.items())] = points
    return rows


def _sort_key(labels: Labels) -> list[tuple[bytes, bytes]]:
    return sorted((name.encode(), value.encode()) for name, value in labels)


def _show(keys) -> list[dict]:
    return [dict(sorted(key)) for key in keys]
