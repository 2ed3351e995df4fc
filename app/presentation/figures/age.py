"""Age of the oldest message. In: minutes of ``signals``. Out: a figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import OUT, PACKED_FROM, chart, gapless, line
from throttlescope.models.messages.catalogue import sentence

#: Steps that an axis of ages may have, in seconds.
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


def ages_s(minutes: pd.DataFrame) -> pd.Series:
    """Age of the topic partition's oldest backlog in seconds; missing where the broker does not say (it says -1 then)."""
    ages = minutes["backlog_age_s"].astype(float)
    return ages.where(ages >= 0)


def age_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure | None:
    """Age of the oldest message of the topic partition; None where no minute has it."""
    minutes = gapless(minutes)
    ages = ages_s(minutes)
    if ages.isna().all():
        return None
    trace = line(minutes, ages, sentence("figures.age.oldest"), OUT, unit="s")
    # A long one has seconds: a text for each point would be most of what is sent.
    is_short = len(trace.y) < PACKED_FROM
    trace.update(
        hovertemplate="%{customdata}" if is_short else "%{y:.4~s} s",
        customdata=[_words(age) for age in trace.y] if is_short else None,
    )
    ticks = _ticks(float(np.nanmax(ages)))
    return chart(
        [trace],
        y_title=sentence("figures.axis.age"),
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=190,
        y_axis={
            "range": [0, max(ticks[-1], float(np.nanmax(ages))) * 1.08 or 1],
            "tickmode": "array",
            "tickvals": ticks,
            "ticktext": [fmt.duration(tick * 1000) if tick else "0" for tick in ticks],
        },
    )


def _words(age_s: float | None) -> str | None:
    return None if fmt.is_missing(age_s) else fmt.duration(float(age_s) * 1000)


def _ticks(top_s: float) -> list[int]:
    """Three to six round steps from zero to about the top."""
    step = next((step for step in _STEPS_S if top_s / step <= 5), None)
    if step is None:
        step = 86_400 * int(np.ceil(top_s / 86_400 / 5))
    return [step * number for number in range(int(top_s // step) + 2)]
