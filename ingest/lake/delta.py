"""Delta tables of a lake. In: a storage and a table's name. Out: the table at its newest version, or at an older one.

A table's log is kept between two reads and only what came since is read: a second for the files of a month, or the requests to an object
store, are spent once. On disk a table that was replaced by another one is opened again.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.lake.damage import DamagedLogError, is_of_the_log
from throttlescope.ingest.lake.formats import check_readable
from throttlescope.ingest.lake.storage import Storage


class DeltaTables:
    """The tables of one lake; threads may share it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: dict[str, DeltaTable] = {}
        # On disk: the commit that each was read at.
        self._commits: dict[str, tuple[int, ...] | None] = {}
        self._lock = threading.RLock()

    def uri(self, table: str) -> str:
        """Where a table is.

        Raises
        ------
        InputError
            There is no such table.
        """
        if table not in TABLES:
            raise InputError("No such table", got=repr(table), expected=", ".join(TABLES))
        return self._storage.address(table)

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """While in it, no other thread moves a kept table to a newer version; faults of the store become errors of ours."""
        with self._lock:
            try:
                yield
            except (DeltaError, OSError) as error:
                if not self._storage.is_remote or isinstance(error, TableNotFoundError | FileNotFoundError):
                    raise
                from throttlescope.ingest.lake.store_errors import is_store_fault, store_error

                if not is_store_fault(error):
                    raise
                raise store_error(error, self._storage.root) from error

    def is_still_at(self, table: str, version: int | None) -> bool:
        """Whether a version of a table on disk is its newest, by the names of its commits: a hundred times quicker than opening it.

        False where names alone do not say so, as in an object store.
        """
        if self._storage.is_remote:
            return False
        log = os.path.join(self.uri(table), "_delta_log")
        if version is None:
            return not os.path.isdir(log)
        this, next_ = (os.path.join(log, f"{number:020}.json") for number in (version, version + 1))
        return os.path.exists(this) and not os.path.exists(next_)

    def open(self, table: str, version: int | None = None) -> DeltaTable | None:
        """A table; None where it was never written. Use it within :meth:`looking`."""
        uri = self.uri(table)
        try:
            if not self._storage.is_remote and not os.path.isdir(os.path.join(uri, "_delta_log")):
                return None
            delta = self._newest(table, uri) if version is None else self._at(table, uri, version)
        except TableNotFoundError:
            self._kept.pop(table, None)
            return None
        except (DeltaError, ValueError) as error:
            if version is not None or not self._is_damage(error):
                raise
            self._kept.pop(table, None)
            raise DamagedLogError.of(table, error) from error
        check_readable(delta, TABLES[table])
        return delta

    def _is_damage(self, error: Exception) -> bool:
        if self._storage.is_remote:
            from throttlescope.ingest.lake.store_errors import is_store_fault

            if is_store_fault(error):
                return False
        return is_of_the_log(error)

    def _newest(self, table: str, uri: str) -> DeltaTable:
        delta = self._kept.get(table)
        if delta is not None and self._is_same(table, uri, delta):
            delta.update_incremental()
        else:
            delta = self._kept[table] = DeltaTable(uri, storage_options=self._storage.delta_options())
        if not self._storage.is_remote:
            self._commits[table] = _commit_of(uri, delta.version())
        return delta

    def _at(self, table: str, uri: str, version: int) -> DeltaTable:
        # The kept one stays where it is: a commit that looks back to the version it began with goes on with it.
        delta = self._kept.get(table)
        if delta is not None and delta.version() == version and self._is_same(table, uri, delta):
            return delta
        return DeltaTable(uri, version=version, storage_options=self._storage.delta_options())

    def _is_same(self, table: str, uri: str, delta: DeltaTable) -> bool:
        """Whether a table on disk is the one that was read: its last commit is there and was not written again."""
        commit = self._commits.get(table)
        return self._storage.is_remote or (commit is not None and commit == _commit_of(uri, delta.version()))


def _commit_of(uri: str, version: int) -> tuple[int, ...] | None:
    """What tells the file of a commit from one that takes its place; None where there is no such file."""
    try:
        found = os.stat(os.path.join(uri, "_delta_log", f"{version:020}.json"))
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
