"""The page of supported PromQL equals the registry, and its unsupported examples are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.functions import FAMILIES, FUNCTIONS
from throttlescope.transforms.promql.support_page import UNSUPPORTED_EXAMPLES, support_page


def test_page_equals_registry():
    page = Path(__file__).parents[2] / "docs" / "reference" / "promql-support.md"
    assert page.read_text() == support_page(), "the page is out of date: make docs"


def test_page_lists_every_function_and_aggregation():
    supported, unsupported = support_page().split("## Not supported")
    for function in FUNCTIONS.values():
        assert function.family in FAMILIES
        assert f"`{function.name}(" in (supported if function.supported else unsupported)
    for name in ast.AGGREGATIONS:
        assert f"| `{name}` |" in supported


@pytest.mark.parametrize("text", [text for text, _ in UNSUPPORTED_EXAMPLES])
def test_unsupported_examples_raise(text):
    with pytest.raises(InputError, match="line 1, column"):
        plan_query(text)
