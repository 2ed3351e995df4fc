"""Bytes per sample: a file of many series takes less than small ones; what is read is the same."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.ingest.lake.upkeep.made import HOUR, add, sample
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.upkeep.show import show


def series(count, scrapes=60):
    """Counters of one target that is scraped once a minute, a few milliseconds sooner or later."""
    rng = np.random.default_rng(5)
    times = HOUR + np.arange(scrapes) * 60_000 + rng.integers(0, 6, scrapes)
    for _ in range(count):
        values = np.cumsum(rng.poisson(900, scrapes)).astype(float)
        yield sample(rng.bytes(16).hex()) | {"timestamps_ms": times.tolist(), "values": values.tolist()}


@pytest.mark.parametrize("count", [63, 64, 700])
def test_rows_read_back_as_they_were(tmp_path, count):
    lake, rows = Lake(tmp_path), list(series(count))
    add(lake, "samples", rows)
    assert lake.read("samples").to_pylist() == rows
    (file,) = lake.files("samples")
    group = pq.read_metadata(file.path).row_group(0)
    chunks = {chunk.path_in_schema: chunk for chunk in map(group.column, range(group.num_columns))}
    # Small lakes keep the bytes, and so the names, of the files they have.
    packed = "DELTA_BINARY_PACKED" in chunks["timestamps_ms.list.element"].encodings
    assert packed == (count < 64)


def test_large_file_is_a_third_smaller(tmp_path):
    """One file of many series compared with many small ones."""
    many, few = Lake(tmp_path / "many"), Lake(tmp_path / "few")
    rows = list(series(600))
    add(many, "samples", rows)
    add(few, "samples", *(rows[first : first + 50] for first in range(0, 600, 50)))
    (of_many,), (of_few,) = show(many, ["samples"]), show(few, ["samples"])
    assert (of_many.samples, of_few.samples, of_many.counted_files) == (36_000, 36_000, 1)
    # Counters whose every step is another number: the costly ones. benchmarks/lake_size.py judges a whole fleet.
    assert of_many.bytes_per_sample < 0.7 * of_few.bytes_per_sample
