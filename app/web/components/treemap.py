"""Shares of a whole as tiles whose areas are the shares. In: sizes, and a component for each. Out: a component; every tile is a link.

Tiles are laid out as squares as far as that goes (Bruls, Huizing and van Wijk, "Squarified treemaps"), for a box of one shape; the
style sheet stretches it. They are links of their own, so that keys and screen readers reach them, which a drawn chart's parts are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dash import dcc, html

#: Width / height of the box that tiles are laid out for.
_SHAPE = 1.9


@dataclass(frozen=True)
class Tile:
    """One share.

    Attributes
    ----------
    size : float
        Above zero.
    colour : str
        Of its edge and, faintly, of its area.
    lines : sequence
        What is written in it, the most important first; small tiles show fewer.
    title : str
        All of it in words.
    href : str or None
        Where it leads; None: it is the rest.
    """

    key: str
    size: float
    colour: str
    lines: Sequence
    title: str
    href: str | None


def treemap(tiles: Sequence[Tile], *, label: str) -> html.Div:
    """Tiles in a box, the largest first."""
    boxes = squarified([tile.size for tile in tiles], _SHAPE, 1.0)
    return html.Div(
        [_shown(tile, box) for tile, box in zip(tiles, boxes, strict=True)],
        className="treemap",
        role="group",
        **{"aria-label": label},
    )


def _shown(tile: Tile, box: tuple[float, float, float, float]) -> html.Div:
    left, top, width, height = box
    style = {
        "left": f"{100 * left / _SHAPE:.3f}%", "top": f"{100 * top:.3f}%",
        "width": f"{100 * width / _SHAPE:.3f}%", "height": f"{100 * height:.3f}%", "--cause": tile.colour,
    }  # fmt: skip
    content = html.Span(
        [html.Span(line, className="tile-line") for line in tile.lines], className="tile-content"
    )
    inside = (
        html.Div(content, className="tile-inside", title=tile.title)
        if tile.href is None
        else dcc.Link(content, href=tile.href, className="tile-inside", title=tile.title)
    )
    # By its key a tile keeps the focus when others become larger than it.
    return html.Div(inside, className="tile", style=style, key=tile.key)


def squarified(
    sizes: Sequence[float], width: float, height: float
) -> list[tuple[float, float, float, float]]:
    """Rectangles (left, top, width, height) that fill a box, in the order of the sizes and in their proportion.

    Parameters
    ----------
    sizes : sequence of float
        Above zero, the largest first.
    """
    total = sum(sizes)
    areas = [size * width * height / total for size in sizes]
    boxes: list[tuple[float, float, float, float]] = []
    left, top = 0.0, 0.0
    while areas:
        # A row along the shorter side of what is left, as long as its tiles become more square.
        side = min(width, height)
        row = 1
        while row < len(areas) and _stretched(areas[: row + 1], side) <= _stretched(areas[:row], side):
            row += 1
        thick = sum(areas[:row]) / side
        at = 0.0
        for area in areas[:row]:
            long = area / thick
            boxes.append((left, top + at, thick, long) if width >= height else (left + at, top, long, thick))
            at += long
        if width >= height:
            left, width = left + thick, width - thick
        else:
            top, height = top + thick, height - thick
        areas = areas[row:]
    return boxes


def _stretched(areas: Sequence[float], side: float) -> float:
    """The longest side of the tiles of a row, over their shortest: 1 is a square."""
    thick = sum(areas) / side
    return max(max(thick * thick / area, area / (thick * thick)) for area in areas)
