"""Where a lake's files live. In: the lake's address, a folder or ``s3://bucket/prefix``. Out: files that are written whole, listed, read and deleted.

Everything of a lake but Delta's own log goes through a :class:`Storage`; readers and writers need not know which one it is.
Paths below the root are written with ``/``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from throttlescope.ingest.lake.write_errors import naming_unwritable


@dataclass(frozen=True)
class StoredFile:
    """One file below the root: its path there, its size, and when it came."""

    relative_path: str
    size_bytes: int
    modified_ms: int


class Storage(ABC):
    """The files below one root.

    Attributes
    ----------
    root : str
        The folder or the URI, without a slash at its end.
    is_remote : bool
        Whether other machines see the same files under the same address.
    """

    root: str
    is_remote: bool

    def address(self, relative_path: str) -> str:
        """The whole address of a file, as readers take it."""
        return f"{self.root}/{relative_path}"

    @abstractmethod
    def write(self, relative_path: str, content: bytes | pa.Buffer, *, if_absent: bool = False) -> bool:
        """Write a whole file: under its name there is all of it or nothing.

        Parameters
        ----------
        if_absent : bool
            Leave a file that is there as it is. Of several writers at once, one wins.

        Returns
        -------
        bool
            Whether the file is this writer's.
        """

    def put_content(self, relative_path: str, content: bytes | pa.Buffer) -> None:
        """Write a file that is named by what it holds: one that is there is the same, and counts as written now."""
        self.write(relative_path, content)

    @abstractmethod
    def read(self, relative_path: str) -> bytes | None:
        """What a file holds; None where it is not there."""

    @abstractmethod
    def look(self, relative_path: str) -> StoredFile | None:
        """A file's size and time; None where it is not there."""

    @abstractmethod
    def read_dated(self, relative_path: str) -> tuple[bytes, int] | None:
        """What a file holds and when it came, in epoch ms; None where it is not there."""

    def exists(self, relative_path: str) -> bool:
        """Whether a file is there."""
        return self.look(relative_path) is not None

    @abstractmethod
    def list(self, prefix: str = "") -> list[StoredFile]:
        """All files below a folder, in the order of their paths; none where it is not there.

        Files that a killed writer left unfinished are among them where the storage keeps such.
        """

    def names(self, prefix: str) -> list[str]:
        """Paths of the files below a folder, in any order; cheaper than :meth:`list` where sizes and times cost."""
        return [file.relative_path for file in self.list(prefix)]

    def delete_below(self, prefix: str) -> None:
        """Delete all files below a folder, and the folder where there are such."""
        self.delete(self.names(prefix))

    @abstractmethod
    def delete(self, relative_paths: Iterable[str]) -> None:
        """Delete files; what is not there is no error."""

    def delta_options(self) -> dict[str, str] | None:
        """Options with which ``deltalake`` reaches the same place."""
        return None


class LocalStorage(Storage):
    """Files of a folder; nothing is made before the first write."""

    is_remote = False

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)

    def address(self, relative_path: str) -> str:
        return os.path.join(self.root, relative_path)

    def write(self, relative_path: str, content: bytes | pa.Buffer, *, if_absent: bool = False) -> bool:
        path = self.address(relative_path)
        folder, name = os.path.split(path)
        # Unique among processes, threads and machines that share the folder.
        scratch = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
        try:
            # Writing says neither the file's name nor the folder's.
            with naming_unwritable(self.root):
                return self._write(scratch, path, content, if_absent=if_absent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(scratch)
            raise

    def _write(self, scratch: str, path: str, content: bytes | pa.Buffer, *, if_absent: bool) -> bool:
        try:
            file = open(scratch, "wb")  # noqa: SIM115
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = open(scratch, "wb")  # noqa: SIM115
        with file:
            file.write(content)
        if if_absent:
            try:
                os.link(scratch, path)
            except FileExistsError:
                return False
            finally:
                os.unlink(scratch)
        else:
            os.replace(scratch, path)
        return True

    def put_content(self, relative_path: str, content: bytes | pa.Buffer) -> None:
        path = self.address(relative_path)
        try:
            # A machine that lost its power may have kept a file's name and not all of its bytes.
            is_whole = os.stat(path).st_size == len(content)
            if is_whole:
                # A vacuum deletes unnamed files by their age: the time of a file that is about to be named is renewed.
                os.utime(path)
        except OSError:
            is_whole = False
        if not is_whole:
            self.write(relative_path, content)

    def read(self, relative_path: str) -> bytes | None:
        try:
            with open(self.address(relative_path), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_dated(self, relative_path: str) -> tuple[bytes, int] | None:
        try:
            with open(self.address(relative_path), "rb") as file:
                return file.read(), os.fstat(file.fileno()).st_mtime_ns // 1_000_000
        except (FileNotFoundError, NotADirectoryError):
            return None

    def look(self, relative_path: str) -> StoredFile | None:
        try:
            found = os.stat(self.address(relative_path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return StoredFile(relative_path, found.st_size, found.st_mtime_ns // 1_000_000)

    def list(self, prefix: str = "") -> list[StoredFile]:
        # A file may go away between the two looks.
        found = (self.look(relative_path) for relative_path in self.names(prefix))
        return sorted((file for file in found if file is not None), key=lambda file: file.relative_path)

    def names(self, prefix: str) -> list[str]:
        found = []
        for folder, _, names in os.walk(self.address(prefix) if prefix else self.root):
            below = os.path.relpath(folder, self.root).replace(os.sep, "/")
            found += names if below == "." else [f"{below}/{name}" for name in names]
        return found

    def delete_below(self, prefix: str) -> None:
        shutil.rmtree(self.address(prefix), ignore_errors=True)

    def delete(self, relative_paths: Iterable[str]) -> None:
        for relative_path in relative_paths:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.address(relative_path))
