"""What a broker did, as arrays. In: a recording's folder; out: every subscription's backlog and counters at every scrape.

Reads only the few series that are compared, so that all recordings are read in a second.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.lab.sets import SETS
from throttlescope.models.throttling.columns import EVENTS
from throttlescope.models.throttling.scenario import Scenario, load_scenario

#: Subscription partition: topic, partition (-1: not partitioned), subscription.
Key = tuple[str, int, str]
#: Level and unit of a throttle counter.
Event = tuple[str, str]

_BACKLOG, _OUT = "pulsar_subscription_back_log", "pulsar_out_messages_total"
_EVENTS = {f"pulsar_subscription_dispatch_throttled_{unit}_events": unit for unit in ("msg", "bytes")}
_IN = {"pulsar_in_messages_total": 0, "pulsar_in_bytes_total": 1}
_FLOW = "pulsar_subscription_last_consumed_flow_timestamp"
_MISSES = "pulsar_storage_read_cache_misses_rate"
_NAMES = {_BACKLOG, _OUT, _FLOW, _MISSES, *_EVENTS, *_IN}


@dataclass
class Track:
    """One subscription partition at every scrape; counters count from the first scrape. Without counters ``events`` is None."""

    backlog_entries: np.ndarray
    out_messages: np.ndarray
    events: dict[Event, np.ndarray] | None


@dataclass
class Recorded:
    """A recording: scrape times in seconds from its start, what was seen, and when every state really began.

    ``lead_s`` is how long before the start the consumers requested messages, ``stored`` the published messages and bytes per topic;
    ``cache_misses`` are entries per second that a topic's reads did not find in the broker's cache, means over the broker's last full minute;
    ``cpu_wait_ms`` is how long the broker waited for a CPU before a time slice, in the mean.
    """

    scenario: Scenario
    at_s: np.ndarray
    tracks: dict[Key, Track]
    began_s: dict[str, float]
    end_s: float
    lead_s: float
    stored: dict[str, tuple[float, float]]
    cache_misses: dict[str, np.ndarray] = field(default_factory=dict)
    cpu_wait_ms: float = np.nan


def folders(*, kept_aside: bool | None = None, root: Path | None = None) -> list[Path]:
    """The engine set's recordings: all, or the (not) held-out ones. Only their scenarios are read."""
    found = sorted(path.parent for path in (root or SETS["engine"].recordings).glob("*/recording.json"))
    if kept_aside is None:
        return found
    return [folder for folder in found if scenario_of(folder).kept_aside == kept_aside]


def scenario_of(folder: Path) -> Scenario:
    """The scenario that was played."""
    return load_scenario(folder / "scenario.yaml", named_as_file=False)


def read(folder: Path) -> Recorded:
    """Read a recording.

    Parameters
    ----------
    folder
        With ``scenario.yaml``, ``recording.json`` and ``samples.parquet``.

    Raises
    ------
    ValueError
        A subscription's series were not scraped together.
    """
    scenario = scenario_of(folder)
    about = json.loads((folder / "recording.json").read_text())
    start_ms = about["start_ms"]
    samples = _samples(folder / "samples.parquet")
    prefix = f"persistent://{scenario.namespace}/"
    keys = {
        (topic, partition, item.name)
        for item in scenario.subscriptions
        for topic in item.reads
        for partition in scenario.partitions_of(topic)
    }
    at_ms: np.ndarray | None = None
    values: dict[Key, dict[Any, np.ndarray]] = {key: {} for key in keys}
    stored: dict[str, list[float]] = {topic.name: [0.0, 0.0] for topic in scenario.topics}
    misses: dict[str, np.ndarray] = {}
    for labels, times_ms, points in samples:
        topic, name = labels.get("topic", "").removeprefix(prefix), labels["__name__"]
        if topic not in stored or "consumer_name" in labels:
            continue
        if name in _IN and "subscription" not in labels:
            stored[topic][_IN[name]] += points[-1] - points[0]
        if name == _MISSES:
            misses[topic] = points
        key = (topic, int(labels.get("partition", -1)), labels.get("subscription", ""))
        if key not in keys:
            continue
        at_ms = times_ms if at_ms is None else at_ms
        if not np.array_equal(at_ms, times_ms):
            raise ValueError(
                f"{folder.name}: {name} of {key} has {len(times_ms)} samples at other times than the first series"
            )
        values[key][(labels["reason"], _EVENTS[name]) if name in _EVENTS else name] = points
    if at_ms is None:
        raise ValueError(f"{folder.name}: no series of its subscriptions")
    requested_ms = [found[_FLOW][0] for found in values.values() if _FLOW in found]
    return Recorded(
        scenario,
        (at_ms - start_ms) / 1000,
        {key: _track(values[key]) for key in sorted(keys)},
        {state["name"]: (state["start_ms"] - start_ms) / 1000 for state in about["states"]},
        (about["end_ms"] - start_ms) / 1000,
        max(0.0, (start_ms - min(requested_ms, default=start_ms)) / 1000),
        {topic: (messages, size) for topic, (messages, size) in stored.items()},
        misses,
        about["measured"]["cpu"]["broker"]["mean_wait_ms"],
    )


def _track(values: dict[Any, np.ndarray]) -> Track:
    def counted(points: np.ndarray) -> np.ndarray:
        # A counter that restarted begins at 0.
        steps = np.diff(points, prepend=points[0])
        return np.cumsum(np.where(steps < 0, points, steps))

    events = {event: counted(values[event]) for event in EVENTS if event in values}
    return Track(values[_BACKLOG], counted(values[_OUT]), events or None)


def _samples(file: Path) -> list[tuple[dict[str, str], np.ndarray, np.ndarray]]:
    table = pq.read_table(file, columns=["labels", "timestamps_ms", "values"], use_threads=False)
    labels = [dict(row) for row in table["labels"].to_pylist()]
    wanted = [number for number, row in enumerate(labels) if row["__name__"] in _NAMES]
    rows = table.select(["timestamps_ms", "values"]).take(pa.array(wanted))
    return [
        (labels[number], times.values.to_numpy(), points.values.to_numpy())
        for number, times, points in zip(wanted, rows["timestamps_ms"], rows["values"], strict=True)
    ]
