"""Errors that libraries wrap. In: an exception of Spark, DuckDB or pyarrow. Out: the error of this package inside it, if any.

An error in a Spark task, or in a file reader below DuckDB, arrives as text in an exception of the library.
"""

from __future__ import annotations

import re

from throttlescope.ingest.core import errors
from throttlescope.ingest.core.errors import ThrottlescopeError

_OURS = re.compile(r"^throttlescope\.[a-z_.]+\.(?P<name>[A-Z]\w+Error): (?P<text>.*)$", re.MULTILINE)


class WrappedError(ThrottlescopeError):
    """One of our errors as text, with the exit code that it has."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.text, self.exit_code = text, exit_code

    def __str__(self) -> str:
        return self.text


def wrapped_error(error: Exception) -> ThrottlescopeError | None:
    """This package's error inside an exception, or the error of an object store, a full disk or a damaged file behind it; None for others."""
    from throttlescope.ingest.lake import write_errors

    text = str(error)
    if ours := list(_OURS.finditer(text.split("JVM stacktrace", 1)[0])):
        # The last one: those before it led to it.
        kind = getattr(errors, ours[-1]["name"], ThrottlescopeError)
        return WrappedError(ours[-1]["text"].strip(), kind.exit_code)
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0].lstrip("_") in (
        "duckdb",
        "deltalake",
    ):
        from throttlescope.ingest.lake.store_errors import is_store_fault, store_error

        if is_store_fault(error):
            return store_error(error, _address_in(text))
    if write_errors.says_full(error):
        return write_errors.full_disk_error(error)
    if write_errors.says_read_only(error):
        return write_errors.read_only_error(error)
    from throttlescope.ingest.lake.damage import damage_error

    # Last, because it reads the file that is named.
    return damage_error(text)


def _address_in(text: str) -> str:
    key = re.search(r"key '([^']+)' in bucket '([^']+)'", text)
    if key:
        return f"s3://{key[2]}/{key[1]}"
    address = re.search(r"s3://[^\s'\",)]+", text)
    return address[0] if address else "s3://"
