"""The causes of a backlog over time, without flapping. In: verdicts of one subscription partition. Out: stretches of one cause each.

A cause with its limiter replaces the one before when two windows that do not overlap name it within three windows' time, and none
between them names the one before; it then counts from the first of the two. So a single window of anything, ``unknown`` included,
cuts nothing, and verdicts that alternate stay with what was first. (Two of the last three windows alone would not do: of
verdicts that alternate, every window completes two of three.) After a longer hole in the verdicts the next one counts at once. If that is
*healthy*, and another window contradicts it before a second one that does not overlap confirms it, the cause is unknown from there on: a backlog is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from throttlescope.ingest.core.times import DAY_MS
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.episodes import thresholds as t


class SteadyCause(NamedTuple):
    """What is blamed: a cause and its limiter."""

    cause: str
    limiter: str | None


UNKNOWN = SteadyCause("unknown", None)


class Spell(NamedTuple):
    """A verdict and the time [start_ms, end_ms) that no verdict before it covered.

    Attributes
    ----------
    window_start_ms, window_end_ms : int
        Its whole window.
    flip : bool
        It says something else than the verdict before.
    """

    start_ms: int
    end_ms: int
    window_start_ms: int
    window_end_ms: int
    blamed: SteadyCause
    confidence: float
    flip: bool


def spells(verdicts: Iterable[Mapping[str, Any]], start_ms: int, end_ms: int) -> list[Spell]:
    """What each verdict adds to [start_ms, end_ms), oldest first; verdicts that add nothing are left out.

    Parameters
    ----------
    verdicts : iterable of mappings
        Rows of ``verdicts`` of one subscription partition.
    """
    found: list[Spell] = []
    covered_ms = start_ms
    for row in sorted(verdicts, key=lambda row: (row["window_end_ms"], row["window_start_ms"])):
        low, high = max(row["window_start_ms"], covered_ms), min(row["window_end_ms"], end_ms)
        if low >= high:
            continue
        blamed = SteadyCause(row["cause"], row["limiter"])
        # Over a hole the verdict is not known.
        flip = bool(found) and found[-1].end_ms == low and found[-1].blamed != blamed
        window = (row["window_start_ms"], row["window_end_ms"])
        found.append(Spell(low, high, *window, blamed, row["confidence"], flip))
        covered_ms = high
    return found


def steady(found: Sequence[Spell], before: tuple[SteadyCause, int] | None = None) -> list[SteadyCause]:
    """The cause of each spell, after hysteresis.

    Parameters
    ----------
    before : (SteadyCause, int), optional
        The cause before the first spell, and its end.
    """
    labels: list[SteadyCause] = []
    now, until_ms = before or (None, 0)
    named: dict[SteadyCause, list[int]] = {}
    # The window that a cause which no second one has confirmed yet was taken from.
    only: Spell | None = None
    for i, spell in enumerate(found):
        length_ms = spell.window_end_ms - spell.window_start_ms
        within_ms = int(t.REPLACE_WITHIN_WINDOWS * length_ms)
        if now is None or spell.start_ms - until_ms > within_ms:
            now, named, only = spell.blamed, {}, spell
        until_ms = spell.end_ms
        if only is not None and spell.blamed != now and now.cause == "healthy":
            now, named, only = UNKNOWN, {}, None
        elif only is not None and spell.blamed == now and spell.window_start_ms >= only.window_end_ms:
            only = None
        labels.append(now)
        if spell.blamed == now:
            named = {}
            continue
        places = named.setdefault(spell.blamed, [])
        places.append(i)
        first = _replaces(found, places, within_ms)
        if first is not None:
            now, named, only = spell.blamed, {}, None
            labels[first:] = [now] * (i + 1 - first)
    return labels


def _replaces(found: Sequence[Spell], places: Sequence[int], within_ms: int) -> int | None:
    """Where the run begins that these namings prove; None: not yet. The oldest that is near enough counts."""
    newest = found[places[-1]]
    for place in places[:-1]:
        oldest = found[place]
        near = newest.window_end_ms - oldest.window_start_ms <= within_ms
        if near and newest.window_start_ms >= oldest.window_end_ms:
            return place
    return None


def causes(
    found: Sequence[Spell], labels: Sequence[SteadyCause], from_ms: int | None = None
) -> list[dict[str, Any]]:
    """Stretches of one cause and limiter that are not broken by a hole, cut at UTC midnights; values of ``causes``.

    Parameters
    ----------
    from_ms : int, optional
        What lies before it is left out; a UTC midnight.
    """
    rows: list[dict[str, Any]] = []
    for spell, label in zip(found, labels, strict=True):
        low = spell.start_ms
        while low < spell.end_ms:
            high = min(spell.end_ms, low - low % DAY_MS + DAY_MS)
            if from_ms is None or low >= from_ms:
                _add(rows, spell, label, low, high, begins=low == spell.start_ms)
            low = high
    for row in rows:
        weight = row.pop("weight")
        row["confidence"] = weight / row["named_ms"] if row["named_ms"] else 0.0
    return rows


def _add(
    rows: list[dict[str, Any]], spell: Spell, label: SteadyCause, low: int, high: int, *, begins: bool
) -> None:
    last = rows[-1] if rows else None
    joins = (
        last is not None
        and last["end_ms"] == low
        and low % DAY_MS
        and (last["cause"], last["limiter"]) == (label.cause, label.limiter)
    )
    if not joins:
        last = {
            "start_ms": low, "end_ms": low, "cause": label.cause, "side": CAUSE_OF[label.cause].side, "limiter": label.limiter,
            "named_ms": 0, "weight": 0.0, "windows": 0, "flips": 0,
        }  # fmt: skip
        rows.append(last)
    last["end_ms"] = high
    if spell.blamed == label:
        last["named_ms"] += high - low
        last["weight"] += spell.confidence * (high - low)
    last["windows"] += begins
    last["flips"] += begins and spell.flip


def joined(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Stretches of ``causes`` that only a midnight parts, made one, for eyes."""
    found: list[dict[str, Any]] = []
    for row in rows:
        last = found[-1] if found else None
        if (
            last
            and last["end_ms"] == row["start_ms"]
            and (last["cause"], last["limiter"]) == (row["cause"], row["limiter"])
        ):
            named_ms = last["named_ms"] + row["named_ms"]
            weight = last["confidence"] * last["named_ms"] + row["confidence"] * row["named_ms"]
            last |= {
                "end_ms": row["end_ms"],
                "named_ms": named_ms,
                "confidence": weight / named_ms if named_ms else 0.0,
                "windows": last["windows"] + row["windows"],
                "flips": last["flips"] + row["flips"],
            }
        else:
            found.append(dict(row))
    return found
