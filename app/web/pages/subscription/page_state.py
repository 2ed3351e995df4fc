"""What an open page shows, for its later requests. In: a view, or the values that a browser sent back. Out: plain values, or checked ones.

The page keeps them in a ``dcc.Store``: a button's request is then about what the user sees, also where the lake has new data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.pages.subscription.content import LONGEST_MS, SelectedWindow
from throttlescope.ingest.core.errors import InputError


@dataclass(frozen=True)
class PageState:
    """An address with the range and the window that were chosen for it.

    Attributes
    ----------
    address : SubscriptionAddress
    start_ms, end_ms : int
        The range of the page.
    window_ms : (int, int) or None
        The selected window.
    """

    address: SubscriptionAddress
    start_ms: int
    end_ms: int
    window_ms: tuple[int, int] | None

    @classmethod
    def of(cls, data: Any) -> PageState:
        """Read what a browser sent back; it is not trusted.

        Raises
        ------
        InputError
            It is not what :func:`state_of` wrote.
        """
        try:
            address = SubscriptionAddress.parse(urlsplit(str(data["href"])).query)
            start_ms, end_ms = int(data["start_ms"]), int(data["end_ms"])
            window = data["window_ms"]
            window_ms = None if window is None else (int(window[0]), int(window[1]))
            if not 0 < end_ms - start_ms <= LONGEST_MS or abs(start_ms) > 2**53:
                raise ValueError
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            raise InputError(
                "The request does not say what its page shows", fix="load the page again"
            ) from None
        return cls(address, start_ms, end_ms, window_ms)

    @property
    def pinned(self) -> SubscriptionAddress:
        """The address with the range and the window that were chosen, even if the lake has newer data by now."""
        at_ms = None if self.window_ms is None else self.window_ms[1]
        return replace(self.address, start_ms=self.start_ms, end_ms=self.end_ms, at_ms=at_ms)

    @property
    def answer_key(self) -> str:
        """The subscription and the selected window, for which an answer is stored."""
        at_ms = None if self.window_ms is None else self.window_ms[1]
        return SubscriptionAddress(self.address.subscription, at_ms=at_ms).href()


def state_of(view: SelectedWindow) -> dict[str, Any]:
    """What :meth:`PageState.of` reads."""
    verdict = view.verdict
    return {
        "href": view.address.href(),
        "start_ms": view.start_ms,
        "end_ms": view.end_ms,
        "window_ms": None if verdict is None else [verdict["window_start_ms"], verdict["window_end_ms"]],
    }
