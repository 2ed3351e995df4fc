"""What a recording keeps of large admin answers: in, a row of policies or of topic stats; out, the row with less of its body."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

#: Settings of a broker that bear on dispatch and on what is exposed.
KEPT_SETTINGS = re.compile(
    r"ispatch|hrottl|nacked|^expose|acklogQuota|splitTopic|advertisedAddress|webServicePort$|clusterName|ttlDuration|"
    r"acknowledgmentAtBatchIndex|loadManagerClassName|statsUpdate|delayedDelivery|ReadsInFlight|CacheSizeMB"
)
#: Parts of a topic's stats that are large and that no rule reads.
DROPPED_STATS = frozenset(
    [
        "publishers",
        "replication",
        "deduplicationStatus",
        "keyHashRanges",
        "keyHashRangeArrays",
        "metadata",
        "properties",
        "subscriptionProperties",
        "topicMetricsProperties",
        "compaction",
        "bucketDelayedIndexStats",
    ]
)


def thin_policy(row: dict[str, Any], also: re.Pattern[str] | None = None) -> dict[str, Any]:
    """Of a broker's configuration only what bears on dispatch, on what is exposed, and what ``also`` finds: it names folders of the machine too."""
    if row["scope"] != "broker_configuration_runtime" or row["body"] is None:
        return row
    settings = json.loads(row["body"])
    kept = {
        name: value
        for name, value in settings.items()
        if KEPT_SETTINGS.search(name) or (also is not None and also.search(name))
    }
    return row | {"body": json.dumps(kept)}


def thin_stats(
    row: dict[str, Any], is_dropped: Callable[[str], bool] = DROPPED_STATS.__contains__
) -> dict[str, Any]:
    """Of a topic's stats without what is large and read by no rule."""
    if not row["body"]:
        return row
    body = _without(json.loads(row["body"]), is_dropped)
    return row | {"body": json.dumps(body, separators=(",", ":"))}


def _without(value: Any, is_dropped: Callable[[str], bool]) -> Any:
    if isinstance(value, dict):
        return {name: _without(item, is_dropped) for name, item in value.items() if not is_dropped(name)}
    if isinstance(value, list):
        return [_without(item, is_dropped) for item in value]
    return value
