"""Unacknowledged messages and permits of consumers. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation.figures.chart import ACK, IN, OUT, chart, gapless, line
from throttlescope.app.presentation.unmeasured_zeros import is_measured
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import sentence


def holding_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """Unacknowledged messages, and the fewest and most permits of a consumer; None where neither is known."""
    minutes = gapless(minutes)
    traces = [
        line(minutes, minutes[column], label, colour, unit="msg", dash=dash)
        for column, label, colour, dash in (
            ("unacked_msg", sentence("figures.permits.unacknowledged"), OUT, "solid"),
            ("permits_max", sentence("figures.permits.most"), ACK, "dash"),
            ("permits_min", sentence("figures.permits.fewest"), IN, "dot"),
        )
        if is_measured(minutes, column)
    ]
    if not traces:
        return None
    return chart(
        traces,
        y_title=sentence("figures.axis.messages"),
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=210,
        more={"shapes": _blocked(minutes)},
    )


def _blocked(minutes: pd.DataFrame) -> list[dict]:
    """A band over each stretch in which the unacknowledged messages block the subscription."""
    bands: list[dict] = []
    for minute in minutes["minute_ms"][minutes["blocked_on_unacked"].astype(float) > 0]:
        start_ms, end_ms = int(minute), int(minute) + MINUTE_MS
        if bands and bands[-1]["x1"] == start_ms:
            bands[-1]["x1"] = end_ms
            continue
        bands.append(
            {
                "type": "rect",
                "x0": start_ms,
                "x1": end_ms,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "fillcolor": OUT,
                "opacity": 0.18,
                "line": {"width": 0},
            }
        )
    if bands:
        bands[0] |= {"name": sentence("figures.permits.blocked"), "showlegend": True}
    return bands
