"""One set of recordings, window by window: what was true and named, how sure, with less evidence, how soon. In: its figures. Out: components."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.figures.calibration import calibration_figure
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.app.presentation.figures.confusion import confusion_figure
from throttlescope.app.web.components.parts import cause_badge, plain_table, save_buttons, section
from throttlescope.app.web.pages.accuracy import figure_text

_EVIDENCE = {
    "full": "everything",
    "no limits": "no limits (no admin API)",
    "no consumer metrics": "no consumer metrics",
    "neither": "neither of both",
    "imprecise backlog": "an imprecise backlog",
    "60 s scrapes": "scrapes every 60 s",
}
_DELAYS = {
    "after_change": "after a cause began",
    "after_relief": "after it ended",
    "new": "after a subscription came",
}


def matrix(part: dict[str, Any]) -> html.Section:
    """The heat map with its numbers, and recall and precision of every cause."""
    figure = confusion_figure(part["confusion"])
    graph = dcc.Graph(
        id="method-confusion",
        figure=figure,
        config={**CONFIG, "displayModeBar": False},
        style={"height": figure.layout.height},
        className="matrix",
    )
    rows = [
        [
            cause_badge(cause),
            fmt.exact(one["windows"]),
            f"{one['recordings']} / {one['families']}",
            figure_text.share(one["recall"]),
            figure_text.share(one["precision"]),
            figure_text.figure(one["f1"], one["f1_clustered"]),
        ]
        for cause, one in part["classes"].items()
        if one["windows"] and cause in CAUSES
    ]
    never = [
        cause
        for cause in CAUSES
        if cause not in ("unknown",) and not part["classes"].get(cause, {}).get("windows")
    ]
    return section(
        "What was true, and what was named",
        [
            html.Div(
                graph,
                className="matrix-box",
                tabIndex=0,
                role="region",
                **{"aria-label": "confusion matrix; the table below has its numbers"},
            ),
            plain_table(
                (
                    "Cause",
                    "Windows",
                    "Recordings / families",
                    "Recall: true and named so",
                    "Precision: named and true",
                    "F1",
                ),
                rows,
            ),
            html.P(
                "Not among these recordings, so not measured here: "
                + ", ".join(CAUSES[cause].label for cause in never)
                + "."
                if never
                else "Every cause is among these recordings.",
                className="quiet",
            ),
        ],
        note="windows; the diagonal is right",
    )


def calibration(part: dict[str, Any]) -> html.Section:
    """Stated and measured confidence."""
    bins = part["calibration"]["bins"]
    if not bins:
        return section("Calibration", [html.P("No window was answered.", className="quiet")])
    figure = calibration_figure(bins)
    rows = [
        [prefix + one["name"], figure_text.percent(one["stated"]), figure_text.share(one["right"])]
        for prefix, group in (("confidence ", bins), ("grade ", part["calibration"]["grades"]))
        for one in group
    ]
    return section(
        "Calibration",
        [
            html.Div(
                [
                    dcc.Graph(
                        id="method-calibration", figure=figure, config={**CONFIG, "displayModeBar": False},
                        style={"height": figure.layout.height},
                    ),
                    plain_table(("Windows of", "Stated", "Right"), rows),
                ],
                className="then-and-now",
            ),
        ],
        tools=save_buttons("calibration"),
        note=f"is a stated confidence kept? Brier score {figure_text.number(part['brier'], 4)}, expected error {figure_text.number(part['expected_calibration_error'])}",
    )  # fmt: skip


def less(part: dict[str, Any]) -> html.Section:
    """What every kind of evidence is worth."""
    rows = [
        [
            _EVIDENCE.get(name, name),
            figure_text.share(one["side_right_when_answered"]),
            figure_text.share(one["cause_right_when_answered"]),
            figure_text.share(one["unknown"]),
            figure_text.figure(one["cause_macro_f1"], None),
            figure_text.share(one["healthy_called_throttled"]),
            figure_text.share(one["switch_named"])
            if one["switch_named"]
            else html.Span("no switch to name", className="quiet"),
            figure_text.share(one["side_right_when_answered_naive_rule"]),
        ]
        for name, one in part["evidence"].items()
    ]
    return section(
        "With evidence taken away",
        [
            plain_table(
                (
                    "What was seen",
                    "Side right when answered",
                    "Cause right when answered",
                    "Unknown",
                    "Macro-F1",
                    "Healthy called throttled",
                    "The verdict names the switch",
                    "Naive rule, side right",
                ),
                rows,
            )
        ],
        note="the same recordings, as a broker or Prometheus with other settings would have shown them",
        id="less",
    )


def times(part: dict[str, Any]) -> html.Section:
    """Times to a right verdict, and changes of mind."""
    rows = [
        [
            _DELAYS.get(name, name),
            figure_text.seconds(one["median_s"]) if one["changes"] else figure_text.NOT,
            figure_text.seconds(one["p90_s"]) if one["changes"] else figure_text.NOT,
            fmt.exact(one["changes"]),
            fmt.exact(one["never"]),
        ]
        for name, one in part["delays"].items()
    ]
    flips = part["flips"]
    return section(
        "How soon a verdict is right, and how often it changes its mind",
        [
            plain_table(("Right", "Median", "90th percentile", "Changes", "Never right"), rows),
            html.P(
                f"In {figure_text.number(flips['hours'], 1)} hours in which nothing changed, verdicts changed {fmt.exact(flips['flips'])} times "
                f"({figure_text.number(flips['per_hour'], 2)} an hour), {fmt.exact(flips['steady_flips'])} times after the hysteresis of episodes "
                f"({figure_text.number(flips['steady_per_hour'], 2)} an hour)."
            ),
        ],
        note="until the end of the first window that says so, if the two behind it do too",
    )
