"""What the page shows of an address, replayed once. In: windows and an address. Out: the window as it is, and every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from throttlescope.app.web.address.what_if import AHEADS_S, LETTERS, NOTHING, WhatIfAddress
from throttlescope.app.web.data.what_if import LabWindow, Windows
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.models.throttling.replay import Change, ReplayAnswer, parse_change


@dataclass(frozen=True, eq=False)
class LabRun:
    """One run; ``answer`` is None where ``error`` says why."""

    letter: str
    text: str
    change: Change
    answer: ReplayAnswer | None = None
    error: ThrottlescopeError | None = None

    @property
    def has_change(self) -> bool:
        """Whether it differs from the window as it is."""
        return self.error is not None or self.change.words != NOTHING


@dataclass(frozen=True, eq=False)
class LabView:
    """Everything that is shown of a window; the address has its absolute times."""

    address: WhatIfAddress
    window: LabWindow
    as_is: ReplayAnswer
    runs: Sequence[LabRun]

    @property
    def chosen(self) -> LabRun:
        return self.runs[self.address.chosen]

    @property
    def ahead_s(self) -> int:
        """How far the curves go beyond the window."""
        return 0 if self.address.when == "start" else AHEADS_S[self.address.ahead]


def absolute(address: WhatIfAddress, window: LabWindow) -> WhatIfAddress:
    """The same with the times that the window has: a link to it shows the same tomorrow."""
    return replace(address, start_ms=window.start_ms, end_ms=window.end_ms)


def read_view(windows: Windows, address: WhatIfAddress) -> LabView:
    """Replay every run of an address.

    Raises
    ------
    InputError
        The window cannot be replayed; what is wrong with one run is in that run.
    """
    window = windows.of(address)
    as_is = window.answer(Change(), address.when, AHEADS_S[address.ahead])
    runs = [_run(window, address, letter, text) for letter, text in zip(LETTERS, address.runs, strict=False)]
    return LabView(absolute(address, window), window, as_is, runs)


def settings_of(text: str) -> list[str]:
    """A run's settings one by one."""
    return [] if text.strip() in ("", NOTHING) else text.split()


def _run(window: LabWindow, address: WhatIfAddress, letter: str, text: str) -> LabRun:
    try:
        change = parse_change(settings_of(text))
        return LabRun(letter, text, change, window.answer(change, address.when, AHEADS_S[address.ahead]))
    except InputError as error:
        return LabRun(letter, text, Change(), error=error)
