"""Throttle events by reason, and whether they prove anything. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.web.causes import UNIT_WORDS
from throttlescope.app.web.figures.chart import GREY, LEVEL_COLOURS, chart, numbers
from throttlescope.app.web.limits import events_prove
from throttlescope.ingest.contracts.words import LEVELS, UNITS
from throttlescope.ingest.times import MINUTE_MS

_PATTERNS = {"msg": "", "bytes": "/"}


def events_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """Events per minute, stacked by reason and unit; None where no event was counted.

    Events whose limit holds less per period than one read plans for are grey, crossed and say so;
    so are, dotted, those whose limit is not known.
    """
    traces = []
    for level in LEVELS:
        for unit in UNITS:
            events = minutes[f"throttled_{unit}_events_{level}_delta"].astype(float)
            if not (events > 0).any():
                continue
            proving = events_prove(minutes, level, unit)
            reason = f"{level} {UNIT_WORDS[unit]} limit"
            for mask, label, colour, pattern in (
                (proving.fillna(False), reason, LEVEL_COLOURS[level], _PATTERNS[unit]),
                ((~proving).fillna(False), f"{reason}: proves nothing", GREY, "x"),
                (proving.isna(), f"{reason} is not known: unproven", GREY, "."),
            ):
                shown = events.where(mask.astype(bool))
                if (shown > 0).any():
                    traces.append(_bars(minutes, shown, label, colour, pattern))
    if not traces:
        return None
    # One reason alone is named too: the name says whether it proves anything.
    more = {"barmode": "stack", "showlegend": True}
    return chart(
        traces, y_title="events per minute", start_ms=start_ms, end_ms=end_ms, height_px=200, more=more
    )


def _bars(minutes: pd.DataFrame, events: pd.Series, label: str, colour: str, pattern: str) -> go.Bar:
    return go.Bar(
        x=[int(minute) + MINUTE_MS // 2 for minute in minutes["minute_ms"]],
        y=numbers(events),
        width=MINUTE_MS,
        name=label,
        marker={
            "color": colour,
            "line": {"width": 0},
            "pattern": {
                "shape": pattern,
                "size": 5,
                "fgcolor": "rgba(255,255,255,0.75)",
                "fillmode": "overlay",
            },
        },
        hovertemplate="%{y:.4~s} events",
    )
