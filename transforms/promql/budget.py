"""What a query may take. In: limits. Out: an error as soon as one is met."""

from __future__ import annotations

import math
import threading
import time

from throttlescope.transforms.promql.errors import QueryTimeoutError, TooManySamplesError

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
    """

    def __init__(self, max_samples: float = math.inf, timeout_s: float = math.inf) -> None:
        self.max_samples, self.timeout_s = max_samples, timeout_s
        self._end_s = time.monotonic() + timeout_s
        self._loaded = 0
        self._lock = threading.Lock()

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
        """Refuse to hold more than may be held."""
        if samples > self.max_samples:
            raise TooManySamplesError(
                "query processing would load too many samples into memory in query execution",
                got=f"{samples:,} samples or more",
                expected=f"at most {self.max_samples:,}",
                fix="ask for fewer series or a shorter range, or raise the limit (--max-samples)",
            )

    def check_time(self, cells: int = 0) -> None:
        """Refuse to go on when the time is up, or would be before so many cells of a step matrix are made."""
        if self.left_s < cells / _CELLS_PER_S:
            raise QueryTimeoutError(
                "query timed out in expression evaluation",
                expected=f"at most {self.timeout_s:g} s",
                fix="ask for a shorter range or a longer step, or allow more time",
            )
