"""The address of method and accuracy. In: a query string. Out: which part and which set of recordings; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import METHOD_PATH
from throttlescope.app.presentation.links.query import link, one, one_of, parts_of

TABS = ("accuracy", "rules", "simulator", "forecasts", "anomalies")


@dataclass(frozen=True)
class MethodAddress:
    """What the page of method and accuracy shows.

    Attributes
    ----------
    tab : str
        One of :data:`TABS`.
    recordings : str or None
        Of ``accuracy``: the set of recordings; None: the one that judges.
    """

    tab: str = "accuracy"
    recordings: str | None = None

    @classmethod
    def parse(cls, query: str | None) -> MethodAddress:
        values = parts_of(query)
        return cls(one_of(values, "tab", TABS, what="part", default=TABS[0]), one(values, "set"))

    def href(self) -> str:
        pairs = [("tab", self.tab)] if self.tab != "accuracy" else []
        pairs += [("set", self.recordings)] if self.recordings else []
        return link(METHOD_PATH, pairs)

    def of(self, recordings: str) -> MethodAddress:
        """The same of another set of recordings."""
        return replace(self, recordings=recordings)
