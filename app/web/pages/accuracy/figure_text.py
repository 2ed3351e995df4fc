"""Measured numbers in words. In: shares with their intervals, times, shares of error. Out: text and cells; what was not measured says so."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html

from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.models.messages.catalogue import message

NOT = "not measured"
_SPACE = "\N{NO-BREAK SPACE}"


def set_name(name: str) -> str:
    """The name of a set of recordings on the page; files and addresses have an older one for the held-out set."""
    return "held-out" if name == "kept aside" else name


def percent(value: float | None) -> str:
    """One digit behind the point: more than that no figure here is good for."""
    return NOT if value is None else f"{100 * value:.1f}{_SPACE}%"


def number(value: float | None, digits: int = 3) -> str:
    return NOT if value is None else f"{value:.{digits}f}"


def span(bounds: Sequence[float] | None) -> str:
    """``96.8 to 98.9 %``."""
    return NOT if bounds is None else f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}{_SPACE}%"


def share(found: dict | None, *, recordings: bool = False):
    """A share, what it is of, and its Wilson interval; with ``recordings`` also the one over whole recordings."""
    if found is None or not found["of"]:
        return html.Span("nothing to count", className="quiet")
    below = f"{found['count']} of {found['of']}, {span(found['wilson'])}"
    parts = [html.Strong(percent(found["count"] / found["of"])), html.Span(below, className="interval")]
    if recordings and found.get("clustered"):
        parts.append(html.Span(f"over recordings {span(found['clustered'])}", className="interval"))
    return html.Span(parts, className="share")


def figure(value: float | None, bounds: Sequence[float] | None):
    """A figure between 0 and 1 with its interval over recordings."""
    if value is None:
        return html.Span(NOT, className="quiet")
    below = [html.Span(f"{bounds[0]:.3f} to {bounds[1]:.3f}", className="interval")] if bounds else []
    return html.Span([html.Strong(f"{value:.3f}"), *below], className="share")


def seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.0f}{_SPACE}s"


def met(found: bool | None) -> html.Span:
    """Whether a target is met, as a mark and in words."""
    mark, words, kind = ("✓", "met", "good") if found else ("✖", "missed", "bad")
    if found is None:
        mark, words, kind = "?", "nothing to count", "open"
    return html.Span([html.Span(mark, className=f"state-mark {kind}"), words], className="state")


def page_of(path: str) -> html.P:
    """Where the whole report is; a path inside the repository."""
    return html.P(sentence_parts(message("accuracy.report", path=html.Code(path))), className="quiet")
