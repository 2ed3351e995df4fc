"""The newest verdict of every subscription, as pages read it. In: a snapshot. Out: ``latest`` and ``day_before`` in its database.

The source is the table ``verdict_latest``, which is updated with every write of verdicts. A lake that was written before this
table existed, or a cluster of it, is computed from its verdicts once per version.
"""

from __future__ import annotations

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

__all__ = ["KEY", "LOOK_BACK_MS", "RECENT_MS", "STALE_MS", "make_day_before", "make_latest"]

KEY = ", ".join(SUBSCRIPTION_KEY_NAMES)

#: A subscription whose last verdict is older than its cluster's newest by this is not current.
STALE_MS = 10 * MINUTE_MS
#: A cluster whose rows are older than its verdicts by this was written by a version that does not update them.
_BEHIND_MS = BLOCK_MS

# The selector is as it is typed elsewhere, so that a pasted one is found; in lower case, since it is only searched.
_LATEST_SQL = f"""
CREATE TABLE latest AS
SELECT *, window_end_ms < cluster_end_ms - {STALE_MS} AS stale,
       regexp_full_match(topic, '{SYSTEM_TOPIC}') OR regexp_full_match(subscription, '{SYSTEM_SUBSCRIPTION}') AS own_topic,
       list_position({list(ORDER)!r}, cause) AS cause_rank,
       coalesce(list_position({list(ORDER)!r}, main_cause), {len(ORDER)}) AS main_rank,
       lower(cluster || ' ' || {PART_TEXT_SQL}
             || '#' || subscription) AS selector
FROM (SELECT *, max(window_end_ms) OVER (PARTITION BY cluster) AS cluster_end_ms FROM newest)
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


def make_day_before(snapshot: Snapshot) -> None:
    """Make ``day_before``: subscriptions by cause 24 hours before each cluster's newest verdict."""
    ends = snapshot.connection.execute(
        "SELECT cluster, max(window_end_ms) FROM latest GROUP BY cluster"
    ).fetchall()
    at = {cluster: end_ms - DAY_MS for cluster, end_ms in ends}
    files = [
        file
        for file in snapshot.files["verdicts"]
        if (then := at.get(file.partition["cluster"])) is not None
        and file.minimum["window_end_ms"] <= then
        and file.maximum["window_end_ms"] > then - STALE_MS
    ]
    then = " OR ".join("(cluster = ? AND window_end_ms > ? AND window_end_ms <= ?)" for _ in at) or "false"
    values = [value for cluster, end_ms in at.items() for value in (cluster, end_ms - STALE_MS, end_ms)]
    snapshot.connection.execute(
        "CREATE TABLE day_before AS SELECT cause, count(*) AS subscriptions FROM ("  # noqa: S608
        f"SELECT arg_max(cause, window_end_ms) AS cause FROM {snapshot.source('verdicts', files)} WHERE {then} GROUP BY {KEY}"
        ") GROUP BY cause",
        values,
    )
