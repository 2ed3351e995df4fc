"""Use of limits over time. In: lanes of one place. Out: a figure: a strip per limiter, a line below it while it bound.

Colour says how close use was to the limit, the line says that verdicts name it; the numbers are in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LIMIT
from throttlescope.app.presentation.figures.chart import chart
from throttlescope.app.presentation.figures.traces import heatmap, scatter
from throttlescope.models.messages.catalogue import sentence

#: From which share of a limit on, and its colour; the same on light and on dark. See :func:`band_words`.
BANDS = (
    (0.0, "rgba(128,128,128,0.20)"),
    (0.5, "rgba(213,94,0,0.28)"),
    (0.8, "rgba(213,94,0,0.58)"),
    (0.9, "rgba(213,94,0,1)"),
)
_ROW_PX = 34
_TOP_SHARE = 1.0
_LABEL, _STRIP, _LINE = 0.24, (0.45, 0.74), 0.90


def lanes_figure(lanes: Sequence[Lane], step_ms: int, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """One strip per lane, in their order from the top; None where there are none."""
    if not lanes:
        return None
    first = start_ms - start_ms % step_ms
    starts = range(first, end_ms, step_ms)
    traces: list = []
    for row, lane in enumerate(lanes):
        # A name that holds a template of Plotly's is not filled in.
        label = escape(lane_words(lane), quote=False).replace("%{", "% {")
        cells = {cell.start_ms: cell for cell in lane.cells}
        traces.append(_strip(row, label, [cells.get(at) for at in starts], starts, step_ms))
        traces += _bound(row, label, lane, step_ms)
    return chart(
        traces,
        y_title="",
        start_ms=first,
        end_ms=end_ms,
        height_px=_ROW_PX * len(lanes) + 74,
        y_axis={
            "range": [len(lanes), 0],
            "visible": False,
            "rangemode": "normal",
            "dtick": None,
        },
        more={
            "hovermode": "closest",
            "margin": {"l": 20, "r": 20, "t": 4, "b": 38},
            "annotations": [_label(row, lane) for row, lane in enumerate(lanes)],
        },
    )


def lane_words(lane: Lane) -> str:
    """Whose limiter it is: ``topic.msg of shop/web/feed, partition 3``."""
    return sentence("figures.lanes.of", limiter=lane.limiter, owner=owner_words(lane))


def owner_words(lane: Lane) -> str:
    """What it belongs to, without the limiter."""
    if lane.topic is None:
        return fmt.name(lane.broker, 80) if lane.broker else sentence("figures.lanes.no_broker")
    topic = fmt.topic_name(lane.topic, -1 if lane.partition is None else lane.partition)
    if lane.subscription is None:
        return topic
    return sentence("figures.lanes.subscription", subscription=fmt.name(lane.subscription, 80), topic=topic)


def band_words(since: float) -> str:
    """What a band of :data:`BANDS` is called, by the share from which it is on."""
    name = {0.0: "low", 0.5: "half", 0.8: "high", 0.9: "full"}[since]
    return sentence(f"figures.lanes.band.{name}")


def _label(row: int, lane: Lane) -> dict:
    share = (
        sentence("figures.lanes.unknown")
        if lane.share is None
        else sentence("figures.lanes.highest", share=fmt.percent(lane.share))
    )
    mark = "▲ " if lane.bound_cells else ""
    return {
        "xref": "paper",
        "x": 0,
        "y": row + _LABEL,
        "text": f"{mark}<b>{share}</b>  {escape(lane_words(lane), quote=False)}",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
        "align": "left",
        "font": {"size": 12},
    }


def _strip(row: int, label: str, cells: list, starts: range, step_ms: int) -> go.Heatmap:
    stops = []
    for number, (since, colour) in enumerate(BANDS):
        until = BANDS[number + 1][0] if number + 1 < len(BANDS) else _TOP_SHARE
        stops += [[since / _TOP_SHARE, colour], [until / _TOP_SHARE, colour]]
    return heatmap(
        x=[*starts, starts[-1] + step_ms],
        y=[row + _STRIP[0], row + _STRIP[1]],
        z=[[None if cell is None else cell.share for cell in cells]],
        zmin=0,
        zmax=_TOP_SHARE,
        colorscale=stops,
        showscale=False,
        hoverongaps=False,
        showlegend=False,
        hovertemplate=sentence("figures.lanes.use", lane=label, step=fmt.duration(step_ms)),
    )


def _bound(row: int, label: str, lane: Lane, step_ms: int) -> list[go.Scatter]:
    """A line with a triangle at its start for each stretch in which verdicts name the limiter."""
    stretches: list[list[int]] = []
    for cell in lane.cells:
        if not cell.bound:
            continue
        if stretches and stretches[-1][1] == cell.start_ms:
            stretches[-1][1] += step_ms
            stretches[-1][2] = max(stretches[-1][2], cell.bound)
        else:
            stretches.append([cell.start_ms, cell.start_ms + step_ms, cell.bound])
    if not stretches:
        return []
    at, most, symbols = [], [], []
    for start_ms, end_ms, bound in stretches:
        if at:
            # Between two stretches the line breaks where it has a time but no height.
            at.append(start_ms)
            most.append(None)
            symbols.append("line-ew")
        at += [start_ms, end_ms]
        most += [bound, bound]
        symbols += ["triangle-up", "line-ew"]
    return [
        scatter(
            x=at,
            y=[None if number is None else row + _LINE for number in most],
            mode="lines+markers",
            line={"color": LIMIT, "width": 3},
            marker={"symbol": symbols, "size": 8, "color": LIMIT},
            customdata=most,
            connectgaps=False,
            showlegend=False,
            hovertemplate=sentence("figures.lanes.bound", lane=label),
        )
    ]


@dataclass(frozen=True)
class Cell:
    """One limiter in [start_ms, start_ms + step).

    Attributes
    ----------
    share : float or None
        Largest use / limit of its minutes; None: not known.
    bound : int
        Subscription partitions whose verdict names it.
    """

    start_ms: int
    share: float | None
    bound: int


@dataclass(frozen=True)
class Lane:
    """One limiter over time; the parts of its name that it does not have are None."""

    limiter: str
    broker: str | None
    topic: str | None
    partition: int | None
    subscription: str | None
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def share(self) -> float | None:
        return max((cell.share for cell in self.cells if cell.share is not None), default=None)

    @property
    def bound_cells(self) -> int:
        return sum(cell.bound > 0 for cell in self.cells)
