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
    rows = [*relative, *publish]
    differences = sum(row[form] for row in rows for form in ("twin", "kernel", "simulator") if form in row)
    explained = sum(row["explained"] for row in rows)
    rounded, entries, waited = (
        sum(row[name] for row in publish) for name in ("rounded", "entries", "waited")
    )
    return {
        "version": ", ".join(VERSIONS),
        "figure": f"{differences:,} unexplained differences in {count:,} operations per class and version, seed {rows[0]['seed']}; "
        f"{explained:,} states differ because Pulsar's own product wraps around. In the simulator's microseconds {rounded:,} of {entries:,} entries, "
        f"{waited:,} of which wait for the limit, are accepted by more than one earlier or later, by up to {max(row['rounded_ms'] for row in publish):,} ms",
        "details": rows,
    }
