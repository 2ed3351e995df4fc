"""How many examples and seeds a random test tries. In: the number of the full proof. Out: settings and parameters of which `make check` uses a quarter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import hypothesis
import pytest

#: Hypothesis' own number of examples; the profile of ``tests/conftest.py`` has a share of it.
_USUAL = 100


def examples(count: int, **options: Any) -> hypothesis.settings:
    """Settings with ``count`` examples, or with the share of them that the loaded profile has of the usual 100; never fewer than 5."""
    share = hypothesis.settings.default.max_examples / _USUAL
    return hypothesis.settings(max_examples=max(5, round(count * share)), **options)


def seeds(numbers: Iterable[int]) -> list[Any]:
    """Values for ``parametrize``: the first quarter of the seeds, and the others marked ``long``, which `make check` leaves out."""
    numbers = list(numbers)
    quick = -(-len(numbers) // 4)
    return [*numbers[:quick], *(pytest.param(seed, marks=pytest.mark.long) for seed in numbers[quick:])]
