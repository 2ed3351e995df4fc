"""One anomaly, opened: its chart, what it was compared with, and what to look at. In: its row and minutes. Out: components."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.anomalies import UNITS
from throttlescope.app.presentation.figures.anomaly import anomaly_figure
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.app.web.address.anomalies import AnomaliesAddress
from throttlescope.app.web.components.parts import cause_badge, hostile, save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.anomalies import text
from throttlescope.app.web.pages.anomalies.groups import subscription_then
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS
from throttlescope.models.anomaly.band import UsualBand
from throttlescope.models.anomaly.rules import RULES

#: Shown before and after; a long one is shown at its beginning.
_BEFORE_MS, _AFTER_MS, _LONGEST_MS = 3 * BLOCK_MS, BLOCK_MS, DAY_MS


def shown_range(row: dict) -> tuple[int, int]:
    """What the chart shows, [start_ms, end_ms)."""
    start_ms = row["start_ms"] - _BEFORE_MS
    return start_ms, min(row["end_ms"] + _AFTER_MS, start_ms + _LONGEST_MS)


def opened(
    row: dict, minutes: pd.DataFrame, found: UsualBand | None, address: AnomaliesAddress
) -> html.Section:
    """The chart first, then what it rests on."""
    start_ms, end_ms = shown_range(row)
    signal = row["signal"]
    unit = UNITS.get(signal, "share of expected samples")
    title = f"{text.SIGNALS[signal]}, {unit}"
    if minutes.empty and found is None:
        chart = panel(
            "No minutes around it.",
            [
                "The minutes that it was found in are not in the lake any longer, or were never ingested. What was stored stands below."
            ],
        )
    else:
        figure = anomaly_figure(
            found,
            minutes,
            row,
            column=_column(minutes, signal),
            title=title,
            unit=unit,
            start_ms=start_ms,
            end_ms=end_ms,
        )
        chart = dcc.Graph(
            id={"type": "anomaly-chart", "panel": "opened"},
            figure=figure,
            config={**CONFIG, "toImageButtonOptions": {"filename": "throttlescope-anomaly"}},
            style={"height": figure.layout.height},
        )
    facts = _facts(row)
    meaning = text.explained(row)
    return section(
        text.what(row)[:1].upper() + text.what(row)[1:],
        [
            html.P(
                [
                    hostile(row["subscription"]), html.Span(" of ", className="quiet"),
                    hostile(fmt.topic_name(row["topic"], row["partition"])), html.Span(" in ", className="quiet"),
                    hostile(row["cluster"]), " · ", dcc.Link("the subscription at that time", href=subscription_then(row)), " · ",
                    dcc.Link("close", href=replace(address, opened=None).href()),
                ],
                className="identity",
            ),
            *([html.P(html.Strong(meaning))] if meaning else []),
            chart,
            html.P(_chart_note(found, signal), className="quiet facts"),
            html.Dl([part for name, value in facts for part in (html.Dt(name), html.Dd(value))], className="run-facts"),
        ],
        note=f"{fmt.between(row['start_ms'], row['end_ms'])}, {fmt.duration(row['end_ms'] - row['start_ms'])}, {text.state(row)}",
        id="opened",
        tools=save_buttons("anomaly"),
    )  # fmt: skip


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
        return "Where the line is missing, no sample arrived. Shaded: the silence."
    if found is None:
        return (
            "Only what was stored: the weeks before are not in the lake, or in more files than a page reads."
        )
    return (
        "Expected and band are made again from the weeks that the lake holds now; the upright bar is what was stored at the worst "
        "minute, by which it was judged. Shaded: the anomaly."
    )


def _facts(row: dict) -> list[tuple]:
    at_worst = f"at {fmt.moment(row['worst_ms'])}" if row["worst_ms"] is not None else ""
    silent = row["direction"] == "silence"
    return [
        (
            "worst",
            "unknown: no sample" if silent else f"{text.amount(row['value'], row['signal'])} {at_worst}",
        ),
        (
            "expected there",
            "samples every minute" if silent else text.amount(row["expected"], row["signal"]),
        ),
        ("usual there", text.usual(row)),
        (
            "score",
            f"{row['score']:.2f}"
            + (" times the least silence that is told" if silent else " times the sum that raises an alarm"),
        ),
        ("told at", fmt.moment(row["detected_ms"])),
        ("state", _state(row)),
        (
            "compared with",
            f"{fmt.between(row['baseline_start_ms'], row['baseline_end_ms'])}, {fmt.exact(row['baseline_points'])} minutes known"
            if row["baseline_start_ms"] is not None
            else "not stored",
        ),
        ("left out of it", f"{fmt.percent(row['masked_share'])} of the minutes, because of incidents"),
        ("weeks of", fmt.name(row["zone"], 60)),
        ("broker then", hostile(row["broker"]) if row["broker"] else "not known"),
        (
            "verdict then",
            cause_badge(row["verdict_cause"], row["verdict_limiter"])
            if row["verdict_cause"]
            else "none stored",
        ),
        ("method", f"{fmt.name(row['method'], 40)} {fmt.name(row['method_version'], 20)}"),
    ]


def _state(row: dict) -> str:
    if row["adopted"]:
        return f"over: it lasted a day and became the new level; the former one is usual too for {RULES.former_days} days"
    return "open at the end of what was judged" if row["state"] == "open" else "over"


def gone() -> html.Section:
    """An anomaly of an old link."""
    return html.Section(
        panel(
            "This anomaly is not in the lake any longer.",
            [
                "Judging again with more data may find none, or another beginning. The list below has what is there now."
            ],
            tone="orange",
        ),
        id="opened",
    )
