"""What is in a backlog. In: the admin API, one subscription of one topic partition. Out: what the broker counted when it read the backlog.

``analyzeBacklog`` reads the backlog's entries from storage, so nothing here requests it by itself. The broker stops at
``subscriptionBacklogScanMaxEntries`` (10,000 unless configured) or ``subscriptionBacklogScanMaxTimeMs`` (2 minutes): its counts are
lower bounds then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote

from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin

#: What to do about a refusal, by its status.
FIXES = {
    403: "give a token that may read this topic: analyzeBacklog needs the permission to consume, or that of a tenant's administrator",
    404: "check the names of the topic and the subscription; brokers have analyzeBacklog from 2.11 on",
    405: "name one partition (topic-partition-N) of a partitioned topic; topics that are not persistent have no backlog to read",
}


@dataclass(frozen=True)
class BacklogAnalysis:
    """What one subscription of one topic partition has in its backlog; a message of a batch counts as one.

    Attributes
    ----------
    entries, messages : int
        Read by the broker, markers among the entries.
    marker_messages : int
        Entries that Pulsar itself wrote, such as snapshots of replicated subscriptions; no consumer gets them.
    accepted_..., rejected_..., rescheduled_... : int
        What the subscription's entry filters would do; without filters all is accepted.
    is_lower_bound : bool
        The broker stopped before the end of the backlog.
    """

    entries: int = 0
    messages: int = 0
    marker_messages: int = 0
    accepted_entries: int = 0
    rejected_entries: int = 0
    rescheduled_entries: int = 0
    accepted_messages: int = 0
    rejected_messages: int = 0
    rescheduled_messages: int = 0
    is_lower_bound: bool = False


_FIELDS = {
    "entries": "entries",
    "messages": "messages",
    "marker_messages": "markerMessages",
    **{
        f"{what}_{unit}": f"filter{what.capitalize()}{unit.capitalize()}"
        for what in ("accepted", "rejected", "rescheduled")
        for unit in ("entries", "messages")
    },
}


def total(parts: Iterable[BacklogAnalysis]) -> BacklogAnalysis:
    """The sum over partitions: a lower bound if one of them is."""
    parts = tuple(parts)
    return BacklogAnalysis(
        *(sum(getattr(part, field.name) for part in parts) for field in fields(BacklogAnalysis)[:-1]),
        any(part.is_lower_bound for part in parts),
    )


def analyze_backlog(
    admin: PulsarAdmin, topic: AdminTopic, partition: int, subscription: str, timeout_s: float
) -> BacklogAnalysis:
    """Let the broker read the backlog of one subscription of one topic partition.

    Parameters
    ----------
    partition : int
        -1 for a topic without partitions.
    timeout_s : float
        How long its answer is waited for. The broker reads on until its own limit.

    Raises
    ------
    SourceError
        Unreachable, refused (401, 403), not there (404), not possible there (405), no answer in time, or no such answer.
    """
    physical = topic.physical(partition)
    path = f"/admin/v2/{physical.path}/subscription/{quote(subscription, safe='')}/analyzeBacklog"
    text = admin.post(path, timeout_s, FIXES)
    try:
        answer = json.loads(text)
        counts = {field: _count(answer, name) for field, name in _FIELDS.items()}
        return BacklogAnalysis(**counts, is_lower_bound=bool(answer["aborted"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            f"The answer to {path} is no analysis of a backlog",
            got=f"{type(error).__name__}: {text[:80]}",
            expected="an object with entries, messages and aborted",
            fix="check that the address is a broker's web service (port 8080)",
        ) from None


def _count(answer: dict[str, Any], name: str) -> int:
    """A number of the answer; filters' and markers' are missing in answers of brokers without them."""
    value = answer[name] if name in ("entries", "messages") else answer.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{name} is no count")
    return value
