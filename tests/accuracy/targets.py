"""The targets beside what was measured. In: figures. Out: a table. Only recordings that were kept aside can meet one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

JUDGES = "kept aside"


@dataclass(frozen=True)
class Target:
    """One target.

    Attributes
    ----------
    value : callable
        From the figures of a set under one kind of evidence; None where nothing could be counted.
    met : callable
        From that value.
    """

    what: str
    wanted: str
    evidence: str
    value: Callable[[dict[str, Any]], float | None]
    met: Callable[[float], bool]
    show: Callable[[float], str]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _at_least(what: str, bound: float, value: Callable, evidence: str = "full") -> Target:
    return Target(what, f">= {_percent(bound)}", evidence, value, lambda found: found >= bound, _percent)


def _at_most(what: str, bound: float, value: Callable, evidence: str = "full") -> Target:
    return Target(what, f"<= {_percent(bound)}", evidence, value, lambda found: found <= bound, _percent)


def _none(what: str, value: Callable) -> Target:
    return Target(what, "0", "full", value, lambda found: found == 0, lambda found: f"{found:.0f}")


TARGETS = (
    Target(
        "macro-F1 over causes", ">= 0.95", "full", lambda part: part["ours"]["cause"]["macro_f1"],
        lambda found: found >= 0.95, lambda found: f"{found:.3f}",
    ),
    _none("states mostly on the wrong side", lambda part: len(part["ours"]["side"]["mostly_wrong"])),
    _at_least("side right when answered", 0.99, lambda part: part["ours"]["side"]["right_when_answered"]["value"]),
    _at_most("unknown", 0.05, lambda part: part["ours"]["cause"]["unknown"]["value"]),
    _at_least("limiter right, given throttled", 0.97, lambda part: part["limiter_right"]["value"]),
    _none("healthy called throttled", lambda part: part["ours"]["healthy_called_throttled"]["count"]),
    _at_least("healthy and answered", 0.95, lambda part: part["ours"]["healthy_answered"]["value"]),
    _at_least(
        "without limits: side right when answered", 0.90,
        lambda part: part["ours"]["side"]["right_when_answered"]["value"], "no limits",
    ),
    _at_most("without limits: unknown", 0.30, lambda part: part["ours"]["cause"]["unknown"]["value"], "no limits"),
    _at_least(
        "without limits: the verdict says what is missing", 1.0,
        lambda part: part["switch_named"]["value"], "no limits",
    ),
)  # fmt: skip


def targets(found: dict[str, Any]) -> str:
    """The table, with the other sets beside for what they are worth."""
    names = list(found["sets"])
    others = [name for name in names if name != JUDGES]
    lines = [["target", "wanted", "kept aside", "met", *others], ["---"] * (4 + len(others))]
    for target in TARGETS:
        shown = {name: _value(target, found["sets"][name]) for name in names}
        judged = shown.get(JUDGES)
        if judged is None:
            verdict = "not measured yet" if JUDGES not in names else "nothing to count"
        else:
            verdict = "yes" if target.met(judged) else "no"
        cells = [_cell(target, judged), verdict, *(_cell(target, shown[name]) for name in others)]
        lines.append([target.what, target.wanted, *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def judged_targets(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The same as data: what was wanted and what came out by set, as they are shown.

    ``met`` is None where the set that judges is not there, or has nothing to count.
    """
    rows = []
    for target in TARGETS:
        values = {name: _value(target, by) for name, by in found["sets"].items() if target.evidence in by}
        judged = values.get(JUDGES)
        rows.append(
            {
                "what": target.what,
                "wanted": target.wanted,
                "measured": {name: _cell(target, value) for name, value in values.items()},
                "met": None if judged is None else target.met(judged),
            }
        )
    return rows


def _value(target: Target, by_evidence: dict[str, Any]) -> float | None:
    return target.value(by_evidence[target.evidence])


def _cell(target: Target, value: float | None) -> str:
    return "-" if value is None else target.show(value)
