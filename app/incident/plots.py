"""All plots with one time axis. In: rows of verdicts and minutes. Out: one figure; and a PNG of it if Chromium is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import plotly.graph_objects as go

from throttlescope.app.incident.load import Incident
from throttlescope.app.presentation import figures
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence

#: For the axis of the plot above, and two rows of a legend.
_GAP_PX = 84
_TOP_PX, _BOTTOM_PX = 46, 44
_WIDTH_MARGINS = {"l": 90, "r": 26}


def incident_figure(incident: Incident) -> go.Figure | None:
    """The plots of the subscription page, stacked; None if there is no data."""
    minutes = incident.minutes
    known = [row["window_start_ms"] for row in incident.verdicts[:1]]
    known += [] if minutes.empty else [int(minutes["minute_ms"].iloc[0])]
    # Hours without data would squeeze the rest into a corner.
    start_ms = max(incident.start_ms, min(known, default=incident.start_ms))
    bounds = {"start_ms": start_ms, "end_ms": incident.end_ms}
    at_ms = None if incident.verdict is None else incident.verdict["window_end_ms"]
    parts: list[go.Figure] = []
    if incident.verdicts:
        parts.append(figures.ribbon_figure(incident.verdicts, minutes, at_ms=at_ms, **bounds))
    if not minutes.empty:
        parts += [figures.backlog_figure(minutes, **bounds), figures.msg_rates_figure(minutes, **bounds)]
        limited = [name for name in minutes.columns if name.startswith("limit_") and name.endswith("_bytes")]
        if minutes[limited].notna().any().any():
            parts.append(figures.byte_rates_figure(minutes, **bounds))
        more = (figures.events_figure(minutes, **bounds), figures.holding_figure(minutes, **bounds))
        parts += [part for part in more if part is not None]
    return stacked(parts) if parts else None


def stacked(parts: Sequence[go.Figure]) -> go.Figure:
    """One figure of several with the same range of time, top to bottom; zooming one zooms all."""
    heights = [part.layout.height - _margins(part) for part in parts]
    whole = sum(heights) + _GAP_PX * (len(parts) - 1) + _TOP_PX + _BOTTOM_PX
    drawn = whole - _TOP_PX - _BOTTOM_PX
    traces: list = []
    layout: dict = {}
    shapes: list[dict] = []
    notes: list[dict] = []
    top = drawn
    for i, (part, height) in enumerate(zip(parts, heights, strict=True), 1):
        tag = "" if i == 1 else str(i)
        plain = part.to_plotly_json()
        for trace in plain["data"]:
            traces.append({**trace, "xaxis": f"x{tag}", "yaxis": f"y{tag}", "legend": f"legend{tag}"})
        own = plain["layout"]
        domain = [max(0.0, (top - height) / drawn), top / drawn]
        layout[f"xaxis{tag}"] = {**own["xaxis"], "anchor": f"y{tag}", **({"matches": "x"} if tag else {})}
        layout[f"yaxis{tag}"] = {**own["yaxis"], "anchor": f"x{tag}", "domain": domain}
        layout[f"legend{tag}"] = {
            "orientation": "h", "x": 0, "y": domain[1] + 4 / drawn, "yanchor": "bottom", "font": {"size": 12},
        }  # fmt: skip
        if not own.get("showlegend"):
            for trace in traces[-len(plain["data"]) :]:
                trace["showlegend"] = False
        shapes += [_placed(shape, tag) for shape in own.get("shapes", ())]
        notes += [_placed(note, tag) for note in own.get("annotations", ())]
        top -= height + _GAP_PX
    common = parts[0].layout.to_plotly_json()
    layout |= {
        "height": int(whole),
        "margin": {**_WIDTH_MARGINS, "t": _TOP_PX, "b": _BOTTOM_PX},
        "font": common["font"],
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "hovermode": "closest",
        "dragmode": "zoom",
        # Stretches of a cause have a base of their own, and are not stacked by this.
        "barmode": "stack",
        "bargap": common.get("bargap", 0.15),
        "showlegend": True,
        "shapes": shapes,
        "annotations": notes,
    }
    return go.Figure({"data": traces, "layout": layout})


def _margins(part: go.Figure) -> float:
    return part.layout.margin.t + part.layout.margin.b


def _placed(item: dict, tag: str) -> dict:
    """A shape or an annotation in its own part: references to the paper become references to the part."""
    placed = dict(item)
    for axis in "xy":
        reference = placed.get(f"{axis}ref") or axis
        placed[f"{axis}ref"] = f"{axis}{tag} domain" if reference == "paper" else f"{axis}{tag}"
    if placed.get("showlegend"):
        placed["legend"] = f"legend{tag}"
    return placed


def photograph(figure: go.Figure) -> tuple[bytes | None, str | None]:
    """The figure as PNG, or a text that says why there is none."""
    # Imported late: most of it is only of use where a picture is made.
    from throttlescope.app.presentation.figures.image import chromium_path, write_figure

    if chromium_path() is None:
        return None, sentence("incident.missing.chromium")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plots.png"
        try:
            write_figure(path, figure, div_id="plots")
        except ThrottlescopeError as error:
            return None, sentence("incident.missing.picture", why=error.what)
        return path.read_bytes(), None
