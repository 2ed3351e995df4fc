"""What consumers hold: unacknowledged messages and permits. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.web.figures.chart import ACK, IN, OUT, chart, gapless, line


def holding_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """Unacknowledged messages, and the fewest and most permits of a consumer; None where neither is known."""
    minutes = gapless(minutes)
    traces = [
        line(minutes, minutes[column], label, colour, unit="msg", dash=dash)
        for column, label, colour, dash in (
            ("unacked_msg", "unacknowledged", OUT, "solid"),
            ("permits_max", "permits, consumer with most", ACK, "dash"),
            ("permits_min", "permits, consumer with fewest", IN, "dot"),
        )
        if minutes[column].notna().any()
    ]
    if not traces:
        return None
    figure = chart(traces, y_title="messages", start_ms=start_ms, end_ms=end_ms, height_px=210)
    blocked = minutes["blocked_on_unacked"].astype(float) > 0
    for minute in minutes.loc[blocked, "minute_ms"]:
        figure.add_vrect(int(minute), int(minute) + 60_000, fillcolor="#0072B2", opacity=0.18, line_width=0)
    return figure
