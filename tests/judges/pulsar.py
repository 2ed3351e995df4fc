"""Pulsar's limiter classes as a judge. In: how many operations. Out: a result for the page."""

from __future__ import annotations

from tests.judges.limiters.judge import VERSIONS, run_publishing
from tests.judges.limiters.judge import run as judge_limiters

OPERATIONS = 1_000_000


def run(operations: int | None = None) -> dict:
    """Judge each class of each version with as many random operations, by default a million."""
    details = list(judge_limiters(VERSIONS, operations=operations or OPERATIONS))
    differences = sum(row["twin"] + row["kernel"] for row in details)
    explained = sum(row["explained"] for row in details)
    each = details[0]["operations"]
    return {
        "version": ", ".join(VERSIONS),
        "figure": f"{differences:,} unexplained differences in {each:,} operations per class and version, seed {details[0]['seed']}; "
        f"{explained:,} states differ because Pulsar's own product wraps around",
        "details": details,
    }


def run_publish(operations: int | None = None) -> dict:
    """Judge the publish limiter and relative dispatch limits of each version with as many random operations each, by default a million."""
    count = operations or OPERATIONS
    relative = list(judge_limiters(VERSIONS, operations=count, relative=True))
    publish = list(run_publishing(VERSIONS, operations=count))
    entries, other = (sum(row[name] for row in publish) for name in ("entries", "other"))
    return {
        "version": ", ".join(VERSIONS),
        "figure": f"relative limits: {sum(row['twin'] + row['kernel'] for row in relative):,} unexplained differences in {count:,} operations per class and "
        f"version, seed {relative[0]['seed']}; {sum(row['explained'] for row in relative):,} states differ because Pulsar's own product wraps around. "
        f"Publish limiter: {sum(row['rule'] for row in publish):,} differences from its rule in {count:,} operations per version, "
        f"{sum(row['wrapped'] for row in publish):,} left out for the same reason; of {entries:,} entries, {sum(row['waited'] for row in publish):,} of which waited, "
        f"the simulator accepts {entries - other:,} at the same microsecond, {other:,} up to {max(row['earlier_ms'] for row in publish)} ms earlier or "
        f"{max(row['later_ms'] for row in publish)} ms later; {sum(row['unexplained'] for row in publish):,} of them unexplained",
        "details": [*relative, *publish],
    }
