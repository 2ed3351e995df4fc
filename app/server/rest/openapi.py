"""The contract of the REST API. In: the models of items and filters. Out: an OpenAPI 3.1 document, and the JSON Schema of a verdict.

Nothing is declared here twice: the models that check answers and parameters are what the document describes.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from throttlescope.app.server.rest.filters import RecommendationFilters, RequestParameters
from throttlescope.app.server.rest.items import VERDICT, ProblemDocument, RecommendationsPage, page_model
from throttlescope.app.server.rest.problems import (
    BUSY,
    INTERNAL,
    INVALID_PARAMETER,
    LAKE,
    MEDIA_TYPE,
    NOT_COMPUTED,
    NOT_FOUND,
    RETRY_AFTER_S,
    STATUS,
    TOO_SLOW,
)
from throttlescope.app.server.rest.resources import RESOURCES, RestResource
from throttlescope.models.messages.catalogue import sentence

PREFIX = "/api/throttlescope/v1"
RECOMMENDATIONS = "recommendations"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = "#/components/schemas/{model}"


@cache
def page_of(resource: RestResource) -> type[BaseModel]:
    """The model of one page of a resource."""
    return page_model(resource.item, resource.item.__name__.removesuffix("Item"))


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document. Callers must not modify it."""
    pages = {name: page_of(resource) for name, resource in RESOURCES.items()}
    pages[RECOMMENDATIONS] = RecommendationsPage
    parameters: dict[str, type[RequestParameters]] = {
        name: resource.filters for name, resource in RESOURCES.items()
    } | {RECOMMENDATIONS: RecommendationFilters}
    _, schemas = models_json_schema(
        [(model, "serialization") for model in (*pages.values(), ProblemDocument)], ref_template=_REFERENCE
    )
    document = {
        "openapi": "3.1.1",
        "info": {
            "title": "throttlescope",
            "version": "1",
            "summary": sentence("rest.api.summary"),
            "description": sentence("rest.api.description"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": PREFIX}],
        "security": [{}, {"basic": []}],
        "tags": [{"name": name, "description": sentence(f"rest.resource.{name}")} for name in pages],
        "paths": {f"/{name}": {"get": _operation(name, pages[name], parameters[name])} for name in pages},
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": sentence("rest.api.basic")}
            },
        },
    }
    return _without_suffix(document)


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema of one verdict."""
    return {
        "$schema": _DIALECT,
        "$id": "urn:throttlescope:schema:verdict:1",
        **VERDICT.model_json_schema(mode="serialization"),
    }


def _operation(name: str, page: type[BaseModel], filters: type[RequestParameters]) -> dict[str, Any]:
    computed = name == RECOMMENDATIONS
    return {
        "operationId": f"list_{name}",
        "tags": [name],
        "summary": sentence(f"rest.resource.{name}"),
        "parameters": [
            *_parameters(filters),
            {
                "name": "If-None-Match",
                "in": "header",
                "description": sentence("rest.parameter.if_none_match"),
                "schema": {"type": "string"},
            },
        ],
        "responses": {
            "200": {
                "description": sentence("rest.answer.200"),
                "headers": {"ETag": _header(sentence("rest.answer.etag"))},
                "content": {"application/json": {"schema": {"$ref": _REFERENCE.format(model=page.__name__)}}},
            },
            "304": {
                "description": sentence("rest.answer.304"),
                "headers": {"ETag": _header(sentence("rest.answer.etag"))},
            },
            "400": _problem(INVALID_PARAMETER),
            "401": _text(sentence("rest.answer.401")),
            "403": _text(sentence("rest.answer.403")),
            "414": _text(sentence("rest.answer.414"), "text/html"),
            **({"404": _problem(NOT_FOUND), "422": _problem(NOT_COMPUTED)} if computed else {}),
            "500": _problem(INTERNAL),
            "503": {
                **_problem(LAKE, TOO_SLOW, BUSY),
                "headers": {
                    "Retry-After": {
                        "description": sentence("rest.answer.retry_after"),
                        "schema": {"type": "integer", "const": RETRY_AFTER_S},
                    }
                },
            },
        },
    }


def _parameters(filters: type[RequestParameters]) -> list[dict[str, Any]]:
    described = filters.model_json_schema(mode="validation")
    return [
        {
            "name": name,
            "in": "query",
            "required": name in described.get("required", ()),
            "description": schema["description"],
            "schema": _of_text(schema),
            **({"style": "form", "explode": True} if filters.is_repeatable(name) else {}),
        }
        for name, schema in described["properties"].items()
    ]


def _of_text(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter: one that is not there is not null, and its title is its name."""
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    found = {**schema, **choices[0]} if choices else dict(schema)
    for key in ("anyOf", "title", "description"):
        found.pop(key, None)
    if found.get("default") in (None, []):
        found.pop("default", None)
    return found


def _problem(*kinds: str) -> dict[str, Any]:
    texts = [sentence(f"rest.problem.{kind.replace('-', '_')}") for kind in kinds]
    return {
        "description": f"{' / '.join(texts)} ({STATUS[kinds[0]]}).",
        "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(model=ProblemDocument.__name__)}}},
    }


def _text(description: str, kind: str = "text/plain") -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": {"type": "string"}}}}


def _header(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}}


def _without_suffix(document: dict[str, Any]) -> dict[str, Any]:
    """Clients see ``Limit``, not the class that checks it."""
    schemas = document["components"]["schemas"]
    short = {name: re.sub("(Item|Document)$", "", name) for name in schemas}
    document["components"]["schemas"] = {short[name]: schema for name, schema in sorted(schemas.items())}
    for name, schema in document["components"]["schemas"].items():
        schema["title"] = name
    text = json.dumps(document)
    for name, new in short.items():
        text = text.replace(f'"{_REFERENCE.format(model=name)}"', f'"{_REFERENCE.format(model=new)}"')
    return json.loads(text)
