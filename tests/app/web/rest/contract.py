"""A client of the REST API that checks every answer against the published OpenAPI document. In: requests. Out: their checked answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs

PREFIX = "/api/throttlescope/v1"


@dataclass(frozen=True)
class CheckedClient:
    """Requests to ``/api/throttlescope/v1`` through Flask's test client."""

    inner: Any

    @cached_property
    def document(self) -> dict[str, Any]:
        return self.inner.get(f"{PREFIX}/openapi.json").get_json()

    def get(self, resource: str, parameters: dict | list | None = None, **more):
        """The answer, which fits the document by its status, its type and its body."""
        query = urlencode(parameters or {}, doseq=True)
        response = self.inner.get(f"{PREFIX}/{resource}?{query}", **more)
        check(self.document, resource, response)
        return response

    def items(self, resource: str, **parameters) -> list[dict[str, Any]]:
        """All items of all pages."""
        found, cursor = [], None
        while True:
            more = {} if cursor is None else {"cursor": cursor}
            response = self.get(resource, {**parameters, **more})
            assert response.status_code == 200, response.text
            page = response.get_json()
            found += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def problem(self, resource: str, parameters: dict | list | None = None, **more) -> dict[str, Any]:
        """The problem document of a request that fails."""
        response = self.get(resource, parameters, **more)
        assert response.status_code >= 400, response.text
        body = response.get_json()
        assert body["status"] == response.status_code
        assert "\n" not in body["detail"]
        return body


def check(document: dict[str, Any], resource: str, response) -> None:
    """Fail unless the answer is one that the document describes."""
    responses = document["paths"][f"/{resource}"]["get"]["responses"]
    described = responses[str(response.status_code)]
    for header in described.get("headers", {}):
        assert header in response.headers
    if response.status_code == 304:
        assert response.data == b""
        return
    assert response.mimetype in described["content"]
    if response.mimetype.endswith("json"):
        schema = described["content"][response.mimetype]["schema"]
        validator(document, schema["$ref"]).validate(response.get_json())


def validator(document: dict[str, Any], reference: str) -> jsonschema_rs.Draft202012Validator:
    """Of one schema of the document."""
    return _validator(_Held(document), reference)


class _Held:
    """A document as a key: the same object is the same document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.document is self.document

    def __hash__(self) -> int:
        return id(self.document)


@cache
def _validator(held: _Held, reference: str) -> jsonschema_rs.Draft202012Validator:
    schema = {"$ref": reference, "components": held.document["components"]}
    return jsonschema_rs.Draft202012Validator(schema)
