"""Backlog in entries. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import ALL, OUT, chart, gapless, line
from throttlescope.models.messages.catalogue import sentence


def backlog_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure:
    """Entries waiting, entries ready for delivery where they differ, and delayed ones where there are any."""
    minutes = gapless(minutes)
    whole, ready, delayed = (
        minutes[name].astype(float)
        for name in ("backlog_entries", "backlog_ready_entries", "delayed_entries")
    )
    hover = sentence("figures.hover.entries")
    traces = [line(minutes, whole, sentence("label.backlog"), OUT, hovertemplate=hover)]
    traces[0].update(fill="tozeroy", fillcolor="rgba(31,131,198,0.14)")
    if (ready.notna() & (ready != whole)).any():
        traces.append(
            line(
                minutes, ready, sentence("figures.backlog.ready"), "#D55E00", hovertemplate=hover, dash="dash"
            )
        )
    if (delayed > 0).any():
        traces.append(
            line(minutes, delayed, sentence("figures.backlog.delayed"), ALL, hovertemplate=hover, dash="dot")
        )
    return chart(
        traces, y_title=sentence("figures.axis.backlog"), start_ms=start_ms, end_ms=end_ms, height_px=210
    )
