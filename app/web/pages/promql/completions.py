"""Words of PromQL that the console completes. In: the registry of functions. Out: each with what it is, as the browser takes it."""

from __future__ import annotations

from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.functions import FUNCTIONS, KIND_WORDS

#: What a suggestion can be.
KINDS = ("recent", "function", "aggregation", "operator", "metric", "label", "value")

_OPERATORS = (
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "and",
    "or",
    "unless",
    "bool",
    "offset",
    "atan2",
)


def completions() -> list[dict[str, str]]:
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
        *(
            {"text": name, "kind": "operator", "detail": sentence(f"promql.operator.{name}")}
            for name in _OPERATORS
        ),
    ]
