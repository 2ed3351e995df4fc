"""What a browser shows before any script has run. In: the list of pages. Out: HTML text for the index page.

The header and grey bars in the place of the content. Its links are plain ones, so they work at once; when the shell itself is drawn, the style
sheet hides this frame (``assets/first_frame.css``).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from throttlescope.app.presentation.links.paths import OVERVIEW_PATH
from throttlescope.models.messages.catalogue import sentence


def first_frame(pages: Sequence[tuple[str, str]]) -> str:
    """HTML of the frame.

    Parameters
    ----------
    pages : sequence of (title, path)
        What the header leads to; the shell's own list.
    """
    links = "".join(
        f'<a class="shell-link" href="{escape(path)}">{escape(title)}</a>' for title, path in pages
    )
    return (
        '<div id="first-frame">'
        f'<div class="first-header"><a class="shell-brand" href="{escape(OVERVIEW_PATH)}">throttlescope</a>'
        f'<nav class="shell-nav" aria-label="{escape(sentence("label.pages"))}">{links}</nav></div>'
        '<div class="first-page" role="status" aria-label="' + escape(sentence("label.loading")) + '">'
        '<div class="first-bar"></div><div class="first-bar tall"></div><div class="first-bar taller"></div></div>'
        "</div>"
    )
