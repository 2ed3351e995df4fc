"""The address of the overview. In: a query string. Out: clusters, a range, a moment, causes, what backlogs are added up by; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    AT,
    CLUSTERS,
    FROM,
    TO,
    PageAddress,
    part,
    several,
    toggled,
    word,
)
from throttlescope.app.presentation.links.paths import OVERVIEW_PATH
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.ingest.core.times import BLOCK_MS

#: Lengths of a range that ends at the newest verdict and moves on with it, by their words.
LENGTHS_MS = {
    "1h": BLOCK_MS,
    "3h": 3 * BLOCK_MS,
    "6h": 6 * BLOCK_MS,
    "24h": 24 * BLOCK_MS,
    "7d": 7 * 24 * BLOCK_MS,
}
DEFAULT_LENGTH = "6h"
#: What a tile of the backlog is.
PLACES = ("namespace", "broker")


@dataclass(frozen=True)
class OverviewAddress(PageAddress):
    """What the overview shows.

    Attributes
    ----------
    clusters : tuple of str
        Only these are shown; empty: all.
    length : str
        One of :data:`LENGTHS_MS`: the newest hours. Without meaning where ``start_ms`` is there.
    start_ms, end_ms : int or None
        A range [start, end) that stays where it is; None: the newest hours.
    at_ms : int or None
        The moment that is shown; None: the end of the range.
    causes : tuple of str
        Only subscriptions with one of these are listed and drawn over time; empty: all. Its part is ``show``: links with ``cause``
        are those of the table of subscriptions, which was the first page once.
    by : str
        One of :data:`PLACES`.
    """

    PATH: ClassVar[str] = OVERVIEW_PATH

    clusters: tuple[str, ...] = part(CLUSTERS)
    length: str = part(word("last", tuple(LENGTHS_MS), what="length", default=DEFAULT_LENGTH))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    at_ms: int | None = part(AT)
    causes: tuple[str, ...] = part(several("show", CAUSES, what="cause"))
    by: str = part(word("by", PLACES, what="place", default=PLACES[0]))

    def over(self, start_ms: int | None, end_ms: int | None, *, length: str | None = None) -> OverviewAddress:
        """The same over another range, at its end."""
        return replace(self, start_ms=start_ms, end_ms=end_ms, length=length or DEFAULT_LENGTH, at_ms=None)

    def toggled(self, *causes: str) -> OverviewAddress:
        """The same with these causes as the filter, or without a filter where they are it."""
        if len(causes) == 1:
            return replace(self, causes=toggled(self.causes, causes[0]))
        return replace(self, causes=() if set(self.causes) == set(causes) else causes)
