"""What was known of an hour. In: snapshots of limits, statistics or policies. Out: a text per hour that changes when that does.

A snapshot speaks for what comes after it; the first one of a key also for what lies before it (:mod:`transforms.as_of`). So an
hour's text identifies all snapshots up to its end, and for the first ones of keys of which nothing was known by then. A snapshot
that comes later changes the text of an hour only where it is the first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.as_of import KNOWN_FOR_MS


@dataclass(frozen=True)
class KnownSnapshots:
    """Hashes of snapshots in the order of time.

    Attributes
    ----------
    times_ms, sums : ndarray
        When rows were observed, and the hash of all rows up to and including that time.
    first_ms, first_sums : ndarray
        The same of each key's first rows alone.
    """

    times_ms: np.ndarray
    sums: np.ndarray
    first_ms: np.ndarray
    first_sums: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table | ds.Dataset, key: Sequence[str]) -> KnownSnapshots:
        """Hash rows with ``observed_ms`` and the columns of a key; of a dataset a piece at a time, twice."""
        keys = ", ".join(f'"{name}"' for name in key)
        if isinstance(rows, pa.Table) and not rows.num_rows:
            none, nothing = np.empty(0, np.int64), np.empty(0, np.uint64)
            return cls(none, nothing, none, nothing)
        # Not by a window, which would hold every row: of each key its first time alone is kept.
        firsts = f"SELECT {keys}, min(observed_ms) AS first_ms FROM snapshots GROUP BY {keys}"  # noqa: S608
        same = " AND ".join(f'snapshots."{name}" IS NOT DISTINCT FROM firsts."{name}"' for name in key)
        snapshots = ", ".join(f'snapshots."{name}"' for name in rows.schema.names)
        connection = _connection().cursor()
        try:
            connection.register("snapshots", rows)
            hashed = f"SELECT observed_ms AS at_ms, hash({snapshots}) AS h, first_ms FROM snapshots JOIN ({firsts}) AS firsts ON {same}"  # noqa: S608
            found = connection.execute(
                f"SELECT at_ms, bit_xor(h), bit_xor(CASE WHEN at_ms = first_ms THEN h END) FROM ({hashed}) GROUP BY 1 ORDER BY 1"  # noqa: S608
            ).fetchall()
        finally:
            connection.close()
        times_ms = np.array([row[0] for row in found], np.int64)
        sums = np.array([row[1] for row in found], np.uint64)
        firsts = [(row[0], row[2]) for row in found if row[2] is not None]
        return cls(
            times_ms,
            np.bitwise_xor.accumulate(sums),
            np.array([at for at, _ in firsts], np.int64),
            np.bitwise_xor.accumulate(np.array([h for _, h in firsts], np.uint64)),
        )

    def text(self, hour_ms: int) -> str:
        """What was known of [hour, hour + 1 h)."""
        end_ms = hour_ms + BLOCK_MS
        before = _between(self.times_ms, self.sums, hour_ms - KNOWN_FOR_MS, end_ms)
        later = _between(self.first_ms, self.first_sums, end_ms, end_ms + KNOWN_FOR_MS)
        return f"{before:x}.{later:x}"


@functools.lru_cache(maxsize=1)
def _connection() -> duckdb.DuckDBPyConnection:
    # Making one takes longer than hashing a thousand rows.
    return duckdb.connect()


def _between(times_ms: np.ndarray, sums: np.ndarray, after_ms: int, until_ms: int) -> int:
    """Hash of the rows of (after, until]."""
    low, high = np.searchsorted(times_ms, [after_ms, until_ms], side="right")
    return _upto(sums, high) ^ _upto(sums, low)


def _upto(sums: np.ndarray, count: int) -> int:
    return int(sums[count - 1]) if count else 0
