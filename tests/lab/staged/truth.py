"""What was true in a scenario of three states: in, what was played and scraped; out, rows of truth, and the checks that they rest on.

The truth comes from the script. A subject whose backlog did not behave as its cause makes it has no truth in this recording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.lab.checks import DRAINED_ENTRIES, Points
from tests.lab.readback import Series
from tests.lab.staged.play import StagedPlayed

#: From which millisecond to which, exclusive.
Range = tuple[int, int]


@dataclass
class StagedTruth:
    """Rows of truth; by topic and state, what was seen; and when each state was."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)


def find_staged_truth(
    played: StagedPlayed, judge: Callable[[StagedTruth, Any, dict[str, Range]], None], **no_subject: None
) -> StagedTruth:
    """Judge every topic whose steps were all made, and leave out what lasted no time.

    Parameters
    ----------
    judge
        Called with the truth so far, a topic, and when each of its states was; it adds what was seen and the rows that follow.
    no_subject
        Fields that rows of ``confirmed`` have next to ``topic``, for a topic that is not judged.
    """
    found = StagedTruth()
    for topic in played.scenario.topics:
        ranges, errors = _ranges(played, topic)
        found.states += [
            {"topic": topic.name, "name": name, "start_ms": start_ms, "end_ms": end_ms}
            for name, (start_ms, end_ms) in ranges.items()
        ]
        if errors:
            check = {"check": "applied", "seen": errors, "ok": False}
            found.confirmed.append({"topic": topic.name, **no_subject, "state": "cause", **check})
        else:
            judge(found, topic, ranges)
    found.rows = [row for row in found.rows if row["start_ms"] < row["end_ms"]]
    return found


def metric(series: list[Series], name: str, labels: Mapping[str, str]) -> Points:
    """The samples of a metric with these labels, in the order of their times."""
    wanted = {"__name__": name, **labels}
    return sorted(
        (at_ms, value)
        for one in series
        if all(one.labels.get(label) == value for label, value in wanted.items())
        for at_ms, value in zip(one.timestamps_ms, one.values, strict=True)
    )


def within(points: Points, start_ms: int, end_ms: int) -> Points:
    """Those in ``[start_ms, end_ms)``."""
    return [point for point in points if start_ms <= point[0] < end_ms]


def drained_ms(points: Points) -> int | None:
    """The first scrape from which on the backlog is small; None where it never is."""
    large = [at_ms for at_ms, value in points if value >= DRAINED_ENTRIES]
    later = [at_ms for at_ms, _ in points if not large or at_ms > large[-1]]
    return later[0] if later else None


def drains(points: Points, start_ms: int, within_s: float | None = None) -> dict[str, Any]:
    """Check that a backlog is gone in the end, ``within_s`` of ``start_ms`` if that is given."""
    gone_ms = drained_ms(points)
    took_s = None if gone_ms is None else round((gone_ms - start_ms) / 1000, 1)
    return {
        "check": "drains",
        "below_entries": DRAINED_ENTRIES,
        **({} if within_s is None else {"within_s": within_s}),
        "seen": {"drained_s": took_s, "last_entries": points[-1][1] if points else None},
        "ok": took_s is not None and (within_s is None or took_s <= within_s),
    }


def truth_row(
    scenario: Any,
    topic: Any,
    range_ms: Range,
    truth: Any,
    *,
    subscription: str,
    cluster: str | None = None,
    partition: int = -1,
) -> dict[str, Any]:
    """A row of truth.

    Parameters
    ----------
    truth
        With ``side``, ``cause`` and ``limiter``; None: healthy.
    cluster
        Its label, if it is not the scenario's name.
    """
    side, cause, limiter = (
        ("neither", "healthy", None) if truth is None else (truth.side, truth.cause, truth.limiter)
    )
    return {
        "cluster": cluster or scenario.name,
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "partition": partition,
        "subscription": subscription,
        "start_ms": range_ms[0],
        "end_ms": range_ms[1],
        "side": side,
        "cause": cause,
        "limiter": limiter,
        "family": topic.family,
        "recording": scenario.name,
        "kept_aside": scenario.kept_aside,
    }


def _ranges(played: StagedPlayed, topic: Any) -> tuple[dict[str, Range], list[str]]:
    """When each state was, for a topic: from when its steps were applied until the next one's begin; and what went wrong."""
    mine = [row for row in played.changes if row["topic"] in (None, topic.name)]
    errors = [row["error"] for row in mine if row["error"]]
    begins, applied = (
        {state: [row[name] for row in mine if row["state"] == state] for state in ("cause", "relieved")}
        for name in ("begin_ms", "applied_ms")
    )
    return {
        "well": (played.start_ms, min(begins["cause"])),
        "cause": (max(applied["cause"]), min(begins["relieved"])),
        "relieved": (max(applied["relieved"]), played.end_ms),
    }, errors
