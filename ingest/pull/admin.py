"""The admin API into the lake: in, a cluster and a range; out, ``policies`` and ``topic_stats`` of what has a backlog."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.metrics import BACKLOG_METRICS, PUBLISH_PAUSES
from throttlescope.ingest.core.system_names import is_system_topic
from throttlescope.ingest.core.times import MINUTE_MS, block_start, dates_of
from throttlescope.ingest.core.topic_name import SCALABLE
from throttlescope.ingest.lake import DataFile, Lake
from throttlescope.ingest.lake.rows import read_files
from throttlescope.ingest.quality.admin_scope import other_cluster, other_cluster_words, scraped_brokers
from throttlescope.ingest.quarantine.refuse import Quarantine
from throttlescope.ingest.sources.pulsar_admin import AdminSnapshot, AdminTopic, Failure, PulsarAdmin

_PERMITS = "pulsar_consumer_available_permits"
#: What a broker counts is of the last minute, and may be scraped a minute later.
PAUSED_MS = 3 * MINUTE_MS
#: About seventeen calls each; at ten calls per second this is less than half an hour.
MAX_TOPICS = 1000
#: Where permits of consumers are not scraped: additional rounds of stats, and the seconds between two.
SAMPLES, PAUSE_S = 4, 1.0
#: All of these together: as many calls, and no longer.
SAMPLE_CALLS, SAMPLE_S = 200, 60.0
#: They say something of windows that end now; of a range that ended earlier they would say nothing.
_FRESH_MS = 10 * MINUTE_MS


def pull_admin(
    lake: Lake,
    admin: PulsarAdmin,
    cluster: str,
    start_ms: int,
    end_ms: int,
    run_id: str,
    *,
    named_by_user: bool = False,
    max_topics: int = MAX_TOPICS,
    progress: Callable[[str], None] | None = None,
) -> AdminSnapshot:
    """Ask about every topic that had a backlog in the range, as the lake's samples tell, and store the answers.

    Parameters
    ----------
    named_by_user : bool
        The cluster's name was given, so it need not be the brokers' own; otherwise answers of another cluster are not stored.
    max_topics : int
        The topics with the largest backlogs are read; how many were left out is among the failures.

    Raises
    ------
    SourceError
        No address can be reached, or all of them refuse us.
    """
    topics = topics_with_backlog(lake, cluster, start_ms, end_ms)
    publishers = topics_with_pauses(lake, cluster, end_ms)
    snapshot = admin.collect(cluster, topics[:max_topics], publishers=publishers, progress=progress)
    answers = snapshot.policies.to_pylist()
    other = None if named_by_user else other_cluster(answers, cluster, scraped_brokers(lake, cluster, end_ms))
    if other is not None:
        snapshot.failures.append(Failure("brokers", admin.address, other_cluster_words(other, cluster)))
        return snapshot
    left_out = len(topics) - max_topics
    if left_out > 0:
        snapshot.failures.append(Failure("topics", f"{left_out} topics", f"not read: more than {max_topics}"))
    if time.time() * 1000 - end_ms <= _FRESH_MS and not permits_scraped(lake, cluster, start_ms, end_ms):
        sampled = admin.sample(
            cluster,
            topics_with_backlog(lake, cluster, end_ms - _FRESH_MS, end_ms),
            rounds=SAMPLES,
            pause_s=PAUSE_S,
            max_calls=SAMPLE_CALLS,
            within_s=SAMPLE_S,
            publishers=publishers,
        )
        snapshot.topic_stats = pa.concat_tables([snapshot.topic_stats, sampled.topic_stats])
        snapshot.failures += sampled.failures
        snapshot.refused += sampled.refused
        snapshot.requests += sampled.requests
        snapshot.bytes += sampled.bytes
    lake.upsert("policies", snapshot.policies, run_id=run_id)
    if snapshot.topic_stats.num_rows:
        lake.upsert("topic_stats", snapshot.topic_stats, run_id=run_id)
    if snapshot.refused:
        quarantine = Quarantine(run_id)
        for one in snapshot.refused:
            quarantine.refuse(one.table, one.reason, one.row, cluster=cluster)
        lake.upsert("quarantine", quarantine.rows(), run_id=run_id)
    return snapshot


def permits_scraped(lake: Lake, cluster: str, start_ms: int, end_ms: int) -> bool:
    """Whether the lake has permits of a cluster's consumers in [start_ms, end_ms): its brokers show consumer metrics."""
    return bool(_files_of(lake, (_PERMITS,), cluster, start_ms, end_ms))


def topics_with_backlog(lake: Lake, cluster: str, start_ms: int, end_ms: int) -> list[AdminTopic]:
    """Topics of which a subscription or a replicator had a backlog in [start_ms, end_ms), with the partitions concerned.

    The one with the largest backlog comes first.
    """
    return _topics_above_zero(lake, BACKLOG_METRICS, cluster, start_ms, end_ms)


def topics_with_pauses(lake: Lake, cluster: str, end_ms: int) -> list[AdminTopic] | None:
    """Topics of which the broker paused producers in the last minutes, the most often paused first; None where that is not scraped."""
    start_ms = end_ms - PAUSED_MS
    if not _files_of(lake, (PUBLISH_PAUSES,), cluster, start_ms, end_ms):
        return None
    return _topics_above_zero(lake, (PUBLISH_PAUSES,), cluster, start_ms, end_ms)


def _files_of(lake: Lake, metrics: Sequence[str], cluster: str, start_ms: int, end_ms: int) -> list[DataFile]:
    return lake.files(
        "samples",
        partition={"metric_name": list(metrics), "date": dates_of(start_ms, end_ms)},
        between={"block_start_ms": (block_start(start_ms), end_ms - 1), "cluster": (cluster, cluster)},
    )


def _topics_above_zero(
    lake: Lake, metrics: Sequence[str], cluster: str, start_ms: int, end_ms: int
) -> list[AdminTopic]:
    """Topics of which a metric was above zero, with the partitions concerned; the one with the highest value comes first."""
    files = _files_of(lake, metrics, cluster, start_ms, end_ms)
    peak_of: dict[str, float] = {}
    for file in files:
        rows = read_files(
            "samples", [file], columns=["series_id", "timestamps_ms", "values"]
        ).combine_chunks()
        times, values = pc.list_flatten(rows["timestamps_ms"]), pc.list_flatten(rows["values"])
        inside = pc.and_(
            pc.and_(pc.greater_equal(times, start_ms), pc.less(times, end_ms)), pc.greater(values, 0)
        )
        flat = pa.table({"row": pc.list_parent_indices(rows["values"]), "value": values}).filter(inside)
        for found in flat.group_by("row").aggregate([("value", "max")]).to_pylist():
            series_id = rows["series_id"][found["row"]].as_py()
            peak_of[series_id] = max(found["value_max"], peak_of.get(series_id, 0.0))
    if not peak_of:
        return []
    partitions_of: dict[str, set[int]] = {}
    largest: dict[str, float] = {}
    where = pc.field("metric_name").isin(list(metrics)) & (pc.field("cluster") == cluster)
    # Labels of series that had none are not wanted: they are the most of a fleet.
    where &= pc.field("series_id").isin(list(peak_of))
    for row in lake.read("series", columns=["series_id", "labels"], where=where).to_pylist():
        labels, peak = dict(row["labels"]), peak_of[row["series_id"]]
        if _of_interest(name := labels["topic"]):
            partitions_of.setdefault(name, set()).add(int(labels["partition"]))
            largest[name] = max(peak, largest.get(name, 0.0))
    ordered = sorted(partitions_of, key=lambda name: (-largest[name], name))
    return [AdminTopic(name, tuple(sorted(partitions_of[name]))) for name in ordered]


def _of_interest(topic: str) -> bool:
    """Not Pulsar's own topics (``__change_events``), nor non-persistent ones: no limit holds a backlog of theirs."""
    return topic.startswith(("persistent://", SCALABLE)) and not is_system_topic(topic)
