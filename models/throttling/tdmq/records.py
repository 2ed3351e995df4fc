"""Records of a run: one for every request, delivery and closed channel. Times are microseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class Request:
    """One message on its way from a send call to its answer; None: not yet.

    Attributes
    ----------
    place : int
        The node or partition.
    quota : str
        ``production``, or ``delayed`` where the message has a delay field.
    available_us : int
        The earliest moment at which consumers may have it, by its delay field.
    after_close : bool
        It was in flight when the channel closed and was processed nevertheless.
    waited_for_channel : bool
        Its channel was closed at some time between the send call and its acceptance.
    """

    place: int
    producer: int
    number: int
    quota: str
    size_bytes: int
    sent_us: int
    available_us: int
    accepted_us: int | None = None
    processed_us: int | None = None
    answered_us: int | None = None
    after_close: bool = False
    waited_for_channel: bool = False


@dataclass(slots=True)
class Delivery:
    """One message on its way to one subscription; producer -1: it was there at the beginning."""

    place: int
    subscription: int
    producer: int
    number: int
    size_bytes: int
    available_us: int
    pushed_us: int | None = None
    waited_for_channel: bool = False


@dataclass(slots=True)
class Closing:
    """A throttling: the channels of a place closed for the sake of a quota; ``opened_us`` None: still closed."""

    place: int
    quota: str
    closed_us: int
    opened_us: int | None = None


class Threshold(NamedTuple):
    """What one place may use of a quota in a window; None: no limit."""

    msg: int | None
    bytes: int | None


@dataclass(slots=True)
class Records:
    """All of a run. ``thresholds`` are the last ones of each window, by window start (us), place and quota."""

    requests: list[Request] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    thresholds: dict[tuple[int, int, str], Threshold] = field(default_factory=dict)
