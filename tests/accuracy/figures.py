"""All figures of the page. In: names of sets. Out: one dict that is JSON, and the short one that ships with the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from tests.accuracy.altered import ALTERED
from tests.accuracy.attempts import attempts_of
from tests.accuracy.drawn import count_of, drawn
from tests.accuracy.evidence import EVIDENCE, NEEDS_NO_SWITCH, Evidence
from tests.accuracy.fleets import fleet_figures, fleet_folders
from tests.accuracy.judging import Found, judge_all
from tests.accuracy.recorded import DROPPED_FILES, SETS, folders
from tests.accuracy.subjects import SUBJECTS, subject_figures
from tests.accuracy.targets import judged_targets
from tests.lab.fleet.sets import FLEET_SETS
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.evaluation import Part, Settled, part_of
from throttlescope.models.evaluation.shares import share_of

#: Sets whose recordings may be altered; the held-out set is not.
ALTERABLE = ("development", "shipped")


def figures(
    sets: Iterable[str] = tuple(SETS), note: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Everything that the page shows.

    Returns
    -------
    dict
        ``rules_version``; ``sets``: set to evidence to figures; ``altered``: cause to figures; ``attempts``: set to what became of its
        scenarios; ``fleets``: set to profile to figures, and ``subjects``: subject to set to figures, if all sets are requested. A set without
        recordings is left out.
    """
    sets = tuple(sets)
    present = [name for name in sets if folders(name)]
    found: dict[str, Any] = {"rules_version": RULES_VERSION, "sets": {}, "altered": {}, "attempts": {}}
    for name in present:
        found["sets"][name] = of_set(name, note)
        if name in DROPPED_FILES:
            names = (folder.name for folder in folders(name))
            found["attempts"][name] = asdict(attempts_of(DROPPED_FILES[name], names))
    if set(sets) == set(SETS):
        found["fleets"] = {
            name: fleet_figures(there, note) for name in FLEET_SETS if (there := fleet_folders(name))
        }
        for name in found["fleets"]:
            names = (folder.name for folder in fleet_folders(name))
            found["attempts"][name] = asdict(attempts_of(FLEET_SETS[name].dropped_file, names))
        found["subjects"] = {name: subject_figures(name, note) for name in SUBJECTS}
    for cause, alter in ALTERED.items():
        note(f"altered: {cause}")
        places = [folder for name in present if name in ALTERABLE for folder in folders(name)]
        if places:
            found["altered"][cause] = _of_altered(judge_all(places, alter))
    return found


def of_set(name: str, note: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Figures of one set by evidence."""
    found = {}
    for evidence, how in EVIDENCE.items():
        note(f"{name}: {evidence}")
        found[evidence] = _of(judge_all(folders(name), how.alter), how)
    return found


def profile_figures(set_name: str, evidence: str) -> dict[str, Any]:
    """Figures of one set under one evidence."""
    how = EVIDENCE[evidence]
    return _of(judge_all(folders(set_name), how.alter), how)


def _of(found: Found, how: Evidence) -> dict[str, Any]:
    part = part_of(found.windows, found.delays)
    others = [window for window in found.windows if window.judged.cause not in NEEDS_NO_SWITCH]
    return asdict(part) | {
        "truth_rows": found.truth_rows,
        "truth_rows_without_windows": found.truth_rows - found.truth_rows_used,
        "switch_named": asdict(share_of(others, lambda w: _names(w, how.switches))) if how.switches else None,
        "by_family": _by_family(found.windows),
        "misses": _misses(found.windows),
        "never_right": [asdict(one) for one in found.delays if one.after_s is None],
    }


def _by_family(windows: list[Settled]) -> dict[str, Any]:
    found = {}
    for family in sorted({window.family for window in windows}):
        mine = [window for window in windows if window.family == family]
        answered = [window for window in mine if window.judged.side != "unknown"]
        found[family] = {
            "causes": sorted({window.true_cause for window in mine}),
            "cause_right": asdict(share_of(mine, lambda w: w.judged.cause == w.true_cause)),
            "side_right_when_answered": asdict(share_of(answered, lambda w: w.judged.side == w.true_side)),
            "unknown": asdict(share_of(mine, lambda w: w.judged.cause == "unknown")),
        }
    return found


def _misses(windows: list[Settled]) -> list[dict[str, Any]]:
    """States with windows whose cause is not right, and what was said of these."""
    states: dict[tuple, list[Settled]] = defaultdict(list)
    for window in windows:
        states[window.recording, window.state].append(window)
    found = []
    for (recording, state), group in sorted(states.items()):
        named = Counter(one.judged.cause for one in group if one.judged.cause != one.true_cause)
        if named:
            _, _, topic, partition, subscription, _ = state
            found.append(
                {
                    "recording": recording, "topic": topic, "partition": partition, "subscription": subscription,
                    "true": group[0].true_cause, "windows": len(group), "named": dict(sorted(named.items())),
                }
            )  # fmt: skip
    return found


def _names(window: Settled, switches: tuple[str, ...]) -> bool:
    return all(any(switch in fix for fix in window.judged.missing) for switch in switches)


def _of_altered(found: Found) -> dict[str, Any]:
    part: Part = part_of(found.windows)
    return {
        "windows": part.windows,
        "recordings": part.recordings,
        "confusion": part.ours.cause.confusion,
        "right": asdict(part.ours.cause.right),
        "classes": {name: asdict(one) for name, one in part.ours.cause.classes.items()},
        "side_right_when_answered": asdict(part.ours.side.right_when_answered),
        "unknown": asdict(part.ours.cause.unknown),
        "misses": _misses(found.windows),
    }


def shipped(found: dict[str, Any]) -> dict[str, Any]:
    """What ``models/diagnosis/measured.json`` holds: the figures that a user looks for, by set, and what the app draws."""
    return {
        "rules_version": found["rules_version"],
        "page": "docs/accuracy/diagnosis.md",
        "targets": judged_targets(found),
        "sets": {name: _short(by["full"]) | drawn(by) for name, by in found["sets"].items()},
        "subjects": shipped_subjects(found.get("subjects", {})),
    }


def shipped_subjects(found: dict[str, Any]) -> dict[str, Any]:
    """Figures of subjects as ``measured.json`` has them, by subject and set."""
    return {name: {part: _of_subject(one) for part, one in by_set.items()} for name, by_set in found.items()}


def _of_subject(part: dict[str, Any]) -> dict[str, Any]:
    causes = {
        cause: {"windows": part["windows_by_cause"][cause], "f1": f1} for cause, f1 in part["f1"].items()
    }
    return {"windows": part["windows"], "cause_macro_f1": part["macro_f1"], "causes": causes}


def _short(part: dict[str, Any]) -> dict[str, Any]:
    ours, naive = part["ours"], part["baselines"]["naive rule"]
    return {
        **{name: part[name] for name in ("windows", "states", "recordings", "families")},
        "cause_macro_f1": ours["cause"]["macro_f1"],
        "cause_macro_f1_naive_rule": naive["cause"]["macro_f1"],
        "cause_right_when_answered": count_of(ours["cause"]["right_when_answered"]),
        "side_right_when_answered": count_of(ours["side"]["right_when_answered"]),
        "side_right_when_answered_naive_rule": count_of(naive["side"]["right_when_answered"]),
        "states_mostly_on_the_wrong_side": len(ours["side"]["mostly_wrong"]),
        "unknown": count_of(ours["cause"]["unknown"]),
        "limiter_right": count_of(part["limiter_right"]),
        "healthy_called_throttled": count_of(ours["healthy_called_throttled"]),
        "healthy_answered": count_of(ours["healthy_answered"]),
        "brier": part["calibration"]["brier"],
        "expected_calibration_error": part["calibration"]["expected_error"],
        "after_change_median_s": part["after_change"]["median_s"],
        "after_change_p90_s": part["after_change"]["p90_s"],
        "flips_per_hour": part["flips"]["per_hour"],
        "steady_flips_per_hour": part["flips"]["steady_per_hour"],
        "causes": {
            cause: {"windows": one["windows"], "f1": one["f1"]}
            for cause, one in ours["cause"]["classes"].items()
            if one["windows"]
        },
    }
