"""What a block's arrays are reduced to, against the slow twin."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.naive.block_facts import naive_block_facts
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.ingest.quality.block_facts import FACTS, block_facts

HOUR = 1_795_161_600_000
SAMPLES = TABLES["samples"].loose_schema


def block(offsets, stale=(), values=None, number=0):
    times = [HOUR + offset for offset in offsets]
    return {
        "series_id": f"{number:032x}", "metric_name": "pulsar_subscription_back_log", "date": "2026-11-20",
        "cluster": "c", "shard": 0, "block_start_ms": HOUR, "timestamps_ms": times,
        "values": [1.0] * len(times) if values is None else values, "stale_ms": [HOUR + offset for offset in stale],
    }  # fmt: skip


def facts(*blocks):
    return block_facts(pa.Table.from_pylist(list(blocks), schema=SAMPLES)).to_pylist()


# Mostly a scrape grid with holes, so that every branch is met; sometimes anything at all.
_grid = st.lists(st.integers(0, 39), unique=True).map(lambda ticks: [tick * 15_000 for tick in sorted(ticks)])
_anything = st.lists(st.integers(-5_000, BLOCK_MS + 5_000), max_size=12)
_stale = st.one_of(st.just([]), st.lists(st.integers(0, 600_000), max_size=4).map(sorted), _anything)
_values = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12)
#: A value for each sample: how far a broker's clock lies before or after the scrape, the tolerance of a minute among them.
_clock = st.lists(st.sampled_from([-90_000, 0, 59_999, 60_000, 60_001, 90_000]), min_size=40, max_size=40)
_blocks = st.lists(
    st.tuples(st.one_of(_grid, _anything), _stale, st.one_of(st.none(), _values, _clock.map(tuple))),
    max_size=5,
)


def values_of(offsets, drawn):
    """A tuple is distances of the samples' own times, anything else the values themselves."""
    if not isinstance(drawn, tuple):
        return drawn
    return [float(HOUR + at + apart) for at, apart in zip(offsets, drawn, strict=False)]


@given(_blocks)
def test_equals_the_slow_twin(drawn):
    blocks = [
        block(offsets, stale, values_of(offsets, values), number=number)
        for number, (offsets, stale, values) in enumerate(drawn)
    ]
    if not blocks:
        assert block_facts(SAMPLES.empty_table()).num_rows == 0
        return
    assert facts(*blocks) == [naive_block_facts(each) for each in blocks]


def test_only_lost_scrapes_are_holes():
    """A late one is not."""
    steady = [0, 15_000, 37_000, 45_000, 60_000]
    lost = [0, 15_000, 45_000, 60_000, 75_000]
    assert [row["missing_scrapes"] for row in facts(block(steady), block(lost))] == [0, 1]


def test_marker_in_hole_means_not_exposed():
    (row,) = facts(block([0, 15_000, 60_000, 75_000], stale=[30_000]))
    assert (row["missing_scrapes"], row["absent_scrapes"]) == (0, 2)


def test_a_marker_of_another_series_says_nothing():
    hole = [0, 15_000, 60_000, 75_000]
    rows = facts(block(hole, number=0), block([0], stale=[30_000], number=1))
    assert rows[0]["missing_scrapes"] == 2


def test_time_ahead_of_scrape_tolerates_a_minute():
    offsets = [0, 15_000, 30_000]
    at = [values_of(offsets, apart) for apart in ((60_000, 60_000, 60_000), (60_001, 0, 60_001))]
    rows = [block(offsets, values=values) for values in at]
    assert [row["ahead_of_clock"] for row in facts(*rows)] == [0, 2]
    assert [naive_block_facts(row)["ahead_of_clock"] for row in rows] == [0, 2]


def test_columns_are_declared():
    assert block_facts(pa.Table.from_pylist([block([0])], schema=SAMPLES)).schema == FACTS
