"""The tables of ``docs/accuracy/forecasts.md``. In: figures and first losses. Out: the page with every marked table recomputed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.forecasting.losses import FirstLoss
from tests.lab.sets import HELD_OUT, title

_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def summary(found: dict) -> str:
    names = [name for name, one in found["parts"].items() if one["forecasts"]]
    lines = [("figure", *map(title, names))]
    for what, show in (
        ("forecasts with an interval", lambda one: str(one["forecasts"])),
        ("recordings", lambda one: str(one["recordings"])),
        ("measured inside the 90 % interval", lambda one: share(one["inside"], one["decided"])),
        ("Wilson interval, as if independent", lambda one: span(one["wilson"])),
        ("interval over whole recordings", lambda one: span(one["clustered"])),
        ("with the undecided weighed in (Kaplan-Meier)", lambda one: percent(one["kaplan_meier"])),
        (
            "undecided (history ended or something changed first)",
            lambda one: str(one["forecasts"] - one["decided"]),
        ),
        ("earlier than the interval / later", lambda one: f"{one['before']} / {one['after']}"),
        ("intervals without an end", lambda one: str(one["open_intervals"])),
        ("median error of the median", lambda one: percent(one["median_error_share"])),
        ("median of interval's end over its start", lambda one: f"{one['median_width']:.2f}"),
    ):
        lines.append((what, *(show(found["parts"][name]) for name in names)))
    return table(lines)


def targets(found: dict, unseen: dict) -> str:
    """What sets that no calibration has seen say of the target, and the one that has entered it since."""
    rows = [
        _target("held-out set, seen by no calibration", unseen),
        _target(
            "held-out set, cross-validated after it entered the calibration",
            found["parts"][HELD_OUT],
            judges=False,
        ),
    ]
    if found["parts"]["fleets"]["forecasts"]:
        rows.append(_target("development fleets, cross-validated", found["parts"]["fleets"], judges=False))
    if found["held_out_fleets"]:
        rows.append(_target("held-out fleets, seen by no calibration", found["held_out_fleets"]))
    heading = "target: the Wilson interval contains 90 %, of at least 200 forecasts"
    return table([(heading, "inside", "Wilson", "over recordings", "met"), *rows])


def _target(name: str, one: dict, judges: bool = True) -> tuple:
    met = "yes" if _contains(one["wilson"]) and one["decided"] >= 200 else "no"
    return (
        name, share(one["inside"], one["decided"]), span(one["wilson"]), span(one["clustered"]),
        met if judges else "cannot meet it",
    )  # fmt: skip


def _contains(wilson) -> bool:
    low, high = wilson
    return low <= 0.9 <= high


def split(found: dict, by: str, heading: str) -> str:
    lines = [(heading, "forecasts", "recordings", "inside", "Wilson", "over recordings", "median error")]
    for name, one in found[by].items():
        if one["forecasts"]:
            lines.append(
                (name, one["forecasts"], one["recordings"], share(one["inside"], one["decided"]), span(one["wilson"]),
                 span(one["clustered"]), percent(one["median_error_share"]))
            )  # fmt: skip
    return table(lines)


def never(found: dict) -> str:
    counted = found["never"]
    states = found["states"]
    return table(
        [
            ("figure", "forecasts"),
            ("made in all, every 15 s while there was a backlog", sum(states.values())),
            ("with a time", states["expected"]),
            ("never at this rate", f"{states['never']}, of {counted['recordings']} recordings"),
            ("of these, drained before anything was changed", counted["drained"]),
            ("of those, made within a minute after a change", counted["drained_within_a_minute_of_a_change"]),
            ("no trend to go by yet", states["unknown"]),
        ]
    )


def page(text: str, found: dict, losses: list[FirstLoss], unseen: dict) -> str:
    """The page with every marked table recomputed; ``unseen``: the held-out set before any calibration had seen it."""
    tables = {
        "targets": targets(found, unseen),
        "summary": summary(found),
        "reaches": split(found, "reaches", "looks ahead"),
        "causes": split(found, "causes", "limited before by"),
        "never": never(found),
        "losses": losses_table(losses),
    }
    return _MARKED.sub(lambda match: match[1] + tables[match[2]] + match[3], text)


def share(count: int, of: int) -> str:
    return f"{count} of {of} = {100 * count / of:.1f} %" if of else "-"


def span(pair) -> str:
    return "-" if pair is None else "{:.1f} to {:.1f} %".format(*(100 * end for end in pair))


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def table(lines: Sequence[Sequence]) -> str:
    head, *rest = [[str(cell) for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rest])


def losses_table(found: list[FirstLoss]) -> str:
    lines = [("recording", "deadline", "check s", "forecasts", "earliest, s ahead", "within one check", "inside the interval", "off by, s: least to most")]  # fmt: skip
    for name, kind in sorted({(one.recording, one.kind) for one in found}):
        mine = [one for one in found if (one.recording, one.kind) == (name, kind)]
        off = sorted(one.off_s for one in mine if one.off_s is not None)
        lines.append(
            (title(name), kind, f"{mine[0].check_ms / 1000:g}", len(mine), f"{max(one.ahead_s for one in mine):.0f}",
             share(sum(one.within_one_check for one in mine), len(mine)), share(sum(one.inside for one in mine), len(mine)),
             f"{off[0]:+.0f} to {off[-1]:+.0f}" if off else "-")
        )  # fmt: skip
    return table(lines)
