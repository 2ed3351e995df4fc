"""Measured numbers in words. In: shares with their intervals, times, shares of error. Out: text and cells; what was not measured says so."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.units import words

_SPACE = "\N{NO-BREAK SPACE}"


def set_name(name: str) -> str:
    """The name of a set of recordings on the page."""
    return sentence(f"accuracy.set_name.{set_key(name)}")


def set_key(name: str) -> str:
    """A set in keys of the catalogue; files and addresses have an older name for the held-out set."""
    return "held-out" if name == "kept aside" else name


def percent(value: float | None) -> str:
    """One digit behind the point: more than that no figure here is good for."""
    return fmt.missing() if value is None else f"{100 * value:.1f}{_SPACE}%"


def number(value: float | None, digits: int = 3) -> str:
    return fmt.missing() if value is None else f"{value:.{digits}f}"


def span(bounds: Sequence[float] | None) -> str:
    """``96.8 to 98.9 %``."""
    if bounds is None:
        return fmt.missing()
    return sentence("label.range_words", low=f"{100 * bounds[0]:.1f}", high=percent(bounds[1]))


def share(found: dict | None, *, recordings: bool = False):
    """A share, what it is of, and its Wilson interval; with ``recordings`` also the one over whole recordings."""
    if found is None or not found["of"]:
        return html.Span(sentence("accuracy.nothing_to_count"), className="quiet")
    below = sentence(
        "accuracy.share", count=found["count"], whole=found["of"], interval=span(found["wilson"])
    )
    parts = [html.Strong(percent(found["count"] / found["of"])), html.Span(below, className="interval")]
    if recordings and found.get("clustered"):
        parts.append(
            html.Span(
                sentence("accuracy.over_recordings", interval=span(found["clustered"])), className="interval"
            )
        )
    return html.Span(parts, className="share")


def figure(value: float | None, bounds: Sequence[float] | None):
    """A figure between 0 and 1 with its interval over recordings."""
    if value is None:
        return html.Span(fmt.missing(), className="quiet")
    below = (
        [
            html.Span(
                sentence("label.range_words", low=f"{bounds[0]:.3f}", high=f"{bounds[1]:.3f}"),
                className="interval",
            )
        ]
        if bounds
        else []
    )
    return html.Span([html.Strong(f"{value:.3f}"), *below], className="share")


def seconds(value: float | None) -> str:
    return sentence("accuracy.never") if value is None else f"{value:.0f}{_SPACE}{words().s}"


def met(found: bool | None) -> html.Span:
    """Whether a target is met, as a mark and in words."""
    mark, text, kind = (
        ("✓", sentence("accuracy.met"), "good") if found else ("✖", sentence("accuracy.missed"), "bad")
    )
    if found is None:
        mark, text, kind = "?", sentence("accuracy.nothing_to_count"), "open"
    return html.Span([html.Span(mark, className=f"state-mark {kind}"), text], className="state")


def page_of(path: str) -> html.P:
    """Where the whole report is; a path inside the repository."""
    return html.P(sentence_parts(message("accuracy.report", path=html.Code(path))), className="quiet")
