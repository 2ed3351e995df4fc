"""Which hours differ, without Spark: fingerprints beside a twin, chunks, and what a backfill asks for."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.naive.known import spoken
from throttlescope.app.pipeline.backfill.chunks import Chunk, chunks_of
from throttlescope.app.pipeline.incremental.computed_hours import Hours, ranges_of
from throttlescope.app.pipeline.incremental.groups import joined, together
from throttlescope.app.pipeline.incremental.snapshots import KnownSnapshots
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS

START = 1_760_000_400_000
KEY = ("topic", "subscription")


SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("subscription", pa.string()),
        ("rate", pa.int64()),
        ("observed_ms", pa.int64()),
    ]
)


def known(rows):
    return KnownSnapshots.of(pa.Table.from_pylist(rows, schema=SCHEMA), KEY)


def snapshot(draw):
    return {
        "topic": draw.choice("ab"),
        "subscription": draw.choice("xy"),
        "rate": draw.choice([None, 10, 20]),
        "observed_ms": START + draw.randrange(-9 * 24 * 60, 9 * 24 * 60) * 60_000 + draw.randrange(60_000),
    }


@pytest.mark.long
def test_fingerprint_changes_with_known_snapshots():
    draw = random.Random(83)  # noqa: S311
    changed = kept = 0
    for _ in range(60):
        rows = [snapshot(draw) for _ in range(draw.randrange(1, 8))]
        more = [*rows, snapshot(draw)]
        if draw.random() < 0.3:
            more = rows[1:]
        texts, after = known(rows), known(more)
        for hour_ms in (START, START - DAY_MS, START + 3 * DAY_MS):
            if spoken(rows, KEY, hour_ms) != spoken(more, KEY, hour_ms):
                changed += 1
                assert texts.text(hour_ms) != after.text(hour_ms), (rows, more, hour_ms)
            else:
                kept += texts.text(hour_ms) == after.text(hour_ms)
    assert changed > 20
    assert kept > 20


def test_streamed_files_give_the_same_fingerprint(tmp_path):
    draw = random.Random(84)  # noqa: S311
    # Of what has no name, too: NULL is a key as any other.
    rows = [snapshot(draw) | {"topic": draw.choice(["a", "b", None])} for _ in range(40)]
    for part in range(3):
        pq.write_table(pa.Table.from_pylist(rows[part::3], schema=SCHEMA), tmp_path / f"{part}.parquet")
    files = ds.dataset(sorted(tmp_path.iterdir()), schema=SCHEMA)
    wanted = [row for row in rows if row["rate"] != 20]
    here, there = (
        known(wanted),
        KnownSnapshots.of(files.filter((pc.field("rate") != 20) | pc.field("rate").is_null()), KEY),
    )
    texts = {here.text(hour_ms) for hour_ms in range(START - 5 * DAY_MS, START + 5 * DAY_MS, BLOCK_MS)}
    assert texts == {
        there.text(hour_ms) for hour_ms in range(START - 5 * DAY_MS, START + 5 * DAY_MS, BLOCK_MS)
    }
    assert len(texts) > 20
    assert KnownSnapshots.of(files.filter(pc.field("rate") > 20), KEY).text(START) == known([]).text(START)


def test_later_snapshot_leaves_older_hours_unchanged():
    first = {"topic": "a", "subscription": "x", "rate": 10, "observed_ms": START - 1}
    later = first | {"rate": 20, "observed_ms": START + 5 * BLOCK_MS}
    assert known([first]).text(START) == known([first, later]).text(START)
    assert known([first]).text(START + 5 * BLOCK_MS) != known([first, later]).text(START + 5 * BLOCK_MS)
    # The first one of a key speaks for what lies before it, too.
    other = later | {"topic": "b"}
    assert known([first]).text(START) != known([first, other]).text(START)


def test_chunks_are_aligned_to_the_grid():
    six = 6 * BLOCK_MS
    midnight = START - START % DAY_MS
    assert chunks_of(midnight, midnight + DAY_MS, six) == [
        Chunk(midnight + n * six, midnight + (n + 1) * six) for n in range(4)
    ]
    odd = chunks_of(midnight + 5 * BLOCK_MS + 1, midnight + 13 * BLOCK_MS + 7, six)
    assert odd == [
        Chunk(midnight + 5 * BLOCK_MS, midnight + six),
        Chunk(midnight + six, midnight + 2 * six),
        Chunk(midnight + 2 * six, midnight + 13 * BLOCK_MS + 7),
    ]
    for wrong in (BLOCK_MS // 2, 90 * 60_000, 2 * DAY_MS):
        with pytest.raises(InputError, match="whole hours"):
            chunks_of(0, DAY_MS, wrong)


def hours(cluster, to_compute, clean=()):
    looked_at = tuple(sorted({*to_compute, *clean}))
    return Hours(
        cluster, "signals", looked_at, tuple(to_compute), (), tuple(clean), (), dict.fromkeys(looked_at, "")
    )


def test_clusters_are_grouped_without_extra_work():
    h = BLOCK_MS
    both = [hours("a", (0, h)), hours("b", (h, 2 * h))]
    assert together(both) == [(("a", "b"), 0, 3 * h)]
    # An hour of b that is as it has to be keeps them apart.
    apart = [hours("a", (0, h)), hours("b", (h, 2 * h), clean=(0,))]
    assert together(apart) == [(("a",), 0, 2 * h), (("b",), h, 3 * h)]
    assert ranges_of((0, h, 5 * h)) == [(0, 2 * h), (5 * h, 6 * h)]
    assert joined([(("a",), 0, h), (("b",), 5 * h, 6 * h)]) == [(("a",), 0, h), (("b",), 5 * h, 6 * h)]
