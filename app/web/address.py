"""The URL is the state: one encoder and one decoder for every page.

In: what a page shows, or a query string that anyone may have typed. Out: a link, or the state;
an unreadable part is an ``InputError`` that the page explains. Links carry absolute times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import parse_qs, quote, urlencode

from throttlescope.ingest.contracts.words import CAUSES
from throttlescope.ingest.errors import InputError
from throttlescope.ingest.times import check_range, format_time, parse_time

OVERVIEW_PATH = "/"
SUBSCRIPTIONS_PATH = "/subscriptions"
SUBSCRIPTION_PATH = "/subscription"

VIEWS = ("now", "recent")

_LONGEST_VALUE = 20_000
_YEAR_10000_MS = 253_402_300_800_000


@dataclass(frozen=True)
class Subscription:
    """One subscription of one topic partition."""

    cluster: str
    topic: str
    partition: int
    subscription: str


@dataclass(frozen=True)
class SubscriptionsAddress:
    """Which subscriptions the table shows.

    Attributes
    ----------
    search : str
        Words that must be in the names.
    causes, clusters : tuple of str
        What is let through; empty: all.
    view : str or None
        ``now``: the newest verdicts; ``recent``: what held longest in the recent hours; None: the page's choice.
    own_topics : bool
        Healthy subscriptions of Pulsar's own topics (``__change_events`` and the like) are shown too.
    """

    search: str = ""
    causes: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    view: str | None = None
    own_topics: bool = False

    @classmethod
    def parse(cls, query: str | None) -> SubscriptionsAddress:
        values = _values(query)
        causes = tuple(dict.fromkeys(values.get("cause", [])))
        strange = [cause for cause in causes if cause not in CAUSES]
        if strange:
            raise InputError(
                "The address names a cause that does not exist", got=strange[0], expected=", ".join(CAUSES)
            )
        view = _one(values, "view")
        if view not in (None, *VIEWS):
            raise InputError(
                "The address names a view that does not exist", got=view, expected=" or ".join(VIEWS)
            )
        clusters = tuple(dict.fromkeys(values.get("cluster", [])))
        return cls(_one(values, "q") or "", causes, clusters, view, _one(values, "own") == "1")

    def href(self) -> str:
        pairs = [("q", self.search)] if self.search else []
        pairs += [("cluster", cluster) for cluster in self.clusters]
        pairs += [("cause", cause) for cause in self.causes]
        pairs += [("view", self.view)] if self.view else []
        pairs += [("own", "1")] if self.own_topics else []
        return _href(SUBSCRIPTIONS_PATH, pairs)

    def toggled(self, cause: str) -> SubscriptionsAddress:
        """The same with one cause let through, or no longer."""
        causes = (
            tuple(c for c in self.causes if c != cause) if cause in self.causes else (*self.causes, cause)
        )
        return replace(self, causes=causes)


@dataclass(frozen=True)
class SubscriptionAddress:
    """What the subscription page shows: a subscription, a range [start, end), and one verdict in it.

    Attributes
    ----------
    start_ms, end_ms : int or None
        None: the page's own choice, the newest hours of that subscription.
    at_ms : int or None
        End of the window whose verdict is told; None: the newest in the range.
    """

    subscription: Subscription
    start_ms: int | None = None
    end_ms: int | None = None
    at_ms: int | None = None

    @classmethod
    def parse(cls, query: str | None) -> SubscriptionAddress:
        values = _values(query)
        texts = {key: _one(values, key) for key in ("cluster", "topic", "subscription")}
        missing = [key for key, value in texts.items() if not value]
        if missing:
            raise InputError(
                "The address does not name a subscription",
                got=f"no {', '.join(missing)}",
                expected="cluster, topic, partition and subscription",
                fix="open it from the table of subscriptions",
            )
        partition = _one(values, "partition") or "-1"
        if not (partition.removeprefix("-").isascii() and partition.removeprefix("-").isdigit()):
            raise InputError(
                "The partition in the address is not a number", got=partition, expected="-1, 0, 1 ..."
            )
        number = int(partition[:11])
        if not -1 <= number < 2**31:
            raise InputError(
                "The partition in the address does not exist", got=number, expected="-1, 0, 1 ..."
            )
        times = {key: _time(values, key) for key in ("from", "to", "at")}
        if times["from"] is not None and times["to"] is not None:
            check_range(times["from"], times["to"])
        subscription = Subscription(texts["cluster"], texts["topic"], number, texts["subscription"])
        return cls(subscription, times["from"], times["to"], times["at"])

    def href(self) -> str:
        key = self.subscription
        pairs = [
            ("cluster", key.cluster),
            ("topic", key.topic),
            ("partition", str(key.partition)),
            ("subscription", key.subscription),
        ]
        for label, time_ms in (("from", self.start_ms), ("to", self.end_ms), ("at", self.at_ms)):
            if time_ms is not None:
                pairs.append((label, format_time(time_ms)))
        return _href(SUBSCRIPTION_PATH, pairs)


def _href(path: str, pairs: list[tuple[str, str]]) -> str:
    # "surrogatepass" keeps a lone surrogate from turning a link into an error.
    query = urlencode(pairs, quote_via=quote, safe="", errors="surrogatepass")
    return f"{path}?{query}" if query else path


def _values(query: str | None) -> dict[str, list[str]]:
    try:
        return parse_qs((query or "").removeprefix("?"), max_num_fields=200)
    except ValueError as error:
        raise InputError("The address has too many parts", expected="at most 200") from error


def _one(values: dict[str, list[str]], key: str) -> str | None:
    value = values.get(key, [None])[-1]
    if value is not None and len(value) > _LONGEST_VALUE:
        raise InputError(f"The {key} in the address is too long", got=f"{len(value)} characters")
    return value


def _time(values: dict[str, list[str]], key: str) -> int | None:
    text = _one(values, key)
    if text is None:
        return None
    if text.startswith("-") or text == "now":
        raise InputError(
            f"The time '{key}' in the address is relative", got=text, expected="an absolute time, RFC 3339"
        )
    time_ms = parse_time(text, now_ms=0) if len(text) <= 40 else -1
    if not 0 <= time_ms < _YEAR_10000_MS:
        raise InputError(
            f"The time '{key}' in the address is out of range", got=text, expected="1970 to 9999"
        )
    return time_ms
