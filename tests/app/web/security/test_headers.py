"""What a browser may do with an answer: scripts of this server alone, no frames, nothing kept."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from throttlescope.app.server import app


@pytest.fixture(scope="module")
def client(sample_lake):
    return app.create_app(sample_lake).server.test_client()


def policy_of(answer) -> dict[str, set[str]]:
    rules = answer.headers["Content-Security-Policy"].split("; ")
    return {name: set(values.split()) for name, _, values in (rule.partition(" ") for rule in rules)}


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/assets/app.js", "/nowhere", "/api/v1/labels"])
def test_every_response_carries_security_headers(client, path):
    answer = client.get(path)
    policy = policy_of(answer)
    assert policy["default-src"] == {"'self'"}
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'unsafe-eval'" not in policy["script-src"]
    assert policy["frame-ancestors"] == {"'none'"}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_inline_scripts_are_allowed_by_hash(client):
    answer = client.get("/")
    allowed = policy_of(answer)["script-src"]
    # Dash's word to the Internet Explorer stands in a comment.
    page = re.sub(r"<!--.*?-->", "", answer.text, flags=re.DOTALL)
    inline = re.findall(r"<script(?![^>]*\bsrc=)([^>]*)>(.*?)</script>", page, re.DOTALL)
    scripts = [text for attributes, text in inline if "application/json" not in attributes]
    assert scripts
    for text in scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed, text[:80]


def test_pages_are_not_cached(client):
    assert client.get("/").headers["Cache-Control"] == "no-store"
    assert client.get("/_dash-layout").headers["Cache-Control"] == "no-store"
    assert client.get("/metrics").headers["Cache-Control"] == "no-store"
