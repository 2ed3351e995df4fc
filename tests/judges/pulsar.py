"""Pulsar's limiter classes as a judge. In: how many operations. Out: a result for the page."""

from __future__ import annotations

from tests.judges.limiters.judge import VERSIONS
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
