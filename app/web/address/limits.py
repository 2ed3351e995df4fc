"""The address of the limits. In: a query string. Out: search, what is let through, one subject and a range; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import LIMITS_PATH
from throttlescope.app.presentation.links.query import (
    every,
    link,
    one,
    one_of,
    parts_of,
    range_of,
    some_of,
    times_of,
)
from throttlescope.app.presentation.links.subscription import SubscriptionPartition, named_subscription
from throttlescope.ingest.contracts.vocabulary import LEVELS, SET_BY

#: Limits that were often nearly used up in the recent range, and those that were not half used in any minute of it.
USES = ("often", "never")


@dataclass(frozen=True)
class LimitsAddress:
    """What the page of limits shows.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    clusters, namespaces, levels, set_by : tuple of str
        What is let through; empty: all.
    use : str or None
        ``often`` or ``never`` reached; None: all.
    without : bool
        Levels that were asked for and have no limit are shown too.
    subject : SubscriptionPartition or None
        The subscription partition whose ladder, policies and changes are told; None: the table.
    start_ms, end_ms : int or None
        Of the changes; None: the newest day.
    """

    search: str = ""
    clusters: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    set_by: tuple[str, ...] = ()
    use: str | None = None
    without: bool = False
    subject: SubscriptionPartition | None = None
    start_ms: int | None = None
    end_ms: int | None = None

    @classmethod
    def parse(cls, query: str | None) -> LimitsAddress:
        values = parts_of(query)
        start_ms, end_ms = range_of(values)
        if one(values, "subscription") is not None:
            return cls(subject=named_subscription(values), start_ms=start_ms, end_ms=end_ms)
        return cls(
            one(values, "q") or "",
            every(values, "cluster"),
            every(values, "namespace"),
            some_of(values, "level", LEVELS, what="level"),
            some_of(values, "set_by", SET_BY, what="set_by"),
            one_of(values, "use", USES, what="use"),
            one(values, "without") == "1",
            None,
            start_ms,
            end_ms,
        )

    def href(self) -> str:
        if self.subject is not None:
            pairs = self.subject.pairs()
        else:
            pairs = [("q", self.search)] if self.search else []
            pairs += [("cluster", cluster) for cluster in self.clusters]
            pairs += [("namespace", namespace) for namespace in self.namespaces]
            pairs += [("level", level) for level in self.levels]
            pairs += [("set_by", set_by) for set_by in self.set_by]
            pairs += [("use", self.use)] if self.use else []
            pairs += [("without", "1")] if self.without else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        return link(LIMITS_PATH, pairs)

    def toggled(self, part: str, word: str) -> LimitsAddress:
        """The same with one word of ``levels`` or ``set_by`` let through, or no longer."""
        words = getattr(self, part)
        changed = tuple(w for w in words if w != word) if word in words else (*words, word)
        return replace(self, **{part: changed})
