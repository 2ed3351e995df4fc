"""How many examples and seeds a random test tries. In: the number of the full proof. Out: settings and parameters of which `make check` and `make test` use a quarter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import hypothesis
import pytest

#: Hypothesis' own number of examples; the profile of ``tests/conftest.py`` has a share of it.
_USUAL = 100


def share() -> float:
    """The share that the loaded profile has of the usual 100 examples."""
    return hypothesis.settings.default.max_examples / _USUAL


def examples(count: int, **options: Any) -> hypothesis.settings:
    """Settings with the profile's share of ``count`` examples; never fewer than 5."""
    return hypothesis.settings(max_examples=max(5, round(count * share())), **options)


def seeds(numbers: Iterable[int]) -> list[Any]:
    """Values for ``parametrize``: the first of them, as many as the profile's share. They are marked, so that `make test-long` finds them and tries all."""
    numbers = list(numbers)
    return [
        pytest.param(seed, marks=pytest.mark.sampled(1))
        for seed in numbers[: math.ceil(len(numbers) * share())]
    ]
