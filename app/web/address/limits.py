"""The address of the limits. In: a query string. Out: search, filters, one subscription and a range; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    CLUSTERS,
    FROM,
    SEARCH,
    TO,
    PageAddress,
    flag,
    part,
    several,
    toggled,
    word,
)
from throttlescope.app.presentation.links.paths import LIMITS_PATH
from throttlescope.app.presentation.links.query import link, one, parts_of
from throttlescope.app.presentation.links.subscription import CHOSEN_SUBSCRIPTION, SubscriptionPartition
from throttlescope.ingest.contracts.vocabulary import LEVELS, SET_BY

#: Limits that were often nearly used up in the recent range, and those that were not half used in any minute of it.
USES = ("often", "never")
#: Fields that count where one subscription is opened; the others are filters of the table.
_OF_SUBJECT = ("subject", "start_ms", "end_ms")


@dataclass(frozen=True)
class LimitsAddress(PageAddress):
    """What the page of limits shows.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    clusters, namespaces, levels, set_by : tuple of str
        Only these are shown; empty: all.
    use : str or None
        ``often`` or ``never`` reached; None: all.
    without : bool
        Levels that were queried and have no limit are shown too.
    subject : SubscriptionPartition or None
        The subscription partition whose limits, policies and changes are shown; None: the table.
    start_ms, end_ms : int or None
        Of the changes; None: the newest day.
    """

    PATH: ClassVar[str] = LIMITS_PATH

    search: str = part(SEARCH)
    clusters: tuple[str, ...] = part(CLUSTERS)
    namespaces: tuple[str, ...] = part(several("namespace"))
    levels: tuple[str, ...] = part(several("level", LEVELS, what="level"))
    set_by: tuple[str, ...] = part(several("set_by", SET_BY, what="set_by"))
    use: str | None = part(word("use", USES, what="use"))
    without: bool = part(flag("without"))
    subject: SubscriptionPartition | None = part(CHOSEN_SUBSCRIPTION)
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)

    @classmethod
    def parse(cls, query: str | None) -> LimitsAddress:
        values = parts_of(query)
        is_opened = one(values, cls.query_name("subject")) is not None
        return cls.of_parts(values, _OF_SUBJECT if is_opened else None)

    def href(self) -> str:
        return link(self.PATH, self.pairs(None if self.subject is None else _OF_SUBJECT))

    def toggled(self, name: str, word: str) -> LimitsAddress:
        """The same with one word added to ``levels`` or ``set_by``, or removed from them."""
        return replace(self, **{name: toggled(getattr(self, name), word)})
