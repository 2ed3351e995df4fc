"""A simulation over its time. In: summaries with their rows. Out: a figure, three or four charts per subscription partition.

Colours, dashes and units are those of the web app's charts; every limit is named at its line, not by its colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import FONT, GREY, IN, LEVEL_COLOURS, LEVEL_DASHES, OUT
from throttlescope.app.services.simulate.summary import PartitionSummary

_TEXT, _GRID = "#33383d", "rgba(128,128,128,0.18)"
_CHART_PX, _GAP_PX, _TOP_PX, _BOTTOM_PX = 200, 50, 120, 56
#: A backlog is drawn with at most so many points, each the highest of its span.
_POINTS = 2000
#: Rates and events are means over the shortest of these spans that leaves at most so many: a limiter works in jerks.
_SPANS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400)
_MEANS = 150
#: A limit further above the rates would press them flat; it is named at the edge instead.
_FARTHEST = 4.0
#: Steps of a limit that a title names.
_MOST_STEPS = 4
#: Width of a letter as a share of the axis.
_LETTER = 0.006
#: Longest time that is shown in a unit, the unit's seconds and its name.
_TIME_UNITS = (
    (600, 1, "seconds"),
    (3 * 3600, 60, "minutes"),
    (4 * 86_400, 3600, "hours"),
    (np.inf, 86_400, "days"),
)


class _Time(NamedTuple):
    """The x axis: its end and its unit."""

    end_s: float
    unit_s: int
    unit: str

    @classmethod
    def of(cls, end_s: float) -> _Time:
        return next(cls(end_s, unit_s, unit) for longest_s, unit_s, unit in _TIME_UNITS if end_s <= longest_s)


def simulation_figure(
    partitions: Sequence[PartitionSummary], *, marks: Sequence[tuple[float, str]], title: str
) -> go.Figure:
    """Backlog, rates with their limits and throttle events of subscription partitions, one below the other.

    Parameters
    ----------
    partitions
        Summaries, at least one; their rows are spans of equal length.
    marks
        Interventions: second and name.
    title
        What was simulated.
    """
    time = _Time.of(float(partitions[0].rows["second"][-1]))
    charts = [(item, kind) for item in partitions for kind in _kinds(item)]
    inner_px = len(charts) * _CHART_PX + (len(charts) - 1) * _GAP_PX
    figure = make_subplots(
        rows=len(charts),
        shared_xaxes=True,
        vertical_spacing=_GAP_PX / inner_px if len(charts) > 1 else 0,
        subplot_titles=[
            f"{escape(item.name)}: {_title(item, kind)}{_limits(item, kind)}" for item, kind in charts
        ],
    )
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    named: set[str] = set()
    for row, (item, kind) in enumerate(charts, 1):
        for trace in _traces(item, kind):
            trace.update(
                x=np.asarray(trace.x, float) / time.unit_s,
                legendgroup=trace.name,
                showlegend=trace.showlegend is not False and trace.name not in named,
            )
            named.add(trace.name)
            figure.add_trace(trace, row=row, col=1)
        unit = "entries, messages" if kind == "backlog" and item.batched else _UNITS[kind]
        figure.update_yaxes(title_text=unit, row=row, col=1)
        if kind == "backlog":
            # Room for the names of the marks.
            figure.update_yaxes(range=[0, 1.25 * max(1, *_highest(item))], row=row, col=1)
    _mark(figure, marks, time, len(charts))
    figure.update_xaxes(
        range=[0, time.end_s / time.unit_s], gridcolor=_GRID, zeroline=False, ticks="outside",
        showticklabels=True, hoverformat=".2~f",
    )  # fmt: skip
    figure.update_yaxes(rangemode="tozero", gridcolor=_GRID, tickformat="~s", nticks=6, title_standoff=8)
    figure.update_xaxes(title_text=f"{time.unit} from the start", row=len(charts), col=1)
    figure.update_layout(
        height=_TOP_PX + inner_px + _BOTTOM_PX,
        title={"text": escape(title), "x": 0.01, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 16}, "font": {"size": 16}},
        margin={"l": 84, "r": 26, "t": _TOP_PX, "b": _BOTTOM_PX},
        paper_bgcolor="#ffffff", plot_bgcolor="#ffffff",
        font={"family": FONT, "size": 12, "color": _TEXT},
        hovermode="x", barmode="stack", bargap=0,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1 + 28 / inner_px, "yanchor": "bottom"},
    )  # fmt: skip
    return figure


def _kinds(item: PartitionSummary) -> list[str]:
    bytes_matter = any(limit.unit == "bytes" for state in item.states for limit in state.limits)
    return ["backlog", "msg", *(["bytes"] if bytes_matter else []), "events"]


def _title(item: PartitionSummary, kind: str) -> str:
    if kind == "backlog":
        return "backlog"
    span_s = _step_for(item) * int(item.rows["second"][0])
    mean = f", mean of {span_s} s" if span_s > 1 else ""
    return {"msg": "messages", "bytes": "bytes", "events": "throttle events"}[kind] + f" per second{mean}"


def _traces(item: PartitionSummary, kind: str) -> list[go.Scatter | go.Bar]:
    if kind == "backlog":
        return _backlog(item)
    return _events(item) if kind == "events" else _rates(item, kind)


def _backlog(item: PartitionSummary) -> list[go.Scatter]:
    # The highest of what becomes one point: a peak is never smoothed away.
    step = -(-len(item.rows["second"]) // _POINTS)
    columns = ["backlog_entries", *(["backlog_messages"] if item.batched else [])]
    ends, values = _thinned(item, step, np.maximum, *columns)
    traces = [_line(ends, values[0], "backlog, entries", OUT, "entries").update(showlegend=item.batched)]
    if item.batched:
        traces.append(_line(ends, values[1], "backlog, messages", IN, "messages", dash="dot"))
    return traces


def _highest(item: PartitionSummary) -> tuple[int, int]:
    return item.peak_entries, int(item.rows["backlog_messages"].max(initial=0))


def _rates(item: PartitionSummary, unit: str) -> list[go.Scatter]:
    words = _UNITS[unit]
    columns = {"msg": ("published_messages", "out_messages"), "bytes": ("out_bytes",)}[unit]
    looks = {
        "published_messages": ("published", IN, "dashdot"),
        "out_messages": ("dispatched", OUT, "solid"),
        "out_bytes": ("dispatched", OUT, "solid"),
    }
    ends, sums = _thinned(item, _step_for(item), np.add, *columns)
    lengths = np.diff(ends, prepend=0)
    traces = []
    for column, values in zip(columns, sums, strict=True):
        name, colour, dash = looks[column]
        # A mean holds for its whole span.
        x, y = np.append(0, ends), np.append(values[0] / lengths[0], values / lengths)
        traces.append(_line(x, y, f"{name}, {words}", colour, words, dash, shape="vh"))
    near = _near(item, unit)
    for level in near:
        x, y = [], []
        for start_s, end_s, rate in _limit_steps(item, level, unit):
            x += [start_s, end_s]
            y += [rate, rate]
        trace = _line(x, y, f"{level} limit, {words}", LEVEL_COLOURS[level], words, dash=LEVEL_DASHES[level])
        traces.append(trace.update(showlegend=False))
    return traces


def _events(item: PartitionSummary) -> list[go.Scatter | go.Bar]:
    traces = []
    for level in LEVEL_COLOURS:
        for unit in ("msg", "bytes"):
            ends, (sums,) = _thinned(item, _step_for(item), np.add, f"{level}_{unit}_events")
            if not sums.any():
                continue
            lengths = np.diff(ends, prepend=0)
            traces.append(
                go.Scatter(
                    x=np.append(0, ends),
                    y=np.append(sums[0] / lengths[0], sums / lengths),
                    name=f"events, {level}.{unit}",
                    mode="lines",
                    stackgroup="events",
                    line={"color": LEVEL_COLOURS[level], "width": 0, "shape": "vh"},
                    fillpattern={"shape": "/" if unit == "bytes" else ""},
                    hovertemplate="%{y:.4~s} events/s",
                )
            )
    # A chart without a trace would have no axis.
    end_s = float(item.rows["second"][-1])
    return traces or [_line([0, end_s], [0, 0], "no events", GREY, "events/s")]


def _line(x, y, name: str, colour: str, unit: str, dash: str = "solid", shape: str = "linear") -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line={"color": colour, "width": 2, "dash": dash, "shape": shape},
        connectgaps=False,
        hovertemplate=f"%{{y:.4~s}} {unit}",
    )


def _step_for(item: PartitionSummary) -> int:
    """How many rows become one mean."""
    ends = item.rows["second"]
    every_s = int(ends[0])
    wanted_s = next((span for span in _SPANS_S if span * _MEANS >= ends[-1]), _SPANS_S[-1])
    return max(1, wanted_s // every_s)


def _thinned(
    item: PartitionSummary, step: int, how: np.ufunc, *columns: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Ends of spans of ``step`` rows, and what ``how`` makes of each column's values in them."""
    ends = item.rows["second"]
    starts = np.arange(0, len(ends), step)
    last = np.minimum(starts + step, len(ends)) - 1
    return ends[last], [how.reduceat(item.rows[name], starts) for name in columns]


def _limit_steps(item: PartitionSummary, level: str, unit: str) -> list[tuple[float, float, float | None]]:
    """[start, end) and rate per second of a limit, None while there is none; equal neighbours are one."""
    rates = [
        next(
            # With the publish rate on top it is no fixed line.
            (
                limit.per_s
                for limit in state.limits
                if (limit.level, limit.unit) == (level, unit) and not limit.relative_to_publish
            ),
            None,
        )
        for state in item.states
    ]
    found = []
    for rate, group in groupby(zip(item.states, rates, strict=True), key=lambda pair: pair[1]):
        states = [state for state, _ in group]
        found.append((states[0].start_s, states[-1].end_s, rate))
    return found


def _near(item: PartitionSummary, unit: str) -> list[str]:
    """Levels whose limit is drawn to scale."""
    column = {"msg": "out_messages", "bytes": "out_bytes"}[unit]
    ends, (sums,) = _thinned(item, _step_for(item), np.add, column)
    highest = float((sums / np.diff(ends, prepend=0)).max())
    most = {
        level: max((rate or 0.0 for *_, rate in _limit_steps(item, level, unit)), default=0.0)
        for level in LEVEL_COLOURS
    }
    return [level for level, rate in most.items() if rate and (not highest or rate <= _FARTHEST * highest)]


def _limits(item: PartitionSummary, kind: str) -> str:
    """The limits of a chart in its title, in the colours of their lines: inside of the chart they would cover the curves."""
    if kind not in ("msg", "bytes"):
        return ""
    near, parts = _near(item, kind), []
    for level, colour in LEVEL_COLOURS.items():
        rates = [
            "none" if rate is None else f"{fmt.short(rate)}{'B/s' if kind == 'bytes' else ' msg/s'}"
            for *_, rate in _limit_steps(item, level, kind)
        ]
        if all(rate == "none" for rate in rates):
            continue
        far = "" if level in near else ", far above"
        shown = " → ".join(rates[:_MOST_STEPS]) + (" → ..." if len(rates) > _MOST_STEPS else "")
        parts.append(f"<span style='color:{colour}'>{level} limit {shown}{far}</span>")
    return "".join(f"   {part}" for part in parts)


def _mark(figure: go.Figure, marks: Sequence[tuple[float, str]], time: _Time, rows: int) -> None:
    """A line through every chart where something is changed, named at the top one."""
    for row in range(1, rows + 1):
        for at_s, _ in marks:
            figure.add_vline(
                x=at_s / time.unit_s, line={"color": "#868e96", "width": 1.5, "dash": "dash"}, row=row, col=1
            )
    lane, free_s = 0, 0.0
    for at_s, name in marks:
        # A name that would run into the one before it is put below that.
        lane = (lane + 1) % 4 if at_s < free_s else 0
        free_s = at_s + _LETTER * min(60, len(name) + 2) * time.end_s
        late = at_s > 0.8 * time.end_s
        figure.add_annotation(
            x=at_s / time.unit_s, y=1, yref="y domain", xref="x", text=escape(fmt.name(name, limit=60)),
            showarrow=False, xanchor="right" if late else "left", yanchor="top", xshift=-4 if late else 4,
            yshift=-16 * lane, bgcolor="rgba(255,255,255,0.7)",
        )  # fmt: skip


_UNITS = {"backlog": "entries", "msg": "msg/s", "bytes": "B/s", "events": "events/s"}
