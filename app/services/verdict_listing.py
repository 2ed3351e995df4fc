"""Verdicts as one listing. In: a lake, a filter, a shape. Out: rows of that shape, and the slow consumers of one subscription.

The shapes: ``summary`` (a row per subscription partition), ``windows``, ``partitions`` (a row per subscription over its partitions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from throttlescope.app.queries.backlog_ages import with_ages
from throttlescope.app.queries.consumers import read_slowest
from throttlescope.app.queries.subscriptions import check_subscription
from throttlescope.app.queries.verdicts import VerdictFilter, read_summary, read_verdicts
from throttlescope.models.diagnosis.partitions import over_partitions

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake
    from throttlescope.models.diagnosis.slowest import SlowConsumers


@dataclass(frozen=True)
class VerdictListing:
    """Verdicts in one shape.

    Attributes
    ----------
    slowest : callable
        Reads the slow consumers of the selected subscription; none where the filter names no subscription.
    """

    shape: str
    rows: list[Any]
    slowest: Callable[[], list[SlowConsumers]]


def list_verdicts(lake: Lake, wanted: VerdictFilter, shape: str) -> VerdictListing:
    """Read verdicts in a shape.

    Raises
    ------
    InputError
        There is no verdict in the lake, the filter is not understood, or the lake does not have its subscription.
    """
    listing = _listing(lake, wanted, shape)
    if not listing.rows and wanted.subscription is not None:
        check_subscription(lake, wanted.subscription)
    return listing


def _listing(lake: Lake, wanted: VerdictFilter, shape: str) -> VerdictListing:
    newest = replace(wanted, latest=True)
    if shape == "partitions":
        return VerdictListing(shape, over_partitions(read_verdicts(lake, newest)), list)
    summary = shape == "summary"
    rows = (
        with_ages(lake, read_summary(lake, wanted), "to_ms")
        if summary
        else with_ages(lake, read_verdicts(lake, wanted), "window_end_ms")
    )
    if wanted.subscription is None:
        return VerdictListing(shape, rows, list)
    return VerdictListing(
        shape, rows, lambda: read_slowest(lake, read_verdicts(lake, newest) if summary else rows)
    )
