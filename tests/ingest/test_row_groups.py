"""A large file is cut so that one subscription can be read without decoding the others."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake, write_data_file

START_MS = 1_795_132_800_000


def rows(topics: int, each: int) -> pa.Table:
    schema = TABLES["forecasts"].loose_schema
    number = [i // each for i in range(topics * each)]
    count = len(number)
    values = {
        "cluster": ["prod"] * count,
        "namespace": ["acme/shop"] * count,
        "topic": [f"persistent://acme/shop/topic-{i:05d}" for i in number],
        "partition": [-1] * count,
        "subscription": ["s"] * count,
        "made_at_ms": [START_MS + i % each for i in range(count)],
        **{
            name: [word] * count
            for name, word in (
                ("kind", "drain"), ("method", "trend"), ("state", "never"), ("unit", "entries"), ("consequence", "none"),
                ("basis", "none"), ("method_version", "1"), ("date", date_of(START_MS)),
            )
        },
    }  # fmt: skip
    return pa.table(
        {field.name: pa.array(values.get(field.name, [None] * count), field.type) for field in schema}
    )


def test_topic_is_in_few_row_groups(tmp_path):
    lake = Lake(tmp_path)
    file = write_data_file(lake.root, "forecasts", rows(700, 100))
    lake.commit("forecasts", [file], run_id="t")
    parquet = pq.ParquetFile(lake.files("forecasts")[0].path)
    groups = [parquet.metadata.row_group(i) for i in range(parquet.num_row_groups)]
    assert len(groups) > 2
    spans = [(group.column(2).statistics.min, group.column(2).statistics.max) for group in groups]
    for number in range(0, 700, 50):
        topic = f"persistent://acme/shop/topic-{number:05d}"
        assert 1 <= sum(least <= topic <= greatest for least, greatest in spans) <= 2
    assert sum(group.num_rows for group in groups) == file.rows == 70_000


def test_a_small_file_is_in_one_piece(tmp_path):
    file = write_data_file(str(tmp_path), "forecasts", rows(7, 10))
    assert pq.ParquetFile(tmp_path / "forecasts" / file.relative_path).num_row_groups == 1
