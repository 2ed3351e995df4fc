"""A disk that is full. In: what a library raised. Out: one line that names the folder, and what mends it.

Python, Delta's log (Rust), Spark (Java) and DuckDB say it each in their own words, most of them without the place.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator

from deltalake.exceptions import DeltaError

from throttlescope.ingest.errors import ThrottlescopeError

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


def told(error: BaseException | str, folder: str | None = None) -> FullDiskError:
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


@contextlib.contextmanager
def naming_full(folder: str) -> Iterator[None]:
    """Where writing below a folder fails within it because the disk is full, say which folder.

    Raises
    ------
    FullDiskError
    """
    try:
        yield
    except (OSError, DeltaError) as error:
        if says_full(error):
            raise told(error, folder) from error
        raise
