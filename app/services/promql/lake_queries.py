"""Queries of a lake, for the HTTP API and ``throttlescope promql``. In: queries. Out: answers, or a one-line error."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.promql.catalogue import Catalogue
from throttlescope.transforms.promql.engine import CACHE_BYTES, Engine, Place
from throttlescope.transforms.promql.query import DEFAULTS, Options, QueryAnswer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class LakeReadError(ThrottlescopeError):
    """A file of the lake is damaged, missing, or violates the table's contract."""


class LakeQueries:
    """Queries of one lake; threads may share it.

    Parameters
    ----------
    lake : str, Path or Lake
        The lake, or its folder or URI.
    session : callable, optional
        Makes the Spark session where a query runs there; without it all queries run in this process.
    cache_bytes : int
        Size of the cache of files.
    on_look : callable, optional
        Called at every look at what is kept, with whether it was ``found``.
    """

    def __init__(
        self,
        lake: str | Path | Lake,
        session: Callable[[], SparkSession] | None = None,
        *,
        cache_bytes: int = CACHE_BYTES,
        on_look: Callable[..., None] | None = None,
    ) -> None:
        self.lake = lake if isinstance(lake, Lake) else Lake(lake)
        self._engine = Engine(self.lake, session, cache_bytes=cache_bytes, on_look=on_look)
        self._lock = threading.Lock()
        self._catalogue: tuple[tuple[int | None, int | None], Catalogue] | None = None

    def catalogue(self) -> Catalogue:
        """The series of the newest version, cached as long as it is the newest."""
        with _reading():
            version = self.lake.version("series"), self.lake.version("limits")
            with self._lock:
                if self._catalogue is None or self._catalogue[0] != version:
                    self._catalogue = (version, Catalogue.of(self.lake))
                return self._catalogue[1]

    def instant(
        self, text: str, time_ms: int, options: Options = DEFAULTS, place: Place = "auto"
    ) -> QueryAnswer:
        """As :meth:`Engine.instant`; a lake that cannot be read is a LakeReadError."""
        with _reading():
            return self._engine.instant(text, time_ms, options, place=place)

    def range(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        place: Place = "auto",
    ) -> QueryAnswer:
        """As :meth:`Engine.range`; a lake that cannot be read is a LakeReadError."""
        with _reading():
            return self._engine.range(text, start_ms, end_ms, step_ms, options, place=place)

    def explain(
        self,
        text: str,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        options: Options = DEFAULTS,
        place: Place = "auto",
    ) -> str:
        """As :meth:`Engine.explain`."""
        with _reading():
            return self._engine.explain(text, start_ms, end_ms, step_ms, options, place=place)


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise LakeReadError(
            "The lake cannot be read",
            got=str(error).split("Details:", 1)[0] or type(error).__name__,
            fix="read the range again from its source with throttlescope ingest, into a new lake",
        ) from error
