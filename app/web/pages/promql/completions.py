"""Words of PromQL that the console completes. In: the registry of functions. Out: each with what it is, as the browser takes it."""

from __future__ import annotations

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.functions import FUNCTIONS, KIND_WORDS

_OPERATORS = {
    "by": "keep these labels",
    "without": "drop these labels",
    "on": "match by these labels",
    "ignoring": "match by all other labels",
    "group_left": "many on the left",
    "group_right": "many on the right",
    "and": "left, where right is there",
    "or": "left, and right where left is not",
    "unless": "left, where right is not",
    "bool": "0 or 1 instead of a filter",
    "offset": "so long ago",
    "atan2": "angle of two values",
}


def words() -> list[dict[str, str]]:
    """``{"text", "kind", "detail"}`` of functions, aggregations and operators; metrics and labels come from the HTTP API."""
    return [
        *(
            {"text": one.name, "kind": "function", "detail": f"{one.signature}: {KIND_WORDS[one.gives]}"}
            for one in FUNCTIONS.values()
            if one.supported
        ),
        *(
            {
                "text": name,
                "kind": "aggregation",
                "detail": f"{name}({'parameter, ' if takes else ''}instant vector)",
            }
            for name, takes in ast.AGGREGATIONS.items()
        ),
        *({"text": name, "kind": "operator", "detail": detail} for name, detail in _OPERATORS.items()),
    ]
