"""Progress of long work. In: steps and what each found. Out: nothing by default; a front end gives an observer that shows them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Progress:
    """An observer of long work, which does nothing. Front ends derive theirs: ``app/presentation/progress.py``."""

    #: Whether nothing of it is shown.
    quiet = True

    def expect(self, steps: int) -> None:
        """Say how many steps there will be, before the first of them."""

    def expect_more(self, steps: int) -> None:
        """Say that there will be so many more steps than expected."""

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[Progress]:
        """Begin a step; it ends with the context."""
        yield self

    def note(self, text: str) -> None:
        """Report what the current step found."""


SILENT = Progress()
