"""The block buffer against its slow twin: any order, any batches, any memory budget; and what it refuses and mends."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import blocks as naive
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.labels import LabelMapping, Labels
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.lake.blocks import BlockBuffer, join_rows, sample_rows

HOUR_MS = naive.HOUR_MS
METRIC = "pulsar_subscription_back_log"


def labels_of(number: int, **more: str) -> Labels:
    pairs = {
        "__name__": METRIC,
        "cluster": f"c{number % 2}",
        "namespace": "t/n",
        "topic": f"persistent://t/n/x{number}",
        "subscription": "s",
    }
    return tuple(sorted((pairs | more).items()))


def series(
    number: int | Labels, times: list[int], values: list[float] | None = None, stale=()
) -> DecodedSeries:
    labels = labels_of(number) if isinstance(number, int) else number
    values = [float(t % 997) for t in times] if values is None else values
    return DecodedSeries(
        labels, np.array(times, np.int64), np.array(values, np.float64), np.array(stale, np.int64)
    )


def filled(tmp: Path, batches: list[list[DecodedSeries]], **options) -> BlockBuffer:
    buffer = BlockBuffer(LabelMapping(), tmp / "scratch", **options)
    for batch in batches:
        buffer.add(batch_of(batch))
    return buffer


def as_dict(buffer: BlockBuffer):
    return {
        key: {
            row["series_id"]: (row["timestamps_ms"], row["values"], row["stale_ms"])
            for row in rows.to_pylist()
        }
        for key, rows in buffer.blocks()
    }


def same(found, expected) -> bool:
    """Equal, with NaN equal to NaN."""
    return repr(found) == repr(expected)


times_ms = st.one_of(
    st.integers(0, 4 * HOUR_MS),
    st.sampled_from([0, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1, 2 * HOUR_MS, 3 * HOUR_MS]),
)
one_series = st.tuples(
    st.integers(0, 5),
    st.lists(st.tuples(times_ms, st.floats(width=32)), max_size=12),
    st.lists(times_ms, max_size=3),
)


@given(st.lists(st.lists(one_series, max_size=6), max_size=4), st.sampled_from([1, 10, 10**6]))
@pytest.mark.long
def test_equals_the_twin(batches, budget: int) -> None:
    raw = [[(labels_of(n), samples, stale) for n, samples, stale in batch] for batch in batches]
    with tempfile.TemporaryDirectory() as tmp:
        decoded = [
            [
                series(labels, [t for t, _ in samples], [v for _, v in samples], stale)
                for labels, samples, stale in batch
            ]
            for batch in raw
        ]
        buffer = filled(Path(tmp), decoded, budget=budget)
        found = as_dict(buffer)
        expected = naive.blocks([one for batch in raw for one in batch], LabelMapping())
        # Equal times in one series keep the first value; which one came first is only settled inside a budget.
        if budget == 10**6:
            assert same(found, expected)
        assert {k: {s: (v[0], v[2]) for s, v in rows.items()} for k, rows in found.items()} == {
            k: {s: (v[0], v[2]) for s, v in rows.items()} for k, rows in expected.items()
        }
        scratch = Path(tmp) / "scratch"
        assert not scratch.exists() or not list(scratch.iterdir())


def test_the_budget_changes_no_byte(tmp_path: Path) -> None:
    """A block's file depends on its samples, not on how much memory there was."""
    generator = np.random.default_rng(7)
    batches = [
        [
            series(n, (start + np.arange(240) * 15_000).tolist(), generator.random(240).tolist())
            for n in range(20)
        ]
        for start in range(0, 3 * HOUR_MS, HOUR_MS)
    ]
    tables = []
    for budget in (10**9, 1_000):
        buffer = filled(tmp_path / str(budget), batches, budget=budget)
        tables.append({key: sample_rows(METRIC, key, rows) for key, rows in buffer.blocks()})
    assert tables[0].keys() == tables[1].keys()
    for key, table in tables[0].items():
        assert table.equals(tables[1][key])


def test_blocks_are_whole_hours_sorted_by_series(tmp_path: Path) -> None:
    buffer = filled(tmp_path, [[series(n, [HOUR_MS - 1, HOUR_MS, HOUR_MS + 1]) for n in range(30)]])
    for (cluster, block, shard), rows in buffer.blocks():
        table = TABLES["samples"].conform(sample_rows(METRIC, (cluster, block, shard), rows))
        ids = table["series_id"].to_pylist()
        assert ids == sorted(set(ids))
        assert all(block <= t < block + HOUR_MS for row in table["timestamps_ms"].to_pylist() for t in row)
        assert set(table["date"].to_pylist()) == {"1970-01-01"}
        assert set(table["shard"].to_pylist()) == {shard}


def test_catalogue_spans(tmp_path: Path) -> None:
    buffer = filled(tmp_path, [[series(1, [5, 9]), series(2, [], stale=[7])], [series(1, [2], stale=[20])]])
    assert [(dict(key.labels)["topic"][-2:], first, last) for key, first, last in buffer.series()] == [
        ("x1", 2, 20),
        ("x2", 7, 7),
    ]
    assert buffer.samples == 3


def test_repairs_are_counted(tmp_path: Path) -> None:
    buffer = filled(
        tmp_path, [[series(1, [30, 10, 20]), series(2, [10, 10, 20], [1.0, 2.0, 3.0]), series(3, [1, 2])]]
    )
    rows = [row for block in as_dict(buffer).values() for row in block.values()]
    assert sorted(row[0] for row in rows) == [[1, 2], [10, 20], [10, 20, 30]]
    assert ([10, 20], [1.0, 3.0], []) in rows
    assert buffer.repairs == Counter(
        {"unsorted_series_blocks": 1, "duplicate_timestamps": 1, "duplicate_timestamps_with_other_values": 1}
    )


def test_refused_series_are_reported_with_samples(tmp_path: Path) -> None:
    bad = labels_of(1, partition="x")
    buffer = filled(tmp_path, [[series(bad, [5, 7]), series(2, [6])], [series(bad, [1])], [series(bad, [])]])
    ((_, rows),) = list(buffer.blocks())
    assert rows.num_rows == 1
    (refused,) = buffer.refused.values()
    row = refused.row()
    assert (row["reason"], row["rows"], row["table"]) == ("invalid_partition", 3, "samples")
    told = json.loads(row["row"])
    assert (told["first_ms"], told["last_ms"], told["labels"]["partition"]) == (1, 7, "x")


def test_wrong_segments_are_counted_and_kept(tmp_path: Path) -> None:
    bad = labels_of(1, topic="segment://acme/shop/orders/8000-7fff-3")
    good = labels_of(2, topic="segment://acme/shop/orders/0000-7fff-3")
    buffer = filled(tmp_path, [[series(bad, [5, 7]), series(good, [6])]])
    ((_, rows),) = list(buffer.blocks())
    assert rows.num_rows == 1
    (row,) = [refused.row() for refused in buffer.refused.values()]
    assert (row["reason"], row["rows"]) == ("invalid_segment", 2)
    kept = json.loads(row["row"])
    assert kept["labels"]["topic"] == "segment://acme/shop/orders/8000-7fff-3"
    assert (kept["first_ms"], kept["last_ms"]) == (5, 7)


@pytest.mark.parametrize(
    "value", ['a"b', "a\nb", "../../etc/passwd", "a\\b", "a'b; DROP", "\x00", "💥", "${x}", "a/b"]
)
def test_odd_label_values_are_values(tmp_path: Path, value: str) -> None:
    labels = labels_of(1, subscription=value)
    buffer = filled(tmp_path, [[series(labels, [5])]], budget=1)
    assert len(as_dict(buffer)) == 1
    assert {dict(key.labels)["subscription"] for key, _, _ in buffer.series()} == {value}


def test_series_of_two_selectors_is_read_once(tmp_path: Path) -> None:
    buffer = filled(tmp_path, [[series(1, [5])]])
    buffer.next_selector()
    buffer.add(batch_of([series(1, [5]), series(2, [6])]))
    buffer.add(batch_of([series(2, [7])]))
    rows = [row[0] for block in as_dict(buffer).values() for row in block.values()]
    assert sorted(rows) == [[5], [6, 7]]
    assert not buffer.repairs
    assert not list(buffer.blocks())


def test_nothing_comes_of_nothing(tmp_path: Path) -> None:
    buffer = filled(tmp_path, [[], [series(1, [])]])
    assert as_dict(buffer) == {}
    assert list(buffer.series()) == []


def test_joining_keeps_rows_apart_and_joins_series(tmp_path: Path) -> None:
    def table(rows: list[tuple[str, list[int]]]) -> pa.Table:
        return pa.table(
            {
                "series_id": [name for name, _ in rows],
                "timestamps_ms": pa.array([times for _, times in rows], pa.list_(pa.int64())),
                "values": pa.array([[float(t) for t in times] for _, times in rows], pa.list_(pa.float64())),
                "stale_ms": pa.array([[] for _ in rows], pa.list_(pa.int64())),
            }
        )

    joined = join_rows([table([("b", [3, 4]), ("c", [1])]), table([("a", [9]), ("b", [1, 2])])], Counter())
    assert joined.select(["series_id", "timestamps_ms"]).to_pylist() == [
        {"series_id": "a", "timestamps_ms": [9]},
        {"series_id": "b", "timestamps_ms": [1, 2, 3, 4]},
        {"series_id": "c", "timestamps_ms": [1]},
    ]
