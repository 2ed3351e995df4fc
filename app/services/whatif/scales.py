"""Ranges of values to search. In: a window and what was found of it. Out: a scale per key of a change.

A scale is geometric: half as much is as far away as twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.throttling.replay import Change, Ground, Observed
from throttlescope.models.throttling.replay.rebuild import own_limits
from throttlescope.models.throttling.scenario.limits import MAX_PERIOD_S, MAX_RATE

#: Of what is there: so much less, so much more.
_LESS, _MORE = 16, 32


@dataclass(frozen=True)
class Scale:
    """One thing that can be moved.

    Attributes
    ----------
    key : str
        As in ``--set``.
    low, high : float
        Its ends; what is typed may lie beyond them.
    now : float or None
        As it is; None: there is no limit, or it was never seen.
    whole : bool
        Whole numbers only.
    liftable : bool
        ``none`` is a value too.
    """

    key: str
    low: float
    high: float
    now: float | None
    whole: bool = True
    liftable: bool = False

    def values(self, count: int) -> list[float]:
        """So many values at even steps of the scale, the ends among them; whole ones fewer where they would repeat."""
        steps = [self.low * (self.high / self.low) ** (number / max(1, count - 1)) for number in range(count)]
        return sorted({self.rounded(value) for value in steps})

    def rounded(self, value: float) -> float:
        """To three digits, as it would be typed."""
        digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
        found = round(value, digits)
        return max(1, round(found)) if self.whole else found


def scales(ground: Ground) -> dict[str, Scale]:
    """Every scale by its key; limits that are there come first."""
    observed = ground.observed
    found = {scale.key: scale for scale in (*_limits(observed), *_clients(ground), *_load(observed))}
    return dict(sorted(found.items(), key=lambda item: item[1].liftable and item[1].now is None))


def _limits(observed: Observed) -> Iterator[Scale]:
    limits = own_limits(observed, Change())
    # A replicator has one limit, whatever level sets it.
    for level in ("subscription",) if observed.is_replicator else reversed(LEVELS):
        limit = limits.get(level, {})
        for unit in UNITS:
            now = limit.get(unit)
            around = now or max(1.0, _published_per_s(observed, unit)) * limit.get("period_s", 1)
            yield Scale(
                f"{level}.{unit}", max(1, round(around / _LESS)), min(MAX_RATE, round(around * _MORE)), now,
                liftable=True,
            )  # fmt: skip
        if level != "broker":
            now = limit.get("period_s")
            yield Scale(f"{level}.period_s", 1, min(MAX_PERIOD_S, max(120, 4 * (now or 1))), now)


def _published_per_s(observed: Observed, unit: str) -> float:
    """What is published to one partition."""
    came = [float(getattr(item, f"in_{unit}").sum()) for item in observed.partitions.values()]
    return sum(came) / max(1, len(came)) / max(1.0, observed.elapsed_s)


def _clients(ground: Ground) -> Iterator[Scale]:
    observed, capacity = ground.observed, ground.capacity
    consumers = observed.consumers(observed.subscription)
    if not observed.is_replicator:
        yield Scale("consumers", 1, max(32, 8 * consumers), consumers)
    active = observed.active(observed.subscription, capacity.consumers)
    now = 1000 * active / capacity.msg_per_s if capacity.msg_per_s and active else None
    around = now or 10.0
    yield Scale("processing_ms", around / 64, around * 64, now, whole=False)


def _load(observed: Observed) -> Iterator[Scale]:
    yield Scale("load", 0.1, 10.0, 1.0, whole=False)
    yield Scale("batch_msg", 1, max(1000, 8 * observed.batch_msg), observed.messages_per_entry)
