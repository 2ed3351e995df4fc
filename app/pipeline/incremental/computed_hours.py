"""The table ``computed``. In: hours and what they were computed from. Out: which of some hours differ from that, and rows for the next run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from throttlescope.app.pipeline.incremental.lake_view import LATE_MS, RecomputeView
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, block_start, date_of
from throttlescope.ingest.lake import Lake


@dataclass(frozen=True)
class Hours:
    """Hours of one stage of one cluster.

    Attributes
    ----------
    looked_at, to_compute : tuple of int
        Starts of those that were looked at, and of those among them whose input or output differs; ascending.
    changed, clean : tuple of int
        Those that were computed before and differ, and those that were and do not.
    touched : tuple of int
        Those whose signals were computed since, and which came out the same: written down again, so that they are not
        looked at for ever.
    inputs : dict
        Fingerprint of each hour that was looked at.
    """

    cluster: str
    stage: str
    looked_at: tuple[int, ...]
    to_compute: tuple[int, ...]
    changed: tuple[int, ...]
    clean: tuple[int, ...]
    touched: tuple[int, ...]
    inputs: Mapping[int, str]

    def only(self, start_ms: int, end_ms: int) -> Hours:
        """The same without the hours outside a range."""
        inside = tuple(one for one in self.to_compute if block_start(start_ms) <= one < end_ms)
        return replace(self, to_compute=inside, touched=())


def write(
    lake: Lake, plans: Iterable[tuple[Hours, Mapping[int, str | None]]], began_ms: int, run_id: str
) -> None:
    """Write down what hours were computed from, in one commit; called once their rows are committed.

    Parameters
    ----------
    plans : iterable of (Hours, outputs)
        Hours of any clusters, and the fingerprints of what came out of each.
    began_ms : int
        When their input was looked at: what is committed later is news.
    """
    rows = [
        {
            "cluster": hours.cluster,
            "stage": hours.stage,
            "block_start_ms": hour_ms,
            "inputs": hours.inputs[hour_ms],
            "outputs": outputs[hour_ms],
            "run_id": run_id,
            "computed_ms": began_ms,
            "date": date_of(hour_ms),
        }
        for hours, outputs in plans
        for hour_ms in sorted({*hours.to_compute, *hours.touched})
    ]
    if rows:
        lake.upsert("computed", pa.Table.from_pylist(rows, schema=TABLES["computed"].schema), run_id=run_id)


def known_clusters(lake: Lake) -> list[str]:
    """Clusters of which an hour was ever computed."""
    return sorted({file.partition["cluster"] for file in lake.files("computed")})


def late_hours(view: RecomputeView, cluster: str, until_ms: int) -> set[int]:
    """Hours that were computed, and of which samples were committed since; the hour behind each goes with it."""
    computed_ms = _times(view, cluster, "signals", until_ms)
    found: set[int] = set()
    if computed_ms:
        newest = view.blocks(cluster).group_by("hour_ms").aggregate([("committed_ms", "max")])
        for row in newest.to_pylist():
            for served_ms in (row["hour_ms"], row["hour_ms"] + BLOCK_MS):
                if served_ms in computed_ms and row["committed_ms_max"] >= computed_ms[served_ms]:
                    found.add(served_ms)
    return found


def behind(view: RecomputeView, cluster: str, stage: str, until_ms: int) -> set[int]:
    """Hours whose signals were computed after the rows of a later stage: a run ended between the two, or is at it."""
    signals_ms, own_ms = (_times(view, cluster, name, until_ms) for name in ("signals", stage))
    return {hour_ms for hour_ms, at_ms in signals_ms.items() if at_ms >= own_ms.get(hour_ms, at_ms + 1)}


def _times(view: RecomputeView, cluster: str, stage: str, until_ms: int) -> dict[int, int]:
    """When hours of the last month were computed."""
    from_ms = block_start(until_ms) - LATE_MS
    return {
        hour_ms: row["computed_ms"]
        for (of, hour_ms), row in view.computed(cluster).items()
        if of == stage and from_ms <= hour_ms <= until_ms
    }


def hours_of(start_ms: int, end_ms: int) -> list[int]:
    """Starts of the UTC hours that [start_ms, end_ms) touches."""
    return list(range(block_start(start_ms), end_ms, BLOCK_MS))


def ranges_of(hours: Iterable[int]) -> list[tuple[int, int]]:
    """Ranges [start, end) of neighbouring hours."""
    found: list[tuple[int, int]] = []
    for hour_ms in sorted(hours):
        if found and found[-1][1] == hour_ms:
            found[-1] = found[-1][0], hour_ms + BLOCK_MS
        else:
            found.append((hour_ms, hour_ms + BLOCK_MS))
    return found
