"""Small pieces that several pages show. In: words and values. Out: components; names are shown, never obeyed."""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import html

from throttlescope.app.web import format as fmt
from throttlescope.app.web.causes import Cause


def badge(cause: Cause, extra: str = "") -> html.Span:
    """Shape, name and colour of a cause."""
    return html.Span(
        [
            html.Span(
                cause.mark, className="cause-mark", style={"color": cause.colour}, **{"aria-hidden": "true"}
            ),
            html.Span(cause.label),
            *([html.Span(extra, className="cause-extra")] if extra else []),
        ],
        className="cause-badge",
    )


def hostile(text: str, className: str = "") -> html.Bdi:  # noqa: N803
    """A name from a cluster: made visible, cut when endless, and kept apart from the text around it."""
    return html.Bdi(fmt.name(text), title=fmt.name(text, 2_000), className=f"name {className}".strip())


def copy_button(text: str, label: str = "copy") -> dmc.CopyButton:
    return dmc.CopyButton(
        label, value=text, copiedChildren="copied", size="compact-xs", variant="default", className="copy"
    )


def section(title: str, children: list, *, note: str | None = None, id: str | None = None) -> html.Section:
    """A titled part of a page."""
    heading = [html.H2(title)]
    if note:
        heading.append(html.Span(note, className="section-note"))
    extra = {"id": id} if id else {}
    return html.Section(
        [html.Div(heading, className="section-head"), *children], className="section", **extra
    )
