"""Existence of data files. In: the newest data file of each served table. Out: nothing, or an error that names one.

A readable log does not prove that the files exist: they may have been deleted, or truncated by a failed copy. One file of
each table is looked at, its size and no byte of it. That finds a lake whose files went away, not the one damaged file among thousands:
``lake check`` reads them all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake.cached_lake import RememberingLake
from throttlescope.ingest.lake.damage import DamagedFilesError
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.storage import StoredFile

#: How long a check of an object store is cached: it is a request per table, and probes come every few seconds.
_LOOK_INTO_STORE_S = 60.0
#: Tables that queries read and pages do not.
_OF_QUERIES = ("samples",)


class DataFiles:
    """Checks the newest data file of each served table. Threads may share it.

    Parameters
    ----------
    lake : RememberingLake
    of_pages : callable
        By table the newest file of the snapshot that pages are answered from: it is in memory.
    now_s : callable, optional
        A clock that only goes forward, in seconds.
    """

    def __init__(
        self,
        lake: RememberingLake,
        of_pages: Callable[[], Mapping[str, StoredFile]],
        *,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lake, self._of_pages, self._now_s = lake, of_pages, now_s
        self._lock = threading.Lock()
        self._looked: tuple[float, Exception | None] | None = None

    def check(self) -> None:
        """Raise where the newest data file of a table is gone or has another size than was written.

        Raises
        ------
        MissingTableError, MissingFilesError, DamagedFilesError
        """
        with self._lock:
            if self._looked is None or self._now_s() - self._looked[0] >= self._pause_s:
                self._looked = (self._now_s(), self._fault())
            fault = self._looked[1]
        if fault is not None:
            raise fault.with_traceback(None)

    @property
    def _pause_s(self) -> float:
        return _LOOK_INTO_STORE_S if self._lake.storage.is_remote else 0.0

    def _fault(self) -> Exception | None:
        try:
            newest = {table: self._lake.newest_file(table) for table in _OF_QUERIES} | dict(self._of_pages())
            for table, file in newest.items():
                if file is not None and self._fault_of(table, file) is not None:
                    # The snapshot may be older than a commit and a vacuum: the newest version decides.
                    file = self._lake.newest_file(table) or file
                    if fault := self._fault_of(table, file):
                        return fault
        except Exception as error:
            return error
        return None

    def _fault_of(self, table: str, file: StoredFile) -> ThrottlescopeError | None:
        found = self._lake.storage.look(file.relative_path)
        below = file.relative_path.removeprefix(f"{table}/")
        if found is None:
            return MissingFilesError.of(table, [below])
        if found.size_bytes != file.size_bytes:
            return DamagedFilesError.of(table, [below])
        return None
