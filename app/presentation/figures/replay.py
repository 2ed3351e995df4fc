"""An answer over its time: the recorded backlog, the replay over it, and both futures with what the samples leave open."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import whatif
from throttlescope.app.presentation.figures.chart import ACK, ALL, FONT, OUT, time_title
from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.throttling.replay import Change, Forecast, Outlook, ReplayAnswer

_TEXT, _GRID = "#33383d", "rgba(128,128,128,0.18)"
_HEIGHT_PX = 520
#: What is drawn of a future beyond its latest drain, and of the window's length where nothing drains.
_BEYOND, _AHEAD = 1.3, 0.75
_POINTS = 1000
#: The axis' title has the days.
_TICKS = [
    {"dtickrange": [None, 60_000], "value": "%H:%M:%S"},
    {"dtickrange": [60_000, 43_200_000], "value": "%H:%M"},
    {"dtickrange": [43_200_000, None], "value": "%b %d"},
]


def whatif_figure(found: ReplayInputs, answer: ReplayAnswer) -> go.Figure:
    """One chart in UTC: the window, and what comes after it with and without the change."""
    observed = answer.observed
    is_change = answer.change.words != Change().words
    start_ms, now_ms = int(observed.times_ms[0]), int(observed.times_ms[-1])
    end_s = _end_s(answer, (now_ms - start_ms) / 1000, found.horizon_s)
    futures = [("as it is", answer.as_is, ALL, "dash")]
    if is_change:
        futures.append(("changed", answer.changed, ACK, "solid"))
    figure = go.Figure()
    for name, forecast, colour, dash in futures:
        for trace in _future(name, forecast, now_ms, end_s, answer.backlog_entries, colour, dash):
            figure.add_trace(trace)
    figure.add_trace(_line(observed.times_ms, observed.backlog_entries, "recorded", OUT))
    replayed = answer.speed.backlog_entries
    times_ms = start_ms + 1000 * np.arange(1, len(replayed) + 1)
    step = max(1, len(replayed) // _POINTS)
    figure.add_trace(_line(times_ms[::step], replayed[::step], "replayed", _TEXT, "dot"))
    highest = max(1.0, *(float(np.max(trace.y)) for trace in figure.data if len(trace.y)))
    figure.add_vline(x=now_ms, line={"color": "#868e96", "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=now_ms, y=1, yref="y domain", text=sentence("figures.replay.simulated", time=fmt.clock(now_ms)), showarrow=False,
        xanchor="left", yanchor="bottom", xshift=-4,
    )  # fmt: skip
    for _, forecast, colour, _ in futures:
        _mark_drain(figure, forecast, now_ms, end_s, colour)
    title = whatif.headline(answer)
    below = escape(fmt.name(f"{found.name} on {observed.cluster}", limit=160))
    figure.update_xaxes(
        type="date", range=[start_ms, now_ms + 1000 * end_s], title_text=time_title(start_ms, round(now_ms + 1000 * end_s)),
        hoverformat="%Y-%m-%d %H:%M:%S UTC", tickformatstops=_TICKS, gridcolor=_GRID, zeroline=False, ticks="outside",
    )  # fmt: skip
    figure.update_yaxes(
        title_text="backlog, entries", range=[0, 1.12 * highest], gridcolor=_GRID, tickformat="~s", nticks=7, title_standoff=8
    )  # fmt: skip
    figure.update_layout(
        height=_HEIGHT_PX,
        title={
            "text": f"{escape(fmt.name(title, limit=150))}<br><span style='font-size:12px'>{below}</span>",
            "x": 0.01, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 22}, "font": {"size": 16},
        },
        margin={"l": 84, "r": 26, "t": 132, "b": 56},
        paper_bgcolor="#ffffff", plot_bgcolor="#ffffff",
        font={"family": FONT, "size": 12, "color": _TEXT},
        hovermode="x",
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.08, "yanchor": "bottom", "traceorder": "normal"},
    )  # fmt: skip
    return figure


def _end_s(answer: ReplayAnswer, window_s: float, horizon_s: int) -> float:
    drains = [
        outlook.drain_s
        for forecast in (answer.as_is, answer.changed)
        for outlook in forecast.all
        if outlook.drain_s is not None
    ]
    return min(float(horizon_s), max(_BEYOND * max(drains, default=0.0), _AHEAD * window_s, 60.0))


def _future(
    name: str, forecast: Forecast, now_ms: int, end_s: float, backlog: int, colour: str, dash: str
) -> list[go.Scatter]:
    at_s = np.linspace(0, end_s, _POINTS)
    times_ms = now_ms + 1000 * at_s
    curves = [_curve(outlook, at_s, backlog) for outlook in (forecast.best, forecast.worst)]
    low, high = np.minimum(*curves), np.maximum(*curves)
    band = f"{name}, best to worst"
    if forecast.fitted is None:
        band = _future_name(band, forecast)
    edge = {"width": 0} if forecast.fitted is not None else {"width": 1, "color": colour, "dash": "dot"}
    traces = [
        go.Scatter(x=times_ms, y=low, mode="lines", line=edge, showlegend=False, hoverinfo="skip", legendgroup=name),
        go.Scatter(
            x=times_ms, y=high, mode="lines", line=edge, fill="tonexty", fillcolor=_faint(colour), legendgroup=name,
            name=band, hoverinfo="skip",
        ),
    ]  # fmt: skip
    if forecast.fitted is not None:
        likely = _curve(forecast.fitted, at_s, backlog)
        traces.append(
            _line(times_ms, likely, _future_name(name, forecast), colour, dash).update(legendgroup=name)
        )
    return traces


def _curve(outlook: Outlook, at_s: np.ndarray, backlog: int) -> np.ndarray:
    """The backlog at some seconds; what is beyond the simulated time stays as it was last."""
    ends_s = outlook.every_s * np.arange(len(outlook.backlog_entries) + 1)
    return np.interp(at_s, ends_s, np.r_[backlog, outlook.backlog_entries])


def _mark_drain(figure: go.Figure, forecast: Forecast, now_ms: int, end_s: float, colour: str) -> None:
    """A point where a backlog is gone; when that is, the legend says."""
    outlook = forecast.fitted or forecast.best
    if outlook.drain_s and outlook.drain_s <= end_s:
        figure.add_trace(
            go.Scatter(
                x=[now_ms + 1000 * outlook.drain_s], y=[0], mode="markers", cliponaxis=False, showlegend=False, hoverinfo="skip",
                marker={"size": 9, "color": colour},
            )
        )  # fmt: skip


def _future_name(name: str, forecast: Forecast) -> str:
    """``changed: drained after 1 min 31 s``, where it drains in the time that is simulated."""
    outlook = forecast.fitted or forecast.best
    if not outlook.drain_s:
        return name
    length = escape(whatif.drained(forecast, whatif.PLAIN))
    return sentence("figures.replay.drained", run=name, length=length)


def _line(x, y, name: str, colour: str, dash: str = "solid") -> go.Scatter:
    return go.Scatter(
        x=x, y=y, name=name, mode="lines", line={"color": colour, "width": 2, "dash": dash}, connectgaps=False,
        hovertemplate="%{y:.4~s} entries",
    )  # fmt: skip


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"
