"""Rows of some topics as DuckDB reads them are those of the slow way, which decodes everything and filters."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, rows, write_data_file
from throttlescope.ingest.lake.damage import DamagedFilesError
from throttlescope.ingest.lake.distinct import distinct
from throttlescope.ingest.lake.formats import MissingFilesError
from throttlescope.ingest.lake.rows import of_topics, read_files, read_subscriptions, read_topics
from throttlescope.ingest.spark.task_executor import InProcessExecutor

START_MS = 1_795_046_400_000
SCHEMA = TABLES["signals"].loose_schema
#: What is never NULL.
GIVEN = {
    column.name: {pa.string(): "none", pa.bool_(): False}.get(column.type, 0)
    for column in TABLES["signals"].columns
    if not column.nullable
    and column.name not in TABLES["signals"].key
    and column.name not in ("namespace", "date", "limits_observed")
}
COLUMNS = [
    "cluster",
    "topic",
    "subscription",
    "minute_ms",
    "backlog_ready_entries",
    "limits_observed",
    "broker",
]


def minutes(seed: int, topics: int, at: int) -> pa.Table:
    """Ten minutes of some topics, sorted by key; some numbers are NULL, NaN or infinite."""
    rng = random.Random(seed)  # noqa: S311
    found = []
    for topic in range(topics):
        for minute in range(10):
            minute_ms = START_MS + (10 * at + minute) * MINUTE_MS
            found.append(
                {
                    "cluster": "prod", "namespace": "acme/shop", "topic": f"persistent://acme/shop/t'{topic:04d}",
                    "partition": -1, "subscription": "billing", "minute_ms": minute_ms, "date": date_of(minute_ms),
                    "backlog_ready_entries": rng.choice([None, float("nan"), float("inf"), 0.0, 5.0, 1e300]),
                    "limits_observed": rng.choice([True, False]), "broker": rng.choice([None, "b1", "b2"]), **GIVEN,
                }
            )  # fmt: skip
    return pa.Table.from_pylist(found, schema=SCHEMA)


def lake_of(folder, *tables: pa.Table) -> Lake:
    lake = Lake(folder)
    lake.commit("signals", [write_data_file(lake.root, "signals", one) for one in tables], run_id="t")
    return lake


def in_order(table: pa.Table) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())


def slow(files, topics) -> pa.Table:
    return read_files(
        "signals", files, columns=COLUMNS, where=pc.field("topic").isin(pa.array(topics, pa.string()))
    )


@pytest.mark.parametrize("wanted", [slice(0, 1), slice(3, 40, 7), slice(None), slice(0, 0)])
def test_topics_are_read_as_by_a_filter(tmp_path, monkeypatch, wanted):
    monkeypatch.setattr("throttlescope.ingest.lake.files.GROUP_ROWS", 50)
    files = lake_of(tmp_path, *(minutes(at, 60, at) for at in range(3))).files("signals")
    topics = sorted({f"persistent://acme/shop/t'{number:04d}" for number in range(60)})[wanted]
    found, expected = read_topics("signals", files, topics, columns=COLUMNS), slow(files, topics)
    assert found.schema.equals(expected.schema)
    assert found.num_rows == 30 * len(topics)
    assert in_order(found) == in_order(expected)


@pytest.mark.parametrize("remote", [False, True])
def test_subscriptions_are_read_without_others_of_their_topics(tmp_path, monkeypatch, remote):
    monkeypatch.setattr(rows, "is_remote", lambda path: remote)
    one = minutes(1, 5, 0)
    other = one.set_column(
        one.schema.get_field_index("subscription"), "subscription", pa.array(["audit"] * one.num_rows)
    )
    files = lake_of(tmp_path, one, other).files("signals")
    keys = [*SUBSCRIPTION_KEY_NAMES, "backlog_ready_entries"]
    names = [
        ("prod", "acme/shop", f"persistent://acme/shop/t'{at:04d}", -1, name)
        for at, name in ((1, "audit"), (3, "billing"))
    ]
    found = read_subscriptions("signals", files, names, columns=keys)
    expected = [
        row
        for row in read_files("signals", files, columns=keys).to_pylist()
        if tuple(row.values())[:5] in names
    ]
    assert in_order(found) == sorted(map(repr, expected))
    assert found.num_rows == 20
    assert read_subscriptions("signals", files, [], columns=keys).num_rows == 0


def test_names_that_no_file_has_give_no_rows(tmp_path):
    files = lake_of(tmp_path, minutes(1, 5, 0)).files("signals")
    for topics in (["persistent://acme/shop/a"], ["persistent://acme/shop/t'0001x"], ["zzz"]):
        assert read_topics("signals", files, topics, columns=COLUMNS).num_rows == 0
    assert of_topics(files, ["zzz"]) == []


def test_column_that_older_files_lack_is_null(tmp_path):
    lake = lake_of(tmp_path, minutes(1, 5, 0), minutes(2, 5, 1))
    (older, newer) = sorted(lake.files("signals"), key=lambda file: file.minimum["minute_ms"])
    pq.write_table(pq.read_table(older.path).drop_columns(["broker"]), older.path)
    topics = ["persistent://acme/shop/t'0002"]
    found = read_topics("signals", [older, newer], topics, columns=COLUMNS)
    assert in_order(found) == in_order(slow([older, newer], topics))
    assert found["broker"].null_count >= 10


def test_a_store_is_read_by_the_filter_itself(tmp_path, monkeypatch):
    files = lake_of(tmp_path, minutes(1, 5, 0)).files("signals")
    monkeypatch.setattr(rows, "is_remote", lambda path: True)
    topics = ["persistent://acme/shop/t'0002"]
    found = read_topics("signals", files, topics, columns=COLUMNS)
    assert in_order(found) == in_order(slow(files, topics))


@pytest.mark.parametrize(("fault", "error"), [("gone", MissingFilesError), ("cut", DamagedFilesError)])
def test_file_that_cannot_be_read_is_named(tmp_path, fault, error):
    lake = lake_of(tmp_path, minutes(1, 5, 0))
    (file,) = lake.files("signals")
    path = tmp_path / "signals" / file.relative_path
    path.unlink() if fault == "gone" else path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(error, match=path.name):
        read_topics("signals", [file], ["persistent://acme/shop/t'0002"], columns=COLUMNS)


def test_distinct_names_are_those_of_all_rows(tmp_path):
    tables = [minutes(at, 60, at) for at in range(3)]
    files = lake_of(tmp_path, *tables).files("signals")
    waits = pc.field("backlog_ready_entries") > 4
    found = distinct(
        InProcessExecutor(), "signals", files, ["topic", "broker"], waits & pc.field("broker").is_valid()
    )
    expected = {
        (row["topic"], row["broker"])
        for table in tables
        for row in table.to_pylist()
        if row["broker"] and row["backlog_ready_entries"] is not None and row["backlog_ready_entries"] > 4
    }
    assert found == sorted(expected)
    assert distinct(InProcessExecutor(), "signals", [], ["topic"], waits) == []
