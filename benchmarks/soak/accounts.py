"""Whether a lake has every sample that a Prometheus has, and no other. In: both, a time. Out: counts of each kind of difference.

The server is read through its query API, one metric at a time (``metric[range]``, which gives samples as they were scraped), and not by remote
read, which is what the runs use. Values are compared as numbers, staleness markers are not among a query's answer: of the lake's they are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import requests

from throttlescope.ingest.core.metrics import METRICS
from throttlescope.ingest.lake import Lake

#: What tells series of the made fleet apart; the lake has more labels than the server where it normalises topics.
_NAMES = ("cluster", "instance", "topic", "subscription", "reason", "consumer_name")


def account(url: str, lake: Lake, since_ms: int, until_ms: int) -> dict[str, Any]:
    """Compare the samples of ``[since_ms, until_ms)``.

    Returns
    -------
    dict
        ``samples``, ``series`` of the server; ``missing``, ``surplus``, ``differing`` and ``doubled`` of the lake; ``stale`` markers
        in it; ``metrics`` that the server has.
    """
    found: Counter[str] = Counter()
    names = {
        row["series_id"]: _key(row["metric_name"], row["labels"])
        for row in lake.read("series", columns=["series_id", "metric_name", "labels"]).to_pylist()
    }
    for metric in METRICS:
        server = _of_server(url, metric, since_ms, until_ms)
        ours, doubled, stale = _of_lake(lake, metric, names, since_ms, until_ms)
        found["metrics"] += bool(server)
        found["series"] += len(server)
        found["samples"] += sum(len(samples) for samples in server.values())
        found["doubled"] += doubled
        found["stale"] += stale
        for key in server.keys() | ours.keys():
            theirs, mine = server.get(key, {}), ours.get(key, {})
            found["missing"] += len(theirs.keys() - mine.keys())
            found["surplus"] += len(mine.keys() - theirs.keys())
            found["differing"] += sum(theirs[at_ms] != mine[at_ms] for at_ms in theirs.keys() & mine.keys())
    return {name: found[name] for name in ("metrics", "series", "samples", "missing", "surplus", "differing", "doubled", "stale")}  # fmt: skip


def _of_server(url: str, metric: str, since_ms: int, until_ms: int) -> dict[tuple, dict[int, float]]:
    # A range is open at its start and closed at its end.
    asked = {"query": f"{metric}[{until_ms - since_ms}ms]", "time": f"{(until_ms - 1) / 1000:.3f}"}
    answer = requests.post(f"{url}/api/v1/query", data=asked, timeout=120)
    answer.raise_for_status()
    return {
        _key(metric, one["metric"]): {round(at_s * 1000): float(value) for at_s, value in one["values"]}
        for one in answer.json()["data"]["result"]
    }


def _of_lake(
    lake: Lake, metric: str, names: dict[str, tuple], since_ms: int, until_ms: int
) -> tuple[dict[tuple, dict[int, float]], int, int]:
    rows = lake.read("samples", partition={"metric_name": [metric]}).to_pylist()
    found: dict[tuple, dict[int, float]] = {}
    doubled = stale = 0
    for row in rows:
        kept = found.setdefault(names[row["series_id"]], {})
        stale += sum(since_ms <= at_ms < until_ms for at_ms in row["stale_ms"])
        for at_ms, value in zip(row["timestamps_ms"], row["values"], strict=True):
            if since_ms <= at_ms < until_ms:
                doubled += at_ms in kept
                kept[at_ms] = value
    return found, doubled, stale


def _key(metric: str, labels: Any) -> tuple:
    labels = dict(labels)
    return (metric, *(labels.get(name) for name in _NAMES))
