"""Progress of long work on stderr. In: named steps. Out: a live line on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from throttlescope.app.log import is_json, tell
from throttlescope.app.pipeline.events import Progress
from throttlescope.models.messages.units import visible


class TerminalProgress(Progress):
    """Steps of one command, on stderr.

    Parameters
    ----------
    steps : int
        How many there will be, as far as that is known.
    quiet : bool
        Print nothing.
    """

    def __init__(self, steps: int = 0, *, quiet: bool = False) -> None:
        self.steps, self.quiet, self.done = steps, quiet, 0
        self._live = None

    def expect(self, steps: int) -> None:
        """Restart the count, up to ``steps``."""
        self.steps, self.done = steps, 0

    def expect_more(self, steps: int) -> None:
        self.steps += steps

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[Progress]:
        """Announce a step, and at its end its duration and its note."""
        self.done += 1
        self._what, self._note = what, ""
        started_s = time.monotonic()
        with self._shown(f"[{self.done}/{self.steps}] {what}"):
            yield self
        note = f": {self._note}" if self._note else ""
        took_s = time.monotonic() - started_s
        if not self.quiet:
            tell(
                f"[{self.done}/{self.steps}] {what}{note} ({took_s:.1f} s)",
                event="step",
                step=what,
                number=self.done,
                of=self.steps,
                note=self._note,
                took_s=round(took_s, 3),
            )

    def note(self, text: str) -> None:
        """What the current step found; on a terminal it is also shown while the step runs."""
        self._note = text
        if self._live is not None:
            self._live.update(visible(f"[{self.done}/{self.steps}] {self._what}: {text}").replace("[", r"\["))

    @contextlib.contextmanager
    def _shown(self, text: str) -> Iterator[None]:
        if self.quiet or is_json() or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(visible(text).replace("[", r"\[")) as self._live:
            try:
                yield
            finally:
                self._live = None
