"""Errors as RFC 9457 problem documents. In: an exception. Out: its document and its status; a lake that is gone is 503 with Retry-After."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from throttlescope.app.server.rest.filters import FilterError
from throttlescope.app.server.rest.items import ProblemDocument
from throttlescope.app.services.promql.errors import TIMEOUT, ApiError
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.messages.catalogue import sentence

MEDIA_TYPE = "application/problem+json"
#: Seconds after which a request that met 503 may succeed: a lake that is mounted again is seen within them.
RETRY_AFTER_S = 5
_URN = "urn:throttlescope:problem:"

INVALID_PARAMETER, NOT_FOUND, METHOD, NOT_COMPUTED, BUSY, TOO_SLOW, LAKE, INTERNAL = (
    "invalid-parameter",
    "not-found",
    "method-not-allowed",
    "not-computable",
    "busy",
    "timeout",
    "lake-unavailable",
    "internal",
)
#: Status of each kind.
STATUS = {
    INVALID_PARAMETER: 400,
    NOT_FOUND: 404,
    METHOD: 405,
    NOT_COMPUTED: 422,
    BUSY: 503,
    TOO_SLOW: 503,
    LAKE: 503,
    INTERNAL: 500,
}


@dataclass
class ProblemError(Exception):
    """An answer that is a problem document."""

    kind: str
    detail: str
    parameter: str | None = None

    @property
    def status(self) -> int:
        return STATUS[self.kind]

    @property
    def document(self) -> ProblemDocument:
        return ProblemDocument(
            type=f"{_URN}{self.kind}",
            title=sentence(f"rest.problem.{self.kind.replace('-', '_')}"),
            status=self.status,
            detail=self.detail,
            parameter=self.parameter,
        )


def problem_of(error: Exception) -> ProblemError:
    """An error as a problem; what is not expected is ``internal``, and nothing of it is shown."""
    match error:
        case ProblemError():
            return error
        case FilterError():
            return ProblemError(INVALID_PARAMETER, str(error), error.parameter or None)
        case InputError():
            return ProblemError(INVALID_PARAMETER, str(error))
        case ApiError():
            return ProblemError(TOO_SLOW if error.kind == TIMEOUT else BUSY, sentence("rest.detail.busy"))
        case duckdb.InterruptException():
            return ProblemError(TOO_SLOW, sentence("rest.detail.timeout"))
    return ProblemError(INTERNAL, sentence("rest.detail.internal"))
