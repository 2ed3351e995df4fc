"""Throttle events by reason, and whether they prove anything. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import GREY, LEVEL_COLOURS, PACKED_FROM, chart, packed
from throttlescope.app.presentation.figures.downsampling import BUCKETS, MOST_POINTS, fullest
from throttlescope.app.presentation.figures.traces import bar
from throttlescope.app.presentation.limits import events_prove
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.limiting import limiter

_PATTERNS = {"msg": "", "bytes": "/"}


def events_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """Events per minute, stacked by reason and unit; None where no event was counted.

    Events whose limit holds less per period than one read plans for are grey, crossed and say so;
    so are, dotted, those whose limit is not known. Of more minutes than a screen has pixels each bar is the one minute with most
    events of those that share its place: see :func:`is_thinned`.
    """
    columns = {
        (level, unit): minutes[f"throttled_{unit}_events_{level}_delta"].astype(float)
        for level in LEVELS
        for unit in UNITS
    }
    width_ms = MINUTE_MS
    proofs = {key: events_prove(minutes, *key) for key, events in columns.items() if (events > 0).any()}
    shown = minutes
    if is_thinned(minutes):
        # A minute's bars stay together: their stack was really there.
        at = fullest(sum(events.fillna(0) for events in columns.values()).to_numpy(dtype=float))
        shown = minutes.iloc[at]
        width_ms = (end_ms - start_ms) // BUCKETS
    traces = []
    for (level, unit), proving in proofs.items():
        events, proving = columns[level, unit].loc[shown.index], proving.loc[shown.index]
        reason = limiter(f"{level}.{unit}")
        for mask, label, colour, pattern in (
            (proving.fillna(False), reason, LEVEL_COLOURS[level], _PATTERNS[unit]),
            ((~proving).fillna(False), sentence("figures.events.proves_nothing", limiter=reason), GREY, "x"),
            (proving.isna(), sentence("figures.events.unproven", limiter=reason), GREY, "."),
        ):
            mine = events.where(mask.astype(bool))
            if (mine > 0).any():
                traces.append(_bars(shown, mine, label, colour, pattern, width_ms))
    if not traces:
        return None
    # One reason alone is named too: the name says whether it proves anything.
    more = {"barmode": "stack", "showlegend": True}
    return chart(
        traces,
        y_title=sentence("figures.axis.events_per_minute"),
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=200,
        more=more,
    )


def is_thinned(minutes: pd.DataFrame) -> bool:
    """Whether each bar is the maximum of several minutes."""
    return len(minutes) > MOST_POINTS


def _bars(
    minutes: pd.DataFrame, events: pd.Series, label: str, colour: str, pattern: str, width_ms: int
) -> go.Bar:
    middles = minutes["minute_ms"].to_numpy(dtype=np.int64) + MINUTE_MS // 2
    return bar(
        x=middles.astype(float) if len(middles) >= PACKED_FROM else middles.tolist(),
        y=packed(events),
        width=width_ms,
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
        hovertemplate=sentence("figures.hover.events"),
    )
