"""What a hypothesis answers. In: nothing. Out: a cause that stands, with its side, grade and form."""

from __future__ import annotations

from dataclasses import dataclass

#: The side of each cause that these rules can name.
SIDE_OF = {
    "healthy": "neither",
    "throttled": "throttle",
    "micro_burst_throttled": "throttle",
    "slow_consumers": "consumer_capacity",
    "both": "both",
    "no_consumers": "consumer_capacity",
    "blocked_on_unacked": "consumer_capacity",
    "redelivery": "consumer_capacity",
    "key_shared_blocked": "consumer_capacity",
    "delayed_delivery": "neither",
    "hung_consumers": "consumer_capacity",
    "publish_burst": "neither",
    "cold_reads": "neither",
    "topic_moved": "neither",
    "healed_by_loss": "neither",
    "phantom_backlog": "neither",
    "filter_rejects": "neither",
    "read_limit": "neither",
    "unknown": "unknown",
}


#: Evidence grades, best first. What they are worth is in :mod:`verdict`.
GRADES = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Standing:
    """A cause that stands in a window.

    Attributes
    ----------
    grade : str
        One of :data:`GRADES`; empty for ``unknown``.
    limiter : str or None
        The limiter that binds.
    why : str
        The rule in words.
    variant : str or None
        Which form of the cause, one of the closed list.
    """

    cause: str
    grade: str
    why: str
    limiter: str | None = None
    variant: str | None = None
