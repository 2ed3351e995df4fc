"""The contract of the REST API as a file. In: the models of the server. Out: ``docs/reference/openapi.json``."""

from __future__ import annotations

import json

from docs.generate.markdown import DOCS
from throttlescope.app.server.rest.openapi import openapi_document

PAGE = DOCS / "reference" / "openapi.json"


def render(page: str = "") -> str:
    """The whole document."""
    return json.dumps(openapi_document(), indent=1, ensure_ascii=False) + "\n"
