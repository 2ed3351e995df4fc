"""What a client asks before it queries. In: nothing, or the lake's metrics. Out: the version spoken, and what each metric is."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from throttlescope.ingest.metrics import METRICS

#: The Prometheus whose answers these are; clients choose what they send by it.
PROMETHEUS_VERSION = "3.5.3"


def build_information() -> dict[str, str]:
    """``/api/v1/status/buildinfo``: Prometheus' version for clients, ours as the revision."""
    return {
        "version": PROMETHEUS_VERSION,
        "revision": f"throttlescope {version('throttlescope')}",
        "branch": "",
        "buildUser": "",
        "buildDate": "",
        "goVersion": "",
    }


def metadata(names: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """``/api/v1/metadata`` of those metrics that are known: type, help and unit."""
    return {
        name: [
            {
                # A broker calls everything a gauge; this is what it is.
                "type": "counter" if metric.kind == "counter" else "gauge",
                "help": metric.doc,
                "unit": "" if metric.unit == "1" else metric.unit,
            }
        ]
        for name in names
        if (metric := METRICS.get(name)) is not None
    }
