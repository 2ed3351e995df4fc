"""The address of the anomalies. In: a query string. Out: filters, one group or one anomaly; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from throttlescope.app.presentation.links.fields import (
    FROM,
    PAGE_NUMBER,
    SEARCH,
    TO,
    AddressField,
    PageAddress,
    part,
    several,
    text,
    toggled,
    word,
)
from throttlescope.app.presentation.links.paths import ANOMALIES_PATH
from throttlescope.app.presentation.links.query import one, time_of
from throttlescope.app.presentation.links.subscription import SubscriptionPartition, chosen_subscription
from throttlescope.ingest.contracts.anomalies import ANOMALY_SIGNALS, DIRECTIONS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time

STATES = ("open", "closed")


@dataclass(frozen=True)
class Opened:
    """One anomaly: a signal of a subscription partition from a moment on."""

    subscription: SubscriptionPartition
    signal: str
    start_ms: int

    def pairs(self) -> list[tuple[str, str]]:
        """Its parts in an address."""
        return [*self.subscription.pairs(), ("of", self.signal), ("at", format_time(self.start_ms))]


def _opened(values: dict[str, list[str]]) -> Opened | None:
    subscription = chosen_subscription(values)
    if subscription is None:
        return None
    signal, start_ms = one(values, "of"), time_of(values, "at")
    if signal not in ANOMALY_SIGNALS or start_ms is None:
        raise InputError(
            "The address does not name an anomaly",
            got=f"signal {signal}, start {start_ms}",
            expected="of=SIGNAL and at=TIME next to a subscription",
            fix="open it from the list of anomalies",
        )
    return Opened(subscription, signal, start_ms)


@dataclass(frozen=True)
class AnomaliesAddress(PageAddress):
    """Which anomalies are shown.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    clusters, signals, directions : tuple of str
        Only these are shown; empty: all.
    state : str or None
        ``open``, ``closed``, or None: both.
    start_ms, end_ms : int or None
        Only anomalies that overlap [start_ms, end_ms); None: the newest day with results.
    group : str or None
        Only the anomalies of this group.
    page : int
        From 1.
    opened : Opened or None
        The anomaly whose chart is shown.
    """

    PATH: ClassVar[str] = ANOMALIES_PATH

    search: str = part(SEARCH)
    clusters: tuple[str, ...] = part(several("in"))
    signals: tuple[str, ...] = part(several("signal", ANOMALY_SIGNALS, what="signal"))
    directions: tuple[str, ...] = part(several("direction", DIRECTIONS, what="direction"))
    state: str | None = part(word("state", STATES, what="state"))
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    group: str | None = part(text("group"))
    page: int = part(PAGE_NUMBER)
    opened: Opened | None = part(AddressField("subscription", _opened, Opened.pairs))

    @property
    def is_filtered(self) -> bool:
        """A filter other than the range is set."""
        return bool(
            self.search or self.clusters or self.signals or self.directions or self.state or self.group
        )

    def toggled(self, name: str, word: str) -> AnomaliesAddress:
        """The same with one word added to ``clusters``, ``signals`` or ``directions``, or removed from them."""
        return replace(self, **{name: toggled(getattr(self, name), word)}, page=1, opened=None)

    def to_open(self, row: dict) -> AnomaliesAddress:
        """The same with the anomaly of a row opened."""
        key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
        return replace(self, opened=Opened(key, row["signal"], row["start_ms"]))
