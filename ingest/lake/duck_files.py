"""Objects as DuckDB opens them. In: an object store. Out: an fsspec file system whose files several threads may read at once.

DuckDB reads a file of Python's by a seek and then a read, and lets threads share the file: between the two another thread may have
sought elsewhere. Here each thread has a place of its own in every file.
"""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa
from fsspec.implementations.arrow import ArrowFSWrapper

from throttlescope.ingest.lake.object_store import arrow_filesystem


class SharedFile:
    """An open object that threads read side by side.

    Parameters
    ----------
    file : pyarrow.NativeFile
        Whose reads at a place are safe between threads.
    """

    def __init__(self, file: pa.NativeFile) -> None:
        self._file, self._at, self.size = file, {}, file.size()
        self.mode, self.closed = "rb", False

    def seek(self, offset: int, whence: int = 0) -> int:
        start = {0: 0, 1: self.tell(), 2: self.size}[whence]
        # By the system's thread: Python forgets what it knows of a thread of DuckDB between two calls.
        self._at[threading.get_ident()] = start + offset
        return start + offset

    def tell(self) -> int:
        return self._at.get(threading.get_ident(), 0)

    def read(self, size: int = -1) -> bytes:
        at = self.tell()
        left = max(self.size - at, 0)
        content = self._file.read_at(left if size is None or size < 0 else min(size, left), at)
        self._at[threading.get_ident()] = at + len(content)
        return content

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._file.close()

    def __enter__(self) -> SharedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StoreFiles(ArrowFSWrapper):
    """The store for DuckDB; paths in it are whole addresses."""

    protocol = "s3"

    def _open(self, path: str, mode: str = "rb", *arguments: Any, **named: Any) -> SharedFile:
        if mode != "rb":
            raise NotImplementedError("objects are only read through DuckDB")
        return SharedFile(arrow_filesystem().open_input_file(self._strip_protocol(path)))


def store_files() -> StoreFiles:
    """A file system for :meth:`duckdb.DuckDBPyConnection.register_filesystem`."""
    return StoreFiles(arrow_filesystem(), skip_instance_cache=True)
