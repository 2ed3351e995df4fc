"""A chart of a page with its key as text above it. In: a figure, and what other charts of the page have named. Out: components.

Figures carry a legend of their own, for notebooks, reports and saved pictures. On a page it would be cut on a small screen, and every chart
would repeat it: there the key is text that wraps, and names a look once on the page. A click on a name hides it in all charts of the page
and shows it again (``assets/charts.js``).
"""

from __future__ import annotations

import base64
from html import escape

import plotly.graph_objects as go
from dash import html

from throttlescope.models.messages.catalogue import sentence

_WIDTH_PX, _HEIGHT_PX = 26, 12
_DASHES = {"solid": "", "dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3", "longdash": "11 4"}
#: What a figure has above its plot where its legend is not there.
_TOP_PX = 10

#: A name and its picture.
Entry = tuple[str, str]


class PageKey:
    """What the charts of one page have named so far."""

    def __init__(self) -> None:
        self._named: set[Entry] = set()

    def take(self, figure: go.Figure) -> list[html.Ul]:
        """Take the legend out of a figure: what it names that no chart above did, as a list; nothing where that is nothing."""
        entries = legend_of(figure)
        if figure.layout.showlegend:
            figure.layout.height -= max(0, figure.layout.margin.t - _TOP_PX)
            figure.layout.margin.t = _TOP_PX
        figure.layout.showlegend = False
        fresh = [entry for entry in entries if entry not in self._named]
        self._named.update(fresh)
        if not fresh:
            return []
        return [
            html.Ul(
                [
                    html.Li(
                        html.Button(
                            [
                                html.Img(src=picture, alt="", width=_WIDTH_PX, height=_HEIGHT_PX),
                                html.Span(name),
                            ],
                            type="button",
                            title=sentence("page.chart.toggle"),
                            **{"data-name": name, "aria-pressed": "true"},
                        )
                    )
                    for name, picture in fresh
                ],
                className="chart-key",
            )
        ]


def legend_of(figure: go.Figure) -> list[Entry]:
    """The entries of a figure's legend; none where it shows none."""
    if not figure.layout.showlegend:
        return []
    found = []
    for trace in figure.data:
        if trace.showlegend is not False:
            marker = trace.marker.to_plotly_json() if trace.type == "bar" else None
            line = {} if trace.type == "bar" else trace.line.to_plotly_json()
            filled = trace.fillcolor if trace.type == "scatter" and trace.fill == "tonexty" else None
            found.append((trace.name, _bar(marker) if marker else _line(line, filled)))
    for shape in figure.layout.shapes:
        if shape.showlegend:
            drawn = (
                _line(shape.line.to_plotly_json(), None)
                if shape.type == "line"
                else _area(shape.fillcolor, shape.opacity)
            )
            found.append((shape.name, drawn))
    return found


def _line(line: dict, filled: str | None) -> str:
    dash = _DASHES.get(line.get("dash") or "solid", "")
    width = line.get("width", 2)
    area = f'<rect width="{_WIDTH_PX}" height="{_HEIGHT_PX}" fill="{escape(filled)}"/>' if filled else ""
    stroke = (
        f'<path d="M0 6H{_WIDTH_PX}" stroke="{escape(line["color"])}" stroke-width="{max(width, 1.5)}" stroke-dasharray="{dash}"/>'
        if width and line.get("color")
        else ""
    )
    return _svg(area + stroke)


def _bar(marker: dict) -> str:
    shape = (marker.get("pattern") or {}).get("shape") or ""
    crossed = {
        "x": '<path d="M4 0l18 12M4 12L22 0" stroke="#fff" stroke-opacity=".75"/>',
        "/": '<path d="M4 12L13 0M13 12L22 0" stroke="#fff" stroke-opacity=".75"/>',
        ".": '<path d="M8 6h.1M13 6h.1M18 6h.1" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>',
    }.get(shape, "")
    return _svg(f'<rect x="4" width="18" height="{_HEIGHT_PX}" fill="{escape(marker["color"])}"/>{crossed}')


def _area(colour: str, opacity: float | None) -> str:
    return _svg(
        f'<rect width="{_WIDTH_PX}" height="{_HEIGHT_PX}" fill="{escape(colour)}" fill-opacity="{opacity or 1}"/>'
    )


def _svg(inside: str) -> str:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH_PX}" height="{_HEIGHT_PX}">{inside}</svg>'
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
