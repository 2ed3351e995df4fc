"""Ranges of names: each row of each file is in one of them, whatever the names."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.anomaly.lakes import Subscription, fill, signals
from throttlescope.ingest.lake import Lake, read_files, write_data_file
from throttlescope.models.anomaly import name_ranges
from throttlescope.models.anomaly.name_ranges import shares_of

DAY_ROWS = 1_440
_ORDER = [(name, "ascending") for name in ("cluster", "topic", "partition", "subscription", "minute_ms")]


def fleet():
    """Two clusters; in one of them a topic with many partitions, one with many subscriptions, and names that begin with another one."""
    topics = {"a": (-1, 1), "b": (12, 1), "b-late": (-1, 9), "c": (2, 2), "é": (-1, 1)}
    return [
        Subscription(f"s{number}", f"persistent://acme/shop/{topic}", partition, days=1, cluster=cluster)
        for cluster, some in (("prod", topics), ("test", {"b": (-1, 2)}))
        for topic, (partitions, count) in some.items()
        for partition in (range(partitions) if partitions > 0 else [-1])
        for number in range(count)
    ]


@pytest.fixture(scope="module", params=["one file", "a file for each topic"])
def files(request, tmp_path_factory):
    lake = Lake(tmp_path_factory.mktemp("ranges") / "lake")
    if request.param == "one file":
        fill(lake, "signals", signals(*fleet()))
    else:
        by_topic: dict[tuple[str, str], list[Subscription]] = {}
        for one in fleet():
            by_topic.setdefault((one.cluster, one.topic), []).append(one)
        written = [write_data_file(lake.root, "signals", signals(*mine)) for mine in by_topic.values()]
        lake.commit("signals", written, run_id="by hand")
    return lake.files("signals")


@pytest.mark.parametrize(
    ("rows", "parallelism"),
    [(3_000_000, 1), (4 * DAY_ROWS, 1), (DAY_ROWS, 1), (3_000_000, 2), (3_000_000, 7), (1, 3)],
)
def test_each_row_is_in_one_share(files, monkeypatch, rows, parallelism):
    monkeypatch.setattr(name_ranges, "SHARE_ROWS", rows)
    found = shares_of(files, parallelism)
    read = [[file for file in files if one.is_in(file)] for one in found]
    parts = [read_files("signals", mine, where=one.where) for mine, one in zip(read, found, strict=True)]
    whole = read_files("signals", files)
    assert pa.concat_tables(parts).sort_by(_ORDER).equals(whole.sort_by(_ORDER))
    assert all(part.num_rows for part in parts)
    # A file that is not read has no row of the share.
    for mine, one in zip(read, found, strict=True):
        assert (
            read_files("signals", [file for file in files if file not in mine], where=one.where).num_rows == 0
        )
    # None has much more than the others: topics and their partitions are cut.
    assert max(part.num_rows for part in parts) <= max(DAY_ROWS, rows, 2 * whole.num_rows / len(found))
    assert len(found) >= min(parallelism, 2)


def test_small_files_are_not_cut_into_many_shares(files, monkeypatch):
    """Each share decodes the groups of rows that it has a part of."""
    few = len(shares_of(files, 4))
    monkeypatch.setattr(name_ranges, "GROUP_ROWS", 100)
    assert few < len(shares_of(files, 4))


def test_a_cluster_without_files_has_no_share():
    assert shares_of([], 4) == []
