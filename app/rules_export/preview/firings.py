"""Firings compared with verdicts. In: firings, verdicts, and backlogs. Out: which firings were real, and which incidents were missed.

Pure: nothing is read here. Times are epoch milliseconds, ranges [start, end).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from throttlescope.app.rules_export.preview.kinds import AlertKind
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.transforms.rules.preview import Firing
from throttlescope.transforms.rules.rule_file import AlertingRule

REAL, NOT_REAL, UNDECIDED = "real", "not real", "undecided"


@dataclass(frozen=True)
class VerdictStretch:
    """A range in which a subscription partition had one verdict.

    Attributes
    ----------
    key : tuple
        Cluster, namespace, topic, partition, subscription.
    """

    key: tuple
    start_ms: int
    end_ms: int
    side: str
    cause: str
    limiter: str | None


@dataclass(frozen=True)
class MainVerdict:
    """The main cause of a subscription while an alert fired."""

    key: tuple
    cause: str
    side: str
    limiter: str | None
    until_ms: int


@dataclass(frozen=True)
class JudgedFiring:
    """A firing, its main verdict (None: no verdict), and whether that confirms it (None: undecided)."""

    firing: Firing
    main_verdict: MainVerdict | None
    outcome: str | None


def judge(
    firings: Iterable[Firing],
    stretches: Iterable[VerdictStretch],
    kinds: Callable[[AlertingRule], AlertKind | None],
    *,
    end_ms: int,
) -> list[JudgedFiring]:
    """Compare each firing with the verdicts of its subscription, from the start of its condition to its end.

    The main verdict of that time decides: real if it is of the rule's kind; undecided if it is ``unknown``, or if there is no
    verdict. A firing that names no subscription is compared with all that match its labels, and is real if one is.
    """
    by_subscription: dict[tuple, list[VerdictStretch]] = {}
    for stretch in stretches:
        by_subscription.setdefault(stretch.key, []).append(stretch)
    found = []
    for firing in firings:
        kind = kinds(firing.rule)
        wanted = key_labels(firing.labels)
        if kind is None or not wanted:
            found.append(JudgedFiring(firing, None, None))
            continue
        until_ms = end_ms if firing.end_ms is None else firing.end_ms
        verdicts = [
            then
            for key, mine in by_subscription.items()
            if fits(key, wanted)
            and (then := longest(mine, min(firing.active_ms, firing.start_ms), until_ms)) is not None
        ]
        found.append(JudgedFiring(firing, *_verdict(verdicts, kind)))
    return found


def missed(
    episodes: Iterable[Mapping], firings: Sequence[Firing], kind: AlertKind, *, start_ms: int, end_ms: int
) -> tuple[list[Mapping], int]:
    """Backlogs of a kind during which no alert fired for their subscription, and how many there were of that kind.

    Parameters
    ----------
    episodes : iterable of mapping
        Rows of ``episodes``.
    """
    total, unnoticed = 0, []
    by_labels = [(key_labels(firing.labels), firing) for firing in firings]
    for row in episodes:
        first_ms = max(row["start_ms"], start_ms)
        last_ms = min(end_ms if row["end_ms"] is None else row["end_ms"], end_ms)
        if first_ms >= last_ms or not kind.fits(row["side"], row["cause"]):
            continue
        total += 1
        key = tuple(row[name] for name in SUBSCRIPTION_KEY_NAMES)
        if not any(
            fits(key, labels)
            and firing.start_ms < last_ms
            and (firing.end_ms is None or firing.end_ms > first_ms)
            for labels, firing in by_labels
        ):
            unnoticed.append(row)
    return unnoticed, total


def key_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that identify a subscription, topic or cluster."""
    return {name: labels[name] for name in SUBSCRIPTION_KEY_NAMES if labels.get(name)}


def fits(key: tuple, labels: Mapping[str, str]) -> bool:
    """Whether a subscription's key has all these labels; a label says a partition as text."""
    return all(
        str(value) == labels[name]
        for name, value in zip(SUBSCRIPTION_KEY_NAMES, key, strict=True)
        if name in labels
    )


def longest(stretches: Sequence[VerdictStretch], start_ms: int, end_ms: int) -> MainVerdict | None:
    """The main verdict of one subscription in [start, end); None if there is none."""
    duration_ms: dict[tuple, int] = {}
    until: dict[tuple, int] = {}
    for one in stretches:
        overlap_ms = min(one.end_ms, end_ms) - max(one.start_ms, start_ms)
        if overlap_ms > 0:
            verdict = (one.cause, one.side, one.limiter)
            duration_ms[verdict] = duration_ms.get(verdict, 0) + overlap_ms
            until[verdict] = max(until.get(verdict, 0), one.end_ms)
    if not duration_ms:
        return None
    # Of equal durations the first one.
    verdict = max(duration_ms, key=duration_ms.__getitem__)
    return MainVerdict(stretches[0].key, *verdict, until[verdict])


def _verdict(verdicts: Sequence[MainVerdict], kind: AlertKind) -> tuple[MainVerdict | None, str]:
    if not verdicts:
        return None, UNDECIDED
    real = [then for then in verdicts if kind.fits(then.side, then.cause)]
    if real:
        return real[0], REAL
    open_ones = [then for then in verdicts if then.cause == "unknown"]
    if open_ones:
        return open_ones[0], UNDECIDED
    return next((then for then in verdicts if then.cause != "healthy"), verdicts[0]), NOT_REAL
