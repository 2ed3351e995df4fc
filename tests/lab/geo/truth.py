"""What was true of which replicator: in, what was played and scraped; out, rows of truth, and the checks that they rest on.

The truth comes from the script. A topic whose backlog did not behave as its cause makes it has no truth in this recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.lab.checks import DRAINED_ENTRIES, SETTLE_MS, Points, grew, stayed_below
from tests.lab.geo.model import GeoScenario, ReplicatedTopic
from tests.lab.geo.play import GeoPlayed
from tests.lab.readback import Series

BACKLOG = "pulsar_replication_backlog"


@dataclass
class GeoTruth:
    """Rows of truth; by topic and state, what was seen; and when each state was."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)


def find_truth(played: GeoPlayed, series: list[Series]) -> GeoTruth:
    """Check every topic and write the truth of those that behaved as the script says."""
    scenario, found = played.scenario, GeoTruth()
    for topic in scenario.topics:
        spans, errors = _spans(played, topic)
        found.states += [
            {"topic": topic.name, "name": name, "start_ms": start_ms, "end_ms": end_ms}
            for name, (start_ms, end_ms) in spans.items()
        ]
        if errors:
            found.confirmed.append(
                {"topic": topic.name, "state": "cause", "check": "applied", "seen": errors, "ok": False}
            )
            continue
        cause, relieved = _check(scenario, topic, series, spans)
        found.confirmed += [cause, relieved]
        if not cause["ok"]:
            continue
        start_ms, end_ms = spans["cause"]
        truth = topic.truth
        row = _row(scenario, topic, start_ms + round(1000 * truth.settle_s), end_ms)
        found.rows.append({**row, "side": truth.side, "cause": truth.cause, "limiter": truth.limiter})
        if relieved["ok"]:
            start_ms, end_ms = spans["relieved"]
            row = _row(scenario, topic, start_ms + SETTLE_MS, end_ms)
            found.rows.append({**row, "side": "neither", "cause": "healthy", "limiter": None})
    found.rows = [row for row in found.rows if row["start_ms"] < row["end_ms"]]
    order = (
        "cluster",
        "namespace",
        "topic",
        "partition",
        "subscription",
        "start_ms",
        "end_ms",
        "side",
        "cause",
        "limiter",
    )
    found.rows = [
        {name: row[name] for name in (*order, "family", "recording", "kept_aside")} for row in found.rows
    ]
    return found


def backlog(
    series: list[Series], scenario: GeoScenario, topic: ReplicatedTopic, start_ms: int, end_ms: int
) -> Points:
    """Entries that a replicator has yet to send, per scrape."""
    return metric(series, BACKLOG, scenario, topic, start_ms, end_ms)


def metric(
    series: list[Series], name: str, scenario: GeoScenario, topic: ReplicatedTopic, start_ms: int, end_ms: int
) -> Points:
    """One metric of a replicator, per scrape."""
    wanted = {
        "__name__": name,
        "cluster": scenario.label(topic.source),
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "remote_cluster": scenario.label(topic.remote),
    }
    points = [
        (at_ms, value)
        for one in series
        if all(one.labels.get(label) == value for label, value in wanted.items())
        for at_ms, value in zip(one.timestamps_ms, one.values, strict=True)
        if start_ms <= at_ms < end_ms
    ]
    return sorted(points)


def _spans(played: GeoPlayed, topic: ReplicatedTopic) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """When each state was, for a topic: from when its steps were applied until the next one's begin."""
    mine = [row for row in played.changes if row["topic"] in (None, topic.name)]
    errors = [row["error"] for row in mine if row["error"]]
    begins = {
        name: [row["begin_ms"] for row in mine if row["state"] == name] for name in ("cause", "relieved")
    }
    applied = {
        name: [row["applied_ms"] for row in mine if row["state"] == name] for name in ("cause", "relieved")
    }
    return {
        "well": (played.start_ms, min(begins["cause"])),
        "cause": (max(applied["cause"]), min(begins["relieved"])),
        "relieved": (max(applied["relieved"]), played.end_ms),
    }, errors


def _check(
    scenario: GeoScenario, topic: ReplicatedTopic, series: list[Series], spans: dict[str, tuple[int, int]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    during = backlog(series, scenario, topic, *spans["cause"])
    after = backlog(series, scenario, topic, *spans["relieved"])
    cause: dict[str, Any] = {"topic": topic.name, "state": "cause"}
    if topic.grows_per_s is None:
        cause |= stayed_below(during, topic.below_entries)
    else:
        cause |= grew(during, topic.grows_per_s)
    relieved: dict[str, Any] = {"topic": topic.name, "state": "relieved"}
    relieved |= _drains(after, spans["relieved"][0], topic.drains_within_s)
    return cause, relieved


def _drains(points: Points, start_ms: int, within_s: float) -> dict[str, Any]:
    drained_ms = next(
        (
            at_ms
            for number, (at_ms, _) in enumerate(points)
            if all(value < DRAINED_ENTRIES for _, value in points[number:])
        ),
        None,
    )
    drained_s = None if drained_ms is None else round((drained_ms - start_ms) / 1000, 1)
    seen = {"drained_s": drained_s, "last_entries": points[-1][1] if points else None}
    ok = drained_s is not None and drained_s <= within_s
    return {
        "check": "drains",
        "below_entries": DRAINED_ENTRIES,
        "within_s": within_s,
        "seen": seen,
        "ok": ok,
    }


def _row(scenario: GeoScenario, topic: ReplicatedTopic, start_ms: int, end_ms: int) -> dict[str, Any]:
    return {
        "cluster": scenario.label(topic.source),
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "partition": -1,
        "subscription": scenario.cursor(topic),
        "start_ms": start_ms,
        "end_ms": end_ms,
        "family": topic.family,
        "recording": scenario.name,
        "kept_aside": scenario.kept_aside,
    }
