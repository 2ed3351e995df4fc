"""The newest verdict of every subscription, as pages read it. In: a snapshot. Out: ``latest`` and ``before`` in its database.

The source is the table ``verdict_latest``, which is updated with every write of verdicts. A lake that was written before this
table existed, or a cluster of it, is computed from its verdicts once per version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from throttlescope.app.presentation.causes import ORDER
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.system_names import SYSTEM_SUBSCRIPTION, SYSTEM_TOPIC
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS
from throttlescope.ingest.core.topic_name import PART_TEXT_SQL
from throttlescope.models.diagnosis.latest import LOOK_BACK_MS, latest_of
from throttlescope.models.diagnosis.standing import RECENT_MS

if TYPE_CHECKING:
    from throttlescope.app.web.data.snapshot import Snapshot

__all__ = [
    "AGO_MS", "KEY", "LOOK_BACK_MS", "OWN_TOPIC_SQL", "RECENT_MS", "STALE_MS", "make_before", "make_latest", "windows_at",
]  # fmt: skip

KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)

#: With how long ago the counts of now are compared.
AGO_MS = (BLOCK_MS, DAY_MS)
#: What is known of a window next to its key.
OF_WINDOW = (
    "window_end_ms", "cause", "limiter", "confidence", "backlog_entries", "backlog_growth_entries",
)  # fmt: skip

#: A subscription whose last verdict is older than its cluster's newest by this is not current.
STALE_MS = 10 * MINUTE_MS
#: A cluster whose rows are older than its verdicts by this was written by a version that does not update them.
_BEHIND_MS = BLOCK_MS

#: Whether a row is of Pulsar's own topics or subscriptions.
OWN_TOPIC_SQL = (
    f"regexp_full_match(topic, '{SYSTEM_TOPIC}') OR regexp_full_match(subscription, '{SYSTEM_SUBSCRIPTION}')"
)

# The selector is as it is typed elsewhere, so that a pasted one is found; in lower case, since it is only searched. Rows are in the order
# of their keys, so that a number decides between equal rows (``rowid``), and not four columns.
_LATEST_SQL = f"""
CREATE TABLE latest AS
SELECT *, window_end_ms < cluster_end_ms - {STALE_MS} AS stale,
       {OWN_TOPIC_SQL} AS own_topic,
       list_position({list(ORDER)!r}, cause) AS cause_rank,
       coalesce(list_position({list(ORDER)!r}, main_cause), {len(ORDER)}) AS main_rank,
       lower(cluster || ' ' || {PART_TEXT_SQL}
             || '#' || subscription) AS selector
FROM (SELECT *, max(window_end_ms) OVER (PARTITION BY cluster) AS cluster_end_ms FROM newest)
ORDER BY {KEY}
"""  # noqa: S608


def make_latest(snapshot: Snapshot) -> None:
    """Make ``latest``: the columns of ``verdict_latest`` and what pages sort, filter and search by."""
    connection = snapshot.connection
    stored = snapshot.source("verdict_latest", snapshot.files["verdict_latest"])
    connection.execute(f"CREATE TEMP TABLE newest AS SELECT * FROM {stored}")  # noqa: S608
    ends = dict(
        connection.execute("SELECT cluster, max(window_end_ms) FROM newest GROUP BY cluster").fetchall()
    )
    for cluster, files in snapshot.by_cluster("verdicts").items():
        if ends.get(cluster, 0) < max(file.maximum["window_end_ms"] for file in files) - _BEHIND_MS:
            connection.register("computed", latest_of(files))
            connection.execute("DELETE FROM newest WHERE cluster = ?", [cluster])
            connection.execute("INSERT INTO newest BY NAME SELECT * FROM computed")
            connection.unregister("computed")
    connection.execute(_LATEST_SQL)
    connection.execute("DROP TABLE newest")


def windows_at(snapshot: Snapshot, ends: Mapping[str, int]) -> tuple[str, list]:
    """The FROM clause of what every subscription's newest verdict was at a moment, and its values.

    Parameters
    ----------
    ends : mapping of str to int
        The moment of each cluster; other clusters are left out.

    Returns
    -------
    source : str
        The key, and ``w`` with the columns of :data:`OF_WINDOW`. A verdict that is older than :data:`STALE_MS` does not count.
    """
    files = [
        file
        for file in snapshot.files["verdicts"]
        if (at := ends.get(file.partition["cluster"])) is not None
        and file.minimum["window_end_ms"] <= at
        and file.maximum["window_end_ms"] > at - STALE_MS
    ]
    at_that_time = " OR ".join("(cluster = ? AND window_end_ms > ? AND window_end_ms <= ?)" for _ in ends)
    values = [value for cluster, at in ends.items() for value in (cluster, at - STALE_MS, at)]
    # A structure, since the newest window may lack a limiter that an older one has.
    window = ", ".join(f"{name}: {name}" for name in OF_WINDOW)
    return (
        f"(SELECT {KEY}, arg_max({{{window}}}, window_end_ms) AS w "  # noqa: S608
        f"FROM {snapshot.source('verdicts', files)} WHERE {at_that_time or 'false'} GROUP BY {KEY})",
        values,
    )


def make_before(snapshot: Snapshot) -> None:
    """Make ``before``: subscriptions by cause an hour and a day (``ago_ms``) before each cluster's newest verdict."""
    ends = snapshot.connection.execute(
        "SELECT cluster, max(window_end_ms) FROM latest GROUP BY cluster"
    ).fetchall()
    snapshot.connection.execute(
        "CREATE TABLE before (ago_ms BIGINT, cluster VARCHAR, cause VARCHAR, subscriptions BIGINT, backlog_entries DOUBLE)"
    )
    for ago_ms in AGO_MS:
        source, values = windows_at(snapshot, {cluster: end_ms - ago_ms for cluster, end_ms in ends})
        snapshot.connection.execute(
            f"INSERT INTO before SELECT ?, cluster, w.cause, count(*), sum(w.backlog_entries) FROM {source} GROUP BY ALL",  # noqa: S608
            [ago_ms, *values],
        )
