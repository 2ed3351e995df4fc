"""The address of the anomalies. In: a query string. Out: filters, one group or one anomaly; and the link back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from throttlescope.app.presentation.links.paths import ANOMALIES_PATH
from throttlescope.app.presentation.links.query import (
    every,
    link,
    one,
    one_of,
    page_of,
    parts_of,
    range_of,
    some_of,
    time_of,
    times_of,
)
from throttlescope.app.presentation.links.subscription import SubscriptionPartition, named_subscription
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


@dataclass(frozen=True)
class AnomaliesAddress:
    """Which anomalies are shown.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    clusters, signals, directions : tuple of str
        What is let through; empty: all.
    state : str or None
        ``open``, ``closed``, or None: both.
    start_ms, end_ms : int or None
        Only what touches [start_ms, end_ms); None: the newest day that was judged.
    group : str or None
        Only the anomalies of this group.
    opened : Opened or None
        The anomaly whose chart is shown.
    page : int
        From 1.
    """

    search: str = ""
    clusters: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    state: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    group: str | None = None
    opened: Opened | None = None
    page: int = 1

    @classmethod
    def parse(cls, query: str | None) -> AnomaliesAddress:
        values = parts_of(query)
        return cls(
            one(values, "q") or "",
            every(values, "in"),
            some_of(values, "signal", ANOMALY_SIGNALS, what="signal"),
            some_of(values, "direction", DIRECTIONS, what="direction"),
            one_of(values, "state", STATES, what="state"),
            *range_of(values),
            one(values, "group"),
            _opened(values),
            page_of(values),
        )

    def href(self) -> str:
        pairs = [("q", self.search)] if self.search else []
        pairs += [("in", cluster) for cluster in self.clusters]
        pairs += [("signal", signal) for signal in self.signals]
        pairs += [("direction", direction) for direction in self.directions]
        pairs += [("state", self.state)] if self.state else []
        pairs += times_of(("from", self.start_ms), ("to", self.end_ms))
        pairs += [("group", self.group)] if self.group is not None else []
        pairs += [("page", str(self.page))] if self.page > 1 else []
        if self.opened is not None:
            pairs += self.opened.subscription.pairs()
            pairs += [("of", self.opened.signal), ("at", format_time(self.opened.start_ms))]
        return link(ANOMALIES_PATH, pairs)

    @property
    def is_filtered(self) -> bool:
        """Something is left out, the range aside."""
        return bool(
            self.search or self.clusters or self.signals or self.directions or self.state or self.group
        )

    def toggled(self, name: str, word: str) -> AnomaliesAddress:
        """The same with one word of ``clusters``, ``signals`` or ``directions`` let through, or no longer."""
        words = getattr(self, name)
        words = tuple(w for w in words if w != word) if word in words else (*words, word)
        return replace(self, **{name: words}, page=1, opened=None)

    def to_open(self, row: dict) -> AnomaliesAddress:
        """The same with the anomaly of a row opened."""
        key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
        return replace(self, opened=Opened(key, row["signal"], row["start_ms"]))


def _opened(values: dict[str, list[str]]) -> Opened | None:
    if one(values, "subscription") is None:
        return None
    signal, start_ms = one(values, "of"), time_of(values, "at")
    if signal not in ANOMALY_SIGNALS or start_ms is None:
        raise InputError(
            "The address does not name an anomaly",
            got=f"signal {signal}, start {start_ms}",
            expected="of=SIGNAL and at=TIME beside a subscription",
            fix="open it from the list of anomalies",
        )
    return Opened(named_subscription(values), signal, start_ms)
