"""Up to when there are samples. In: a lake's catalogue of series. Out: the newest sample's time, by cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from throttlescope.ingest.lake.duck import from_files

if TYPE_CHECKING:
    from throttlescope.ingest.lake.lake import Lake


def newest_samples(
    lake: Lake, clusters: Iterable[str] | None = None, *, metric_name: str | None = None
) -> dict[str, int]:
    """Time of the newest sample of each cluster that has one.

    Counted by DuckDB, a piece at a time: the catalogue has a row for every series of the fleet.

    Parameters
    ----------
    clusters : iterable of str, optional
        Those alone; all by default.
    metric_name : str, optional
        Of this metric alone.
    """
    files = lake.files("series")
    if not files:
        return {}
    conditions, values = ["true"], []
    if clusters is not None:
        conditions.append("list_contains(?, cluster)")
        values.append(sorted(clusters))
    if metric_name is not None:
        conditions.append("metric_name = ?")
        values.append(metric_name)
    query = f"SELECT cluster, max(last_ms) FROM {from_files(files)} WHERE {' AND '.join(conditions)} GROUP BY cluster"  # noqa: S608
    with lake.counting("series", files) as connection:
        return dict(connection.execute(query, values).fetchall())
