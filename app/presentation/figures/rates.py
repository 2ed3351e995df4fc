"""Rates in, out and acknowledged, with every known limit as a line. In: minutes of ``signals``. Out: figures.

A limit says level, rate and who set it in the legend, next to its dashes: words inside of the chart would cover the curves that come close to it.
"""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import (
    ACK,
    ALL,
    IN,
    LEVEL_COLOURS,
    LEVEL_DASHES,
    OUT,
    chart,
    gapless,
    known,
    line,
)
from throttlescope.app.presentation.figures.traces import scatter
from throttlescope.app.presentation.limits import known_limit, limit_lines, shared_use
from throttlescope.app.presentation.unmeasured_zeros import is_measured
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.messages.catalogue import message, sentence

# A limit further away than this would press the rates flat; it is only named.
_FARTHEST = 4.0


def msg_rates_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure:
    """Messages per second in, out and acknowledged, and the message limits per second."""
    minutes = gapless(minutes)
    traces = [
        line(minutes, minutes["in_msg_rate_5m"], sentence("figures.rates.in"), IN, unit="msg/s"),
        line(minutes, minutes["out_msg_rate_5m"], sentence("figures.rates.out"), OUT, unit="msg/s"),
    ]
    if is_measured(minutes, "ack_msg_rate"):
        traces.append(
            line(
                minutes,
                minutes["ack_msg_rate"],
                sentence("figures.rates.acknowledged"),
                ACK,
                unit="msg/s",
                dash="dot",
            )
        )
    return _with_limits(traces, minutes, "msg", "msg/s", start_ms, end_ms)


def byte_rates_figure(minutes: pd.DataFrame, *, start_ms: int, end_ms: int) -> go.Figure:
    """Bytes per second in and out, and the byte limits per second."""
    minutes = gapless(minutes)
    traces = [
        line(minutes, minutes["in_bytes_rate_5m"], sentence("figures.rates.in"), IN, unit="B/s"),
        line(minutes, minutes["out_bytes_rate_5m"], sentence("figures.rates.out"), OUT, unit="B/s"),
    ]
    return _with_limits(traces, minutes, "bytes", "B/s", start_ms, end_ms)


def _with_limits(traces, minutes, unit: str, unit_words: str, start_ms: int, end_ms: int) -> go.Figure:
    lines = limit_lines(minutes, unit)
    highest = _highest(traces)
    shared = {level: shared_use(minutes, level, unit) for level in ("broker", "topic") if level in lines}
    near = {
        level: values
        for level, values in lines.items()
        if values.max() <= _FARTHEST * max(highest, shared[level].max() if level in shared else 0.0)
        or not highest
    }
    alone = minutes[f"out_{unit}_rate_5m"].astype(float)
    for level, use in shared.items():
        # A shared limit is used by neighbours too: its use is drawn where it is not this one's alone.
        if level in near and (use > alone * 1.05).any():
            label = sentence("figures.rates.shared", level=message(f"limiting.level.{level}"))
            traces.append(line(minutes, use, label, ALL, unit=unit_words, dash=LEVEL_DASHES[level]))
    highest = _highest(traces)
    for level, values in lines.items():
        words = _limit_words(minutes, values, level, unit)
        traces.append(
            _limit_trace(minutes, values, level, words, unit_words)
            if level in near
            else _named_limit(sentence("figures.rates.above", limit=words), level, start_ms)
        )
    top = max([highest, *(float(values.max()) for values in near.values())]) * 1.22 or 1.0
    y_axis = {"range": [0, top]}
    if unit == "bytes":
        ticks = _iec_ticks(top)
        y_axis |= {"tickmode": "array", "tickvals": list(ticks), "ticktext": list(ticks.values())}
    return chart(
        traces,
        y_title=sentence(f"figures.axis.{unit}_per_second"),
        start_ms=start_ms,
        end_ms=end_ms,
        height_px=270,
        y_axis=y_axis,
    )


def _highest(traces) -> float:
    return max((float(known(trace.y).max(initial=0.0)) for trace in traces), default=0.0)


def _limit_trace(
    minutes: pd.DataFrame, values: pd.Series, level: str, words: str, unit_words: str
) -> go.Scatter:
    return line(
        minutes,
        values,
        words,
        LEVEL_COLOURS[level],
        unit=unit_words,
        line={"color": LEVEL_COLOURS[level], "width": 2.5, "dash": LEVEL_DASHES[level], "shape": "hv"},
    )


def _named_limit(words: str, level: str, at_ms: int) -> go.Scatter:
    """A limit that is in the legend alone."""
    look = {"color": LEVEL_COLOURS[level], "width": 2.5, "dash": LEVEL_DASHES[level]}
    return scatter(x=[at_ms], y=[None], name=words, mode="lines", line=look, hoverinfo="skip")


def _limit_words(minutes: pd.DataFrame, values: pd.Series, level: str, unit: str) -> str:
    """Level, speed and who set it, as of the last minute with this limit."""
    known_to = values.last_valid_index()
    limit = known_limit(minutes.iloc[: known_to + 1], level, unit)
    rate, set_by, which = limit.speed(), limit.who(), message(f"limiting.level.{level}")
    if minutes.loc[known_to + 1 :, f"limit_{level}_set_by"].notna().any():
        until = fmt.clock(int(minutes.loc[known_to, "minute_ms"]) + MINUTE_MS)
        return sentence("figures.rates.limit_until", level=which, rate=rate, set_by=set_by, time=until)
    return sentence("figures.rates.limit", level=which, rate=rate, set_by=set_by)


def _iec_ticks(top_bytes: float) -> dict[float, str]:
    """Three to six steps of a power of two from zero to below the top: ``{0: "0 B", 512: "512 B", ...}``."""
    step = 1
    while top_bytes / step >= 6:
        step *= 2
    return {i * step: fmt.size(i * step) for i in range(int(top_bytes / step) + 1)}
