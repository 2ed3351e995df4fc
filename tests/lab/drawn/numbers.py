"""Numbers drawn by chance: in, a family, a seed and a number; out, the same sequence on every machine and Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A source of parameters; ranges include both ends."""

    def __init__(self, family: str, seed: int, number: int) -> None:
        # A text seeds by its SHA-512, not by Python's own hash, which differs from run to run.
        self._random = random.Random(f"{family}/{seed}/{number}")  # noqa: S311 - parameters, not secrets

    def between(self, low: float, high: float) -> float:
        """A number of a range, in hundredths of its length."""
        return low + (high - low) * self._random.randrange(101) / 100

    def whole(self, low: int, high: int) -> int:
        """A whole number of a range."""
        return self._random.randint(low, high)

    def one_of(self, items: Sequence[T]) -> T:
        """One of some items."""
        return items[self._random.randrange(len(items))]
