"""Build information and metadata. In: nothing, or the lake's metrics. Out: the emulated version, and type, help and unit of each metric."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from throttlescope.ingest.core.metrics import METRICS
from throttlescope.transforms.promql.limit_series import LIMIT_HELP, LIMIT_METRIC

#: The emulated version of Prometheus; clients adapt their requests to it.
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
    return {name: [found] for name in names if (found := _metadata(name)) is not None}


def _metadata(name: str) -> dict[str, str] | None:
    if name == LIMIT_METRIC:
        return {"type": "gauge", "help": LIMIT_HELP, "unit": ""}
    metric = METRICS.get(name)
    if metric is None:
        return None
    # A broker declares everything as a gauge; this is the real type.
    kind = "counter" if metric.kind == "counter" else "gauge"
    return {"type": kind, "help": metric.doc, "unit": "" if metric.unit == "1" else metric.unit}
