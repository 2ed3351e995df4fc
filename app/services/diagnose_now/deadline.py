"""Deadline of a diagnosis. In: seconds, and a check whether it was cancelled. Out: a result in time, or an error that says what was late.

A blocked socket cannot be interrupted, so what waits for the network runs in a thread of its own and is left behind when the time
is up; it ends by its own time-out and its result is not looked at.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from throttlescope.ingest.core.errors import SourceError, ThrottlescopeError

Result = TypeVar("Result")

_LOOK_S = 0.05


class CancelledError(ThrottlescopeError):
    """The caller no longer wants the answer."""


@dataclass(frozen=True)
class Deadline:
    """A deadline and a way out.

    Attributes
    ----------
    deadline_s : float
        From the start of this object on.
    cancelled : callable
        Called every 50 ms while something is waited for, and between steps.
    """

    deadline_s: float = 10.0
    cancelled: Callable[[], bool] = lambda: False
    started_s: float = field(default_factory=time.monotonic)

    @property
    def passed_s(self) -> float:
        return time.monotonic() - self.started_s

    @property
    def left_s(self) -> float:
        """Seconds that are left; below zero when it is over."""
        return self.deadline_s - self.passed_s

    def until(self, share: float) -> float:
        """Seconds that are left of a share of the time."""
        return share * self.deadline_s - self.passed_s

    def restarted(self) -> Deadline:
        """The same deadline, from now on."""
        return replace(self, started_s=time.monotonic())

    def check(self) -> None:
        """Raise :class:`CancelledError` where the diagnosis was cancelled."""
        if self.cancelled():
            raise CancelledError("The diagnosis was cancelled", fix="start it again")


class Waited(Generic[Result]):
    """A piece of work in a thread of its own, begun at once."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._result: list[Result] = []
        self._error: list[BaseException] = []
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self, deadline: Deadline, share: float, what: str) -> Result:
        """What the work gave.

        Parameters
        ----------
        share : float
            Of the whole time; later it is not waited for.

        Raises
        ------
        SourceError
            It was not ready in time.
        CancelledError
        """
        while self._thread.is_alive():
            deadline.check()
            left_s = deadline.until(share)
            if left_s <= 0:
                raise SourceError(
                    f"{what} was not read in time",
                    got=f"{deadline.passed_s:.1f} s of {deadline.deadline_s:g} s had passed",
                    fix="allow more with --deadline, or throttlescope run --match reads the topic without a deadline",
                )
            self._thread.join(min(_LOOK_S, left_s))
        deadline.check()
        if self._error:
            raise self._error[0]
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error.append(error)
