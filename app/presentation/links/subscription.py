"""The address of one subscription's page. In: a query string. Out: the subscription, a range, a window; and the link back."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import ClassVar

from throttlescope.app.presentation.links.fields import AT, FROM, TO, AddressField, PageAddress, part
from throttlescope.app.presentation.links.paths import SUBSCRIPTION_PATH
from throttlescope.app.presentation.links.query import one, time_of
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import check_range, format_time


@dataclass(frozen=True)
class SubscriptionPartition:
    """One subscription of one topic partition."""

    cluster: str
    topic: str
    partition: int
    subscription: str

    def pairs(self) -> list[tuple[str, str]]:
        """Its parts in an address."""
        return [
            ("cluster", self.cluster),
            ("topic", self.topic),
            ("partition", str(self.partition)),
            ("subscription", self.subscription),
        ]


def named_subscription(values: dict[str, list[str]]) -> SubscriptionPartition:
    """The subscription that an address names by cluster, topic, partition and subscription."""
    texts = {key: one(values, key) for key in ("cluster", "topic", "subscription")}
    missing = [key for key, value in texts.items() if not value]
    if missing:
        raise InputError(
            "The address does not name a subscription",
            got=f"no {', '.join(missing)}",
            expected="cluster, topic, partition and subscription",
            fix="open it from the table of subscriptions",
        )
    partition = partition_of(values)
    return SubscriptionPartition(
        texts["cluster"], texts["topic"], -1 if partition is None else partition, texts["subscription"]
    )


def partition_of(values: dict[str, list[str]]) -> int | None:
    """The partition that an address names, -1 for a topic that has none; None where it names no partition."""
    text = one(values, "partition")
    if not text:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise InputError(
            "The partition in the address is not a number", got=text[:40], expected="-1, 0, 1 ..."
        )
    number = int(text[:11])
    if not -1 <= number < 2**31:
        raise InputError("The partition in the address does not exist", got=number, expected="-1, 0, 1 ...")
    return number


#: The subscription of a page that shows one, and of a page that may show one.
SUBSCRIPTION = AddressField("subscription", named_subscription, SubscriptionPartition.pairs, MISSING)


def chosen_subscription(values: dict[str, list[str]]) -> SubscriptionPartition | None:
    """The subscription that an address names; None where it names none."""
    return None if one(values, "subscription") is None else named_subscription(values)


CHOSEN_SUBSCRIPTION = AddressField("subscription", chosen_subscription, SubscriptionPartition.pairs)


def _zoom_of(values: dict[str, list[str]]) -> tuple[int, int] | None:
    """``zoom=FROM..TO``, both absolute."""
    text = one(values, "zoom")
    if text is None:
        return None
    first, dots, last = text.partition("..")
    if not dots:
        raise InputError("The zoom in the address is no range", got=text[:80], expected="FROM..TO, RFC 3339")
    start_ms, end_ms = (time_of({"zoom": [end]}, "zoom") for end in (first, last))
    check_range(start_ms, end_ms)
    return start_ms, end_ms


def _zoom_pairs(zoom_ms: tuple[int, int]) -> list[tuple[str, str]]:
    return [("zoom", "..".join(map(format_time, zoom_ms)))]


@dataclass(frozen=True)
class SubscriptionAddress(PageAddress):
    """What the subscription page shows: a subscription, a range [start, end), and one verdict in it.

    Attributes
    ----------
    start_ms, end_ms : int or None
        None: the page's own choice, the newest hours of that subscription.
    at_ms : int or None
        End of the window whose verdict is shown; None: the newest in the range.
    zoom_ms : (int, int) or None
        What the charts show of the range; the browser writes it, the server draws the whole range.
    """

    PATH: ClassVar[str] = SUBSCRIPTION_PATH

    subscription: SubscriptionPartition = part(SUBSCRIPTION)
    start_ms: int | None = part(FROM)
    end_ms: int | None = part(TO)
    at_ms: int | None = part(AT)
    zoom_ms: tuple[int, int] | None = part(AddressField("zoom", _zoom_of, _zoom_pairs))
