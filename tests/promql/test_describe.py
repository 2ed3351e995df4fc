"""The page of what is carried equals the registry, and what it calls refused is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.describe import REFUSED, support_page
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.functions import FAMILIES, FUNCTIONS


def test_the_page_is_what_the_registry_says():
    page = Path(__file__).parents[2] / "docs" / "reference" / "promql-support.md"
    assert page.read_text() == support_page(), "the page is old: make docs"


def test_every_function_and_aggregation_is_on_the_page():
    carried, refused = support_page().split("## Refused")
    for function in FUNCTIONS.values():
        assert function.family in FAMILIES
        assert f"`{function.name}(" in (carried if function.carried else refused)
    for name in ast.AGGREGATIONS:
        assert f"| `{name}` |" in carried


@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_what_the_page_calls_refused_is_refused(text):
    with pytest.raises(InputError, match="line 1, column"):
        plan_query(text)
