"""What a run has to compute. In: the requested hours, and the lake. Out: for every stage and cluster the hours that differ.

An hour is computed when its input differs from what it was computed from, or when its rows differ from those that were written. Three
kinds of hours are checked: the requested ones, those with late samples, and those that look back to hours whose signals differ (an hour
for signals, a day for verdicts and forecasts). Everything else is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.pipeline.incremental.computed_hours import Hours, behind, hours_of, late_hours
from throttlescope.app.pipeline.incremental.fingerprints import TIME_COLUMNS, Inputs
from throttlescope.app.pipeline.incremental.lake_view import RecomputeView
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, block_start

if TYPE_CHECKING:
    from throttlescope.app.config import Settings

#: How long after an hour another one may look back to it, by stage.
REACH_MS = {"signals": BLOCK_MS, "verdicts": DAY_MS, "forecasts": DAY_MS, "results": DAY_MS}


def signals_to_compute(
    view: RecomputeView, settings: Settings, cluster: str, start_ms: int, end_ms: int, *, again: bool = False
) -> Hours:
    """Hours of ``signals`` of a range, and of earlier and later hours that have late samples.

    Parameters
    ----------
    again : bool
        Treat all requested hours as different.
    """
    requested = hours_of(start_ms, end_ms)
    others = {requested[-1] + BLOCK_MS} | late_hours(
        view, cluster, max(requested[-1] + BLOCK_MS, _newest_ms(view, cluster))
    )
    return _differing(view, settings, cluster, "signals", requested, others, again=again)


def later_stage_to_compute(
    view: RecomputeView,
    settings: Settings,
    cluster: str,
    stage: str,
    start_ms: int,
    end_ms: int,
    *,
    again: bool = False,
) -> Hours:
    """Hours of a later stage: the requested ones, and those that look back to (or, by a window, into) hours of ``signals`` that were
    computed since."""
    requested = hours_of(start_ms, end_ms)
    changed = behind(view, cluster, stage, max(requested[-1], _newest_ms(view, cluster)))
    before_ms = -(-settings.window // BLOCK_MS) * BLOCK_MS if stage in ("verdicts", "results") else 0
    reached = {
        hour_ms
        for one_ms in (*changed, requested[0], requested[-1])
        for hour_ms in range(one_ms - before_ms, one_ms + REACH_MS[stage] + BLOCK_MS, BLOCK_MS)
    }
    return _differing(
        view, settings, cluster, stage, requested, reached | changed, again=again, newer=changed
    )


def _differing(
    view: RecomputeView,
    settings: Settings,
    cluster: str,
    stage: str,
    requested: list[int],
    others: set[int],
    *,
    again: bool,
    newer: set[int] = frozenset(),
) -> Hours:
    """Of the requested hours those that differ; of others those that were computed before and differ.

    Where signals are ``newer``, other hours that have rows but no record of what they were computed from differ as well: an earlier
    release wrote them.
    """
    looked_at = sorted({*requested, *others})
    rows = view.computed(cluster)
    book = {hour_ms: rows[stage, hour_ms] for hour_ms in looked_at if (stage, hour_ms) in rows}
    found = Inputs(view, cluster, looked_at[0], looked_at[-1] + BLOCK_MS, settings)
    inputs = getattr(found, stage)(looked_at)
    table = stage if stage in TIME_COLUMNS else None
    outputs = dict.fromkeys(looked_at) if table is None else found.outputs(table, looked_at)
    own = set(requested)
    to_compute = []
    for hour_ms in looked_at:
        row = book.get(hour_ms)
        if row is None:
            differs = hour_ms in own or (bool(newer) and bool(outputs[hour_ms]))
        else:
            differs = (row["inputs"], row["outputs"]) != (inputs[hour_ms], outputs[hour_ms])
        if differs or (again and hour_ms in own):
            to_compute.append(hour_ms)
    todo = set(to_compute)
    return Hours(
        cluster, stage, tuple(looked_at), tuple(to_compute),
        changed=tuple(sorted(todo & book.keys())),
        clean=tuple(sorted(book.keys() - todo)),
        touched=tuple(sorted((newer & book.keys()) - todo)),
        inputs=inputs,
    )  # fmt: skip


def _newest_ms(view: RecomputeView, cluster: str) -> int:
    """End of the last hour that has signals."""
    return (
        block_start(max((file.maximum["minute_ms"] for file in view.files("signals", cluster)), default=0))
        + BLOCK_MS
    )
