"""One anomaly, opened: its chart, what it was compared with, and what to look at. In: its row and minutes. Out: components."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.anomaly import anomaly_figure
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.components.chart_key import PageKey
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import cause_badge, hostile, save_buttons, section
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.anomalies import text
from throttlescope.app.web.pages.anomalies.groups import subscription_then
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS
from throttlescope.models.anomaly.band import UsualBand
from throttlescope.models.anomaly.rules import RULES
from throttlescope.models.messages.catalogue import message, sentence

#: Shown before and after; a long one is shown at its beginning.
_BEFORE_MS, _AFTER_MS, _LONGEST_MS = 3 * BLOCK_MS, BLOCK_MS, DAY_MS


def shown_range(row: dict) -> tuple[int, int]:
    """What the chart shows, [start_ms, end_ms)."""
    start_ms = row["start_ms"] - _BEFORE_MS
    return start_ms, min(row["end_ms"] + _AFTER_MS, start_ms + _LONGEST_MS)


def opened(
    row: dict, minutes: pd.DataFrame, found: UsualBand | None, address: AnomaliesAddress
) -> html.Section:
    """The chart first, then what it is based on."""
    facts = _facts(row)
    meaning = text.explained(row)
    what = text.what(row)
    identity = [
        *sentence_parts(
            message(
                "label.of_in",
                subscription=hostile(row["subscription"]),
                topic=hostile(fmt.topic_name(row["topic"], row["partition"])),
                cluster=hostile(row["cluster"]),
            )
        ),
        " · ",
        dcc.Link(sentence("anomalies.opened.then"), href=subscription_then(row)),
        " · ",
        dcc.Link(sentence("label.close_heading"), href=replace(address, opened=None).href()),
    ]
    return section(
        f"{what[:1].upper()}{what[1:]}",
        [
            html.P(identity, className="identity"),
            *([html.P(html.Strong(meaning))] if meaning else []),
            _chart(row, minutes, found),
            html.P(_chart_note(found, row["signal"]), className="quiet facts"),
            html.Dl(
                [part for name, value in facts for part in (html.Dt(name), html.Dd(value))],
                className="run-facts",
            ),
        ],
        note=f"{fmt.between(row['start_ms'], row['end_ms'])}, {fmt.duration(row['end_ms'] - row['start_ms'])}, {text.state(row)}",
        id="opened",
        tools=save_buttons("anomaly"),
    )


def _chart(row: dict, minutes: pd.DataFrame, found: UsualBand | None):
    """The signal around it with its band, or that its minutes are not in the lake."""
    if minutes.empty and found is None:
        return panel(sentence("anomalies.no_minutes"), [sentence("anomalies.no_minutes.stored")])
    start_ms, end_ms = shown_range(row)
    signal = row["signal"]
    unit = text.unit(signal) or sentence("anomalies.share_of_samples")
    figure = anomaly_figure(
        found,
        minutes,
        row,
        column=_column(minutes, signal),
        title=f"{text.signal_words()[signal]}, {unit}",
        unit=unit,
        start_ms=start_ms,
        end_ms=end_ms,
    )
    words = PageKey().take(figure)
    graph = dcc.Graph(
        id={"type": "anomaly-chart", "panel": "opened"},
        figure=figure,
        config=graph_config(toImageButtonOptions={"filename": "throttlescope-anomaly"}),
        style={"height": figure.layout.height},
    )
    return html.Div([*words, ChartPlace(graph)])


def _column(minutes: pd.DataFrame, signal: str) -> pd.Series:
    """A signal in the unit that rows of anomalies have, without a band."""
    if signal in ("in_msg_rate", "out_msg_rate"):
        counted = minutes[signal.replace("_rate", "_delta")].astype(float)
        span_ms = minutes["in_span_ms" if signal == "in_msg_rate" else "delta_span_ms"].astype(float)
        return counted / (span_ms.where(span_ms > 0) / SECOND_MS)
    if signal == "backlog_ready_entries":
        ready = minutes["backlog_ready_entries"].astype(float)
        return ready.fillna(minutes["backlog_entries"].astype(float))
    if signal == "throttled_events":
        names = [
            name for name in minutes.columns if name.startswith("throttled_") and name.endswith("_delta")
        ]
        return minutes[names].astype(float).sum(axis=1, min_count=1)
    return minutes["coverage_share"].astype(float)


def _chart_note(found: UsualBand | None, signal: str) -> str:
    if signal == "samples":
        return sentence("anomalies.chart.silence")
    if found is None:
        return sentence("anomalies.chart.stored_only")
    return sentence("anomalies.chart.band")


def _facts(row: dict) -> list[tuple]:
    """Names and values, in their order."""
    if row["direction"] == "silence":
        worst = sentence("anomalies.worst.silence")
        expected = sentence("anomalies.usual.samples")
        score = sentence("anomalies.score.silence", score=row["score"])
    else:
        at_worst = (
            sentence("label.at_time", time=fmt.moment(row["worst_ms"])) if row["worst_ms"] is not None else ""
        )
        worst = f"{text.amount(row['value'], row['signal'])} {at_worst}"
        expected = text.amount(row["expected"], row["signal"])
        score = sentence("anomalies.score", score=row["score"])
    baseline = sentence("label.not_stored")
    if row["baseline_start_ms"] is not None:
        baseline = sentence(
            "anomalies.baseline",
            range=fmt.between(row["baseline_start_ms"], row["baseline_end_ms"]),
            minutes=fmt.exact(row["baseline_points"]),
        )
    verdict = sentence("label.none_stored")
    if row["verdict_cause"]:
        verdict = cause_badge(row["verdict_cause"], row["verdict_limiter"])
    return [
        (sentence("label.worst"), worst),
        (sentence("label.expected_there"), expected),
        (sentence("label.usual_there"), text.usual(row)),
        (sentence("label.score"), score),
        (sentence("label.detected"), fmt.moment(row["detected_ms"])),
        (sentence("label.state"), _state(row)),
        (sentence("label.compared_with"), baseline),
        (
            sentence("label.excluded_from_it"),
            sentence("anomalies.masked", share=fmt.percent(row["masked_share"])),
        ),
        (sentence("label.weeks_of"), fmt.name(row["zone"], 60)),
        (
            sentence("label.broker_then"),
            hostile(row["broker"]) if row["broker"] else sentence("label.not_known"),
        ),
        (sentence("label.verdict_then_heading"), verdict),
        (sentence("label.method"), f"{fmt.name(row['method'], 40)} {fmt.name(row['method_version'], 20)}"),
    ]


def _state(row: dict) -> str:
    if row["adopted"]:
        return sentence("anomalies.state.adopted", days=RULES.former_days)
    return sentence("anomalies.state.open") if row["state"] == "open" else sentence("label.over")


def not_found() -> html.Section:
    """An anomaly of an old link."""
    return html.Section(
        panel(sentence("anomalies.gone"), [sentence("anomalies.gone.why")], tone="orange"), id="opened"
    )
