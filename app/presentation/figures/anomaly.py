"""One anomaly: what was seen, what was usual, and when it strayed. In: minutes and the stored row. Out: a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import ALL, OUT, chart, gapless, minute_ends, numbers
from throttlescope.app.presentation.figures.traces import scatter
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.anomaly.band import UsualBand
from throttlescope.models.messages.catalogue import sentence

_BAND = "rgba(122,127,135,0.22)"
_STRAYED = "#D55E00"


def anomaly_figure(
    found: UsualBand | None,
    minutes: pd.DataFrame,
    row: dict,
    *,
    column: pd.Series,
    title: str,
    unit: str,
    start_ms: int,
    end_ms: int,
) -> go.Figure:
    """Value, expected and band over [start_ms, end_ms), the anomaly shaded, the stored band at its worst minute as a bar.

    Parameters
    ----------
    found : UsualBand or None
        None: no band can be drawn; the value is that of ``column``.
    minutes : DataFrame
        Rows of ``signals``; ``column`` has their values in ``unit``.
    """
    traces = _with_band(found, title, unit) if found is not None else [_value(minutes, column, title, unit)]
    stored = _stored(row, unit)
    if stored is not None:
        traces.append(stored)
    figure = chart(
        traces,
        y_title=title,
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=320,
        more={"shapes": _strayed(row)},
    )
    return figure


def _with_band(found: UsualBand, title: str, unit: str) -> list[go.Scatter]:
    at = (found.minute_ms + MINUTE_MS).tolist()
    edge = {"x": at, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "connectgaps": False}
    return [
        scatter(y=_numbers(found.low), showlegend=False, name=sentence("figures.anomaly.low"), **edge),
        scatter(y=_numbers(found.high), fill="tonexty", fillcolor=_BAND, name=sentence("figures.anomaly.usual"), **edge),
        scatter(
            x=at, y=_numbers(found.expected), name=sentence("figures.anomaly.expected"), mode="lines", connectgaps=False,
            line={"color": ALL, "width": 1.5, "dash": "dash"}, hovertemplate=f"%{{y:.4~s}} {unit}",
        ),
        scatter(
            x=at, y=_numbers(found.value), name=title, mode="lines", connectgaps=False,
            line={"color": OUT, "width": 2}, hovertemplate=f"%{{y:.4~s}} {unit}",
        ),
    ]  # fmt: skip


def _value(minutes: pd.DataFrame, column: pd.Series, title: str, unit: str) -> go.Scatter:
    whole = gapless(minutes.assign(_value=column.to_numpy()))
    return scatter(
        x=minute_ends(whole),
        y=numbers(whole["_value"]),
        name=title,
        mode="lines",
        connectgaps=False,
        line={"color": OUT, "width": 2},
        hovertemplate=f"%{{y:.4~s}} {unit}",
    )


def _stored(row: dict, unit: str) -> go.Scatter | None:
    """The band that the row holds, at its worst minute: what it was judged by."""
    if row["high"] is None or row["low"] is None or row["expected"] is None or row["worst_ms"] is None:
        return None
    return scatter(
        x=[row["worst_ms"] + MINUTE_MS],
        y=[row["expected"]],
        error_y={
            "type": "data", "symmetric": False, "array": [row["high"] - row["expected"]],
            "arrayminus": [row["expected"] - row["low"]], "color": _STRAYED, "thickness": 2, "width": 6,
        },
        mode="markers",
        marker={"color": _STRAYED, "symbol": "line-ew-open", "size": 10},
        name=sentence("figures.anomaly.stored"),
        hovertemplate=f"%{{y:.4~s}} {unit}",
    )  # fmt: skip


def _strayed(row: dict) -> list[dict]:
    """The anomaly as a band, and when it was detected as a line; their names are in the legend, where they cover nothing."""
    band = {
        "type": "rect", "xref": "x", "yref": "paper", "x0": row["start_ms"], "x1": row["end_ms"], "y0": 0, "y1": 1,
        "fillcolor": _STRAYED, "opacity": 0.12, "line": {"width": 0}, "layer": "below", "name": sentence("figures.anomaly.anomaly"), "showlegend": True,
    }  # fmt: skip
    if row["detected_ms"] is None:
        return [band]
    detected = {
        "type": "line", "xref": "x", "yref": "paper", "x0": row["detected_ms"], "x1": row["detected_ms"], "y0": 0, "y1": 1,
        "line": {"color": _STRAYED, "width": 1.5, "dash": "dot"}, "name": sentence("label.detected"), "showlegend": True,
    }  # fmt: skip
    return [band, detected]


def _numbers(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
