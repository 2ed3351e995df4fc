"""Backlog in entries. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import ALL, OUT, chart, gapless, line


def backlog_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure:
    """Entries waiting, entries ready for delivery where they differ, and delayed ones where there are any."""
    minutes = gapless(minutes)
    whole, ready, delayed = (
        minutes[name].astype(float)
        for name in ("backlog_entries", "backlog_ready_entries", "delayed_entries")
    )
    traces = [line(minutes, whole, "backlog", OUT, unit="entries")]
    traces[0].update(fill="tozeroy", fillcolor="rgba(31,131,198,0.14)")
    if (ready.notna() & (ready != whole)).any():
        traces.append(line(minutes, ready, "ready (not delayed)", "#D55E00", unit="entries", dash="dash"))
    if (delayed > 0).any():
        traces.append(line(minutes, delayed, "delayed", ALL, unit="entries", dash="dot"))
    return chart(traces, y_title="backlog, entries", start_ms=start_ms, end_ms=end_ms, height_px=210)
