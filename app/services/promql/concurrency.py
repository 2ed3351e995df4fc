"""Limits of concurrent queries in a process. In: queries. Out: they run, wait, or are rejected."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from throttlescope.app.services.promql.errors import (
    TIMEOUT,
    UNAVAILABLE,
    ApiError,
)
from throttlescope.transforms.promql.query import DEFAULTS, Options


class ConcurrencyLimit:
    """Runs a limited number of queries at once, and lets a limited number wait.

    Parameters
    ----------
    running : int
        Queries that run at once.
    waiting : int
        Queries that may wait. Each occupies a thread of the server, so there must be fewer than threads.
    """

    def __init__(self, running: int, waiting: int) -> None:
        self._slots = threading.Semaphore(running)
        self._admitted = threading.Semaphore(running + waiting)

    @contextlib.contextmanager
    def slot(self, timeout_s: float) -> Iterator[float]:
        """Wait for a slot and occupy it in the block; yields the seconds that are left.

        Raises
        ------
        ApiError
            Too many are waiting already, or the time was up before a slot became free.
        """
        if not self._admitted.acquire(blocking=False):
            raise ApiError(UNAVAILABLE, "too many queries at once, try again later")
        try:
            end_s = time.monotonic() + timeout_s
            if not self._slots.acquire(timeout=timeout_s):
                raise ApiError(TIMEOUT, "query timed out in query queue")
            try:
                yield max(0.0, end_s - time.monotonic())
            finally:
                self._slots.release()
        finally:
            self._admitted.release()


@dataclass(frozen=True)
class QueryLimits:
    """Limits of the queries of one process.

    Attributes
    ----------
    options : Options
        Time, samples, points and look-back; a request may set a shorter time and another look-back.
    running, waiting : int
        Queries that run at once, and queries that may wait.
    """

    options: Options = DEFAULTS
    running: int = 4
    waiting: int = 16
