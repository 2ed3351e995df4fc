"""Figures of what else can back up: replicators, and whatever has sets of its own. In: sets of recordings. Out: their targets and misses.

A subject has a development set, with which its rules were made, and a held-out set from another seed, which alone can meet a target. Its causes are
its own, so its macro-F1 is not that of subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.accuracy.fleets import misses
from tests.accuracy.judging import judge_all
from tests.lab.geo.sets import GEO_SETS
from tests.lab.reads.sets import READS_SETS
from tests.lab.scalable.sets import SCALABLE_SETS
from tests.lab.sets import SETS
from throttlescope.models.evaluation import part_of
from throttlescope.models.evaluation.shares import share_of

Figures = dict[str, Any]
#: The set that can meet a target, and the one with which the rules were made.
HELD_OUT, DEVELOPMENT = "held-out", "development"


@dataclass(frozen=True)
class SubjectTarget:
    """One figure of a subject and what is wanted of it."""

    what: str
    wanted: str
    value: Callable[[Figures], float | None]
    met: Callable[[float], bool]
    show: Callable[[Figures], str]


@dataclass(frozen=True)
class Subject:
    """A kind of subject with recordings of its own: folders by set, and its targets."""

    folders: Mapping[str, Callable[[], list[Path]]]
    targets: tuple[SubjectTarget, ...]


def at_least(what: str, bound: float, name: str) -> SubjectTarget:
    """A share of windows that is at least ``bound``."""
    return SubjectTarget(
        what,
        f">= {100 * bound:g} %",
        lambda f: f[name]["value"],
        lambda v: v >= bound,
        lambda f: _share(f[name]),
    )


def none_of(what: str, name: str) -> SubjectTarget:
    """A count of windows that is 0."""
    return SubjectTarget(
        what, "0", lambda f: f[name], lambda v: v == 0, lambda f: f"{f[name]} of {f['windows']}"
    )


def f1_at_least(what: str, bound: float, cause: str | None = None) -> SubjectTarget:
    """The F1 of one cause, or the mean over all that the set has."""
    value = lambda f: f["macro_f1"] if cause is None else f["f1"].get(cause)  # noqa: E731
    show = lambda f: "-" if value(f) is None else f"{value(f):.3f}"  # noqa: E731
    return SubjectTarget(what, f">= {bound:g}", value, lambda v: v >= bound, show)


def shown(what: str, name: str) -> SubjectTarget:
    """A share that has no target."""
    return SubjectTarget(what, "-", lambda f: None, lambda v: True, lambda f: _share(f[name]))


SUBJECTS: dict[str, Subject] = {
    "replicators": Subject(
        {
            DEVELOPMENT: lambda: [*GEO_SETS["development"].folders, *GEO_SETS["first-held-out"].folders],
            HELD_OUT: lambda: GEO_SETS["held-out"].folders,
        },
        (
            f1_at_least("macro-F1 over causes", 0.95),
            at_least("side right when answered", 0.99, "side_right_when_answered"),
            shown("unknown", "unknown"),
            shown("limiter right, given throttled", "limiter_right"),
        ),
    ),
    "paused connections": Subject(
        {
            HELD_OUT: lambda: SETS["publishing-held-out"].folders,
            DEVELOPMENT: lambda: SETS["publishing"].folders,
        },
        (
            f1_at_least("F1 of connection_paused", 0.9, "connection_paused"),
            none_of("on the wrong side", "wrong_sides"),
            shown("unknown", "unknown"),
            shown("limiter right, given throttled", "limiter_right"),
        ),
    ),
    "segments": Subject(
        {name: (lambda one=one: one.folders) for name, one in SCALABLE_SETS.items()},
        (
            at_least("limited, slow or healthy right, per segment", 0.97, "right"),
            none_of("on the wrong side", "wrong_sides"),
            shown("unknown", "unknown"),
            shown("limiter right, given throttled", "limiter_right"),
        ),
    ),
    "read limit": Subject(
        {name: (lambda one=one: one.folders) for name, one in READS_SETS.items()},
        (
            f1_at_least("F1 of read_limit", 0.9, "read_limit"),
            none_of("on the wrong side", "wrong_sides"),
            shown("unknown", "unknown"),
            shown("limiter right, given throttled", "limiter_right"),
        ),
    ),
}


def subject_figures(name: str, note: Callable[[str], None] = lambda _: None) -> dict[str, Figures]:
    """Figures of one subject by set; a set without recordings is left out."""
    found = {}
    for set_name, folders in SUBJECTS[name].folders.items():
        if there := folders():
            note(f"{name}: {set_name}")
            found[set_name] = _figures(there)
    return found


def _figures(folders: list[Path]) -> Figures:
    judged = judge_all(folders)
    part = part_of(judged.windows, judged.delays)
    ours = part.ours
    answered = [one for one in judged.windows if one.judged.side != "unknown"]
    return {
        "recordings": judged.recordings,
        "windows": part.windows,
        "states": part.states,
        "macro_f1": ours.cause.macro_f1,
        "f1": {cause: one.f1 for cause, one in ours.cause.classes.items() if one.windows},
        "windows_by_cause": {cause: one.windows for cause, one in ours.cause.classes.items() if one.windows},
        "right": asdict(share_of(judged.windows, lambda w: w.judged.cause == w.true_cause)),
        "side_right_when_answered": asdict(ours.side.right_when_answered),
        "wrong_sides": sum(one.judged.side != one.true_side for one in answered),
        "unknown": asdict(ours.cause.unknown),
        "limiter_right": asdict(part.limiter_right),
        "misses": misses(judged.windows),
    }


def _share(share: Figures) -> str:
    if share["value"] is None:
        return "-"
    return f"{100 * share['value']:.1f} % ({share['count']} of {share['of']})"


# -- tables ----------------------------------------------------------------------------------------


def targets_table(found: Mapping[str, Mapping[str, Figures]]) -> str:
    """What is wanted of each subject and what was measured, held-out first."""
    lines = [["subject", "what", "wanted", HELD_OUT, "met", DEVELOPMENT]]
    for name, subject in SUBJECTS.items():
        by_set = found.get(name, {})
        judge, other = by_set.get(HELD_OUT), by_set.get(DEVELOPMENT)
        for target in subject.targets:
            value = target.value(judge) if judge else None
            met = "-" if value is None else "yes" if target.met(value) else "no"
            shows = [target.show(one) if one else "not recorded" for one in (judge, other)]
            lines.append([name, target.what, target.wanted, shows[0], met, shows[1]])
    return _table(lines)


def causes_table(found: Mapping[str, Mapping[str, Figures]]) -> str:
    """F1 and windows by subject and cause."""
    lines = [["subject", "cause", *(f"{name}: F1 (windows)" for name in (HELD_OUT, DEVELOPMENT))]]
    for name, by_set in found.items():
        causes = {cause: None for one in by_set.values() for cause in one["f1"]}
        for cause in causes:
            lines.append([name, cause, *(_f1(by_set.get(part), cause) for part in (HELD_OUT, DEVELOPMENT))])
    return _table(lines)


def _f1(figures: Figures | None, cause: str) -> str:
    if figures is None or cause not in figures["f1"]:
        return "-"
    return f"{figures['f1'][cause]:.3f} ({figures['windows_by_cause'][cause]})"


def misses_table(found: Mapping[str, Mapping[str, Figures]]) -> str:
    """Every window that was not right."""
    lines = [["set", "recording", "subscription", "true", "said", "windows"]]
    for name, by_set in found.items():
        for part, one in by_set.items():
            lines += [
                [
                    f"{name}, {part}",
                    row["recording"],
                    row["subscription"],
                    row["true"],
                    row["said"],
                    str(row["windows"]),
                ]
                for row in one["misses"]
            ]
    return _table(lines) if len(lines) > 1 else "None.\n"


def _table(lines: list[list[str]]) -> str:
    head, *rest = lines
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rest])
