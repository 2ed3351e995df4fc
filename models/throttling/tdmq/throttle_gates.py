"""A gate: what one node or partition has used of its quotas in this window, and whether its channels are open.

In: counted messages, and a throttle's word to close or to open. Out: the gate's state and its :class:`Closing` records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from throttlescope.models.throttling.tdmq.records import Closing


class Usage(NamedTuple):
    """Messages and bytes of the current window."""

    msg: int = 0
    bytes: int = 0


class TdmqGate:
    """The channels of one direction (production or consumption) of one place.

    Attributes
    ----------
    used : dict of str to Usage
        By quota, since the window began.
    when_opened : callable
        Called with the gate whenever its channels open again.
    """

    def __init__(self, place: int, quotas: Iterable[str], closings: list[Closing]) -> None:
        self.place = place
        self.used = {quota: Usage() for quota in quotas}
        self.when_opened: Callable[[TdmqGate], None] = lambda gate: None
        self._closing: Closing | None = None
        self._opened_us = 0
        self._closings = closings

    @property
    def is_open(self) -> bool:
        return self._closing is None

    def count(self, quota: str, size_bytes: int) -> None:
        """Count one message."""
        used = self.used[quota]
        self.used[quota] = Usage(used.msg + 1, used.bytes + size_bytes)

    def begin_window(self) -> None:
        """Count from zero."""
        self.used = {quota: Usage() for quota in self.used}

    def close(self, quota: str, now_us: int) -> None:
        """Close the channels because ``quota`` is used up."""
        self._closing = Closing(self.place, quota, now_us)
        self._closings.append(self._closing)

    def open(self, now_us: int) -> None:
        """Open closed channels."""
        if self._closing is None:
            raise AssertionError("the channels are open")
        self._closing.opened_us, self._closing, self._opened_us = now_us, None, now_us
        self.when_opened(self)

    def was_closed_since(self, since_us: int) -> bool:
        """Whether the channels, which are open, were closed at some time after ``since_us``."""
        return self._opened_us > since_us


class Throttle(Protocol):
    """A throttle opens and closes gates. It is started once and receives all counts."""

    def start(self) -> None: ...

    def counted(self, gate: TdmqGate, quota: str) -> None: ...
