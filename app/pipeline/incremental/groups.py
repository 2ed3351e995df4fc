"""What is computed in one go. In: hours of clusters, or ranges. Out: clusters and ranges; few, because a Spark job costs seconds."""

from __future__ import annotations

from collections.abc import Iterable

from throttlescope.app.pipeline.incremental.computed_hours import Hours, hours_of, ranges_of
from throttlescope.ingest.core.times import BLOCK_MS

#: Clusters and a range [start_ms, end_ms).
Group = tuple[tuple[str, ...], int, int]


def together(plans: Iterable[Hours]) -> list[Group]:
    """Ranges to compute. Clusters go together where that computes no hour again that does not differ: a Spark job costs seconds."""
    plans = list(plans)
    clean = {hours.cluster: set(hours.clean) for hours in plans}
    found: list[Group] = []
    for clusters, start_ms, end_ms in sorted(
        (((hours.cluster,), *span) for hours in plans for span in ranges_of(hours.to_compute)),
        key=lambda group: group[1],
    ):
        if found and start_ms <= found[-1][2] + BLOCK_MS:
            both = joined([found[-1], (clusters, start_ms, end_ms)])
            if len(both) == 1 and not any(clean[name] & set(hours_of(*both[0][1:])) for name in both[0][0]):
                found[-1] = both[0]
                continue
        found.append((clusters, start_ms, end_ms))
    return found


def joined(groups: Iterable[Group]) -> list[Group]:
    """Clusters whose ranges overlap or touch in one."""
    found: list[Group] = []
    for clusters, start_ms, end_ms in sorted(groups, key=lambda group: group[1]):
        if found and start_ms <= found[-1][2] + BLOCK_MS:
            names, low_ms, high_ms = found[-1]
            found[-1] = tuple(sorted({*names, *clusters})), low_ms, max(high_ms, end_ms)
        else:
            found.append((clusters, start_ms, end_ms))
    return found
