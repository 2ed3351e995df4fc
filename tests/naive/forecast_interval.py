"""Intervals and coverage, the slow way. In: residuals by recording; zones with and without an end. Out: quantiles, a share.

Weights are whole numbers here: each recording's residuals are repeated until all recordings have equally many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, lcm


def pooled_quantile(residuals: Mapping[str, Sequence[float]], share: float) -> float:
    """The smallest residual up to which there is this share of all, every recording counting as one."""
    each = lcm(*(len(values) for values in residuals.values()))
    everything = sorted(
        value for values in residuals.values() for value in values for _ in range(each // len(values))
    )
    return everything[max(0, ceil(share * len(everything) - 1e-9) - 1)]


def share_between(places: Sequence[float], came: Sequence[bool], low: float, high: float) -> float:
    """Share with low <= place < high, by Efron's redistribution to the right: whoever was lost hands on what it stands for.

    A place that was lost is known to be later than itself. The same estimate as Kaplan and Meier's product.
    """
    order = sorted(range(len(places)), key=lambda n: (places[n], not came[n]))
    mass = [1.0 / len(places)] * len(places)
    inside = 0.0
    for position, n in enumerate(order):
        later = order[position + 1 :]
        if came[n]:
            inside += mass[n] if low <= places[n] < high else 0.0
        elif later:
            for other in later:
                mass[other] += mass[n] / len(later)
        elif low <= places[n] < high:
            # The last of all was lost: where it would have ended nobody knows. Its mass stays beyond everything.
            continue
    return inside
