"""Scores compared with slow twins that count one window at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.examples import seeds
from tests.models.evaluation.windows import HEALTHY, SLOW, THROTTLED, UNKNOWN, said, true, truth
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.models.evaluation import scores as module
from throttlescope.models.evaluation import settled_windows

WORDS = (THROTTLED, SLOW, HEALTHY, UNKNOWN)


def scores(windows):
    return module.scores_of(windows, CAUSES, lambda w: w.true_cause, lambda w: w.judged.cause)


def drawn(rng, recordings=5):
    names = [f"r{n}" for n in range(recordings)]
    rows = [true(name, 0, 100, *rng.choice(WORDS[:3])) for name in names]
    windows = [said(name, n, *rng.choice(WORDS)) for name in names for n in range(rng.randrange(1, 12))]
    return settled_windows(windows, truth(rows))[0]


def naive_f1(windows, cause):
    """None where the cause is true nowhere."""
    hit = sum(w.true_cause == cause and w.judged.cause == cause for w in windows)
    truly = sum(w.true_cause == cause for w in windows)
    called = sum(w.judged.cause == cause for w in windows)
    return 2 * hit / (truly + called) if truly else None


def naive_macro_f1(windows):
    found = [f1 for cause in CAUSES if (f1 := naive_f1(windows, cause)) is not None]
    return sum(found) / len(found)


@pytest.mark.parametrize("seed", seeds(range(20)))
def test_f1_is_what_counting_says(seed):
    windows = drawn(random.Random(seed))  # noqa: S311
    found = scores(windows)
    assert found.macro_f1 == pytest.approx(naive_macro_f1(windows))
    for cause, one in found.classes.items():
        assert one.f1 == (
            None if naive_f1(windows, cause) is None else pytest.approx(naive_f1(windows, cause))
        )


@pytest.mark.parametrize("seed", range(5))
def test_macro_f1_interval_resamples_recordings(seed, monkeypatch):
    monkeypatch.setattr(module, "_RESAMPLES", 40)
    windows = drawn(random.Random(seed))  # noqa: S311
    names = sorted({w.recording for w in windows})
    drawn_again = np.random.default_rng(module._SEED).multinomial(
        len(names), [1 / len(names)] * len(names), size=40
    )
    means = [
        naive_macro_f1([w for name, times in zip(names, draw, strict=True) for w in windows * times if w.recording == name])
        for draw in drawn_again.tolist()
    ]  # fmt: skip
    assert scores(windows).macro_f1_clustered == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_one_recording_says_nothing_about_others():
    windows = drawn(random.Random(1), recordings=1)  # noqa: S311
    assert scores(windows).macro_f1_clustered is None
