"""Subscriptions by cause over time. In: bins with counts by cause. Out: a figure, a stack of bars per bin; its legend are the page's cards.

A bar's ``customdata`` is the moment that it counts as RFC 3339, the ``at`` of an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES, ORDER
from throttlescope.app.presentation.figures.chart import chart
from throttlescope.app.presentation.figures.traces import bar
from throttlescope.ingest.core.times import format_time

_HEIGHT_PX = 250
_LEFT_PX, _RIGHT_PX = 46, 12
#: Of the tallest stack, so that it does not touch the top.
_ROOM = 1.12


class CountedBin(Protocol):
    """What is drawn of one bin: see :class:`throttlescope.app.web.data.timeline.Bin`."""

    start_ms: int
    at_ms: int | None
    causes: dict[str, int]
    was_judged: bool


def timeline_figure(
    bins: Sequence[CountedBin],
    step_ms: int,
    *,
    start_ms: int,
    end_ms: int,
    at_ms: int | None = None,
    causes: Sequence[str] = (),
) -> go.Figure:
    """Stacks over [start_ms, end_ms), worst cause at the bottom.

    Parameters
    ----------
    at_ms : int, optional
        A line at the moment that the page shows.
    causes : sequence of str
        Only these are drawn; empty: all.
    """
    shown = [
        word for word in ORDER if (not causes or word in causes) and any(one.causes.get(word) for one in bins)
    ]
    traces = [_bars(word, [one for one in bins if one.causes.get(word)], step_ms) for word in shown]
    if not traces:
        # A chart without a trace would have no axis.
        traces = [bar(x=[start_ms], y=[0], showlegend=False, hoverinfo="skip")]
    top = max((sum(one.causes.get(word, 0) for word in shown) for one in bins), default=0)
    first_ms, last_ms = min(start_ms, bins[0].start_ms), max(end_ms, bins[-1].start_ms + step_ms)
    return chart(
        traces,
        y_title="",
        start_ms=first_ms,
        end_ms=last_ms,
        height_px=_HEIGHT_PX,
        y_axis={
            "range": [0, max(1, top) * _ROOM],
            "nticks": 5,
            "title": None,
            **({"dtick": 1} if top < 5 else {"dtick": None}),
        },
        more={
            "barmode": "stack",
            "bargap": 0,
            "showlegend": False,
            # A click has to mean the bar under the pointer, and no other one of its stack.
            "hovermode": "closest",
            "dragmode": False,
            "margin": {"l": _LEFT_PX, "r": _RIGHT_PX, "t": 8, "b": 38},
            "shapes": [*_unjudged(bins, step_ms), *_selected(at_ms, first_ms, last_ms)],
        },
    )


def _bars(word: str, bins: Sequence[CountedBin], step_ms: int) -> go.Bar:
    cause = CAUSES[word]
    return bar(
        x=[one.start_ms + step_ms // 2 for one in bins],
        y=[one.causes[word] for one in bins],
        width=int(step_ms * 0.88),
        name=f"{cause.mark} {cause.label}",
        marker={
            "color": cause.colour,
            "line": {"width": 0},
            "pattern": {"shape": cause.pattern, "size": 6, "solidity": 0.25, "fgcolor": "rgba(255,255,255,0.55)", "fillmode": "overlay"},
        },
        # What a click leads to: the moment, and this cause.
        customdata=[[format_time(one.at_ms), word, fmt.moment(one.at_ms)] for one in bins],
        hovertemplate=f"<b>{cause.mark} {cause.label}</b>: %{{y}}<br>%{{customdata[2]}}<extra></extra>",
    )  # fmt: skip


def _unjudged(bins: Sequence[CountedBin], step_ms: int) -> list[dict]:
    """A grey band over each stretch without any verdict: no bar there does not mean that nothing was wrong."""
    spans: list[list[int]] = []
    for one in bins:
        if one.was_judged:
            continue
        if spans and spans[-1][1] == one.start_ms:
            spans[-1][1] += step_ms
        else:
            spans.append([one.start_ms, one.start_ms + step_ms])
    return [
        {
            "type": "rect", "x0": first, "x1": last, "yref": "paper", "y0": 0, "y1": 1, "fillcolor": "#7A7F87",
            "opacity": 0.22, "line": {"width": 0}, "layer": "below",
        }
        for first, last in spans
    ]  # fmt: skip


def _selected(at_ms: int | None, first_ms: int, last_ms: int) -> list[dict]:
    if at_ms is None or not first_ms < at_ms <= last_ms:
        return []
    line = {"color": "#868e96", "width": 2, "dash": "dot"}
    return [{"type": "line", "x0": at_ms, "x1": at_ms, "yref": "paper", "y0": 0, "y1": 1, "line": line}]
