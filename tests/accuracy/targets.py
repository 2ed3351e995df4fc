"""The targets next to what was measured. In: figures. Out: a table. Only a held-out set can meet one.

Two profiles of metrics have targets: the switches of the official Helm chart, and the broker's own defaults, which expose no consumer
metrics. The defaults' targets follow the chart's, with and without the admin API.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.lab.sets import HELD_OUT, title

#: The set that can meet a target.
JUDGES = HELD_OUT
DEFAULTS = "broker defaults"
DEFAULTS_ALONE = "broker defaults, no admin API"
#: Names of evidence (:data:`tests.accuracy.evidence.EVIDENCE`) that leave what a profile exposes.
_WITHOUT_CONSUMER_METRICS, _WITHOUT_EITHER = "no consumer metrics", "neither"
#: As in the README: what a cluster shows; the evidence that this leaves of a recording, and the profile of fleets.
PROFILES = {
    "the Helm chart's metric switches, and the admin API": ("full", "helm"),
    "the broker's default switches, and the admin API": (_WITHOUT_CONSUMER_METRICS, "default"),
    "the broker's default switches alone": (_WITHOUT_EITHER, "default without admin API"),
}


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


def _f1_at_least(what: str, bound: float, value: Callable, evidence: str = "full") -> Target:
    return Target(
        what, f">= {bound:.2f}", evidence, value, lambda found: found >= bound, lambda found: f"{found:.3f}"
    )


def _macro_f1(part: dict[str, Any]) -> float:
    return part["ours"]["cause"]["macro_f1"]


def _f1_of(cause: str) -> Callable[[dict[str, Any]], float | None]:
    def value(part: dict[str, Any]) -> float | None:
        one = part["ours"]["cause"]["classes"].get(cause)
        return one["f1"] if one and one["windows"] else None

    return value


def _side_right(part: dict[str, Any]) -> float:
    return part["ours"]["side"]["right_when_answered"]["value"]


def _unknown(part: dict[str, Any]) -> float:
    return part["ours"]["cause"]["unknown"]["value"]


def _limiter_right(part: dict[str, Any]) -> float | None:
    return part["limiter_right"]["value"]


def _switch_named(part: dict[str, Any]) -> float | None:
    return part["switch_named"]["value"]


TARGETS = (
    _f1_at_least("macro-F1 over causes", 0.95, _macro_f1),
    _f1_at_least(f"{DEFAULTS}: macro-F1 over causes", 0.92, _macro_f1, _WITHOUT_CONSUMER_METRICS),
    _none("states mostly on the wrong side", lambda part: len(part["ours"]["side"]["mostly_wrong"])),
    _at_least("side right when answered", 0.99, _side_right),
    _at_least(f"{DEFAULTS}: side right when answered", 0.99, _side_right, _WITHOUT_CONSUMER_METRICS),
    _at_least(f"{DEFAULTS_ALONE}: side right when answered", 0.97, _side_right, _WITHOUT_EITHER),
    _at_most("unknown", 0.05, _unknown),
    _at_most(f"{DEFAULTS}: unknown", 0.10, _unknown, _WITHOUT_CONSUMER_METRICS),
    _at_least(f"{DEFAULTS_ALONE}: the verdict says what to switch on", 1.0, _switch_named, _WITHOUT_EITHER),
    _at_least("limiter right, given throttled", 0.97, _limiter_right),
    _at_least(f"{DEFAULTS}: limiter right, given throttled", 0.97, _limiter_right, _WITHOUT_CONSUMER_METRICS),
    _f1_at_least("key_shared_blocked: F1", 0.90, _f1_of("key_shared_blocked")),
    _f1_at_least(
        f"{DEFAULTS}: key_shared_blocked: F1", 0.90, _f1_of("key_shared_blocked"), _WITHOUT_CONSUMER_METRICS
    ),
    _none("healthy called throttled", lambda part: part["ours"]["healthy_called_throttled"]["count"]),
    _at_least("healthy and answered", 0.95, lambda part: part["ours"]["healthy_answered"]["value"]),
    _at_least("without limits: side right when answered", 0.90, _side_right, "no limits"),
    _at_most("without limits: unknown", 0.30, _unknown, "no limits"),
    _at_least("without limits: the verdict says what is missing", 1.0, _switch_named, "no limits"),
)


def targets(found: dict[str, Any]) -> str:
    """The table. Other sets are shown for comparison."""
    names = list(found["sets"])
    others = [name for name in names if name != JUDGES]
    lines = [["target", "wanted", title(JUDGES), "met", *others], ["---"] * (4 + len(others))]
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

    ``met`` is None if the held-out set was not recorded or has nothing to count.
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
