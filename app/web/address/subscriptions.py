"""The address of the table of subscriptions. In: a query string. Out: search, causes, clusters, view; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import SUBSCRIPTIONS_PATH
from throttlescope.app.presentation.links.query import every, link, one, one_of, parts_of, some_of
from throttlescope.ingest.contracts.vocabulary import CAUSES

VIEWS = ("now", "recent")


@dataclass(frozen=True)
class SubscriptionsAddress:
    """Which subscriptions the table shows.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    causes, clusters : tuple of str
        What is let through; empty: all.
    view : str or None
        ``now``: the newest verdicts; ``recent``: what held longest in the recent hours; None: the page's choice.
    own_topics : bool
        Healthy subscriptions of Pulsar's own topics (``__change_events`` and the like) are shown too.
    """

    search: str = ""
    causes: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    view: str | None = None
    own_topics: bool = False

    @classmethod
    def parse(cls, query: str | None) -> SubscriptionsAddress:
        values = parts_of(query)
        causes = some_of(values, "cause", CAUSES, what="cause")
        view = one_of(values, "view", VIEWS, what="view")
        clusters = every(values, "cluster")
        return cls(one(values, "q") or "", causes, clusters, view, one(values, "own") == "1")

    def href(self) -> str:
        pairs = [("q", self.search)] if self.search else []
        pairs += [("cluster", cluster) for cluster in self.clusters]
        pairs += [("cause", cause) for cause in self.causes]
        pairs += [("view", self.view)] if self.view else []
        pairs += [("own", "1")] if self.own_topics else []
        return link(SUBSCRIPTIONS_PATH, pairs)

    def toggled(self, cause: str) -> SubscriptionsAddress:
        """The same with one cause let through, or no longer."""
        causes = (
            tuple(c for c in self.causes if c != cause) if cause in self.causes else (*self.causes, cause)
        )
        return replace(self, causes=causes)
