"""Cursors: where the next page begins. In: a resource, its filters, versions of tables, a row. Out: an opaque text, and back.

A page and all that follow it are of one version of the lake, whatever is written meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from throttlescope.app.server.rest.filters import LONGEST_CURSOR, FilterError

_FORMAT = 1
_CHECK_BYTES = 8
_RESTART = "leave cursor out to start at the first page"


@dataclass(frozen=True)
class CursorPosition:
    """Where a page begins.

    Attributes
    ----------
    versions : mapping of str to int or None
        Of the tables that the first page was read from.
    start : int
        The first row, counted from 0.
    """

    versions: Mapping[str, int | None]
    start: int


def cursor_text(resource: str, conditions: Mapping[str, Any], position: CursorPosition) -> str:
    """The cursor of a position in the answer to one request."""
    body = json.dumps(
        [_FORMAT, resource, _digest(conditions), dict(position.versions), position.start],
        separators=(",", ":"),
    ).encode()
    return base64.urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def cursor_position(text: str, resource: str, conditions: Mapping[str, Any]) -> CursorPosition:
    """The position of a cursor.

    Raises
    ------
    FilterError
        It is not one of ours, was changed, or belongs to another request.
    """
    try:
        packed = base64.b64decode(
            text[:LONGEST_CURSOR] + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
        body = packed[_CHECK_BYTES:]
        if packed[:_CHECK_BYTES] != _check(body):
            raise ValueError
        form, of_resource, digest, versions, start = json.loads(body)
        if form != _FORMAT or type(versions) is not dict or type(start) is not int or start < 0:
            raise ValueError
    except (ValueError, binascii.Error):
        raise FilterError(
            "cursor", "The cursor is not one that this API gave", got=text[:60], expected="next_cursor of an answer, unchanged",
            fix=_RESTART,
        ) from None  # fmt: skip
    if (of_resource, digest) != (resource, _digest(conditions)):
        raise FilterError(
            "cursor", "The cursor belongs to another request", got=f"a cursor of {of_resource}",
            expected="the resource and the filters of the answer that it came from; limit may differ",
            fix=f"repeat those filters, or {_RESTART}",
        )  # fmt: skip
    return CursorPosition(versions, start)


def old_cursor() -> FilterError:
    """The lake does not keep the version of a cursor any more."""
    return FilterError(
        "cursor", "The cursor is too old: the lake no longer keeps the version that it pages through", fix=_RESTART
    )  # fmt: skip


def _digest(conditions: Mapping[str, Any]) -> str:
    text = json.dumps(conditions, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _check(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK_BYTES, person=b"tscope-cursor").digest()
