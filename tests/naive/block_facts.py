"""The slow twin of ``ingest/quality/block_facts.py``: one block at a time, one sample at a time."""

import itertools
import math

from throttlescope.ingest.core.times import BLOCK_MS


def naive_block_facts(block):
    """Return the counts of one row of ``samples``, given as a dict."""
    times, stale, values = block["timestamps_ms"], block["stale_ms"], block["values"]
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    interval = sorted(steps)[(len(steps) - 1) // 2] if len(times) >= 3 else 0
    missing = absent = 0
    for earlier, later in itertools.pairwise(times):
        if interval > 0 and later - earlier > 1.5 * interval:
            scrapes = round((later - earlier) / interval) - 1
            if any(earlier < marker < later for marker in stale):
                absent += scrapes
            else:
                missing += scrapes
    start = block["block_start_ms"]
    return {
        "cluster": block["cluster"],
        "metric_name": block["metric_name"],
        "series_id": block["series_id"],
        "block_start_ms": start,
        "samples": len(times),
        "first_ms": times[0] if times else None,
        "last_ms": times[-1] if times else None,
        "first_stale_ms": stale[0] if stale else None,
        "last_stale_ms": stale[-1] if stale else None,
        "interval_ms": interval if interval > 0 else None,
        "missing_scrapes": missing,
        "absent_scrapes": absent,
        "repeated_timestamps": sum(step == 0 for step in steps),
        "falling_timestamps": sum(step < 0 for step in steps)
        + sum(later <= earlier for earlier, later in itertools.pairwise(stale)),
        "surplus_values": abs(len(values) - len(times)),
        "outside_block": sum(not start <= time < start + BLOCK_MS for time in [*times, *stale]),
        "negative_values": sum(value < 0 for value in values),
        "not_finite_values": sum(not math.isfinite(value) for value in values),
        "zero_values": sum(value == 0 for value in values),
        "falls": sum(after - before < 0 for before, after in itertools.pairwise(values)),
        "shallow_falls": sum(
            after - before < 0 and before + (after - before) > before / 2
            for before, after in itertools.pairwise(values)
        ),
        "ahead_of_clock": 0
        if len(values) != len(times)
        else sum(value > time + 60_000 for value, time in zip(values, times, strict=True)),
    }
