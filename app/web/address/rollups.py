"""The address of the roll-ups. In: a query string. Out: by what is counted, a search, one place and a range; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    CLUSTERS,
    FROM,
    SEARCH,
    TO,
    PageAddress,
    part,
    text,
    word,
)
from throttlescope.app.presentation.links.paths import ROLLUPS_PATH
from throttlescope.app.web.address.subscriptions import VIEW
from throttlescope.ingest.core.errors import InputError

BY = ("topic", "namespace", "broker")


@dataclass(frozen=True)
class RollupsAddress(PageAddress):
    """What the page of roll-ups shows: a table of places, or one place over a range [start, end).

    Attributes
    ----------
    by : str
        What a place is: one of :data:`BY`.
    search : str
        Words that must be in the name or the cluster.
    clusters : tuple of str
        Only these are shown; empty: all. With a name exactly one.
    view : str or None
        ``now`` or ``recent``, as in the table of subscriptions; None: the page's choice.
    name : str or None
        The place that is opened; None: the table.
    start_ms, end_ms : int or None
        None: the newest hours of the place's cluster.
    """

    PATH: ClassVar[str] = ROLLUPS_PATH

    by: str = part(word("by", BY, what="roll-up", default=BY[0], is_always_written=True))
    search: str = part(SEARCH)
    clusters: tuple[str, ...] = part(CLUSTERS)
    view: str | None = part(VIEW)
    name: str | None = part(text("name"))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)

    def check(self) -> None:
        if self.name is not None and len(self.clusters) != 1:
            raise InputError(
                f"The address does not say in which cluster the {self.by} is",
                got=f"{len(self.clusters)} clusters",
                expected="one cluster next to the name",
                fix="open it from the table of roll-ups",
            )

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
