"""A large file is cut so that one subscription can be read without decoding the others."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake import Lake, read_files, read_pieces, write_data_file
from throttlescope.ingest.lake.files import GROUP_ROWS
from throttlescope.ingest.lake.formats import MissingFilesError

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


@pytest.mark.parametrize(("topics", "each"), [(700, 100), (7, 10), (1, GROUP_ROWS + 1)])
def test_pieces_are_all_rows_in_order(tmp_path, topics, each):
    """Of several files, one of them small; no piece has more rows than a group and what completes it."""
    lake = Lake(tmp_path)
    more = rows(3, 5).set_column(0, "cluster", pa.array(["other"] * 15))
    files = [write_data_file(lake.root, "forecasts", one) for one in (rows(topics, each), more)]
    lake.commit("forecasts", files, run_id="t")
    selection = {
        "columns": ["cluster", "topic", "made_at_ms"],
        "where": pc.field("made_at_ms") != START_MS + 2,
    }
    written = lake.files("forecasts")
    whole, pieces = (
        read_files("forecasts", written, **selection),
        list(read_pieces("forecasts", written, **selection)),
    )
    assert whole.num_rows == topics * (each - 1) + 3 * 4
    assert pa.concat_tables(pieces).equals(whole)
    assert max(piece.num_rows for piece in pieces) < 2 * GROUP_ROWS
    assert min((piece.num_rows for piece in pieces[:-1]), default=GROUP_ROWS) >= GROUP_ROWS


def test_piece_of_missing_file_is_named(tmp_path):
    lake = Lake(tmp_path)
    lake.commit("forecasts", [write_data_file(lake.root, "forecasts", rows(7, 10))], run_id="t")
    (file,) = lake.files("forecasts")
    (tmp_path / "forecasts" / file.relative_path).unlink()
    with pytest.raises(MissingFilesError, match=file.relative_path.rpartition("/")[2]):
        list(read_pieces("forecasts", [file], columns=["topic"], where=pc.scalar(True)))
    assert list(read_pieces("forecasts", [], columns=["topic"], where=pc.scalar(True))) == []
