"""Series compared with the scrapes of their targets, and compared with the slow twin, on random hours."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.quality.rows import BACKLOG, HOUR, block
from tests.naive.scrapes import FEW, naive_beside_up
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.quality.block_faults import faults_of_files
from throttlescope.ingest.quality.scrapes import FEW_SCRAPES

HOURS = 3
#: One server scrapes the first target, two the second, none the third; a series without an instance has none.
TARGETS = [("broker", "b:1"), ("broker", "b:2"), ("broker", "b:3"), None]
UPS = {"c": TARGETS[0], "d": TARGETS[1], "e": TARGETS[1]}

#: So few that a block often lacks some, and a marker is often the last of its hour.
_ticks = st.sets(st.integers(0, 13), max_size=14).map(sorted)
_stale = st.one_of(st.just([]), st.just([]), st.sets(st.integers(0, 14), max_size=2).map(sorted))
_series = st.tuples(
    st.sampled_from([*TARGETS, *TARGETS[:2]]), st.lists(st.tuples(_ticks, _stale), min_size=1, max_size=HOURS)
)
_up = st.lists(
    st.lists(st.sampled_from([*[1.0] * 8, 0.0, None]), min_size=14, max_size=14),
    min_size=1,
    max_size=HOURS,
)


def names(letter, target, metric):
    """A row of ``series``."""
    labels = [
        ("subscription", "s"),
        *([] if target is None else zip(("job", "instance"), target, strict=True)),
    ]
    return {
        "series_id": letter * 32, "metric_name": metric, "cluster": "c", "labels": labels, "shard": 0,
        "first_ms": HOUR, "last_ms": HOUR + HOURS * BLOCK_MS,
    }  # fmt: skip


def written(folder, name, table, rows):
    path = Path(folder) / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=TABLES[table].schema), path)
    return str(path)


@pytest.mark.long
def test_equals_the_slow_twin():
    seen: Counter[str] = Counter()

    @settings(max_examples=150, deadline=None)
    @given(st.lists(_series, min_size=1, max_size=3), st.tuples(_up, _up, _up))
    def compared(drawn, up_drawn):
        for told in beside(drawn, up_drawn):
            seen.update(name for name, value in told.items() if value)
            seen["held"] += not any(told.values())

    compared()
    # Hours of which nothing is to be told compare nothing.
    assert min(seen[name] for name in ("unread_scrapes", "without_up", "went_away", "held")) > 20, seen


def beside(drawn, up_drawn):
    """Compare the two on some hours; what the twin says of each block."""
    series = [
        (
            letter,
            target,
            [block(letter, hour=n, ticks=ticks, stale=stale) for n, (ticks, stale) in enumerate(hours)],
        )
        for letter, (target, hours) in zip("ab1", drawn, strict=False)
    ]
    ups = {}
    for letter, hours in zip(UPS, up_drawn, strict=True):
        ups[letter] = [
            block(
                letter, "up", hour=n, ticks=[tick for tick, value in enumerate(values) if value is not None],
                values=[value for value in values if value is not None],
            )
            for n, values in enumerate(hours)
        ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        known = [names(letter, target, BACKLOG) for letter, target, _ in series]
        known += [names(letter, target, "up") for letter, target in UPS.items()]
        catalogue = [written(folder, "catalogue", "series", known)]
        of_hour = [
            [one for _, _, blocks in series for one in blocks if one["block_start_ms"] == HOUR + n * BLOCK_MS]
            for n in range(HOURS)
        ]
        paths = [written(folder, f"h{n}", "samples", rows) for n, rows in enumerate(of_hour) if rows]
        up_paths = [written(folder, f"up-{letter}", "samples", blocks) for letter, blocks in ups.items()]
        rows = [
            row
            for batch in faults_of_files(paths, catalogue, BACKLOG, up_paths, catalogue)
            for row in batch.to_pylist()
        ]
    for letter, target, blocks in series:
        own = [ups[one] for one, of in UPS.items() if target is not None and of == target]
        mine = sorted(
            (row for row in rows if row["series_id"] == letter * 32), key=lambda row: row["block_start_ms"]
        )
        told = naive_beside_up(blocks, own)
        assert [{name: row[name] for name in told[0]} for row in mine] == told
        yield from told


def test_the_twin_passes_over_as_few():
    assert FEW == FEW_SCRAPES
