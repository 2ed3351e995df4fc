"""Episodes of one subscription partition. In: its minutes and verdicts, and what was stored of an older one. Out: rows.

What is known at a UTC midnight is enough to continue from it: largest values, stretches that are cut there, marks. So an episode
of a month is continued by a run that reads two days, and is the same as if all of it had been read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes import thresholds as t
from throttlescope.models.episodes.bounds import BacklogStretch, stretches
from throttlescope.models.episodes.marks import gap, marks
from throttlescope.models.episodes.minutes import EpisodeMinutes
from throttlescope.models.episodes.since import since
from throttlescope.models.episodes.steady import SteadyCause, causes, spells, steady
from throttlescope.models.episodes.trace import step_ms, trace


def episodes_of_subscription(
    key: SubscriptionKey,
    minutes: EpisodeMinutes,
    verdicts: Sequence[Mapping[str, Any]],
    *,
    from_ms: int,
    judged_until_ms: int,
    stored: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Episodes that begin at ``from_ms`` or later, or are above the floor then.

    Parameters
    ----------
    minutes : EpisodeMinutes
        Of [from_ms - 1 h, judged_until_ms), as far as they are known.
    verdicts : sequence of mappings
        Rows of ``verdicts`` of the same time: windows, ``cause``, ``limiter``, ``confidence``, ``rules_version``.
    from_ms : int
        A UTC midnight, or the start of all that is known.
    stored : mapping, optional
        The episode that began before ``from_ms`` and was not gone an hour before; it is continued.

    Returns
    -------
    list of dict
        Rows of ``episodes``, oldest first.
    """
    low = 0
    if stored is not None:
        low = int(np.searchsorted(minutes.start_ms, stored["start_ms"]))
    known = minutes.slice(low, len(minutes))
    over = known.over
    # An episode that began before what was read: its newest minute above the floor, so that what follows can join it.
    reaches = stored is not None and stored["start_ms"] < from_ms - BLOCK_MS
    found = stretches(np.concatenate([[True], over]) if reaches else over)
    if reaches:
        found = [
            BacklogStretch(max(0, s.first - 1), s.last - 1, s.over_minutes - (s.first == 0), s.drained)
            for s in found
        ]
    rows = []
    for i, stretch in enumerate(found):
        continues = stored is not None and i == 0
        if not continues and (
            stretch.over_minutes < t.LEAST_MINUTES or known.start_ms[stretch.last] < from_ms
        ):
            continue
        head = stored if continues else None
        # Where a change of growth is looked for, minutes from before the stored episode are welcome.
        began = (
            since(minutes, low + stretch.first) if head is None else (head["since_ms"], head["since_method"])
        )
        rows.append(_row(key, known, stretch, verdicts, began, from_ms, judged_until_ms, head))
    return rows


def _row(
    key: SubscriptionKey,
    known: EpisodeMinutes,
    stretch: BacklogStretch,
    verdicts: Sequence[Mapping[str, Any]],
    began: tuple[int, str],
    from_ms: int,
    judged_until_ms: int,
    head: Mapping[str, Any] | None,
) -> dict[str, Any]:
    inside = known.slice(stretch.first, stretch.last + 1)
    start_ms = int(inside.start_ms[0]) if head is None else head["start_ms"]
    over_until_ms = int(inside.end_ms[-1]) if len(inside) else head["over_until_ms"]
    # Of an open episode what was seen last counts as well: it may come back.
    newest = inside if stretch.drained else known
    until_ms = int(newest.end_ms[-1]) if len(newest) else head["known_until_ms"]
    if stretch.drained:
        until_ms = over_until_ms
    return {
        **key._asdict(),
        "episode_id": episode_id(key, start_ms),
        "start_ms": start_ms,
        "end_ms": over_until_ms if stretch.drained else None,
        "state": state(stretch.drained, until_ms, judged_until_ms),
        "since_ms": began[0],
        "since_method": began[1],
        "start_entries": float(inside.ready[0]) if head is None else head["start_entries"],
        "last_entries": float(newest.ready[-1]) if len(newest) else head["last_entries"],
        "known_until_ms": until_ms,
        "over_until_ms": over_until_ms,
        **_heights(inside, start_ms, over_until_ms, head),
        **_causes(inside, verdicts, start_ms, until_ms, from_ms, head),
        "marks": _marks(known, stretch, start_ms, until_ms, head),
        "judged_until_ms": judged_until_ms,
        "date": date_of(start_ms),
    }


def episode_id(key: SubscriptionKey, start_ms: int) -> str:
    """The same for the same episode in every run."""
    return hashlib.blake2b("\x1f".join(map(str, (*key, start_ms))).encode(), digest_size=8).hexdigest()


def state(drained: bool, known_until_ms: int, judged_until_ms: int) -> str:
    """One of ``EPISODE_STATES``."""
    if drained:
        return "drained"
    return "silent" if judged_until_ms - known_until_ms >= t.SILENT_MINUTES * MINUTE_MS else "open"


def _heights(
    inside: EpisodeMinutes, start_ms: int, until_ms: int, head: Mapping[str, Any] | None
) -> dict[str, Any]:
    """How high it was, when; how old, when; and a trace."""
    peaks = [(head["peak_entries"], head["peak_ms"])] if head else []
    ages = [(head["worst_age_s"], head["worst_ms"])] if head and head["worst_age_s"] is not None else []
    points = [(point["at_ms"], point["entries"]) for point in head["backlog"]] if head else []
    if len(inside):
        top = int(np.argmax(inside.ready))
        peaks.append((float(inside.ready[top]), int(inside.end_ms[top])))
        points += zip(inside.start_ms.tolist(), inside.ready.tolist(), strict=True)
        if not np.isnan(inside.age_s).all():
            oldest = int(np.nanargmax(inside.age_s))
            ages.append((float(inside.age_s[oldest]), int(inside.end_ms[oldest])))
    peak_entries, peak_ms = min(peaks, key=lambda one: (-one[0], one[1]))
    worst_age_s, worst_ms = min(ages, key=lambda one: (-one[0], one[1]), default=(None, peak_ms))
    step = step_ms(start_ms, until_ms)
    return {
        "peak_entries": peak_entries,
        "peak_ms": peak_ms,
        "worst_age_s": worst_age_s,
        "worst_ms": worst_ms,
        "backlog": trace(points, step),
        "backlog_step_ms": step,
    }


def _causes(
    inside: EpisodeMinutes,
    verdicts: Sequence[Mapping[str, Any]],
    start_ms: int,
    until_ms: int,
    from_ms: int,
    head: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Its causes over time, its main cause, and the limiters."""
    earlier = [row for row in head["causes"] if row["end_ms"] <= from_ms] if head else []
    before = None
    if earlier:
        before = (SteadyCause(earlier[-1]["cause"], earlier[-1]["limiter"]), earlier[-1]["end_ms"])
    found = spells(verdicts, start_ms, until_ms)
    if head:
        # The verdict before the midnight says whether the first one after it is a change.
        found = [spell for spell in found if spell.end_ms > from_ms]
    rows = earlier + causes(found, steady(found, before), from_ms if head else None)
    rows = [row | {"flips": int(row["flips"]), "windows": int(row["windows"])} for row in rows]
    said = [row for row in verdicts if row["window_end_ms"] > start_ms and row["window_start_ms"] < until_ms]
    newest = max(said, key=lambda row: row["window_end_ms"], default=None)
    brokers = [name for name in inside.rows.column("broker").to_pylist() if name is not None]
    lasted_ms = sum(row["end_ms"] - row["start_ms"] for row in rows)
    main = _longest(rows)
    return {
        "cause": main["cause"] if main else "unknown",
        "side": CAUSE_OF[main["cause"]].side if main else "unknown",
        "limiter": main["limiter"] if main else None,
        "confidence": main["weight"] / main["named_ms"] if main and main["named_ms"] else 0.0,
        "named_ms": main["named_ms"] if main else 0,
        "causes": rows,
        "limiters": _limiters(rows, inside, head),
        "flips_before_per_h": sum(row["flips"] for row in rows) * BLOCK_MS / lasted_ms if lasted_ms else None,
        "flips_after_per_h": changes(rows) * BLOCK_MS / lasted_ms if lasted_ms else None,
        "broker": brokers[-1] if brokers else head and head["broker"],
        "rules_version": newest["rules_version"] if newest else head and head["rules_version"],
    }


def changes(rows: Sequence[Mapping[str, Any]]) -> int:
    """How often cause or limiter change in ``causes``, holes apart."""
    return sum(
        one["end_ms"] == other["start_ms"]
        and (one["cause"], one["limiter"]) != (other["cause"], other["limiter"])
        for one, other in pairwise(rows)
    )


def _longest(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The main cause, by time x confidence: any before unknown, that before healthy."""
    by_cause: dict[str, dict[str, Any]] = {}
    for row in rows:
        one = by_cause.setdefault(
            row["cause"],
            {"cause": row["cause"], "named_ms": 0, "weight": 0.0, "held_ms": 0, "limiters": {}},
        )
        one["named_ms"] += row["named_ms"]
        one["weight"] += row["confidence"] * row["named_ms"]
        one["held_ms"] += row["end_ms"] - row["start_ms"]
        one["limiters"][row["limiter"]] = one["limiters"].get(row["limiter"], 0) + row["named_ms"]
    if not by_cause:
        return None
    last = ("unknown", "healthy")
    main = min(
        by_cause.values(),
        key=lambda one: (
            one["cause"] in last and 1 + last.index(one["cause"]),
            -one["weight"],
            -one["held_ms"],
            one["cause"],
        ),
    )
    limiter = min(main["limiters"], key=lambda name: (-main["limiters"][name], name or ""))
    return main | {"limiter": limiter}


def _limiters(
    rows: Sequence[Mapping[str, Any]], inside: EpisodeMinutes, head: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    lasted_ms: dict[str, int] = {}
    for row in rows:
        if row["limiter"] is not None:
            lasted_ms[row["limiter"]] = lasted_ms.get(row["limiter"], 0) + row["end_ms"] - row["start_ms"]
    stored = {one["limiter"]: one["set_by"] for one in head["limiters"]} if head else {}
    found = []
    for name in sorted(lasted_ms, key=lambda name: (-lasted_ms[name], name)):
        level = name.split(".")[0]
        # A limit that was lifted has no owner any more; the previous one is wanted.
        set_by = [
            who
            for who in inside.rows.column(f"limit_{level}_set_by").to_pylist()
            if who not in (None, "none")
        ]
        found.append(
            {
                "limiter": name,
                "held_ms": lasted_ms[name],
                "set_by": set_by[-1] if set_by else stored.get(name),
            }
        )
    return found


def _marks(
    known: EpisodeMinutes,
    stretch: BacklogStretch,
    start_ms: int,
    until_ms: int,
    head: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    high = stretch.last + 1 if stretch.drained else len(known)
    low = max(0, stretch.first - 1)
    found = marks(known.slice(low, max(low, high)).rows.to_pylist(), start_ms, until_ms)
    if head is None:
        return found
    if not len(known):
        return list(head["marks"])
    # The first minute that was read has none before it to be compared with; an earlier run had.
    first_ms = int(known.end_ms[0])
    kept = [mark for mark in head["marks"] if mark["start_ms"] < first_ms]
    return (
        kept
        + gap(head["known_until_ms"], int(known.start_ms[0]))
        + [m for m in found if m["start_ms"] >= first_ms]
    )
