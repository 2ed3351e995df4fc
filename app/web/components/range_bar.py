"""A range in words, and links to others. In: a range and how an address of another is made. Out: components; every link is absolute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from throttlescope.app.presentation import format as fmt
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.models.messages.catalogue import sentence

LENGTHS_MS = (BLOCK_MS, 3 * BLOCK_MS, 6 * BLOCK_MS, 24 * BLOCK_MS, 7 * 24 * BLOCK_MS)


def range_bar(
    start_ms: int,
    end_ms: int,
    to: Callable[[int, int], str],
    *,
    data_up_to_ms: int,
    lengths_ms: tuple[int, ...] = LENGTHS_MS,
    lengths_end_ms: int | None = None,
    chosen_ms: int | None = None,
    cut_to_ms: int | None = None,
    links: Sequence[Component] = (),
    tools: Sequence[Component] = (),
) -> html.Div:
    """Earlier, the range, later, and lengths to choose from.

    Parameters
    ----------
    to : callable
        The address of the range [start, end) that it is given.
    lengths_end_ms : int, optional
        Where the lengths end; None: at the end of the range.
    chosen_ms : int, optional
        The length that was chosen, where less is shown; None: that of the range.
    cut_to_ms : int, optional
        The address requested a longer range; this is the longest that is shown.
    links, tools : sequence of component
        Placed after the lengths, before the data's end.
    """
    length = end_ms - start_ms
    last_ms = end_ms if lengths_end_ms is None else lengths_end_ms
    lengths = [
        dcc.Link(
            fmt.duration(other),
            href=to(last_ms - other, last_ms),
            className="range-link chosen" if other == (chosen_ms or length) else "range-link",
        )
        for other in lengths_ms
    ]
    return html.Div(
        [
            dcc.Link(
                sentence("label.earlier"),
                href=to(start_ms - length, start_ms),
                className="range-link shift-earlier",
            ),
            html.Span(f"{fmt.between(start_ms, end_ms)} ({fmt.duration(length)})", className="range-words"),
            dcc.Link(
                sentence("label.later"), href=to(end_ms, end_ms + length), className="range-link shift-later"
            ),
            html.Span(sentence("label.last_lengths"), className="quiet"),
            *lengths,
            *links,
            html.Span(className="shell-space"),
            *tools,
            html.Span(sentence("page.data.up_to", at=fmt.moment(data_up_to_ms)), className="freshness"),
            *(
                [html.Span(sentence("page.range.cut", length=fmt.duration(cut_to_ms)), className="quiet")]
                if cut_to_ms
                else []
            ),
        ],
        className="range-bar",
        role="navigation",
        **{"aria-label": sentence("label.time_range")},
    )


def chosen_range(
    start_ms: int | None,
    end_ms: int | None,
    *,
    newest_ms: int,
    default_ms: int,
    longest_ms: int | None = None,
) -> tuple[int, int, bool]:
    """The range to show, and whether a longer one was requested: the address's, or the newest hours."""
    if end_ms is None:
        end_ms = newest_ms if start_ms is None else max(newest_ms, start_ms + default_ms)
    if start_ms is None:
        start_ms = end_ms - default_ms
    was_cut = longest_ms is not None and end_ms - start_ms > longest_ms
    return (end_ms - longest_ms if was_cut else start_ms), end_ms, was_cut
