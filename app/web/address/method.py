"""The address of the accuracy page. In: a query string. Out: which part and which set of recordings; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import PageAddress, part, text, word
from throttlescope.app.presentation.links.paths import METHOD_PATH

TABS = ("accuracy", "rules", "simulator", "forecasts", "anomalies")


@dataclass(frozen=True)
class MethodAddress(PageAddress):
    """What the accuracy page shows.

    Attributes
    ----------
    tab : str
        One of :data:`TABS`.
    recordings : str or None
        Of ``accuracy``: the set of recordings; None: the held-out set.
    """

    PATH: ClassVar[str] = METHOD_PATH

    tab: str = part(word("tab", TABS, what="part", default=TABS[0]))
    recordings: str | None = part(text("set"))

    def of(self, recordings: str) -> MethodAddress:
        """The same of another set of recordings."""
        return replace(self, recordings=recordings)
