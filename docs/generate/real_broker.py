"""The page of what a real broker does. In: the committed recordings. Out: ``docs/background/real-broker.md`` with its two tables recomputed."""

from __future__ import annotations

from tests.lab import measure, measure_causes

PAGE = measure.PAGE


def render(page: str) -> str:
    """The page with both tables recomputed."""
    page = measure.renewed(page, measure.markdown(measure.measure_all()))
    return measure.renewed(page, measure_causes.markdown(), measure_causes.MARKS)
