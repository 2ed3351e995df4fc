"""The confusion matrix as a heat map. In: true causes, what they were called, and how often. Out: a figure with the numbers in it."""

from __future__ import annotations

import plotly.graph_objects as go

from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.figures.chart import FONT, PAGE_TEXT
from throttlescope.app.presentation.figures.traces import figure_of, heatmap
from throttlescope.models.messages.catalogue import sentence

# Light to strong, legible on light and dark; right and wrong differ by place (the diagonal) as well.
_RIGHT = [[0, "#cfe5f3"], [1, "#0072B2"]]
_WRONG = [[0, "#f9d9c3"], [1, "#D55E00"]]
_ROW_PX, _ABOVE_PX, _LEFT_PX = 30, 118, 150


def confusion_figure(confusion: dict[str, dict[str, int]]) -> go.Figure:
    """Rows: what was true; columns: what was named; a cell's colour is its share of the row.

    Parameters
    ----------
    confusion : dict of str to dict of str to int
        Words of ``contracts.words.CAUSES``.
    """
    true = [word for word in CAUSES if confusion.get(word)]
    named = [word for word in CAUSES if any(word in row for row in confusion.values()) or word in true]
    rows, columns = [_label(word) for word in true], [_label(word) for word in named]
    traces = []
    for is_right, scale in ((True, _RIGHT), (False, _WRONG)):
        shares, texts, hovers = [], [], []
        for word in true:
            total = sum(confusion[word].values())
            counts = [confusion[word].get(other, 0) if (other == word) == is_right else 0 for other in named]
            shares.append([count / total if count else None for count in counts])
            texts.append([str(count) if count else "" for count in counts])
            hovers.append(
                [_hover(word, other, count, total) for other, count in zip(named, counts, strict=True)]
            )
        traces.append(
            heatmap(
                x=columns, y=rows, z=shares, text=texts, texttemplate="%{text}", customdata=hovers,
                hovertemplate="%{customdata}<extra></extra>", colorscale=scale, zmin=0, zmax=1, showscale=False,
                xgap=2, ygap=2, hoverongaps=False,
            )
        )  # fmt: skip
    height = _ABOVE_PX + _ROW_PX * len(true) + 12
    layout = {
        "height": height,
        "margin": {"l": _LEFT_PX, "r": 8, "t": _ABOVE_PX, "b": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": PAGE_TEXT},
        "xaxis": {
            "side": "top", "tickangle": -45, "showgrid": False, "zeroline": False, "fixedrange": True,
            "title": {"text": sentence("figures.confusion.named"), "standoff": 4},
        },
        "yaxis": {
            "autorange": "reversed", "showgrid": False, "zeroline": False, "fixedrange": True,
            "title": {"text": sentence("figures.confusion.true"), "standoff": 4},
        },
    }  # fmt: skip
    return figure_of(traces, layout)


def _label(word: str) -> str:
    return f"{CAUSES[word].mark} {CAUSES[word].label}"


def _hover(true: str, named: str, count: int, total: int) -> str:
    cause = CAUSES[true].label
    if true == named:
        return sentence("figures.confusion.right", cause=cause, count=count, total=total)
    other = CAUSES[named].label
    return sentence("figures.confusion.wrong", cause=cause, count=count, total=total, named=other)
