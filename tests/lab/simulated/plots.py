"""Backlog recorded against simulated, one SVG per family. In: recordings and tracks; out: text of small, self-contained pictures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from tests.lab.simulated.recorded import Recorded, Track

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 300, 150, 46, 34, 26
#: A point this close to the line between its neighbours is not drawn.
_CLOSE_PX = 0.25
#: Lines that look different without colour too.
_STYLES = {
    "recorded": 'stroke="#1f4e79" stroke-width="2.6" stroke-opacity="0.45"',
    "simulated": 'stroke="#c0392b" stroke-width="1.2"',
    "min(limit, capacity, arrivals)": 'stroke="#777" stroke-width="1" stroke-dasharray="3 3"',
}


@dataclass(frozen=True)
class Panel:
    """One subscription of one recording."""

    title: str
    recorded: Recorded
    lines: dict[str, Track]


def picture(panels: list[Panel], columns: int = 3) -> str:
    """Draw panels side by side, each on its own scales."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    width = columns * (_WIDTH + _LEFT) + 16
    height = rows * (_HEIGHT + _TOP + _GAP) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    x = _LEFT
    for name, style in _STYLES.items():
        parts.append(f'<path d="M{x} 12h22" {style} fill="none"/><text x="{x + 28}" y="16">{name}</text>')
        x += 46 + 7 * len(name)
    for number, panel in enumerate(panels):
        left = _LEFT + (number % columns) * (_WIDTH + _LEFT)
        top = 24 + _TOP + (number // columns) * (_HEIGHT + _TOP + _GAP)
        parts += _panel(panel, left, top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, left: int, top: int) -> list[str]:
    at_s, end_s = panel.recorded.at_s, panel.recorded.end_s
    highest = max(float(track.backlog_entries.max()) for track in panel.lines.values()) or 1.0
    parts = [
        f'<text x="{left}" y="{top - 8}" font-weight="bold">{escape(panel.title)}</text>',
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#bbb"/>',
    ]
    for share in (0.5, 1.0):
        y = round(top + _HEIGHT * (1 - share * 0.95))
        parts.append(f'<path d="M{left} {y}h{_WIDTH}" stroke="#eee"/>')
        parts.append(f'<text x="{left - 4}" y="{y + 4}" text-anchor="end">{share * highest:,.0f}</text>')
    for minute in range(0, int(end_s // 60) + 1, 2):
        x = round(left + minute * 60 / end_s * _WIDTH)
        parts.append(f'<text x="{x}" y="{top + _HEIGHT + 14}" text-anchor="middle">{minute} min</text>')
    for begin_s in list(panel.recorded.began_s.values())[1:]:
        x = round(left + begin_s / end_s * _WIDTH)
        parts.append(f'<path d="M{x} {top}v{_HEIGHT}" stroke="#999" stroke-dasharray="2 2"/>')
    for name, track in panel.lines.items():
        xs = at_s / end_s * _WIDTH
        ys = _HEIGHT * (1 - track.backlog_entries / highest * 0.95)
        points = " ".join(f"{xs[i]:.1f},{ys[i]:.1f}" for i in kept(xs, ys))
        parts.append(
            f'<polyline transform="translate({left} {top})" points="{points}" fill="none" {_STYLES[name]}/>'
        )
    return parts


def kept(xs: np.ndarray, ys: np.ndarray, close: float = _CLOSE_PX) -> list[int]:
    """The points of a line that are needed to see it: the ends, and whatever is off the line between those kept (Douglas-Peucker)."""
    found = {0, len(xs) - 1}
    spans = [(0, len(xs) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        slope = (ys[last] - ys[first]) / (xs[last] - xs[first])
        off = np.abs(ys[inner] - ys[first] - slope * (xs[inner] - xs[first]))
        worst = int(off.argmax())
        if off[worst] > close:
            middle = first + 1 + worst
            found.add(middle)
            spans += [(first, middle), (middle, last)]
    return sorted(found)
