"""What a source hands over. In: nothing. Out: the type of a metric family and of a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import Lake

Sample = tuple[Mapping[str, str], float]


@dataclass(frozen=True)
class Family:
    """One metric: a gauge.

    Attributes
    ----------
    samples : sequence of (labels, value)
        What matters most comes first: where there are too many, the last ones are left out.
    """

    name: str
    help: str
    samples: Sequence[Sample]


#: In: a lake and the time in epoch ms. Out: families. May raise; then its families are missing from the scrape.
Source = Callable[[Lake, int], Sequence[Family]]


def key_labels(row: Mapping) -> dict[str, str]:
    """The labels of a subscription partition, as its limits and its metrics in the lake have them."""
    return {name: str(row[name]) for name in SUBSCRIPTION_KEY_NAMES}
