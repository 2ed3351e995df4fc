"""What all charts share: axes in UTC with their unit, one left edge, colours that read on light and dark.

In: traces and a range. Out: a figure. Texts and grids get their final colour from the page's style
sheet, so that one figure serves both colour schemes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from throttlescope.ingest.times import MINUTE_MS, date_of

#: After Okabe and Ito, toned so that lines keep 3:1 on white and on dark grey; one meaning in every chart.
IN, OUT, ACK, ALL = "#B97F00", "#1F83C6", "#009E73", "#7A7F87"
LEVEL_COLOURS = {"broker": "#B5527F", "topic": "#9A7B00", "subscription": "#D55E00"}
LEVEL_DASHES = {"broker": "dot", "topic": "dash", "subscription": "solid"}
GREY = "#9AA0A6"
#: The style sheet turns text of exactly this colour into the page's own text colour, light or dark.
PAGE_TEXT = "rgb(92, 99, 106)"

FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"

#: Left margin of every chart: with one left edge, a time is one place on the page.
LEFT_PX, RIGHT_PX = 90, 26

#: Plotly's default button would upload the chart to a cloud service.
CONFIG = {
    "showSendToCloud": False,
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


def chart(
    traces: Sequence[go.Scatter | go.Bar],
    *,
    y_title: str,
    start_ms: int,
    end_ms: int,
    height_px: int = 230,
    y_axis: dict | None = None,
    more: dict | None = None,
) -> go.Figure:
    """A figure over [start_ms, end_ms) with a titled y axis from zero and a UTC time axis.

    Parameters
    ----------
    y_axis, more : dict, optional
        What differs, of the y axis and of the layout.
    """
    named = sum(trace.showlegend is not False for trace in traces) > 1
    # One dictionary at once: updating a figure piece by piece took most of a page's time.
    layout = {
        "height": height_px if named else height_px - 20,
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": 28 if named else 8, "b": 38},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": PAGE_TEXT},
        "hovermode": "x unified",
        "dragmode": "zoom",
        "bargap": 0.15,
        "showlegend": named,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}},
        "uirevision": f"{start_ms}-{end_ms}",
        "xaxis": {
            "type": "date",
            "range": [start_ms, end_ms],
            "title": {"text": time_title(start_ms, end_ms), "standoff": 2, "font": {"size": 12}},
            "hoverformat": "%Y-%m-%d %H:%M:%S UTC",
            "tickformatstops": [
                {"dtickrange": [None, 60_000], "value": "%H:%M:%S"},
                {"dtickrange": [60_000, 43_200_000], "value": "%H:%M"},
                {"dtickrange": [43_200_000, None], "value": "%b %d"},
            ],
            "showgrid": True,
            "gridcolor": "rgba(128,128,128,0.18)",
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 4,
            "automargin": False,
        },
        "yaxis": {
            "title": {"text": y_title, "standoff": 14, "font": {"size": 12}},
            "rangemode": "tozero",
            "gridcolor": "rgba(128,128,128,0.18)",
            "zerolinecolor": "rgba(128,128,128,0.5)",
            "tickformat": "~s",
            "nticks": 6,
            "fixedrange": True,
            "automargin": False,
            **_whole_steps(traces),
            **(y_axis or {}),
        },
        **(more or {}),
    }
    return go.Figure(list(traces), layout)


def _whole_steps(traces) -> dict:
    """Small counts in steps of one: there is no half an entry."""
    values = [
        value
        for trace in traces
        if trace.orientation != "h"
        for value in trace.y or ()
        if isinstance(value, int | float)
    ]
    top = max(values, default=0)
    return {"dtick": 1, "range": [min([0, *values]), max(1, top) * 1.1]} if top < 5 else {}


def time_title(start_ms: int, end_ms: int) -> str:
    """``UTC, 2026-11-20``: the zone, and the days that the ticks leave out."""
    first, last = date_of(start_ms), date_of(max(start_ms, end_ms - 1))
    return f"UTC, {first}" if first == last else f"UTC, {first} to {last}"


def gapless(minutes: pd.DataFrame) -> pd.DataFrame:
    """The same minutes with an empty row in each gap, so that lines break where nothing is known."""
    if minutes.empty:
        return minutes
    first, last = int(minutes["minute_ms"].iloc[0]), int(minutes["minute_ms"].iloc[-1])
    every = np.arange(first, last + MINUTE_MS, MINUTE_MS)
    if len(every) == len(minutes):
        return minutes
    whole = minutes.drop_duplicates("minute_ms", keep="last").set_index("minute_ms").reindex(every)
    return whole.rename_axis("minute_ms").reset_index()


def minute_ends(minutes: pd.DataFrame) -> list[int]:
    """Where values of recording rules belong: they are read at a minute's end."""
    return [int(minute) + MINUTE_MS for minute in minutes["minute_ms"]]


def numbers(column: pd.Series) -> list[float | None]:
    """Values with None for what is missing."""
    return [None if pd.isna(value) else float(value) for value in column]


def line(
    minutes: pd.DataFrame, column: pd.Series, label: str, colour: str, *, unit: str, dash: str = "solid"
):
    """One line over the minutes' ends; gaps stay gaps."""
    return go.Scatter(
        x=minute_ends(minutes),
        y=numbers(column),
        name=label,
        mode="lines",
        line={"color": colour, "width": 2, "dash": dash},
        connectgaps=False,
        hovertemplate=f"%{{y:.4~s}} {unit}",
    )
