"""How the work of signals is cut where one topic has a thousand subscriptions. No file is written: a plan knows files by their facts."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from throttlescope.ingest.core.labels import shard_of
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import DataFile
from throttlescope.transforms.minutes import CELLS, metrics_read
from throttlescope.transforms.signals import plan_tasks

START_MS = 1_764_028_800_000 - 1_764_028_800_000 % BLOCK_MS
CROWDED = 1_000
#: Nothing is replicated: a task with replicators reads files of every cluster too.
METRICS = sorted(name for name in metrics_read() if not name.startswith("pulsar_replication_"))


def lake_of(topics: dict[str, int], hours: int) -> SimpleNamespace:
    """Facts of the files of a cluster: so many subscriptions of each topic."""
    rows: dict[int, int] = {}
    for topic, subscriptions in topics.items():
        shard = shard_of("made", "acme/made", topic)
        rows[shard] = rows.get(shard, 0) + subscriptions
    samples = [
        DataFile(
            f"{metric}-{shard}-{at_ms}", f"{metric}-{shard}-{at_ms}",
            {"metric_name": metric, "date": date_of(at_ms)}, count, 70 * count,
            {"cluster": "made", "shard": shard, "block_start_ms": at_ms},
            {"cluster": "made", "shard": shard, "block_start_ms": at_ms}, 0,
        )
        for metric in METRICS for shard, count in rows.items()
        for at_ms in range(START_MS, START_MS + hours * BLOCK_MS, BLOCK_MS)
    ]  # fmt: skip
    newest = pa.table({"cluster": ["made"], "last_ms": [START_MS + hours * BLOCK_MS]})
    return SimpleNamespace(
        files=lambda table, **_: samples if table == "samples" else [], read=lambda *_, **__: newest
    )


def work_of(tasks, metric: str = BACKLOG) -> list[int]:
    """Series and hours that each task evaluates; its look-back is not counted."""
    return [
        sum(
            file.rows
            for file in task.sample_files
            if file.partition["metric_name"] == metric and file.minimum["block_start_ms"] >= task.start_ms
        )
        for task in tasks
    ]


@pytest.mark.parametrize("cores", [2, 8, 32])
def test_tasks_are_balanced_over_cores(cores):
    hours = 24
    topics = {f"topic-{at}": 5 for at in range(200)} | {"crowded": CROWDED}
    tasks = plan_tasks(lake_of(topics, hours), ["made"], START_MS, START_MS + hours * BLOCK_MS, cores)
    work = work_of(tasks)
    assert sum(work) == hours * (CROWDED + 5 * 200)
    # Nothing is cut below an hour of a topic.
    assert max(work) <= max(1.5 * sum(work) / cores, 2 * CROWDED)


def test_balanced_fleet_is_not_split():
    topics = {f"topic-{at}": 5 for at in range(2_000)}
    tasks = plan_tasks(lake_of(topics, 6), ["made"], START_MS, START_MS + 6 * BLOCK_MS, 4)
    assert {task.end_ms - task.start_ms for task in tasks} == {6 * BLOCK_MS}
    work = work_of(tasks)
    assert max(work) <= 1.3 * sum(work) / len(work)


def test_topic_hour_is_one_task():
    tasks = plan_tasks(
        lake_of({"crowded": CROWDED, "other": 5}, 1), ["made"], START_MS, START_MS + BLOCK_MS, 8
    )
    assert sorted(work_of(tasks)) in ([5, CROWDED], [CROWDED + 5])


@pytest.mark.parametrize(
    ("subscriptions", "tasks"), [(100, 1), (1_600, 1), (5_000, 3), (10_000, 6), (100_000, 16)]
)
def test_memory_of_task_is_bounded(subscriptions, tasks):
    """By the minutes of an hour, down to a shard; a small fleet has no more tasks than cores."""
    topics = {f"topic-{at}": 5 for at in range(subscriptions // 5)}
    found = plan_tasks(lake_of(topics, 3), ["made"], START_MS, START_MS + 3 * BLOCK_MS, 1)
    assert len(found) == tasks
    if tasks < 16:
        # Shards are not of one size.
        assert max(work_of(found)) * 60 // 3 <= 1.25 * CELLS
