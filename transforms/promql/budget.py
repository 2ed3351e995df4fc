"""Limits of a query: memory and time. In: limits. Out: an error as soon as one is exceeded."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from throttlescope.transforms.promql.errors import QueryCancelledError, QueryTimeoutError, TooManySamplesError

if TYPE_CHECKING:
    from throttlescope.transforms.promql.query import Options

#: A slow machine's: what an array costs whose memory has to be fetched from the system first.
_CELLS_PER_S = 20_000_000


class Budget:
    """Samples and time of one query; tasks of several threads may share it.

    Parameters
    ----------
    max_samples : int or float
        Samples that may be read, and cells that one step matrix may have.
    timeout_s : float
        Counted from now.
    is_cancelled : callable, optional
        Called from time to time: whether the client has cancelled the query.
    """

    def __init__(
        self,
        max_samples: float = math.inf,
        timeout_s: float = math.inf,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.max_samples, self.timeout_s = max_samples, timeout_s
        self._is_cancelled = is_cancelled
        self._end_s = time.monotonic() + timeout_s
        self._loaded = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, options: Options) -> Budget:
        """What a query with these options may take, from now on."""
        return cls(options.max_samples, options.timeout_s, options.is_cancelled)

    @property
    def left_s(self) -> float:
        """Seconds until the query is too late."""
        return self._end_s - time.monotonic()

    @property
    def loaded(self) -> int:
        """Samples read so far."""
        return self._loaded

    def load(self, samples: int) -> None:
        """Count samples that were read."""
        with self._lock:
            self._loaded += samples
        self.hold(self._loaded)

    def hold(self, samples: int) -> None:
        """Raise when more samples are in memory than allowed."""
        if samples > self.max_samples:
            raise TooManySamplesError(
                "query processing would load too many samples into memory in query execution",
                got=f"{samples:,} samples or more",
                expected=f"at most {self.max_samples:,}",
                fix="select fewer series or a shorter range, or raise the limit (--max-samples)",
            )

    def check_time(self, cells: int = 0) -> None:
        """Raise when the query was cancelled, its timeout has passed, or would pass before this many cells of a step matrix are computed."""
        if self._is_cancelled is not None and self._is_cancelled():
            raise QueryCancelledError("query was canceled in expression evaluation")
        if self.left_s < cells / _CELLS_PER_S:
            raise QueryTimeoutError(
                "query timed out in expression evaluation",
                expected=f"at most {self.timeout_s:g} s",
                fix="select a shorter range or a longer step, or allow more time",
            )
