"""The JSON Schema of a verdict as a file. In: the model of the server. Out: ``docs/reference/verdict.schema.json``."""

from __future__ import annotations

import json

from docs.generate.markdown import DOCS
from throttlescope.app.server.rest.openapi import verdict_schema

PAGE = DOCS / "reference" / "verdict.schema.json"


def render(page: str = "") -> str:
    """The whole schema."""
    return json.dumps(verdict_schema(), indent=1, ensure_ascii=False) + "\n"
