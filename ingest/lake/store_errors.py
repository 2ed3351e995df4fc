"""Errors of an object store. In: what a library raised. Out: one line that says what is wrong and how to fix it."""

from __future__ import annotations

import re

from throttlescope.ingest.core.errors import InputError, SourceError, ThrottlescopeError

_NO_BUCKET = re.compile(r"NoSuchBucket|NO_SUCH_BUCKET|bucket does not exist", re.IGNORECASE)
_REFUSED = re.compile(
    r"(?:status|code)\D{0,20}\b40[13]\b|Forbidden|Unauthori[sz]ed|AccessDenied|ACCESS_DENIED|SignatureDoesNotMatch|SIGNATURE_DOES_NOT_MATCH|"
    r"InvalidAccessKeyId|INVALID_ACCESS_KEY_ID|InvalidClientTokenId|ExpiredToken|PermissionDenied|Unauthenticated|lacked valid authentication",
    re.IGNORECASE,
)
#: What the libraries' errors have in common; others of theirs are about a lake's content.
_OF_A_STORE = re.compile(
    r"AWS Error|\bS3\b|Generic S3 error|Error performing (GET|PUT|HEAD|POST|DELETE)|error sending request|s3://",
)

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_DEVELOPERS = re.compile(r"\n\s*Debug source:")
_ANSWERED = re.compile(r"<Code>([^<]*)</Code>\s*<Message>([^<]*)</Message>")
_JOINTS = re.compile(r"\n+|↳|(?:, )?source: |: ")


def is_store_fault(error: BaseException | str) -> bool:
    """Whether an error came from the store and not from its content."""
    return bool(_OF_A_STORE.search(str(error)))


def store_error(error: BaseException | str, address: str) -> ThrottlescopeError:
    """The error that a user is to see.

    Parameters
    ----------
    address : str
        What was requested, as ``s3://bucket/path``.
    """
    if isinstance(error, ThrottlescopeError):
        return error
    text = _plain(str(error))
    bucket = address.removeprefix("s3://").partition("/")[0]
    if _NO_BUCKET.search(text):
        return InputError(
            "The bucket is not there", got=f"s3://{bucket}", fix="make it, or correct the lake's address"
        )
    if _REFUSED.search(text):
        return SourceError(
            "The object store refuses",
            got=f"{address}: {_short(text)}",
            fix="see that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are right, and may list, read, write and delete there; "
            "then run the command again",
        )
    return SourceError(
        "The object store does not answer as it should",
        got=f"{address}: {_short(text)}",
        fix="see that AWS_ENDPOINT_URL is right and the store is up; then run the command again: what was half done is found and completed",
    )


def _plain(text: str) -> str:
    """A library's words without its colours, and without what it prints for its own developers behind them."""
    return _DEVELOPERS.split(_COLOURS.sub("", text), maxsplit=1)[0]


def _short(text: str) -> str:
    answered = _ANSWERED.search(text)
    if answered:
        # The store's own words; a signature that may follow is left out.
        return f"{answered[1]}: {answered[2].strip()}".rstrip(".")[:160]
    parts = [" ".join(part.split()) for part in _JOINTS.split(text)]
    # Causes are nested and the innermost one says most.
    return ": ".join([part for part in parts if part][-2:]).rsplit(" - ", 1)[-1].rstrip(".")[:160]
