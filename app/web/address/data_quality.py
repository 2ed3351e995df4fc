"""The address of data quality and runs. In: a query string. Out: which part, a run, a past verdict; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import DATA_PATH
from throttlescope.app.presentation.links.query import link, one, one_of, page_of, parts_of, time_of, times_of
from throttlescope.app.presentation.links.subscription import SubscriptionPartition, named_subscription

TABS = ("runs", "gates", "quarantine", "freshness", "blind", "verdict")


@dataclass(frozen=True)
class DataAddress:
    """What the page of data quality shows.

    Attributes
    ----------
    tab : str
        One of :data:`TABS`.
    run : str or None
        Of ``runs``: the run that is opened. Of ``gates`` and ``quarantine``: only what this run found.
    everything : bool
        Of ``gates``: checks that held are shown too.
    reason : str or None
        Of ``quarantine``: only rows refused for this.
    search : str
        Of ``verdict``: words in the names of subscriptions.
    subscription : SubscriptionPartition or None
        Of ``verdict``: whose windows are listed.
    at_ms : int or None
        Of ``verdict``: end of the window that is opened.
    page : int
        Of a long table, from 1.
    """

    tab: str = "runs"
    run: str | None = None
    everything: bool = False
    reason: str | None = None
    search: str = ""
    subscription: SubscriptionPartition | None = None
    at_ms: int | None = None
    page: int = 1

    @classmethod
    def parse(cls, query: str | None) -> DataAddress:
        values = parts_of(query)
        return cls(
            one_of(values, "tab", TABS, what="part", default=TABS[0]),
            one(values, "run"),
            one(values, "checks") == "all",
            one(values, "reason"),
            one(values, "q") or "",
            named_subscription(values) if one(values, "subscription") else None,
            time_of(values, "at"),
            page_of(values),
        )

    def href(self) -> str:
        pairs = [("tab", self.tab)]
        pairs += [("run", self.run)] if self.run is not None else []
        pairs += [("checks", "all")] if self.everything else []
        pairs += [("reason", self.reason)] if self.reason is not None else []
        pairs += [("q", self.search)] if self.search else []
        pairs += self.subscription.pairs() if self.subscription is not None else []
        pairs += times_of(("at", self.at_ms))
        pairs += [("page", str(self.page))] if self.page > 1 else []
        return link(DATA_PATH, pairs)

    def on(self, page: int) -> DataAddress:
        """Another page of the same table."""
        return replace(self, page=page)


def past_verdict(subscription: SubscriptionPartition, at_ms: int | None = None) -> DataAddress:
    """Where a stored verdict is opened with its inputs; ``at_ms`` is its window's end, None: all of its windows."""
    return DataAddress("verdict", subscription=subscription, at_ms=at_ms)
