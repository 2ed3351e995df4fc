"""Metric families. In: labels and values. Out: lines of Prometheus' text format.

Written here and not by ``prometheus_client``: a fleet has a hundred thousand series per scrape, most with the labels of the
scrape before, so labels are turned into text once and not at every scrape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.lake import Lake
from throttlescope.models.messages.catalogue import sentence

#: The labels as :func:`label_text` gives them, and the value.
Sample = tuple[str, float]


@dataclass(frozen=True)
class Family:
    """One metric: a gauge.

    Attributes
    ----------
    samples : sequence of (label text, value)
        The most important come first: if there are too many, the last ones are left out.
    """

    name: str
    help: str
    samples: Sequence[Sample]

    def text(self, most: int) -> str:
        """Its lines, of the first ``most`` samples; empty if there are none."""
        if not self.samples:
            return ""
        name = self.name
        lines = [
            f"{name}{{{labels}}} {_number(value)}\n" if labels else f"{name} {_number(value)}\n"
            for labels, value in self.samples[:most]
        ]
        return f"# HELP {name} {_escaped(self.help)}\n# TYPE {name} gauge\n{''.join(lines)}"


def described(name: str, samples: Sequence[Sample]) -> Family:
    """A family of our own, with its help from the catalogue."""
    return Family(name, sentence(f"server.metric.{name}"), samples)


#: In: a lake and the time in epoch ms. Out: families. May raise; then its families are missing from the scrape.
Source = Callable[[Lake, int], Sequence[Family]]


def label_text(labels: Mapping[str, str]) -> str:
    """Labels as written between the braces."""
    return ",".join(f'{name}="{_quoted(value)}"' for name, value in labels.items())


def key_text(row: Mapping) -> str:
    """The labels of a subscription partition, as its limits and its metrics in the lake have them."""
    return label_text({name: str(row[name]) for name in SUBSCRIPTION_KEY_NAMES})


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")
