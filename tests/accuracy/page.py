"""The tables of ``docs/accuracy/diagnosis.md``. In: figures. Out: the page with every marked table recomputed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.accuracy.fleets import FLEETS_THAT_JUDGE, fleet_table
from tests.accuracy.subjects import causes_table, misses_table, targets_table
from tests.accuracy.targets import JUDGES, PROFILES, targets
from tests.lab.drawn import UNSEEN
from tests.lab.sets import title
from throttlescope.ingest.contracts.vocabulary import CAUSES

_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_RULES = ("naive rule", "rho alone", "Burrow's rules", "majority")

_SETS_OF_FLEETS = {"fleet-held-out": "Held-out fleets", "fleet-development": "Development fleets"}

#: The README's table in Chinese: headings, and what a cluster shows.
CHINESE = {
    "what the cluster shows": "集群提供的数据",
    "macro-F1 over causes": "原因的宏平均 F1",
    "side right when answered": "给出答案时侧正确",
    "unknown": "无法判定",
    "the Helm chart's metric switches, and the admin API": "Helm chart 的指标开关，以及 admin API",
    "the broker's default switches, and the admin API": "broker 的默认开关，以及 admin API",
    "the broker's default switches alone": "只有 broker 的默认开关",
}

Figures = dict[str, Any]


def page(text: str, found: Figures) -> str:
    """A page, or the README, with every marked table recomputed.

    Raises
    ------
    KeyError
        The page has a mark for a table that does not exist.
    """
    tables = subject_tables(found.get("subjects", {})) | {
        "targets": targets(found),
        "attempts": attempts(found),
        "unmeasured": unmeasured(found),
        "readme": readme(found),
        "readme_chinese": readme(found, CHINESE),
        "fleets": fleets(found),
        "summary": summary(found),
        "baselines": _by_set(found, baselines),
        "causes": _by_set(found, causes),
        "families": _by_set(found, families),
        "confusion": _by_set(found, confusion),
        "misses": _by_set(found, lambda by: misses(by["full"]["misses"])),
        "calibration": _by_set(found, calibration),
        "never": _by_set(found, never),
        "evidence": _by_set(found, evidence),
        "evidence_causes": _by_set(found, evidence_causes),
        "altered": altered(found),
        "altered_misses": misses([miss for one in found["altered"].values() for miss in one["misses"]]),
    }
    return _MARKED.sub(lambda match: match[1] + tables[match[2]] + match[3], text)


def page_of_subjects(text: str, found: Figures) -> str:
    """The page with the tables of subjects alone recomputed, from the figures of :mod:`tests.accuracy.subjects`."""
    tables = subject_tables(found)
    return _MARKED.sub(
        lambda match: match[1] + tables[match[2]] + match[3] if match[2] in tables else match[0], text
    )


def subject_tables(found: Figures) -> dict[str, str]:
    """The marked tables of subjects with sets of their own."""
    return {
        "subjects": targets_table(found),
        "subject_causes": causes_table(found),
        "subject_misses": misses_table(found),
    }


def readme(found: Figures, words: Mapping[str, str] | None = None) -> str:
    """Figures by profile: of the held-out fleets, and of the held-out set of single faults until there are any.

    Parameters
    ----------
    words : mapping, optional
        Words of another language by the English ones; all of them.
    """
    heads = ("what the cluster shows", "macro-F1 over causes", "side right when answered", "unknown")
    lines = [heads if words is None else tuple(words[head] for head in heads)]
    fleets = found.get("fleets", {}).get(FLEETS_THAT_JUDGE, {})
    for profile, (evidence, of_fleets) in PROFILES.items():
        if of_fleets in fleets:
            one = fleets[of_fleets]
            macro_f1, side, unknown = one["macro_f1"], one["side_right_when_answered"], one["unknown"]
        else:
            ours = found["sets"][JUDGES][evidence]["ours"]
            macro_f1, side, unknown = (
                ours["cause"]["macro_f1"],
                ours["side"]["right_when_answered"],
                ours["cause"]["unknown"],
            )
        named = profile if words is None else words[profile]
        lines.append((named, number(macro_f1, 3), percent(side["value"]), percent(unknown["value"])))
    return table(lines)


def fleets(found: Figures) -> str:
    """The targets of fleets, set by set."""
    by_set = found.get("fleets", {})
    if not by_set:
        return "No fleet has been recorded yet.\n"
    return "\n".join(f"**{_SETS_OF_FLEETS[name]}**\n\n{fleet_table(part)}" for name, part in by_set.items())


def summary(found: Figures) -> str:
    parts = {name: by["full"] for name, by in found["sets"].items()}
    return table(
        [("figure", *map(title, parts)), *([what, *map(show, parts.values())] for what, show in FIGURES)]
    )


def attempts(found: Figures) -> str:
    head = (
        "set",
        "recordings that count",
        "attempts dropped",
        "attempts void",
        "scenarios repeated and counted then",
        "scenarios left out",
    )
    rows = [
        (title(name), one["recordings"], one["dropped"], one["voided"], one["repeated"], ", ".join(one["missing"]) or "none")
        for name, one in found["attempts"].items()
    ]  # fmt: skip
    return table([head, *rows])


def unmeasured(found: Figures) -> str:
    """Causes that no recording has as its truth."""
    lines = [("cause", "what its figures rest on")]
    for cause in CAUSES:
        recorded = any(_windows_of(by["full"], cause) for by in found["sets"].values()) or any(
            cause in part["f1"] for by_set in found.get("subjects", {}).values() for part in by_set.values()
        )
        if not recorded and cause != "unknown":
            lines.append(
                (
                    cause,
                    "samples with the cause written in"
                    if cause in found["altered"]
                    else "nothing: unmeasured",
                )
            )
    return table(lines)


def _windows_of(part: Figures, cause: str) -> int:
    one = part["ours"]["cause"]["classes"].get(cause)
    return one["windows"] if one else 0


def baselines(by_evidence: Figures) -> str:
    part = by_evidence["full"]
    rules = {"ours": part["ours"]} | {name: part["baselines"][name] for name in _RULES}
    return table(
        [("figure", *rules), *([what, *map(show, rules.values())] for what, show in FIGURES_OF_RULE)]
    )


def causes(by_evidence: Figures) -> str:
    lines = [
        ("cause", "windows", "recordings", "families", "precision", "recall", "F1", "F1 over recordings")
    ]
    for cause, one in by_evidence["full"]["ours"]["cause"]["classes"].items():
        if one["windows"]:
            lines.append(
                (cause, one["windows"], one["recordings"], one["families"], share(one["precision"]), share(one["recall"]),
                 number(one["f1"]), span(one["f1_clustered"], 1, 2))
            )  # fmt: skip
    return table(lines)


def families(by_evidence: Figures) -> str:
    lines = [("family", "true causes", "recordings", "cause right", "side right when answered", "unknown")]
    for family, one in by_evidence["full"]["by_family"].items():
        lines.append(
            (f"{family} (unseen)" if family in UNSEEN else family, ", ".join(one["causes"]), one["cause_right"]["recordings"], share(one["cause_right"]),
             share(one["side_right_when_answered"]), share(one["unknown"]))
        )  # fmt: skip
    return table(lines)


def confusion(by_evidence: Figures) -> str:
    return _confusion(by_evidence["full"]["ours"]["cause"]["confusion"])


def misses(found: Sequence[Figures]) -> str:
    if not found:
        return "None.\n"
    return table(
        [
            ("recording", "subscription", "true", "windows of the state", "called otherwise"),
            *((one["recording"], _subscription(one), one["true"], one["windows"], _named(one["named"])) for one in found),
        ]
    )  # fmt: skip


def calibration(by_evidence: Figures) -> str:
    found = by_evidence["full"]["calibration"]
    lines = [("confidence", "windows", "stated", "right")]
    for prefix, group in (("", found["bins"]), ("grade ", found["grades"])):
        lines += [
            (prefix + one["name"], one["right"]["of"], number(one["stated"]), share(one["right"]))
            for one in group
            if one["right"]["of"]
        ]
    return table(lines)


def never(by_evidence: Figures) -> str:
    found = by_evidence["full"]["never_right"]
    if not found:
        return "None.\n"
    return table([("recording", "cause"), *((one["recording"], one["cause"]) for one in found)])


def evidence(by_evidence: Figures) -> str:
    rows = [
        *FIGURES,
        (
            "the verdict names the switch (where one would show more)",
            lambda part: share(part["switch_named"]),
        ),
    ]
    rows += [
        (f"side right when answered, {name}", lambda part, name=name: _side(part, name))
        for name in _RULES[:3]
    ]
    return table(
        [("figure", *by_evidence), *([what, *map(show, by_evidence.values())] for what, show in rows)]
    )


def evidence_causes(by_evidence: Figures) -> str:
    classes = by_evidence["full"]["ours"]["cause"]["classes"]
    names = [cause for cause, one in classes.items() if one["windows"]]
    return table(
        [
            ("F1 of cause", *by_evidence),
            *(
                [cause, *(number(part["ours"]["cause"]["classes"][cause]["f1"]) for part in by_evidence.values())]
                for cause in names
            ),
        ]
    )  # fmt: skip


def altered(found: Figures) -> str:
    lines = [("cause written in", "recordings", "windows", "named so", "side right when answered", "unknown", "healthy in the same recordings, called healthy")]  # fmt: skip
    for cause, one in found["altered"].items():
        healthy = one["classes"].get("healthy")
        healthy_right = share(healthy["recall"]) if healthy and healthy["windows"] else "-"
        lines.append(
            (cause, one["recordings"], one["windows"], share(one["classes"][cause]["recall"]), share(one["side_right_when_answered"]),
             share(one["unknown"]), healthy_right)
        )  # fmt: skip
    return table(lines)


# -- figures, each with how it is shown -----------------------------------------------------------

Show = Callable[[Figures], str]

FIGURES: tuple[tuple[str, Show], ...] = (
    ("settled windows", lambda part: str(part["windows"])),
    ("recordings / families / states", lambda part: f"{part['recordings']} / {part['families']} / {part['states']}"),
    ("macro-F1 over causes", lambda part: figure(part["ours"]["cause"]["macro_f1"], part["ours"]["cause"]["macro_f1_clustered"])),
    ("cause right", lambda part: share(part["ours"]["cause"]["right"])),
    ("cause right when answered", lambda part: share(part["ours"]["cause"]["right_when_answered"])),
    ("side right when answered", lambda part: share(part["ours"]["side"]["right_when_answered"])),
    ("states mostly on the wrong side", lambda part: str(len(part["ours"]["side"]["mostly_wrong"]))),
    ("unknown", lambda part: share(part["ours"]["cause"]["unknown"])),
    ("limiter right, where throttled and called so", lambda part: share(part["limiter_right"])),
    ("healthy called throttled", lambda part: share(part["ours"]["healthy_called_throttled"])),
    ("healthy and answered", lambda part: share(part["ours"]["healthy_answered"])),
    ("Brier score", lambda part: number(part["calibration"]["brier"], 4)),
    ("expected calibration error", lambda part: number(part["calibration"]["expected_error"], 3)),
    ("right after a cause began: median, 90th percentile", lambda part: delay(part["after_change"])),
    ("right after it ended: median, 90th percentile", lambda part: delay(part["after_relief"])),
    ("right after a subscription came: median, 90th percentile", lambda part: delay(part["new"])),
    ("flips per hour", lambda part: flips(part["flips"], "flips", "per_hour")),
    ("flips per hour after hysteresis", lambda part: flips(part["flips"], "steady_flips", "steady_per_hour")),
    ("precision of *throttled* at 1 % throttled", lambda part: precision(part["ours"]["alarm"])),
)  # fmt: skip

FIGURES_OF_RULE: tuple[tuple[str, Show], ...] = (
    ("macro-F1 over causes", lambda rule: figure(rule["cause"]["macro_f1"], rule["cause"]["macro_f1_clustered"])),
    ("macro-F1 over sides", lambda rule: figure(rule["side"]["macro_f1"], rule["side"]["macro_f1_clustered"])),
    ("side right", lambda rule: share(rule["side"]["right"])),
    ("side right when answered", lambda rule: share(rule["side"]["right_when_answered"])),
    ("states mostly on the wrong side", lambda rule: str(len(rule["side"]["mostly_wrong"]))),
    ("unknown", lambda rule: share(rule["side"]["unknown"])),
    ("throttled and called so", lambda rule: share(rule["alarm"]["recall"])),
    ("not throttled and called so", lambda rule: share(rule["alarm"]["false_alarms"])),
    ("healthy called throttled", lambda rule: share(rule["healthy_called_throttled"])),
    ("precision of *throttled* at 1 % throttled", lambda rule: precision(rule["alarm"])),
)  # fmt: skip


def _side(part: Figures, rule: str) -> str:
    found = part["baselines"][rule]["side"]
    return f"{percent(found['right_when_answered']['value'])} ({percent(found['unknown']['value'])} unknown)"


# -- cells -----------------------------------------------------------------------------------------


def share(found: Figures | None) -> str:
    if found is None or not found["of"]:
        return "-"
    text = f"{found['count']} of {found['of']} = {percent(found['value'])} {span(found['wilson'])}"
    return text + (f" {span(found['clustered'])}" if found["clustered"] else "")


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def span(bounds: Sequence[float] | None, scale: float = 100, digits: int = 1) -> str:
    if bounds is None:
        return "-"
    return "[{:.{d}f}, {:.{d}f}]".format(*(scale * bound for bound in bounds), d=digits)


def number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figure(value: float | None, bounds: Sequence[float] | None) -> str:
    return number(value, 3) + ("" if bounds is None else f" {span(bounds, 1, 3)}")


def delay(found: Figures) -> str:
    if not found["changes"]:
        return "-"
    times = [
        "never" if time_s is None else f"{time_s:.0f} s" for time_s in (found["median_s"], found["p90_s"])
    ]
    return f"{', '.join(times)} ({found['changes']} changes, {found['never']} never)"


def flips(found: Figures, count: str, per_hour: str) -> str:
    return f"{number(found[per_hour])} ({found[count]} in {found['hours']:.1f} h)"


def precision(alarm: Figures) -> str:
    if alarm["precision"] is None:
        return "-"
    low, high = (percent(bound) for bound in alarm["precision_between"])
    return f"{percent(alarm['precision'])} ({low} to {high})"


def _subscription(one: Figures) -> str:
    return (
        one["subscription"]
        if one["partition"] < 0
        else f"{one['subscription']}, partition {one['partition']}"
    )


def _named(named: dict[str, int]) -> str:
    return ", ".join(f"{cause} {windows}" for cause, windows in named.items())


def _confusion(found: dict[str, dict[str, int]]) -> str:
    columns = sorted({column for row in found.values() for column in row})
    return table(
        [
            ("true, then named", *columns),
            *([true, *(row.get(column, "") for column in columns)] for true, row in found.items() if row),
        ]
    )


def _by_set(found: Figures, show: Callable[[Figures], str]) -> str:
    return "\n".join(f"**{title(name).capitalize()}**\n\n{show(by)}" for name, by in found["sets"].items())


def table(lines: Sequence[Sequence[Any]]) -> str:
    head, *rest = [[str(cell) for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rest])
