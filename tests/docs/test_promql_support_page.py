"""The page of supported PromQL has every function, and its unsupported examples are errors."""

from __future__ import annotations

import pytest

from docs.generate.promql_support import UNSUPPORTED_EXAMPLES, render
from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.functions import FAMILIES, FUNCTIONS


def test_page_lists_every_function_and_aggregation():
    supported, unsupported = render().split("## Not supported")
    for function in FUNCTIONS.values():
        assert function.family in FAMILIES
        assert f"`{function.name}(" in (supported if function.supported else unsupported)
    for name in ast.AGGREGATIONS:
        assert f"| `{name}` |" in supported


@pytest.mark.parametrize("text", [text for text, _ in UNSUPPORTED_EXAMPLES])
def test_unsupported_examples_raise(text):
    with pytest.raises(InputError, match="line 1, column"):
        plan_query(text)
