"""Repeated attempts. In: a function and how often it may be called. Out: what it returned, or the error of its last attempt.

An error says itself whether the same call may succeed later: :attr:`ThrottlescopeError.is_transient`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from throttlescope.ingest.core.errors import ThrottlescopeError

T = TypeVar("T")


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed when it is repeated."""
    return isinstance(error, ThrottlescopeError) and error.is_transient


def no_wait(attempt: int) -> float:
    """Wait for nothing: the failed attempt took long enough."""
    return 0.0


def jitter(
    least_s: float,
    most_s: float,
    *,
    growing: bool = False,
    draw: Callable[[float, float], float] | None = None,
) -> Callable[[int], float]:
    """Random waits, so that two writers that met once do not meet again.

    Parameters
    ----------
    growing : bool
        Multiply the wait by the number of attempts made.
    draw : callable, optional
        Returns a number between two bounds; :func:`random.uniform` by default.
    """
    draw = random.uniform if draw is None else draw
    return lambda attempt: draw(least_s, most_s) * (attempt if growing else 1)


def doubling(first_s: float, longest_s: float) -> Iterator[float]:
    """Waits of a loop that never gives up: each twice the one before, up to a bound."""
    wait_s = first_s
    while True:
        yield wait_s
        wait_s = min(2 * wait_s, longest_s)


def retry(
    work: Callable[[], T],
    *,
    attempts: int,
    wait_s: Callable[[int], float] = no_wait,
    when: Callable[[BaseException], bool] = is_transient,
    before_retry: Callable[[], object] = lambda: None,
    exhausted: Callable[[], Exception] | None = None,
    sleep: Callable[[float], object] | None = None,
) -> T:
    """Call a function until it returns.

    Parameters
    ----------
    attempts : int
        Calls at most.
    wait_s : callable
        Seconds to wait after so many attempts.
    when : callable
        Whether an error is a reason to repeat; any other error is raised at once.
    before_retry : callable
        Called before each wait.
    exhausted : callable, optional
        Makes the error that is raised after the last attempt; that attempt's own error by default.
    sleep : callable, optional
        :func:`time.sleep` by default.
    """
    sleep = time.sleep if sleep is None else sleep
    for attempt in range(1, attempts + 1):
        try:
            return work()
        except Exception as error:
            if not when(error):
                raise
            if attempt == attempts:
                if exhausted is None:
                    raise
                raise exhausted() from error
        before_retry()
        if seconds := wait_s(attempt):
            sleep(seconds)
    raise ValueError(f"attempts must be at least 1, got {attempts}")


def until_stable(
    work: Callable[[], T],
    version: Callable[[], object],
    *,
    attempts: int,
    before_repeat: Callable[[], object] = lambda: None,
) -> T:
    """Repeat work until its input does not change while it runs; the last result is returned even if it does.

    For results that are replaced as a whole: no writer loses a race there, but the later one may have read earlier input. The run
    that changed the input repeats the work itself afterwards.

    Parameters
    ----------
    version : callable
        Changes when another run changes the input, and not by the work itself.
    before_repeat : callable
        Called before the work is repeated.
    """
    for attempt in range(1, attempts + 1):
        before = version()
        result = work()
        if version() == before or attempt == attempts:
            return result
        before_repeat()
    raise ValueError(f"attempts must be at least 1, got {attempts}")
