"""Damaged files. In: files that a reader could not make sense of. Out: those whose bytes are not the ones that were written, named.

A data file is named by the hash of its bytes (decision 2), so its name is its checksum, and every lake that is there has one already.
Readers do not compute it: they read some columns of a file, and a hash is of all of it. It is computed where a reader failed, and by
``lake check``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import pyarrow as pa
import xxhash

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.files import DataFile
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.open_storage import storage_of

#: A file that is set aside gets this suffix; the vacuum takes it when it is old enough.
ASIDE = ".damaged"
_NAMED_BY_HASH = re.compile(r"(?:^|/)(?P<hash>[0-9a-f]{32})\.parquet$")
#: Not what a log says, but that it could not be got at.
_OF_THE_SYSTEM = re.compile(r"\bos error \d+|Permission denied", re.IGNORECASE)
_FIX = (
    "throttlescope lake check names all that is damaged, throttlescope lake repair reads again what a source still has; "
    "or bring the lake's folder back from a copy"
)


#: What pyarrow raises on a file that is not Parquet, or damaged.
UNREADABLE = (OSError, pa.ArrowException, MemoryError)
_DATA_FILE = re.compile(
    r"(?P<root>(?:file:|s3:/)?/[^\s'\",;\])]*)/(?P<table>[a-z_]+)/(?P<file>data/[0-9a-f]{2}/[0-9a-f]{32}\.parquet)"
)


class DamagedFilesError(ThrottlescopeError):
    """Data files have other bytes than were written."""

    @classmethod
    def of(cls, table: str, relative_paths: Sequence[str]) -> Self:
        return cls(
            f"Files of table {table} are damaged",
            got=f"{len(relative_paths)} of them, such as {table}/{min(relative_paths)}",
            expected="the bytes that were written; a file's name is their hash",
            fix=_FIX,
        )


class DamagedLogError(ThrottlescopeError):
    """The log of a table cannot be read."""

    @classmethod
    def of(cls, table: str, error: BaseException) -> Self:
        return cls(f"The log of table {table} is damaged", got=f"{table}/_delta_log: {error}", fix=_FIX)


def is_as_written(relative_path: str, content: bytes | pa.Buffer) -> bool:
    """Whether a data file holds what its name says; true of one that is not named by its content."""
    named = _NAMED_BY_HASH.search(relative_path)
    return named is None or xxhash.xxh3_128_hexdigest(content) == named["hash"]


def damaged(files: Iterable[DataFile]) -> list[str]:
    """Paths, below their table, of files that are there and hold other bytes than were written. Each is read whole."""
    found = []
    for file in files:
        storage = storage_of(file.path.removesuffix(file.relative_path))
        content = storage.read(file.relative_path)
        if content is not None and not is_as_written(file.relative_path, content):
            found.append(file.relative_path)
    return found


def damage_error(error: BaseException | str, path: str | None = None) -> ThrottlescopeError | None:
    """The error for a data file that is missing or damaged, where that is why a reader failed; else None.

    Parameters
    ----------
    path : str, optional
        The file's whole address; without it, it is looked for in the words.
    """
    for match in _DATA_FILE.finditer(str(error) if path is None else path):
        root = match["root"]
        if not root.startswith("s3://"):
            root = "/" + root.removeprefix("file:").lstrip("/")
        content = storage_of(root).read(f"{match['table']}/{match['file']}")
        if content is None:
            return MissingFilesError.of(match["table"], [match["file"]])
        if not is_as_written(match["file"], content):
            return DamagedFilesError.of(match["table"], [match["file"]])
    return None


@contextlib.contextmanager
def reporting_damage(path: str) -> Iterator[None]:
    """Where reading one data file fails within it because the file is damaged, say so; one that is gone stays what it was."""
    try:
        yield
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        ours = damage_error(error, path)
        if ours is None:
            raise
        raise ours from error


def is_of_the_log(error: BaseException) -> bool:
    """Whether what Delta raised is about what the log holds, not about reaching it."""
    return not _OF_THE_SYSTEM.search(str(error))
