"""How many queries run at once in a process. In: queries that come. Out: they run, wait for a place, or are sent away."""

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


class Turnstile:
    """Lets some queries run and some wait.

    Parameters
    ----------
    running : int
        Queries at work at once.
    waiting : int
        Queries that may wait for a place. Each holds a thread of the server, so there have to be fewer than that.
    """

    def __init__(self, running: int, waiting: int) -> None:
        self._places = threading.Semaphore(running)
        self._admitted = threading.Semaphore(running + waiting)

    @contextlib.contextmanager
    def place(self, timeout_s: float) -> Iterator[float]:
        """Wait for a place and hold it; gives the seconds that are left.

        Raises
        ------
        ApiError
            Too many wait already, or the time was up before a place came free.
        """
        if not self._admitted.acquire(blocking=False):
            raise ApiError(UNAVAILABLE, "too many queries at once, try again later")
        try:
            end_s = time.monotonic() + timeout_s
            if not self._places.acquire(timeout=timeout_s):
                raise ApiError(TIMEOUT, "query timed out in query queue")
            try:
                yield max(0.0, end_s - time.monotonic())
            finally:
                self._places.release()
        finally:
            self._admitted.release()


@dataclass(frozen=True)
class QueryLimits:
    """What the queries of one process may take.

    Attributes
    ----------
    options : Options
        Time, samples, points and look-back; a request may ask for less time and another look-back.
    running, waiting : int
        Queries at work at once, and queries that may wait for that.
    """

    options: Options = DEFAULTS
    running: int = 4
    waiting: int = 16
