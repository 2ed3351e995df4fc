"""Figures of fleets. In: a set of fleets that were recorded. Out: the targets table by profile, and every verdict that was not right.

A fleet shows more than a scenario: windows near operations (a restart, a move, an unload, a missed scrape), which neighbours use
most of a shared limit, and what remains without the admin API. A window near an operation counts if the truth before and after the
operation is the same. During the operation only the side is judged: no subscription is healthy while its broker is away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.accuracy.evidence import EVIDENCE, NEEDS_NO_SWITCH, without_limits
from tests.accuracy.recorded import Recorded, read
from tests.accuracy.signals import signals_of
from tests.lab.fleet.sets import FLEET_SETS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.neighbours import quota_neighbours
from throttlescope.models.evaluation import JudgedWindow, Settled, judge, part_of, settled_windows
from throttlescope.models.evaluation.delays import Delay, delays
from throttlescope.models.evaluation.settled import THROTTLED_SIDES, truth_ranges
from throttlescope.models.evaluation.shares import share_of

#: A window is near an operation until this long after it.
NEAR_MS = 10 * MINUTE_MS
#: Operations that take a topic or a scrape away; a policy that was touched does not.
AWAY = ("unload", "move", "restart", "kill", "rolling_restart", "new_instance", "miss_scrapes")
#: Those who use most of a limit are the fewest that use so much of it together.
MOST = 0.5
#: Use that was measured over the whole fault and use of one window differ by so much.
MOST_SLACK = 0.05
PROFILES = ("helm", "default")
WITHOUT_ADMIN = "default without admin API"
#: The set whose fleets were recorded after the rules were frozen.
FLEETS_THAT_JUDGE = "fleet-held-out"
Figures = dict[str, Any]


@dataclass
class NearOperations:
    """Windows near operations: how many, how many have no answer, and those whose side is wrong."""

    windows: int = 0
    unknown: int = 0
    wrong: list[Figures] = field(default_factory=list)


@dataclass
class Found:
    """What came out of the fleets of one profile."""

    windows: list[Settled] = field(default_factory=list)
    delays: list[Delay] = field(default_factory=list)
    quick_delays: list[Delay] = field(default_factory=list)
    near: NearOperations = field(default_factory=NearOperations)
    neighbours: list[bool] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def fleet_folders(set_name: str) -> list[Path]:
    """Folders of a set's recordings; none where it has not been recorded yet."""
    return sorted(file.parent for file in FLEET_SETS[set_name].recordings.glob("*/recording.json"))


def fleet_figures(folders: Iterable[Path], note: Callable[[str], None] = lambda _: None) -> Figures:
    """All figures of some fleets, by profile and evidence."""
    found: dict[str, Found] = defaultdict(Found)
    for folder in folders:
        note(folder.name)
        recorded = read(folder)
        profile = recorded.about["profile"]
        _add(found[profile], recorded)
        if profile == "default":
            _add(found[WITHOUT_ADMIN], without_limits(recorded))
    return {name: _figures(found[name]) for name in (*PROFILES, WITHOUT_ADMIN) if name in found}


def _add(found: Found, recorded: Recorded) -> None:
    signals = signals_of(recorded)
    judged = judge(signals)
    windows, _, _ = settled_windows(judged, recorded.truth)
    after = delays(judged, recorded.truth)
    found.names.append(recorded.name)
    found.windows += windows
    found.delays += after
    found.quick_delays += after if recorded.scrape_interval_s <= 15 else []
    _near_operations(found.near, judged, recorded)
    found.neighbours += _neighbours(signals, windows, recorded.about["shared"])


def _figures(found: Found) -> Figures:
    part = part_of(found.windows, found.delays)
    quick = part_of(found.windows, found.quick_delays)
    ours = part.ours
    healthy = [one for one in found.windows if one.is_healthy]
    others = [one for one in found.windows if one.judged.cause not in NEEDS_NO_SWITCH]
    switches = EVIDENCE["neither"].switches
    key_shared = ours.cause.classes.get("key_shared_blocked")
    return {
        "recordings": found.names,
        "windows": part.windows,
        "macro_f1": ours.cause.macro_f1,
        "f1": {word: one.f1 for word, one in ours.cause.classes.items() if one.windows},
        "confusion": ours.cause.confusion,
        "side_right_when_answered": asdict(ours.side.right_when_answered),
        "unknown": asdict(ours.cause.unknown),
        "healthy_not_healthy": asdict(share_of(healthy, lambda w: w.judged.cause != "healthy")),
        "healthy_throttled": asdict(ours.healthy_called_throttled),
        "limiter_right": asdict(part.limiter_right),
        "neighbours_right": _share(found.neighbours),
        "key_shared_f1": key_shared.f1 if key_shared and key_shared.windows else None,
        "near_operations": asdict(found.near),
        "after_change": asdict(quick.after_change),
        "switch_named": asdict(share_of(others, lambda w: all(any(s in fix for fix in w.judged.missing) for s in switches))),
        "misses": misses(found.windows),
    }  # fmt: skip


def _share(right: Sequence[bool]) -> Figures:
    return {"count": sum(right), "of": len(right), "value": sum(right) / len(right) if right else None}


# -- near operations ------------------------------------------------------------------------


def _near_operations(found: NearOperations, judged: Iterable[JudgedWindow], recorded: Recorded) -> None:
    ranges = {key: list(_bridged(key, rows, recorded)) for key, rows in truth_ranges(recorded.truth).items()}
    operations = [row for row in recorded.about["operations"] if row["kind"] in AWAY]
    for one in judged:
        true = next(
            (row for row in ranges.get(tuple(one.key), ()) if row["start_ms"] <= one.start_ms and one.end_ms <= row["end_ms"]),
            None,
        )  # fmt: skip
        physical = _physical(one.key)
        near = [
            row["kind"]
            for row in operations
            if (row["topics"] is None or physical in row["topics"])
            and one.end_ms > row["at_ms"]
            and one.start_ms < row["done_ms"] + NEAR_MS
        ]
        if true is None or not near:
            continue
        found.windows += 1
        found.unknown += one.side == "unknown"
        if one.side not in (true["side"], "unknown"):
            found.wrong.append(_miss(recorded.name, one, true["cause"]) | {"near": sorted(set(near))})


def _bridged(key: tuple, rows: Sequence[Figures], recorded: Recorded) -> Iterator[Figures]:
    """Ranges of truth, joined over gaps that nothing but an operation made."""
    gaps = [
        (row["start_ms"], row["end_ms"])
        for row in recorded.about["voided"]
        if (row["topic"], row["partition"], row["subscription"]) == (key[2], int(key[3]), key[4])
        and row["reason"].startswith("operation")
    ]
    open_row = dict(rows[0])
    for row in rows[1:]:
        same = (row["cause"], row["limiter"]) == (open_row["cause"], open_row["limiter"])
        if same and _covered(open_row["end_ms"], row["start_ms"], gaps):
            open_row["end_ms"] = row["end_ms"]
            continue
        yield open_row
        open_row = dict(row)
    yield open_row


def _covered(start_ms: int, end_ms: int, gaps: Sequence[tuple[int, int]]) -> bool:
    at_ms = start_ms
    for low, high in sorted(gaps):
        if low <= at_ms < high:
            at_ms = high
    return at_ms >= end_ms


def _physical(key: Any) -> str:
    _, _, topic, partition, _ = tuple(key)
    name = topic.removeprefix("persistent://")
    return name if int(partition) < 0 else f"{name}-partition-{partition}"


# -- neighbours -------------------------------------------------------------------------------


def _neighbours(signals: pa.Table, windows: Iterable[Settled], shared: Sequence[Figures]) -> list[bool]:
    """For each window whose shared limiter is right: do those that it names as using most really use most of it?"""
    right = []
    for window in windows:
        if (
            window.true_limiter is None
            or window.judged.side not in THROTTLED_SIDES
            or window.judged.limiter != window.true_limiter
        ):
            continue
        _, _, topic, partition, subscription, _ = window.state
        me = (topic, int(partition), subscription)
        group = next(
            (
                one
                for one in shared
                if one["limiter"] == window.true_limiter
                and one["start_ms"] < window.judged.end_ms and window.judged.start_ms < one["end_ms"]
                and any((row["topic"], row["partition"], row["subscription"]) == me for row in one["use"])
            ),
            None,
        )  # fmt: skip
        if group is None:
            continue
        unit = f"{window.true_limiter.split('.')[1]}_per_s"
        true = {(row["topic"], row["partition"], row["subscription"]): row[unit] for row in group["use"]}
        uses = quota_neighbours(
            signals, window.judged.key, window.true_limiter, window.judged.start_ms, window.judged.end_ms
        )
        named, share = [], 0.0
        for one in uses:
            if share >= MOST or one.share is None:
                break
            named.append((one.key.topic, int(one.key.partition), one.key.subscription))
            share += one.share
        total = sum(true.values())
        right.append(
            bool(named)
            and total > 0
            and sum(true.get(one, 0.0) for one in named) >= (MOST - MOST_SLACK) * total
        )
    return right


# -- what was not right -----------------------------------------------------------------------


def misses(windows: Iterable[Settled]) -> list[Figures]:
    """Windows whose cause or limiter is not right, in a row where one follows the other."""
    wrong = [
        one
        for one in windows
        if one.judged.cause != one.true_cause
        or (one.true_limiter is not None and one.judged.limiter != one.true_limiter)
    ]
    found = []
    same = lambda w: (w.recording, w.state, w.judged.cause, w.judged.limiter)  # noqa: E731
    for _, group in groupby(wrong, same):
        mine = list(group)
        true = mine[0].true_cause + (f" {mine[0].true_limiter}" if mine[0].true_limiter else "")
        found.append(
            _miss(mine[0].recording, mine[0].judged, true)
            | {"last_end_ms": mine[-1].judged.end_ms, "windows": len(mine)}
        )
    return found


def _miss(recording: str, said: JudgedWindow, true: str) -> Figures:
    return {
        "recording": recording,
        "subscription": f"{_physical(said.key)}#{said.key.subscription}",
        "start_ms": said.start_ms,
        "end_ms": said.end_ms,
        "true": true,
        "said": said.cause + (f" {said.limiter}" if said.limiter else ""),
        "side": said.side,
        "confidence": round(said.confidence, 2),
    }


# -- the table --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """One row: what is wanted of a profile, and how it is counted."""

    what: str
    profile: str
    wanted: str
    value: Callable[[Figures], float | None]
    met: Callable[[float], bool]
    show: Callable[[Figures], str]


def _of(share: Figures) -> str:
    return (
        "-" if share["value"] is None else f"{100 * share['value']:.2f} % ({share['count']} of {share['of']})"
    )


def _at_least(what: str, profile: str, bound: float, name: str) -> Target:
    return Target(
        what,
        profile,
        f">= {100 * bound:g} %",
        lambda f: f[name]["value"],
        lambda v: v >= bound,
        lambda f: _of(f[name]),
    )


def _at_most(what: str, profile: str, bound: float, name: str) -> Target:
    return Target(
        what,
        profile,
        f"<= {100 * bound:g} %",
        lambda f: f[name]["value"],
        lambda v: v <= bound,
        lambda f: _of(f[name]),
    )


def _number(what: str, profile: str, bound: float, name: str) -> Target:
    show = lambda f: "-" if f[name] is None else f"{f[name]:.3f}"  # noqa: E731
    return Target(what, profile, f">= {bound:g}", lambda f: f[name], lambda v: v >= bound, show)


def _for(profile: str, macro: float, unknown: float) -> tuple[Target, ...]:
    return (
        _number("macro-F1 over causes", profile, macro, "macro_f1"),
        _at_least("side right when answered", profile, 0.99, "side_right_when_answered"),
        _at_most("unknown", profile, unknown, "unknown"),
        Target(
            "wrong side within 10 min of an operation", profile, "0", lambda f: len(f["near_operations"]["wrong"]), lambda v: v == 0,
            lambda f: f"{len(f['near_operations']['wrong'])} of {f['near_operations']['windows']} ({f['near_operations']['unknown']} unknown)",
        ),
        _at_most("healthy called anything else", profile, 1 / 2000, "healthy_not_healthy"),
        Target(
            "healthy called throttled", profile, "0", lambda f: f["healthy_throttled"]["count"], lambda v: v == 0,
            lambda f: _of(f["healthy_throttled"]),
        ),
        _at_least("limiter right, given throttled", profile, 0.97, "limiter_right"),
        _at_least("neighbours that use most of a shared limit", profile, 0.9, "neighbours_right"),
        _number("key_shared_blocked, F1", profile, 0.9, "key_shared_f1"),
        Target(
            "start of a fault to the right verdict, 15 s scrapes", profile, "<= 2 min", lambda f: f["after_change"]["median_s"],
            lambda v: v <= 120,
            lambda f: f"{_minutes(f['after_change']['median_s'])} ({f['after_change']['never']} of {f['after_change']['changes']} never)",
        ),
    )  # fmt: skip


def _minutes(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds / 60:.1f} min"


TARGETS = (
    *_for("helm", 0.95, 0.05),
    *_for("default", 0.92, 0.10),
    _at_least("side right when answered", WITHOUT_ADMIN, 0.97, "side_right_when_answered"),
    _at_least("the verdict says what to switch on", WITHOUT_ADMIN, 1.0, "switch_named"),
)


def fleet_table(figures: Figures) -> str:
    """The targets and what was measured."""
    lines = [["profile", "what", "wanted", "measured", "met"], ["---"] * 5]
    for target in TARGETS:
        part = figures.get(target.profile)
        value = target.value(part) if part else None
        shown = target.show(part) if part else "not recorded"
        met = "-" if value is None else "yes" if target.met(value) else "no"
        lines.append([target.profile, target.what, target.wanted, shown, met])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def miss_lines(figures: Figures, starts_ms: dict[str, int]) -> str:
    """Every verdict that was not right, one line for windows in a row; times are minutes since the fleet's start."""
    lines = []
    for profile, part in figures.items():
        for kind, rows in (
            ("not right", part["misses"]),
            ("wrong side near an operation", part["near_operations"]["wrong"]),
        ):
            for row in rows:
                since = starts_ms[row["recording"]]
                low, high = ((row[name] - since) / MINUTE_MS for name in ("start_ms", "end_ms"))
                last = (row.get("last_end_ms", row["end_ms"]) - since) / MINUTE_MS
                count = f", {row['windows']} windows to {last:.0f}" if row.get("windows", 1) > 1 else ""
                near = f" near {', '.join(row['near'])}" if "near" in row else ""
                lines.append(
                    f"{profile} | {kind} | {row['recording']} | {row['subscription']} | min {low:.0f}-{high:.0f}{count} |"
                    f" true {row['true']} | said {row['said']} ({row['confidence']:g}){near}\n"
                )
    return "".join(lines)
