"""The address of data quality and runs. In: a query string. Out: which part, a run, a past verdict; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    AT,
    PAGE_NUMBER,
    SEARCH,
    PageAddress,
    flag,
    part,
    text,
    word,
)
from throttlescope.app.presentation.links.paths import DATA_PATH
from throttlescope.app.presentation.links.subscription import CHOSEN_SUBSCRIPTION, SubscriptionPartition

TABS = ("runs", "gates", "quarantine", "freshness", "blind", "verdict")


@dataclass(frozen=True)
class DataAddress(PageAddress):
    """What the page of data quality shows.

    Attributes
    ----------
    tab : str
        One of :data:`TABS`.
    run : str or None
        Of ``runs``: the run that is opened. Of ``gates`` and ``quarantine``: only what this run found.
    everything : bool
        Of ``gates``: checks that passed are shown too.
    reason : str or None
        Of ``quarantine``: only rows refused for this reason.
    search : str
        Of ``verdict``: words in the names of subscriptions.
    subscription : SubscriptionPartition or None
        Of ``verdict``: whose windows are listed.
    at_ms : int or None
        Of ``verdict``: end of the window that is opened.
    page : int
        Of a long table, from 1.
    """

    PATH: ClassVar[str] = DATA_PATH

    tab: str = part(word("tab", TABS, what="part", default=TABS[0], is_always_written=True))
    run: str | None = part(text("run"))
    everything: bool = part(flag("checks", "all"))
    reason: str | None = part(text("reason"))
    search: str = part(SEARCH)
    subscription: SubscriptionPartition | None = part(CHOSEN_SUBSCRIPTION)
    at_ms: int | None = part(AT)
    page: int = part(PAGE_NUMBER)

    def on(self, page: int) -> DataAddress:
        """Another page of the same table."""
        return replace(self, page=page)


def past_verdict(subscription: SubscriptionPartition, at_ms: int | None = None) -> DataAddress:
    """Where a stored verdict is opened with its inputs; ``at_ms`` is its window's end, None: all of its windows."""
    return DataAddress("verdict", subscription=subscription, at_ms=at_ms)
