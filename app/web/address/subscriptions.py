"""The address of the table of subscriptions. In: a query string. Out: search, causes, clusters, view; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    CLUSTERS,
    SEARCH,
    PageAddress,
    flag,
    part,
    several,
    toggled,
    word,
)
from throttlescope.app.presentation.links.paths import SUBSCRIPTIONS_PATH
from throttlescope.ingest.contracts.vocabulary import CAUSES

VIEWS = ("now", "recent")
VIEW = word("view", VIEWS, what="view")


@dataclass(frozen=True)
class SubscriptionsAddress(PageAddress):
    """Which subscriptions the table shows.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    clusters, causes : tuple of str
        Only these are shown; empty: all.
    view : str or None
        ``now``: the newest verdicts; ``recent``: the main cause of the recent hours; None: the page's choice.
    own_topics : bool
        Healthy subscriptions of Pulsar's own topics (``__change_events`` and the like) are shown too.
    """

    PATH: ClassVar[str] = SUBSCRIPTIONS_PATH

    search: str = part(SEARCH)
    clusters: tuple[str, ...] = part(CLUSTERS)
    causes: tuple[str, ...] = part(several("cause", CAUSES, what="cause"))
    view: str | None = part(VIEW)
    own_topics: bool = part(flag("own"))

    def toggled(self, cause: str) -> SubscriptionsAddress:
        """The same with one cause added to the selected ones, or removed from them."""
        return replace(self, causes=toggled(self.causes, cause))
