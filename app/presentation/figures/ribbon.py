"""Causes over time, with the naive rule below. In: rows of ``verdicts``. Out: a figure.

Other rows appear where there is something to say: what a recording's script did, and when limits,
broker or counters changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.cause_runs import runs
from throttlescope.app.presentation.causes import CAUSES, ORDER, SIDES, limiter_words
from throttlescope.app.presentation.figures.chart import LEFT_PX, PAGE_TEXT, RIGHT_PX, chart
from throttlescope.app.presentation.figures.traces import bar, scatter
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence

#: Rows, from below upwards; a row has the place that its name has on the axis.
VERDICT, NAIVE, TRUTH, CHANGES = "verdict", "naive", "truth", "changes"

# A stretch shorter than this share of the range has no room for its label.
_LABEL_SHARE = 0.14
# Of a word next to a mark; a small screen hides words, see the style sheet.
_WORD_SHARE = 0.075


def ribbon_figure(
    verdicts: Sequence[dict],
    minutes: pd.DataFrame,
    *,
    start_ms: int,
    end_ms: int,
    truth: Sequence[dict] = (),
    at_ms: int | None = None,
) -> go.Figure:
    """Stretches of one cause each; ``at_ms`` marks the window whose verdict the page shows.

    A bar's ``customdata`` is its end as RFC 3339: the ``at`` of an address.
    """
    length = end_ms - start_ms
    traces = []
    stretches = [
        (run.start_ms, run.end_ms, run.cause, run.limiter, _run_hover(run)) for run in runs(verdicts)
    ]
    traces += _cause_bars(VERDICT, stretches, length)
    naive = runs([{**row, "cause": row["naive_side"], "limiter": None} for row in verdicts])
    traces += _side_bars([(run.start_ms, run.end_ms, run.cause) for run in naive], length)
    rows = [NAIVE, VERDICT]
    if truth:
        clipped = [
            (
                max(row["start_ms"], start_ms),
                min(row["end_ms"], end_ms),
                row["cause"],
                row["limiter"],
                sentence("figures.ribbon.truth"),
            )
            for row in truth
        ]
        traces += _cause_bars(TRUTH, clipped, length, outlined=True)
        rows.insert(0, TRUTH)
    changes = _changes(minutes)
    if changes:
        traces.append(_change_marks(changes, end_ms, length))
        rows.insert(0, CHANGES)
    selected = []
    if at_ms is not None and start_ms < at_ms <= end_ms:
        line = {"color": "#868e96", "width": 2, "dash": "dot"}
        selected = [
            {"type": "line", "x0": at_ms, "x1": at_ms, "yref": "paper", "y0": 0, "y1": 1, "line": line}
        ]
    return chart(
        traces,
        y_title="",
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=76 + 30 * len(rows),
        y_axis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [_row_name(row) for row in rows],
            "range": [-0.5, len(rows) - 0.5],
            "tickformat": None,
            "ticklabelstandoff": 6,
            "showgrid": False,
        },
        more={
            "barmode": "overlay",
            "hovermode": "closest",
            "showlegend": False,
            # On a small screen a label that does not fit would overlap its neighbours.
            "uniformtext": {"mode": "hide", "minsize": 11},
            "bargap": 0.2,
            "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 8, "b": 38},
            "shapes": selected,
        },
    )


def _run_hover(run) -> str:
    sure = fmt.percent(run.confidence_max)
    if fmt.percent(run.confidence_min) != sure:
        sure = sentence("label.range_words", low=fmt.percent(run.confidence_min), high=sure)
    return sentence("figures.ribbon.run", length=fmt.duration(run.end_ms - run.start_ms), share=sure)


def _cause_bars(row: str, stretches, length: int, *, outlined: bool = False) -> list[go.Bar]:
    bars = []
    for word in ORDER:
        mine = [stretch for stretch in stretches if stretch[2] == word]
        if not mine:
            continue
        cause = CAUSES[word]
        bars.append(
            _bar(
                row,
                [(start, end) for start, end, *_ in mine],
                [
                    _fitting(length, end - start, cause.mark, cause.label, limiter_words(limiter))
                    for start, end, _, limiter, _ in mine
                ],
                [
                    f"<b>{cause.mark} {cause.label}</b> {limiter_words(limiter)}<br>"
                    f"{_times(start, end)}<br>{hover}"
                    for start, end, _, limiter, hover in mine
                ],
                cause.colour,
                cause.pattern,
                outlined=outlined,
            )
        )
    return bars


def _side_bars(stretches, length: int) -> list[go.Bar]:
    bars = []
    for word, side in SIDES.items():
        mine = [stretch for stretch in stretches if stretch[2] == word]
        if mine:
            bars.append(
                _bar(
                    NAIVE,
                    [(start, end) for start, end, _ in mine],
                    [_fitting(length, end - start, side.mark, side.label, "") for start, end, _ in mine],
                    [
                        f"{sentence('label.colon', label=_row_name(NAIVE))}<b>{side.mark} {side.label}</b><br>{_times(start, end)}"
                        for start, end, _ in mine
                    ],
                    side.colour,
                    "",
                    outlined=True,
                )
            )
    return bars


def _row_name(row: str) -> str:
    return sentence(f"figures.ribbon.row.{row}")


def _times(start_ms: int, end_ms: int) -> str:
    return sentence("label.range_words", low=fmt.moment(start_ms), high=fmt.clock(end_ms))


def _fitting(length: int, own: int, mark: str, label: str, more: str) -> str:
    share = own / length
    if share < 0.02:
        return ""
    if share < _LABEL_SHARE:
        return mark
    named = f"{mark} {label}"
    return sentence("label.colon", label=named) + more if more and share > 2.4 * _LABEL_SHARE else named


def _bar(row, spans, texts, hovers, colour, pattern, *, outlined: bool = False) -> go.Bar:
    """Bars of one row. Everything but our verdict is drawn as an outline, so that the verdict is prominent."""
    marker = {
        "color": colour,
        "line": {"width": 0},
        # Patterns stay faint: the text on them has to be read.
        "pattern": {
            "shape": pattern,
            "size": 8,
            "solidity": 0.15,
            "fgcolor": "rgba(255,255,255,0.35)",
            "fillmode": "overlay",
        },
    }
    if outlined:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        marker |= {"color": f"rgba({red},{green},{blue},0.16)", "line": {"width": 1.5, "color": colour}}
    return bar(
        y=[_row_name(row)] * len(spans),
        base=[start for start, _ in spans],
        x=[end - start for start, end in spans],
        orientation="h",
        text=texts,
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={
            "color": PAGE_TEXT if outlined else "#ffffff",
            "size": 12,
            "weight": 400 if outlined else 600,
        },
        constraintext="inside",
        cliponaxis=True,
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        # A click opens the last verdict of the stretch: the page's address names a window by its end.
        customdata=[format_time(end) for _, end in spans],
        marker=marker,
    )


def _changes(minutes: pd.DataFrame) -> list[tuple[int, str, str]]:
    found = []
    # Nearly no minute has any: they are found by whole columns, missing is none.
    some = sum(
        minutes[name].astype(float).fillna(0)
        for name in ("limits_changed", "broker_changed", "counter_resets")
    )
    columns = ["minute_ms", "limits_changed", "broker_changed", "counter_resets", "broker"]
    for row in minutes.loc[some > 0, columns].itertuples(index=False):
        words = []
        if row.limits_changed:
            words.append(sentence("figures.ribbon.limit_changed"))
        if row.broker_changed:
            words.append(sentence("figures.ribbon.moved", broker=escape(fmt.name(str(row.broker), limit=80))))
        if row.counter_resets:
            words.append(sentence("figures.ribbon.restarted"))
        if words:
            word = "limit" if row.limits_changed else "broker" if row.broker_changed else "restart"
            short = sentence(f"figures.ribbon.word.{word}")
            found.append((int(row.minute_ms), short, "<br>".join(words)))
    return found


def _change_marks(changes: list[tuple[int, str, str]], end_ms: int, length: int) -> go.Scatter:
    """Diamonds, each with its word where the next one, or the end of the chart, leaves room for it."""
    nexts = [at_ms for at_ms, _, _ in changes[1:]] + [end_ms]
    room = [
        (after - at_ms) / length > _WORD_SHARE for (at_ms, _, _), after in zip(changes, nexts, strict=True)
    ]
    return scatter(
        x=[at_ms for at_ms, _, _ in changes],
        y=[_row_name(CHANGES)] * len(changes),
        mode="markers+text",
        marker={"symbol": "diamond-tall", "size": 11, "color": "#7A7F87"},
        text=[short if has_room else "" for (_, short, _), has_room in zip(changes, room, strict=True)],
        textposition="middle right",
        hovertext=[f"{text}<br>{fmt.moment(at_ms)}" for at_ms, _, text in changes],
        hovertemplate="%{hovertext}<extra></extra>",
    )
