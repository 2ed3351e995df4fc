"""The address of the roll-ups. In: a query string. Out: by what is counted, a search, one place and a range; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import ROLLUPS_PATH
from throttlescope.app.presentation.links.query import every, link, one, one_of, parts_of, range_of, times_of
from throttlescope.app.web.address.subscriptions import VIEWS
from throttlescope.ingest.core.errors import InputError

BY = ("topic", "namespace", "broker")


@dataclass(frozen=True)
class RollupsAddress:
    """What the page of roll-ups shows: a table of places, or one place over a range [start, end).

    Attributes
    ----------
    by : str
        What a place is: one of :data:`BY`.
    search : str
        Words that must be in the name or the cluster.
    clusters : tuple of str
        What is let through; empty: all. Beside a name exactly one.
    view : str or None
        ``now`` or ``recent``, as in the table of subscriptions; None: the page's choice.
    name : str or None
        The place that is opened; None: the table.
    start_ms, end_ms : int or None
        None: the newest hours of the place's cluster.
    """

    by: str = "topic"
    search: str = ""
    clusters: tuple[str, ...] = ()
    view: str | None = None
    name: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None

    @classmethod
    def parse(cls, query: str | None) -> RollupsAddress:
        values = parts_of(query)
        by = one_of(values, "by", BY, what="roll-up", default="topic")
        view = one_of(values, "view", VIEWS, what="view")
        clusters, name = every(values, "cluster"), one(values, "name")
        if name is not None and len(clusters) != 1:
            raise InputError(
                f"The address does not say in which cluster the {by} is",
                got=f"{len(clusters)} clusters",
                expected="one cluster beside the name",
                fix="open it from the table of roll-ups",
            )
        start_ms, end_ms = range_of(values)
        return cls(by, one(values, "q") or "", clusters, view, name, start_ms, end_ms)

    def href(self) -> str:
        pairs = [("by", self.by)]
        pairs += [("q", self.search)] if self.search else []
        pairs += [("cluster", cluster) for cluster in self.clusters]
        pairs += [("view", self.view)] if self.view else []
        pairs += [("name", self.name)] if self.name is not None else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        return link(ROLLUPS_PATH, pairs)

    @property
    def cluster(self) -> str:
        """The cluster of the place that is opened."""
        return self.clusters[0]

    def opened(self, cluster: str, name: str) -> RollupsAddress:
        """One place of the same kind."""
        return replace(self, search="", view=None, clusters=(cluster,), name=name)

    def table(self) -> RollupsAddress:
        """The table that leads to places of this kind."""
        return RollupsAddress(self.by)
