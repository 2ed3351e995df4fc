"""A folder that cannot be written: its disk is full, read-only, or not ours. In: what a library raised. Out: one line with the folder and how to fix it.

Python, Delta's log (Rust), Spark (Java) and DuckDB say it each in their own words, most of them without the place.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator

from deltalake.exceptions import DeltaError

from throttlescope.ingest.core.errors import ReadOnlyError, ThrottlescopeError

_FULL = re.compile(
    rf"\[Errno ({errno.ENOSPC}|{errno.EDQUOT})\]|os error ({errno.ENOSPC}|{errno.EDQUOT})\b|No space left on device|"
    r"Disk quota exceeded|not enough space on the disk",
    re.IGNORECASE,
)
_QUOTA = re.compile(rf"(Errno|os error) {errno.EDQUOT}\b|Disk quota exceeded", re.IGNORECASE)
#: Python puts the file's name behind the words, in quotes; Java puts it before them.
_NAMED = re.compile(
    r"(?:No space left on device|Disk quota exceeded)(?: \(os error \d+\))?: '([^'\n]+)'"
    r"|(/[^\s:'\"]+) \((?:No space left on device|Disk quota exceeded)\)"
)
#: Of a read-only file system, and of missing rights.
_READ_ONLY = re.compile(
    rf"\[Errno {errno.EROFS}\]|os error {errno.EROFS}\b|Read-only file system", re.IGNORECASE
)
_NO_RIGHTS = re.compile(
    rf"\[Errno ({errno.EACCES}|{errno.EPERM})\]|os error ({errno.EACCES}|{errno.EPERM})\b|\(Permission denied\)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:Read-only file system|Permission denied|Operation not permitted)(?: \(os error \d+\))?: '([^'\n]+)'"
    r"|(?:Unable to \w+ (?:file|dir|directory)) ([^\s:]+)|(/[^\s:'\"]+) \((?:Read-only file system|Permission denied)\)"
)


class FullDiskError(ThrottlescopeError):
    """There is no room for what has to be written, or a quota does not allow it."""

    @classmethod
    def at(cls, folder: str, *, is_quota: bool = False) -> FullDiskError:
        what = "The disk quota is used up" if is_quota else "The disk is full"
        return cls(
            what,
            got=folder,
            fix="make room there, then run the same command again: what was committed stays, and nothing is half-written",
        )


def says_full(error: BaseException | str) -> bool:
    """Whether an error, or its text, says that a disk is full or a quota used up."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return bool(_FULL.search(str(error)))


def full_disk_error(error: BaseException | str, folder: str | None = None) -> FullDiskError:
    """The error that a user is to see.

    Parameters
    ----------
    folder : str, optional
        Where it was written to. None: what the text names, or Spark's scratch, which is named by nothing.
    """
    text = str(error)
    quota = bool(_QUOTA.search(text)) or (isinstance(error, OSError) and error.errno == errno.EDQUOT)
    if folder is None:
        named = _NAMED.search(text)
        place = (named[1] or named[2]) if named else None
        folder = place or "no name; the lake's folder, or Spark's scratch (SPARK_LOCAL_DIRS, else /tmp)"
    return FullDiskError.at(folder, is_quota=quota)


def says_read_only(error: BaseException | str) -> bool:
    """Whether an error, or its text, says that a place may not be written to."""
    if isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return True
    text = str(error)
    return bool(_READ_ONLY.search(text) or _NO_RIGHTS.search(text))


def read_only_error(error: BaseException | str, folder: str | None = None) -> ReadOnlyError:
    """The error that a user is to see, of a place that may not be written to; ``folder`` as in :func:`full_disk_error`."""
    text = str(error)
    is_file_system = bool(_READ_ONLY.search(text)) or (
        isinstance(error, OSError) and error.errno == errno.EROFS
    )
    if folder is None:
        named = _PLACE.search(text)
        folder = next(filter(None, named.groups()), None) if named else None
    return ReadOnlyError(
        "The file system is read-only" if is_file_system else "There is no right to read or write there",
        got=folder or "no name",
        fix="choose another folder with --lake, or have it mounted for writing"
        if is_file_system
        else "choose another folder with --lake, or change its owner or its mode",
    )


@contextlib.contextmanager
def naming_unwritable(folder: str) -> Iterator[None]:
    """Where writing below a folder fails within it because of its disk or its rights, say which folder.

    Raises
    ------
    FullDiskError, ReadOnlyError
    """
    try:
        yield
    except (OSError, DeltaError) as error:
        if says_full(error):
            raise full_disk_error(error, folder) from error
        if says_read_only(error):
            raise read_only_error(error, folder) from error
        raise
