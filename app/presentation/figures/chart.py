"""Base of all charts: time axes in the reader's zone, units on the others, one left edge, colours that read on light and dark.

In: traces and a range. Out: a figure. Texts and grids get their final colour from the page's style
sheet, so that one figure serves both colour schemes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation import time_zone
from throttlescope.app.presentation.figures.downsampling import kept
from throttlescope.app.presentation.figures.traces import figure_of, scatter
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import HTML_CODES, current

#: After Okabe and Ito, toned so that lines keep 3:1 on white and on dark grey; one meaning in every chart.
IN, OUT, ACK, ALL = "#B97F00", "#1F83C6", "#009E73", "#7A7F87"
LEVEL_COLOURS = {"broker": "#B5527F", "topic": "#9A7B00", "subscription": "#D55E00"}
LEVEL_DASHES = {"broker": "dot", "topic": "dash", "subscription": "solid"}
GREY = "#9AA0A6"
#: The style sheet turns text of exactly this colour into the page's own text colour, light or dark.
PAGE_TEXT = "rgb(92, 99, 106)"

FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"

#: Series of so many points are sent packed: as lists, checking them took most of a page's time.
PACKED_FROM = 400

#: Left margin of every chart: with one left edge, a time is one place on the page.
LEFT_PX, RIGHT_PX = 90, 26

#: Plotly's default button would upload the chart to a cloud service.
CONFIG = {
    "showSendToCloud": False,
    "displaylogo": False,
    "responsive": True,
    # Back to the whole range, and no further: the second double click would fit the range to the data.
    "doubleClick": "reset",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


#: What the script of Plotly says by itself, in its own words.
_BUTTONS = {
    "save": "Download plot as a PNG",
    "zoom": "Zoom",
    "pan": "Pan",
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
    "reset": "Reset axes",
    "back": "Double-click to zoom back out",
    "taking": "Taking snapshot - this may take a few seconds",
    "saved": "Snapshot succeeded",
}


def graph_config(**more: object) -> dict:
    """How a chart behaves, with Plotly's buttons in the current language; ``more`` of its configuration."""
    language = HTML_CODES[current()]
    dictionary = {words: sentence(f"figures.button.{name}") for name, words in _BUTTONS.items()}
    # Dates on axes are written by the figure; without a format of its own a language would have none.
    return {
        **CONFIG,
        "locale": language,
        "locales": {language: {"dictionary": dictionary, "format": {}}},
        **more,
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
    """A figure over [start_ms, end_ms) with a titled y axis from zero and a time axis in the reader's zone.

    Parameters
    ----------
    y_axis, more : dict, optional
        What differs, of the y axis and of the layout.
    """
    marks = sum(bool(shape.get("showlegend")) for shape in (more or {}).get("shapes", ()))
    named = sum(trace.showlegend is not False for trace in traces) + marks > 1
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
            "hoverformat": f"%Y-%m-%d %H:%M:%S {time_zone.label(end_ms)}",
            "tickformatstops": [
                {"dtickrange": [None, 60_000], "value": "%H:%M:%S"},
                {"dtickrange": [60_000, 43_200_000], "value": "%H:%M"},
                {"dtickrange": [43_200_000, None], "value": sentence("figures.axis.day")},
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
    return in_zone(figure_of(traces, layout), end_ms)


def _whole_steps(traces) -> dict:
    """Small counts in steps of one: there is no half an entry."""
    # A heat map has no orientation, and its heights are no counts.
    counts = [trace for trace in traces if trace.type != "heatmap" and trace.orientation != "h"]
    values = np.concatenate([[0.0], *(known(trace.y) for trace in counts)])
    top, low = float(values.max()), float(values.min())
    return {"dtick": 1, "range": [low, max(1, top) * 1.1]} if top < 5 else {}


def time_title(start_ms: int, end_ms: int) -> str:
    """``UTC, 2026-11-20``: the zone, and the days that the ticks leave out."""
    first, last = (f"{time_zone.local(at_ms):%Y-%m-%d}" for at_ms in (start_ms, max(start_ms, end_ms - 1)))
    label = time_zone.label(end_ms)
    return (
        f"{label}, {first}"
        if first == last
        else f"{label}, {sentence('label.range_words', low=first, high=last)}"
    )


def in_zone(figure: go.Figure, end_ms: int) -> go.Figure:
    """Move every time of a figure by the zone's offset at ``end_ms``: Plotly knows no zones.

    ``layout.meta`` has the offset, so that a zoom can be converted back into UTC for a link, and the range in UTC.
    """
    by = time_zone.offset_ms(end_ms)
    start_ms, last_ms = figure.layout.xaxis.range
    figure.layout.meta = {"zone_offset_ms": by, "start_ms": start_ms, "end_ms": last_ms}
    if not by:
        return figure
    for trace in figure.data:
        if trace.type == "bar" and trace.orientation == "h":
            trace.base = [base + by for base in trace.base]
        elif trace.x is not None:
            trace.x = trace.x + by if isinstance(trace.x, np.ndarray) else [at + by for at in trace.x]
    figure.layout.xaxis.range = [at + by for at in figure.layout.xaxis.range]
    for mark in (*figure.layout.shapes, *figure.layout.annotations):
        if mark.xref in (None, "x"):
            for name in ("x", "x0", "x1"):
                if name in mark and isinstance(mark[name], int | float):
                    mark[name] += by
    return figure


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
    """Values with None for what is missing, to six digits: a screen shows fewer, and each digit is sent."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = np.isfinite(values) & (values != 0) & (np.abs(values) < 1e5)
    digits = np.zeros(len(values), dtype=int)
    digits[known] = 5 - np.floor(np.log10(np.abs(values[known]))).astype(int)
    rounded = np.where(np.abs(values) >= 1e5, np.rint(values), values)
    fine = known & (digits <= 22)
    rounded[fine] = np.rint(values[fine] * 10.0 ** digits[fine]) / 10.0 ** digits[fine]
    return [None if value != value else value for value in rounded.tolist()]


def packed(column: pd.Series) -> list[float | None] | np.ndarray:
    """As :func:`numbers`; long ones as float32 with NaN for what is missing, which Plotly takes, checks and sends as they are."""
    if len(column) < PACKED_FROM:
        return numbers(column)
    return column.to_numpy(dtype=float, na_value=np.nan).astype(np.float32)


def known(values: object) -> np.ndarray:
    """The known values of a trace, in any of its representations."""
    found = np.asarray([] if values is None else values)
    if found.dtype == object:
        found = np.array([value for value in found if isinstance(value, int | float)], dtype=float)
    return found[np.isfinite(found)] if found.dtype.kind in "fiu" else np.array([])


def has_lone_points(values: np.ndarray) -> bool:
    """Whether a value is between two gaps: no line leads to it."""
    here = np.concatenate([[False], ~np.isnan(values), [False]])
    return bool((here[1:-1] & ~here[:-2] & ~here[2:]).any())


def line(
    minutes: pd.DataFrame,
    column: pd.Series,
    label: str,
    colour: str,
    *,
    unit: str = "",
    dash: str = "solid",
    **more: object,
):
    """One line over the minutes' ends; gaps stay gaps, and of more minutes than a screen has pixels those that are seen.

    Parameters
    ----------
    minutes : DataFrame
        Without gaps in time: see :func:`gapless`.
    unit : str, optional
        A symbol, for the hover text; a word is part of a ``hovertemplate`` instead.
    more
        Of the trace.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    at = kept(values)
    lone = {"mode": "lines+markers", "marker": {"size": 4}} if has_lone_points(values[at]) else {}
    ends = minutes["minute_ms"].to_numpy(dtype="int64")[at] + MINUTE_MS
    return scatter(
        **{
            "x": ends.astype(float) if len(at) >= PACKED_FROM else ends.tolist(),
            "y": packed(column.iloc[at]),
            "name": label,
            "mode": "lines",
            "line": {"color": colour, "width": 2, "dash": dash},
            "connectgaps": False,
            "hovertemplate": f"%{{y:.4~s}} {unit}",
        }
        | lone
        | more
    )
