"""Slow twin of the block buffer: one sample at a time into dictionaries."""

from __future__ import annotations

from throttlescope.ingest.core.labels import LabelError, LabelMapping, Labels, normalise

HOUR_MS = 3_600_000

Sample = tuple[int, float]


def blocks(
    series: list[tuple[Labels, list[Sample], list[int]]], mapping: LabelMapping
) -> dict[tuple[str, int, int], dict[str, tuple[list[int], list[float], list[int]]]]:
    """(cluster, block, shard) to series id to (times, values, markers), each rising; the first of equal times stays."""
    found: dict[tuple[str, int, int], dict[str, tuple[dict[int, float], set[int]]]] = {}
    for labels, samples, stale in series:
        try:
            key = normalise(labels, mapping)
        except LabelError:
            continue
        for time, value in samples:
            block = (key.cluster, time // HOUR_MS * HOUR_MS, key.shard)
            found.setdefault(block, {}).setdefault(key.series_id, ({}, set()))[0].setdefault(time, value)
        for time in stale:
            block = (key.cluster, time // HOUR_MS * HOUR_MS, key.shard)
            found.setdefault(block, {}).setdefault(key.series_id, ({}, set()))[1].add(time)
    return {
        block: {
            series_id: (sorted(values), [values[t] for t in sorted(values)], sorted(stale))
            for series_id, (values, stale) in sorted(rows.items())
        }
        for block, rows in sorted(found.items())
    }
