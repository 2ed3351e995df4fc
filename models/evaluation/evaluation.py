"""How right the verdicts are. In: verdicts and truth. Out: an :class:`Evaluation`, ready for JSON.

Only settled windows count: those that lie whole inside one range of truth of their subscription. Ours is judged by cause
and by side; the naive rule, which knows no causes, by side. Windows of one recording resemble each other, so every
share has two intervals: Wilson's, as if they were independent, and a bootstrap over whole recordings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.words import CAUSES, SIDES
from throttlescope.ingest.errors import InputError
from throttlescope.models.intervals import clustered, wilson

_VERDICT_COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "side", "cause", "limiter", "naive_side",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settled:
    """One window that lies whole inside one range of truth."""

    recording: str
    family: str
    kept_aside: bool
    #: Subscription partition and start of the range: the state of a scenario that the window belongs to.
    state: tuple
    true_side: str
    true_cause: str
    true_limiter: str | None
    side: str
    cause: str
    limiter: str | None
    naive_side: str
    rules_version: str


@dataclass(frozen=True)
class Share:
    """A share with its two intervals.

    Attributes
    ----------
    value : float or None
        None where there was nothing to count.
    wilson, clustered : pair of float or None
        95 % intervals, over windows and over recordings.
    """

    count: int
    of: int
    recordings: int
    value: float | None
    wilson: tuple[float, float] | None
    clustered: tuple[float, float] | None


@dataclass(frozen=True)
class Class:
    """How well one class is named. ``families`` and ``recordings`` say how independent its windows are."""

    windows: int
    recordings: int
    families: int
    precision: Share
    recall: Share
    f1: float | None


@dataclass(frozen=True)
class Scores:
    """What one rule says about one kind of class (causes or sides).

    Attributes
    ----------
    confusion : dict
        True class to named class to windows.
    macro_f1 : float or None
        Mean of the F1 of the classes that are true somewhere.
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
    right: Share
    right_when_answered: Share
    unknown: Share
    mostly_wrong: list[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """All figures of one part of the recordings.

    Attributes
    ----------
    limiter_right : Share
        Of the windows that are throttled and were called so, those with the right level and unit.
    healthy_called_throttled : Share
        Healthy windows whose side was called ``throttle`` or ``both``, by ours and by the naive rule.
    """

    windows: int
    states: int
    recordings: int
    families: int
    cause: Scores
    side: Scores
    naive_side: Scores
    limiter_right: Share
    healthy_called_throttled: Share
    naive_healthy_called_throttled: Share


@dataclass(frozen=True)
class Evaluation:
    """Figures of all recordings, of those that were kept aside, and of the others.

    Attributes
    ----------
    truth_rows_without_windows : int
        Ranges of truth in which no settled window lies.
    windows_not_settled : int
        Verdicts that no range of truth holds whole; they are not counted anywhere.
    """

    rules_versions: list[str]
    truth_rows: int
    truth_rows_without_windows: int
    windows_not_settled: int
    all: Part
    kept_aside: Part
    not_kept_aside: Part

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, numbers and text."""
        return asdict(self)


def evaluate(verdicts: pa.Table, truth: pa.Table) -> Evaluation:
    """Compare verdicts with what was made to happen.

    Parameters
    ----------
    verdicts : pyarrow.Table
        Rows of ``verdicts``; windows may slide and overlap.
    truth : pyarrow.Table
        Rows of ``truth``.

    Raises
    ------
    InputError
        There is no truth, its ranges overlap, or no verdict is settled.
    """
    settled, rows_used, not_settled = settled_windows(verdicts, truth)
    if not settled:
        raise InputError(
            "No verdict can be judged",
            got=f"{verdicts.num_rows} verdicts, {truth.num_rows} rows of truth",
            expected="windows that lie whole inside one range of truth of their subscription",
            fix="build verdicts over the recordings' ranges, for example with `throttlescope demo`",
        )
    return Evaluation(
        rules_versions=sorted({window.rules_version for window in settled}),
        truth_rows=truth.num_rows,
        truth_rows_without_windows=truth.num_rows - rows_used,
        windows_not_settled=not_settled,
        all=_part(settled),
        kept_aside=_part([window for window in settled if window.kept_aside]),
        not_kept_aside=_part([window for window in settled if not window.kept_aside]),
    )


def settled_windows(verdicts: pa.Table, truth: pa.Table) -> tuple[list[Settled], int, int]:
    """Pair verdicts with the range of truth that holds them whole.

    Returns
    -------
    windows : list of Settled
        In the order of their recordings, states and times, whatever the order of the rows.
    truth_rows_used : int
        Ranges that hold at least one window.
    not_settled : int
        Verdicts that no range holds.
    """
    if truth.num_rows == 0:
        raise InputError(
            "There is no truth to compare with",
            fix="ingest recordings, which bring theirs, or give --truth FILE",
        )
    ranges: dict[tuple, list[dict[str, Any]]] = defaultdict(list)
    for row in truth.to_pylist():
        ranges[tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)].append(row)
    for key, rows in ranges.items():
        rows.sort(key=lambda row: row["start_ms"])
        for before, after in pairwise(rows):
            if after["start_ms"] < before["end_ms"]:
                raise InputError(
                    "Two ranges of truth overlap", got=f"{key[2]}#{key[4]} at {after['start_ms']} ms"
                )
    settled, used, not_settled = [], set(), 0
    for row in verdicts.select([*_VERDICT_COLUMNS, "rules_version"]).to_pylist():
        key = tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)
        true = next(
            (
                candidate
                for candidate in ranges.get(key, ())
                if candidate["start_ms"] <= row["window_start_ms"]
                and row["window_end_ms"] <= candidate["end_ms"]
            ),
            None,
        )
        if true is None:
            not_settled += 1
            continue
        state = (*key, true["start_ms"])
        used.add(state)
        window = Settled(
            recording=true["recording"],
            family=true["family"],
            kept_aside=true["kept_aside"],
            state=state,
            true_side=true["side"],
            true_cause=true["cause"],
            true_limiter=true["limiter"],
            side=row["side"],
            cause=row["cause"],
            limiter=row["limiter"],
            naive_side=row["naive_side"],
            rules_version=row["rules_version"],
        )
        settled.append((window.recording, state, row["window_start_ms"], row["window_end_ms"], window))
    return [pair[-1] for pair in sorted(settled, key=lambda pair: pair[:4])], len(used), not_settled


def _part(windows: list[Settled]) -> Part:
    throttled = [
        window
        for window in windows
        if window.true_limiter is not None and window.side in ("throttle", "both")
    ]
    healthy = [window for window in windows if window.true_cause == "healthy"]
    return Part(
        windows=len(windows),
        states=len({window.state for window in windows}),
        recordings=len({window.recording for window in windows}),
        families=len({window.family for window in windows}),
        cause=_scores(windows, CAUSES, lambda w: w.true_cause, lambda w: w.cause),
        side=_scores(windows, SIDES, lambda w: w.true_side, lambda w: w.side),
        naive_side=_scores(windows, SIDES, lambda w: w.true_side, lambda w: w.naive_side),
        limiter_right=_share(throttled, lambda w: w.limiter == w.true_limiter),
        healthy_called_throttled=_share(healthy, lambda w: w.side in ("throttle", "both")),
        naive_healthy_called_throttled=_share(healthy, lambda w: w.naive_side in ("throttle", "both")),
    )


def _scores(
    windows: list[Settled],
    words: Iterable[str],
    true: Callable[[Settled], str],
    named: Callable[[Settled], str],
) -> Scores:
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    for window in windows:
        confusion[true(window)][named(window)] += 1
    present = [word for word in words if word in confusion or any(word in row for row in confusion.values())]
    classes = {}
    for word in present:
        # Closed over at once: both are used before the loop goes on.
        truly = [window for window in windows if true(window) == word]
        called = [window for window in windows if named(window) == word]
        precision = _share(called, lambda w, word=word: true(w) == word)
        recall = _share(truly, lambda w, word=word: named(w) == word)
        classes[word] = Class(
            windows=len(truly),
            recordings=len({window.recording for window in truly}),
            families=len({window.family for window in truly}),
            precision=precision,
            recall=recall,
            f1=_f1(precision, recall, bool(truly)),
        )
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
        right=_share(windows, lambda w: named(w) == true(w)),
        right_when_answered=_share(answered, lambda w: named(w) == true(w)),
        unknown=_share(windows, lambda w: named(w) == "unknown"),
        mostly_wrong=_mostly_wrong(windows, true, named),
    )


def _f1(precision: Share, recall: Share, is_true_somewhere: bool) -> float | None:
    if not is_true_somewhere:
        return None
    # A class that is true and never named has no precision; its F1 is 0, not missing.
    if not precision.count or not recall.count:
        return 0.0
    return 2 * precision.value * recall.value / (precision.value + recall.value)


def _share(windows: list[Settled], holds: Callable[[Settled], bool]) -> Share:
    counts: Mapping[str, list[int]] = defaultdict(lambda: [0, 0])
    for window in windows:
        counts[window.recording][0] += holds(window)
        counts[window.recording][1] += 1
    names = sorted(counts)
    count, of = sum(counts[name][0] for name in names), len(windows)
    return Share(
        count=count,
        of=of,
        recordings=len(names),
        value=count / of if of else None,
        wilson=wilson(count, of),
        clustered=clustered([counts[name][0] for name in names], [counts[name][1] for name in names]),
    )


def _mostly_wrong(
    windows: list[Settled], true: Callable[[Settled], str], named: Callable[[Settled], str]
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
