"""One set of recordings, window by window: what was true and named, how sure, with less evidence, how soon. In: its figures. Out: components."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.figures.calibration import calibration_figure
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.figures.confusion import confusion_figure
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import cause_badge, plain_table, save_buttons, section
from throttlescope.app.web.pages.accuracy import figure_text
from throttlescope.models.evaluation.calibration import bin_labels
from throttlescope.models.messages.catalogue import sentence


def confusion_matrix(part: dict[str, Any]) -> html.Section:
    """The heat map with its numbers, and recall and precision of every cause."""
    figure = confusion_figure(part["confusion"])
    graph = dcc.Graph(
        id="method-confusion",
        figure=figure,
        config=graph_config(displayModeBar=False),
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
        CAUSES[cause].label
        for cause in CAUSES
        if cause != "unknown" and not part["classes"].get(cause, {}).get("windows")
    ]
    return section(
        sentence("accuracy.matrix.title"),
        [
            html.Div(
                ChartPlace(graph),
                className="matrix-box",
                tabIndex=0,
                role="region",
                **{"aria-label": sentence("accuracy.matrix.label")},
            ),
            plain_table(
                (
                    sentence("label.cause"),
                    sentence("label.windows"),
                    sentence("label.recordings_per_families"),
                    sentence("accuracy.matrix.recall"),
                    sentence("accuracy.matrix.precision"),
                    "F1",
                ),
                rows,
            ),
            html.P(
                sentence("accuracy.matrix.not_among", causes=never)
                if never
                else sentence("accuracy.matrix.all_among"),
                className="quiet",
            ),
        ],
        note=sentence("accuracy.matrix.note"),
    )


def calibration(part: dict[str, Any]) -> html.Section:
    """Stated and measured confidence."""
    labels = bin_labels()
    bins = [{**one, "name": labels[one["name"]]} for one in part["calibration"]["bins"]]
    if not bins:
        return section(
            sentence("label.calibration"), [html.P(sentence("accuracy.calibration.none"), className="quiet")]
        )
    figure = calibration_figure(bins)
    rows = [
        [
            sentence(f"accuracy.windows_of.{kind}", name=one["name"]),
            figure_text.percent(one["stated"]),
            figure_text.share(one["right"]),
        ]
        for kind, group in (("confidence", bins), ("grade", part["calibration"]["grades"]))
        for one in group
    ]
    return section(
        sentence("label.calibration"),
        [
            html.Div(
                [
                    ChartPlace(
                        dcc.Graph(
                            id="method-calibration", figure=figure, config=graph_config(displayModeBar=False),
                            style={"height": figure.layout.height},
                        )
                    ),
                    plain_table((sentence("label.windows_of"), sentence("label.stated"), sentence("label.right")), rows),
                ],
                className="then-and-now",
            ),
        ],
        tools=save_buttons("calibration"),
        note=sentence(
            "accuracy.calibration.note",
            brier=figure_text.number(part["brier"], 4),
            expected_error=figure_text.number(part["expected_calibration_error"]),
        ),
    )  # fmt: skip


def less_evidence(part: dict[str, Any]) -> html.Section:
    """What every kind of evidence is worth."""
    rows = [
        [
            sentence(f"accuracy.evidence.{name.replace(' ', '_')}"),
            figure_text.share(one["side_right_when_answered"]),
            figure_text.share(one["cause_right_when_answered"]),
            figure_text.share(one["unknown"]),
            figure_text.figure(one["cause_macro_f1"], None),
            figure_text.share(one["healthy_called_throttled"]),
            figure_text.share(one["switch_named"])
            if one["switch_named"]
            else html.Span(sentence("accuracy.less.no_switch"), className="quiet"),
            figure_text.share(one["side_right_when_answered_naive_rule"]),
        ]
        for name, one in part["evidence"].items()
    ]
    return section(
        sentence("accuracy.less.title"),
        [
            plain_table(
                (
                    sentence("label.what_was_seen"),
                    sentence("accuracy.figure.side_right_when_answered"),
                    sentence("accuracy.less.cause_right"),
                    sentence("label.unknown"),
                    sentence("accuracy.macro_f1"),
                    sentence("accuracy.figure.healthy_called_throttled"),
                    sentence("accuracy.less.switch"),
                    sentence("accuracy.less.naive"),
                ),
                rows,
            )
        ],
        note=sentence("accuracy.less.note"),
        id="less",
    )


def verdict_times(part: dict[str, Any]) -> html.Section:
    """Times to a right verdict, and changes of a verdict while nothing changed."""
    rows = [
        [
            sentence(f"accuracy.delay.{name}"),
            figure_text.seconds(one["median_s"]) if one["changes"] else fmt.missing(),
            figure_text.seconds(one["p90_s"]) if one["changes"] else fmt.missing(),
            fmt.exact(one["changes"]),
            fmt.exact(one["never"]),
        ]
        for name, one in part["delays"].items()
    ]
    flips = part["flips"]
    return section(
        sentence("accuracy.times.title"),
        [
            plain_table(
                (
                    sentence("label.right"),
                    sentence("label.median"),
                    sentence("accuracy.percentile_90"),
                    sentence("label.changes"),
                    sentence("label.never_right"),
                ),
                rows,
            ),
            html.P(
                sentence(
                    "accuracy.times.flips",
                    hours=figure_text.number(flips["hours"], 1),
                    flips=fmt.exact(flips["flips"]),
                    per_hour=figure_text.number(flips["per_hour"], 2),
                    steady_flips=fmt.exact(flips["steady_flips"]),
                    steady_per_hour=figure_text.number(flips["steady_per_hour"], 2),
                )
            ),
        ],
        note=sentence("accuracy.times.note"),
    )
