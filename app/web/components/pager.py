"""Pages of a long table. In: which page, how many rows, and how an address of another is made. Out: components; every link is an address."""

from __future__ import annotations

from collections.abc import Callable

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.models.messages import units
from throttlescope.models.messages.catalogue import sentence


def pager(page: int, total: int, rows_per_page: int, to: Callable[[int], str], *, noun: str) -> html.Nav:
    """Newer, which rows these are, older.

    Parameters
    ----------
    to : callable
        The address of a page, from 1.
    noun : str
        What a row is, in the plural.
    """
    noun = units.plural(noun, total)
    label = sentence("page.pager.label", number=fmt.exact(total), noun=noun)
    first, last = (page - 1) * rows_per_page + 1, min(page * rows_per_page, total)
    if total <= rows_per_page and page == 1:
        return html.Nav(
            sentence("page.pager.all", number=fmt.exact(total), noun=noun),
            className="pager quiet",
            **{"aria-label": label},
        )
    if first > total:
        beyond = sentence("page.pager.beyond", number=fmt.exact(total), noun=noun)
        parts: list = [html.Span(beyond), _link(sentence("label.first_page"), to(1))]
    else:
        some = sentence(
            "page.pager.some",
            first=fmt.exact(first),
            last=fmt.exact(last),
            number=fmt.exact(total),
            noun=noun,
        )
        parts = [html.Span(some)]
    if page > 1 and first <= total:
        parts.insert(0, _link(sentence("label.page_before"), to(page - 1)))
    if last < total and first <= total:
        parts.append(_link(sentence("label.next_page"), to(page + 1)))
    return html.Nav(parts, className="pager", **{"aria-label": label})


def _link(text: str, href: str) -> dcc.Link:
    return dcc.Link(text, href=href, className="range-link")
