"""The page of the REST API. In: its OpenAPI document. Out: ``docs/reference/rest-api.md`` with its tables rewritten."""

from __future__ import annotations

from typing import Any

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.app.server.rest.openapi import PREFIX, openapi_document

PAGE = DOCS / "reference" / "rest-api.md"


def render(page: str) -> str:
    """The page with its tables rewritten."""
    return fill_marked(
        page,
        "rest",
        {"resources": _resources, "parameters": _parameters, "fields": _fields},
    )


def _resources() -> str:
    return markdown_table(
        ("address", "items"),
        (
            (f"`{PREFIX}{path}`", operation["get"]["summary"])
            for path, operation in openapi_document()["paths"].items()
        ),
    )


def _parameters() -> str:
    """A row per parameter that means the same wherever it is taken."""
    taken: dict[tuple[str, str, str], list[str]] = {}
    for path, operation in openapi_document()["paths"].items():
        for one in operation["get"]["parameters"]:
            if one["in"] == "query":
                key = (one["name"], _type(one["schema"]), one["description"])
                taken.setdefault(key, []).append(path.removeprefix("/"))
    every = len(openapi_document()["paths"])
    rows = []
    for (name, type_, description), paths in taken.items():
        where = "all" if len(paths) == every else ", ".join(paths)
        if len(paths) == every - 1:
            (left_out,) = {path.removeprefix("/") for path in openapi_document()["paths"]} - set(paths)
            where = f"all but {left_out}"
        rows.append((f"`{name}`", type_, where, description))
    return markdown_table(("parameter", "type", "of", "meaning"), rows)


def _fields() -> str:
    """The fields that no table of the lake has."""
    schemas = openapi_document()["components"]["schemas"]
    rows = []
    for name in (
        "Limit",
        "RecommendationsPage",
        "Recommendation",
        "Counterfactual",
        "LakeFreshness",
        "Problem",
    ):
        for field, schema in schemas[name]["properties"].items():
            rows.append((name, f"`{field}`", _type(schema), schema.get("description", "")))
    return markdown_table(("schema", "field", "type", "meaning"), rows)


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return ", ".join("null" if one.get("type") == "null" else _type(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "enum" in schema:
        words = schema["enum"]
        return "one of " + ", ".join(f"`{word}`" for word in words) if len(words) <= 8 else "a word"
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return (
            f"{_type(schema['items'])}, repeatable"
            if "maxItems" in schema
            else f"list of {_type(schema['items'])}"
        )
    bounds = [f"{sign} {schema[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in schema]
    if schema.get("maximum", 0) > 10**9:
        bounds = bounds[:1]
    return " ".join([schema.get("type", "any"), *bounds])
