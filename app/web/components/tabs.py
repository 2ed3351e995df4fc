"""Parts of one page as links. In: their titles and addresses. Out: components; the address says which part is shown."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html


def tabs(parts: Sequence[tuple[str, str, str]], chosen: str, *, label: str) -> html.Nav:
    """A row of links.

    Parameters
    ----------
    parts : sequence of (word, title, href)
    chosen : str
        The word of the part that is shown.
    """
    return html.Nav(
        [
            html.Span(title, className="part-tab chosen", **{"aria-current": "page"})
            if word == chosen
            else dcc.Link(title, href=href, className="part-tab")
            for word, title, href in parts
        ],
        className="part-tabs",
        **{"aria-label": label},
    )
