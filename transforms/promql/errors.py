"""Errors of PromQL. In: a text and the position of the error. Out: one line with the position, the cause and a fix."""

from __future__ import annotations

from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.transforms.promql.ast import Span


class PromQLSyntaxError(InputError):
    """The text is not valid PromQL; ``position`` is the offset of the error in characters."""

    position: int | None = None


class PromQLTypeError(InputError):
    """The text parses but has a type error: a function got the wrong kind of value."""

    position: int | None = None


class UnsupportedPromQLError(InputError):
    """PromQL that Prometheus evaluates and this engine does not. It quotes the part concerned; nothing was evaluated."""

    position: int | None = None


class QueryError(ThrottlescopeError):
    """The query has no answer for the data, such as several matches where one is allowed."""


class TooManySamplesError(QueryError):
    """The query would load more samples into memory than allowed (``query.max-samples``)."""


class QueryTimeoutError(QueryError):
    """The query timed out."""


class QueryCancelledError(QueryError):
    """The client cancelled the query."""


def place(text: str, position: int) -> str:
    """``line L, column C`` of an offset, both counted from 1."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return f"line {line}, column {column}"


def syntax_error(
    text: str, position: int, expected: str | None = None, fix: str | None = None, *, what: str | None = None
) -> PromQLSyntaxError:
    """A syntax error at ``position``."""
    error = PromQLSyntaxError(
        f"{what or 'PromQL cannot be read'} at {place(text, position)}",
        got=_excerpt(text, position),
        expected=expected,
        fix=fix,
    )
    error.position = position
    return error


def type_error(
    text: str,
    span: Span,
    what: str,
    *,
    got: str | None = None,
    expected: str | None = None,
    fix: str | None = None,
) -> PromQLTypeError:
    """A type error of the expression at ``span``."""
    error = PromQLTypeError(
        f"{what} at {place(text, span[0])}", got=got or quoted(text, span), expected=expected, fix=fix
    )
    error.position = span[0]
    return error


def unsupported(text: str, span: Span, what: str, fix: str | None = None) -> UnsupportedPromQLError:
    """The expression at ``span`` is PromQL that is not supported."""
    error = UnsupportedPromQLError(
        f"{what} is not supported, at {place(text, span[0])}", got=quoted(text, span), fix=fix
    )
    error.position = span[0]
    return error


def quoted(text: str, span: Span) -> str:
    """The piece of text at ``span``, on one line and cut to a readable length."""
    piece = " ".join(text[span[0] : span[1]].split())
    return f"`{piece if len(piece) <= 120 else piece[:119] + '…'}`"


def _excerpt(text: str, position: int) -> str:
    if position >= len(text):
        return "the end of the text"
    piece = text[position : position + 20].split("\n", 1)[0]
    return repr(piece + ("…" if len(text) > position + 20 else ""))
