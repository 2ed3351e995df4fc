"""Changes of limits. In: a lake and a filter. Out: each change with the minutes before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.app.queries.verdicts import VerdictFilter
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import check_range
from throttlescope.models.episodes.before_after import (
    SIGNAL_COLUMNS,
    SPAN_MS,
    VERDICT_COLUMNS,
    Compared,
    compare,
)
from throttlescope.models.episodes.changes import COLUMNS, LimitChange, limit_changes

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake


def read_changes(lake: Lake, wanted: VerdictFilter, *, span_ms: int = SPAN_MS) -> list[Compared]:
    """Every change of an effective limit that a lake knows, with what it did.

    Parameters
    ----------
    wanted : VerdictFilter
        ``cluster``, ``subscription`` and the range count: changes that were seen in [start_ms, end_ms).
    span_ms : int
        How far is looked on each side.

    Raises
    ------
    InputError
        The lake has no limits, a name is not understood, or the range runs backwards.
    """
    if wanted.start_ms is not None and wanted.end_ms is not None:
        check_range(wanted.start_ms, wanted.end_ms)
    if lake.version("limits") is None:
        raise InputError(
            "There are no limits in this lake",
            got=lake.root,
            fix="let a run read the admin API: throttlescope run --pulsar-admin URL --lake DIR",
        )
    limits = lake.read("limits", columns=list(COLUMNS), where=_selected(wanted))
    changes = [
        one
        for one in limit_changes(limits)
        if (wanted.start_ms is None or one.new_from_ms >= wanted.start_ms)
        and (wanted.end_ms is None or one.new_from_ms < wanted.end_ms)
    ]
    if not changes:
        return []
    first_ms = min(one.old_until_ms for one in changes) - span_ms
    last_ms = max(one.new_from_ms for one in changes) + span_ms
    partition = {"cluster": sorted({one.key.cluster for one in changes})}
    signals = lake.read(
        "signals",
        columns=list(SIGNAL_COLUMNS),
        where=_of(changes) & (pc.field("minute_ms") >= first_ms) & (pc.field("minute_ms") < last_ms),
        partition=partition,
        between={"minute_ms": (first_ms, last_ms - 1)},
    )
    verdicts = lake.read(
        "verdicts",
        columns=list(VERDICT_COLUMNS),
        where=_of(changes)
        & (pc.field("window_start_ms") >= first_ms)
        & (pc.field("window_end_ms") <= last_ms),
        partition=partition,
        between={"window_start_ms": (first_ms, last_ms)},
    )
    return compare(changes, signals, verdicts.to_pylist(), span_ms=span_ms)


def _selected(wanted: VerdictFilter) -> pc.Expression:
    where = pc.scalar(True)
    if wanted.cluster is not None:
        where = where & (pc.field("cluster") == wanted.cluster)
    if wanted.subscription is not None:
        name = SubscriptionName.of(wanted.subscription)
        where = where & (pc.field("topic") == name.topic) & (pc.field("subscription") == name.subscription)
        if name.partition is not None:
            where = where & (pc.field("partition") == name.partition)
    return where


def _of(changes: Sequence[LimitChange]) -> pc.Expression:
    topics: Any = pa.array(sorted({one.key.topic for one in changes}))
    subscriptions: Any = pa.array(sorted({one.key.subscription for one in changes}))
    return pc.field("topic").isin(topics) & pc.field("subscription").isin(subscriptions)
