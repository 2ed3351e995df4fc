"""What one rule says about one kind of class. In: settled windows, the true word and the named word. Out: :class:`Scores`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from throttlescope.models.evaluation.settled import Settled
from throttlescope.models.evaluation.shares import Share, share_of
from throttlescope.models.intervals import clustered

_RESAMPLES, _SEED = 2000, 20_261_122


@dataclass(frozen=True)
class Class:
    """How well one class is named. ``families`` and ``recordings`` say how independent its windows are.

    Attributes
    ----------
    f1_clustered : pair of float or None
        95 % interval over whole recordings. F1 is no share of windows, so there is none of Wilson's.
    """

    windows: int
    recordings: int
    families: int
    precision: Share
    recall: Share
    f1: float | None
    f1_clustered: tuple[float, float] | None


@dataclass(frozen=True)
class Scores:
    """What one rule says about one kind of class (causes or sides).

    Attributes
    ----------
    confusion : dict
        True class to named class to windows.
    macro_f1 : float or None
        Mean of the F1 of the classes that are true somewhere.
    macro_f1_clustered : pair of float or None
        Its 95 % interval over whole recordings; a class that a resample lacks is left out of its mean.
    right : Share
        Right windows of all; ``unknown`` is not right.
    right_when_answered : Share
        Right windows of those that were not ``unknown``.
    unknown : Share
        Windows without an answer.
    mostly_wrong : list of dict
        States of recordings for which most answers are wrong.
    """

    confusion: dict[str, dict[str, int]]
    classes: dict[str, Class]
    macro_f1: float | None
    macro_f1_clustered: tuple[float, float] | None
    right: Share
    right_when_answered: Share
    unknown: Share
    mostly_wrong: list[dict[str, Any]]


def scores_of(
    windows: Sequence[Settled],
    words: Iterable[str],
    true: Callable[[Settled], str],
    named: Callable[[Settled], str],
) -> Scores:
    """Count how often a rule is right.

    Parameters
    ----------
    words : iterable of str
        The closed list; gives the order of classes.
    true, named : callable
        The true word of a window, and the one that the rule names.
    """
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    for window in windows:
        confusion[true(window)][named(window)] += 1
    present = [word for word in words if word in confusion or any(word in row for row in confusion.values())]
    classes = {word: _class(windows, word, true, named) for word in present}
    scored = [one.f1 for one in classes.values() if one.windows]
    answered = [window for window in windows if named(window) != "unknown"]
    return Scores(
        confusion={
            word: {other: confusion[word][other] for other in present if confusion[word][other]}
            for word in present
            if word in confusion
        },
        classes=classes,
        macro_f1=sum(scored) / len(scored) if scored else None,
        macro_f1_clustered=_macro_f1_clustered(windows, true, named),
        right=share_of(windows, lambda w: named(w) == true(w)),
        right_when_answered=share_of(answered, lambda w: named(w) == true(w)),
        unknown=share_of(windows, lambda w: named(w) == "unknown"),
        mostly_wrong=_mostly_wrong(windows, true, named),
    )


def _class(
    windows: Sequence[Settled], word: str, true: Callable[[Settled], str], named: Callable[[Settled], str]
) -> Class:
    truly = [window for window in windows if true(window) == word]
    called = [window for window in windows if named(window) == word]
    precision = share_of(called, lambda w: true(w) == word)
    recall = share_of(truly, lambda w: named(w) == word)
    f1, f1_clustered = None, None
    if truly:
        # A class that is true and never named has no precision; its F1 is 0, not missing.
        f1 = 2 * recall.count / (len(truly) + len(called))
        both, sizes = Counter(), Counter()
        for window in truly:
            sizes[window.recording] += 1
            both[window.recording] += 2 * (named(window) == word)
        for window in called:
            sizes[window.recording] += 1
        f1_clustered = clustered(
            [both[name] for name in sorted(sizes)], [sizes[name] for name in sorted(sizes)]
        )
    return Class(
        windows=len(truly),
        recordings=len({window.recording for window in truly}),
        families=len({window.family for window in truly}),
        precision=precision,
        recall=recall,
        f1=f1,
        f1_clustered=f1_clustered,
    )


def _macro_f1_clustered(
    windows: Sequence[Settled], true: Callable[[Settled], str], named: Callable[[Settled], str]
) -> tuple[float, float] | None:
    """Percentile bootstrap over whole recordings."""
    recordings = sorted({window.recording for window in windows})
    words = sorted({true(window) for window in windows})
    if len(recordings) < 2:
        return None
    # For each recording and class: windows that are truly so, called so, and both.
    counts = np.zeros((len(recordings), 3, len(words)))
    place = {word: n for n, word in enumerate(words)}
    row_of = {name: n for n, name in enumerate(recordings)}
    for window in windows:
        row = counts[row_of[window.recording]]
        is_, called = place[true(window)], place.get(named(window))
        row[0, is_] += 1
        if called is not None:
            row[1, called] += 1
        row[2, is_] += called == is_
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(len(recordings), [1 / len(recordings)] * len(recordings), size=_RESAMPLES)
    truly, called, both = np.moveaxis(np.tensordot(drawn, counts, axes=1), 1, 0)
    with np.errstate(invalid="ignore"):
        f1 = np.where(truly > 0, 2 * both / (truly + called), np.nan)
    low, high = np.quantile(np.nanmean(f1, axis=1), [0.025, 0.975])
    return float(low), float(high)


def _mostly_wrong(
    windows: Iterable[Settled], true: Callable[[Settled], str], named: Callable[[Settled], str]
) -> list[dict[str, Any]]:
    by_state: dict[tuple, list[Settled]] = defaultdict(list)
    for window in windows:
        by_state[(window.recording, *window.state)].append(window)
    found = []
    for _, group in sorted(by_state.items()):
        answers = Counter(named(window) for window in group)
        wrong = sum(count for word, count in answers.items() if word not in (true(group[0]), "unknown"))
        if wrong * 2 > len(group):
            _, _, topic, partition, subscription, _ = group[0].state
            found.append(
                {
                    "recording": group[0].recording,
                    "topic": topic,
                    "partition": partition,
                    "subscription": subscription,
                    "true": true(group[0]),
                    "named": dict(sorted(answers.items())),
                }
            )
    return found
