"""Errors of the API. In: an exception. Out: Prometheus' status code, error type and text."""

from __future__ import annotations

from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.transforms.promql.errors import (
    PromQLSyntaxError,
    PromQLTypeError,
    QueryError,
    QueryTimeoutError,
    TooManySamplesError,
    UnsupportedPromQLError,
)

BAD_DATA, EXECUTION, TIMEOUT, INTERNAL, UNAVAILABLE = (
    "bad_data",
    "execution",
    "timeout",
    "internal",
    "unavailable",
)
_CODES = {BAD_DATA: 400, EXECUTION: 422, TIMEOUT: 503, INTERNAL: 500, UNAVAILABLE: 503}
_NO_QUERY = "no expression found in input"


class ApiError(Exception):
    """An answer without data.

    Parameters
    ----------
    kind : str
        Prometheus' ``errorType``.
    text : str
        Its ``error``.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text

    @property
    def code(self) -> int:
        """HTTP status."""
        return _CODES[self.kind]


def bad_parameter(name: str, reason: str) -> ApiError:
    """A parameter that cannot be used."""
    return ApiError(BAD_DATA, f'invalid parameter "{name}": {reason}')


def api_error_of(error: Exception, query: str = "") -> ApiError:
    """An evaluation error as Prometheus reports it; an error of the lake or a bug is ``internal``."""
    match error:
        case ApiError():
            return error
        case PromQLSyntaxError() | PromQLTypeError() | UnsupportedPromQLError():
            return bad_parameter("query", refusal(error, query))
        case TooManySamplesError() | QueryTimeoutError():
            # The budget's message is Prometheus' own; its advice is for the command line.
            return ApiError(TIMEOUT if isinstance(error, QueryTimeoutError) else EXECUTION, error.what)
        case QueryError():
            return ApiError(EXECUTION, str(error))
        case InputError():
            return ApiError(BAD_DATA, str(error))
        case ThrottlescopeError():
            return ApiError(INTERNAL, str(error))
    return ApiError(INTERNAL, f"{type(error).__name__}: {' '.join(str(error).split())}")


def refusal(error: InputError, text: str) -> str:
    """Why a text is not evaluated, after its position as in Prometheus, in bytes and counted from 1."""
    if not text.strip():
        return f"{'1:1' if text else 'unknown position'}: parse error: {_NO_QUERY}"
    position = getattr(error, "position", None)
    if position is None:
        return error.what
    line = text.count("\n", 0, position) + 1
    column = len(text[text.rfind("\n", 0, position) + 1 : position].encode()) + 1
    return f"{line}:{column}: parse error: {error}"
