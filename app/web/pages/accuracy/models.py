"""How well the simulator, forecasts and anomalies do. In: the figures that the package brings. Out: components; no number is written here."""

from __future__ import annotations

from typing import Any

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.parts import plain_table, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.accuracy import figure_text

_ERRORS = {
    "dispatched": "Dispatched messages per minute",
    "backlog": "Backlog at every scrape, of its peak",
    "drain": "Drain time",
    "events": "Events per minute, in multiples of what is allowed",
}


def simulator(found: dict[str, Any] | None) -> list:
    """The simulator compared with recordings of a real broker, and with a model of one line."""
    if not found:
        return [_missing("simulator", "python -m tests.lab.simulated")]
    parts = found["parts"]
    judge = next(iter(parts))
    rows = []
    for name, title in _ERRORS.items():
        wanted = found["targets"][name]["wanted"]
        reached = parts[judge]["ours"][name]
        rows.append(
            [
                title,
                _error(name, wanted),
                html.Strong(_error(name, reached)),
                figure_text.met(_within(reached, wanted)),
                _error(name, parts[judge]["line"][name]),
                *(_error(name, part["ours"][name]) for other, part in parts.items() if other != judge),
            ]
        )
    others = [name for name in parts if name != judge]
    right = [
        f"{name}: right reason and unit, and no other, in {part['right_reason']} of {part['with_events']}"
        for name, part in parts.items()
    ]
    far = [
        html.Li(
            [
                html.Strong(f"{name} ({part['recordings']} recordings): "),
                ", ".join(part["families_too_far"]).replace("_", " ") or "none",
            ]
        )
        for name, part in parts.items()
    ]
    return [
        section(
            "The simulator compared with a real broker",
            [
                plain_table(
                    (
                        "Median error over scenarios",
                        "Allowed",
                        f"{judge.capitalize()} ({parts[judge]['recordings']} recordings)",
                        "Met?",
                        "min(limit, capacity, arrivals), same recordings",
                        *(f"{name} ({parts[name]['recordings']})" for name in others),
                    ),
                    rows,
                ),
                html.P("Throttle events, " + "; ".join(right) + "."),
            ],
            note="every scenario was played on a real broker and is simulated with the same file",
        ),
        section(
            f"Families further off than {found['within']} times what is allowed",
            [html.Ul(far, className="rules-say")],
            note="what-if answers about these are to be doubted",
        ),
        section(
            "By family",
            [
                plain_table(
                    (
                        "Family",
                        "Engine",
                        "Part",
                        "Recordings",
                        *(title for title in _ERRORS.values()),
                        "Backlog, one line",
                    ),
                    [
                        [
                            family["family"].replace("_", " "),
                            ", ".join(family["engines"]),
                            family["part"],
                            str(family["recordings"]),
                            *(_error(name, family["ours"][name]) for name in _ERRORS),
                            _error("backlog", family["line"]["backlog"]),
                        ]
                        for family in found["families"]
                    ],
                )
            ],
        ),
        figure_text.page_of(found["page"]),
    ]


def _within(value: float | str | None, wanted: float) -> bool | None:
    return None if value is None else value != "never" and value <= wanted


def _error(name: str, value: float | str | None) -> str:
    if value is None:
        return "nothing to compare"
    if isinstance(value, str):
        return value
    return figure_text.number(value, 2) if name == "events" else figure_text.percent(value)


def forecasts(found: dict[str, Any] | None) -> list:
    """How often what was measured lay inside the interval that was forecast."""
    if not found:
        return [_missing("forecasts", "python -m benchmarks.forecasts")]
    target = found["target"]
    judged = found["parts"].get(target["judges"])
    never = found["never"]
    return [
        section(
            "Drains: measured inside the 90 % interval",
            [
                *([_coverage_says(judged, target)] if judged else []),
                _coverage("Recordings", found["parts"]),
                html.P(
                    f"{fmt.exact(never['forecasts'])} forecasts said never at this rate; {fmt.exact(never['drained'])} of them drained before "
                    f"anything was changed, {fmt.exact(never['drained_within_a_minute_of_a_change'])} of these within a minute after a change."
                ),
            ],
            note="no recording is judged by an interval that it had a part in",
        ),
        section("By how far it looks ahead", [_coverage("In lengths of the stretch it rests on", found["reaches"])]),
        section("By the previous cause of the backlog", [_coverage("Cause", found["causes"])]),
        section(
            "First losses",
            [
                plain_table(
                    ("Deadline", "Recordings", "Forecasts", "Within one check of the broker", "Inside the interval"),
                    [
                        [
                            kind.replace("_", " "), str(one["recordings"]), fmt.exact(one["forecasts"]),
                            _of(one["within_one_check"], one["forecasts"]), _of(one["inside"], one["forecasts"]),
                        ]
                        for kind, one in found["losses"].items()
                    ],
                )
            ],
            note="a forecast without a time counts as a miss",
        ),
        figure_text.page_of(found["page"]),
    ]  # fmt: skip


def _coverage_says(judged: dict[str, Any], target: dict[str, Any]) -> html.P:
    """The target, judged by what no calibration had seen: a cross-validated figure cannot meet it."""
    unseen = target["unseen"]
    low, high = unseen["wilson"]
    holds = low <= target["wanted"] <= high and unseen["decided"] >= target["least_forecasts"]
    return html.P(
        [
            figure_text.met(holds),
            f" Wanted: the Wilson interval contains {figure_text.percent(target['wanted'])}, of at least {target['least_forecasts']} forecasts. On the held-out "
            f"set ({target['judges']}), when no calibration had seen it: {_of(unseen['inside'], unseen['decided'])}, {figure_text.span(unseen['wilson'])}. "
            f"Its recordings are part of the calibration now; cross-validated they show {figure_text.span(judged['wilson'])} of "
            f"{fmt.exact(judged['forecasts'])}, which cannot meet the target.",
        ]
    )


def _coverage(title: str, parts: dict[str, Any]) -> html.Div:
    return plain_table(
        (
            title,
            "Forecasts",
            "Recordings",
            "Inside",
            "Wilson",
            "Over recordings",
            "Median error of the median",
        ),
        [
            [
                name.replace("_", " "),
                fmt.exact(one["forecasts"]),
                str(one["recordings"]),
                _of(one["inside"], one["decided"]),
                figure_text.span(one["wilson"]),
                figure_text.span(one["clustered"]),
                figure_text.percent(one["median_error_share"]),
            ]
            for name, one in parts.items()
            if one["forecasts"]
        ],
    )


def _of(count: int, of: int) -> str:
    return f"{count} of {of} = {figure_text.percent(count / of)}" if of else "nothing to count"


def anomalies(found: dict[str, Any] | None) -> list:
    """The scores on generated traffic, compared with simpler detectors."""
    if not found:
        return [_missing("anomalies", "python -m benchmarks.anomalies --page")]
    ours, wanted, met = found["detectors"][found["ours"]], found["targets"], found["met"]
    return [
        section(
            "Targets",
            [
                plain_table(
                    ("Target", "Wanted", "Measured", "Met?"),
                    [
                        ["Event-wise F1", f"at least {wanted['f1']:g}", figure_text.number(ours["f1"]), figure_text.met(met["f1"])],
                        ["False alarms a subscription-week", f"at most {wanted['false_per_week']:g}",
                         f"{figure_text.number(ours['false_per_week'])} ({ours['false']} in {ours['weeks']:.0f} weeks)", figure_text.met(met["false_per_week"])],
                        ["Median delay", f"at most {wanted['delay_min']:g} min", _minutes(ours["median_delay_min"]), figure_text.met(met["delay"])],
                        ["Better than simpler detectors", "F1 above the best", f"{figure_text.number(_best(found))} is the best of them", figure_text.met(met["beats"])],
                    ],
                )
            ],
            note=f"generated traffic: {found['subscriptions']} subscriptions, {found['days']} days each, {ours['events']} injected events; "
            f"method version {found['method_version']}",
        ),
        section("Compared with simpler detectors", [_scores("Detector", found["detectors"])], note="no points are adjusted: an alarm is a moment"),
        section(
            "What is found",
            [
                plain_table(
                    ("Injected", "Found", "Median delay"),
                    [[kind, f"{one['found']} of {one['events']}", _minutes(one["median_delay_min"])] for kind, one in found["kinds"].items()],
                )
            ],
        ),
        section("By shape of traffic", [_scores("Traffic", found["shapes"])]),
        section("What each part does", [_scores("Our method, on some of the subscriptions", found["without"])], note="of so few events, one more or less is chance"),
        html.P("The traffic is generated, and by the same hands as the method: expect more false alarms in the field. Groups are not scored.", className="quiet"),
        figure_text.page_of(found["page"]),
    ]  # fmt: skip


def _best(found: dict[str, Any]) -> float:
    return max(one["f1"] for name, one in found["detectors"].items() if name != found["ours"])


def _scores(title: str, rows: dict[str, Any]) -> html.Div:
    return plain_table(
        (title, "Precision", "Recall", "F1", "False alarms a week", "Median delay"),
        [
            [
                name, figure_text.number(one["precision"]), figure_text.number(one["recall"]), html.Strong(figure_text.number(one["f1"])),
                figure_text.number(one["false_per_week"]), _minutes(one["median_delay_min"]),
            ]
            for name, one in rows.items()
        ],
    )  # fmt: skip


def _minutes(value: float | None) -> str:
    return "none found" if value is None else f"{value:g} min"


def _missing(what: str, command: str):
    return panel(
        f"No figures of the {what} came with this package.", [f"They are made by {command}."], tone="orange"
    )
