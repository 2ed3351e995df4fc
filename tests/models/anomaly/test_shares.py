"""Ranges of names: each row of each file is in one of them, whatever the names."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.models.anomaly.lakes import Subscription, fill, signals
from throttlescope.ingest.lake import Lake, read_files
from throttlescope.models.anomaly import shares
from throttlescope.models.anomaly.shares import shares_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two clusters; in one of them a topic with many subscriptions, two of one and one whose name others begin with."""
    topics = {"a": 1, "b": 9, "b-late": 1, "é": 1}
    names = [
        Subscription(f"s{number}", f"persistent://acme/shop/{topic}", days=1, cluster=cluster)
        for cluster, some in (("prod", topics), ("test", {"b": 2}))
        for topic, count in some.items()
        for number in range(count)
    ]
    lake = Lake(tmp_path_factory.mktemp("shares") / "lake")
    fill(lake, "signals", signals(*names))
    return lake.files("signals")


@pytest.mark.parametrize(
    ("rows", "parallelism"), [(3_000_000, 1), (4_000, 1), (1_440, 1), (3_000_000, 2), (1, 3)]
)
def test_each_row_is_in_one_share(files, monkeypatch, rows, parallelism):
    monkeypatch.setattr(shares, "SHARE_ROWS", rows)
    found = shares_of(files, parallelism)
    parts = [
        read_files("signals", [file for file in files if one.is_in(file)], where=one.where) for one in found
    ]
    whole = read_files("signals", files)
    order = [(name, "ascending") for name in ("cluster", "topic", "subscription", "minute_ms")]
    assert pa.concat_tables(parts).sort_by(order).equals(whole.sort_by(order))
    most = max(part.num_rows for part in parts)
    assert most <= max(1_440, 2 * min(rows, whole.num_rows / parallelism))


def test_a_cluster_without_files_has_no_share():
    assert shares_of([], 4) == []
