"""What changes a lake, each as the product does it. In: a folder and a seed. Out: a lake to begin with, and the same lake after one operation.

The content is drawn by the seed; the same seed gives the same rows, so an operation that is repeated has the same to do.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from unittest import mock

import pyarrow as pa

from tests.ingest.lake.upkeep.made import BLOCK_MS, FIVE, HOUR, add, sample, table_of, verdict
from throttlescope.ingest.contracts import TABLES, Table
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.lake.hour_files import replace_hours
from throttlescope.ingest.lake.upkeep.compact import compact
from throttlescope.ingest.lake.upkeep.expire import expire
from throttlescope.ingest.lake.upkeep.vacuum import clean_log, delete, unnamed
from throttlescope.ingest.pull.commit import commit_notes
from throttlescope.ingest.pull.staging import BlockNote, ItemNote, Staging

#: An hour that ended long ago, for compaction.
LATER_MS = 4_000_000_000_000
Draw = random.Random


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes
    ----------
    begin : callable
        Makes the lake that it starts from.
    act : callable
        Does it, and may be repeated.
    contracts : mapping of str to Table
        Tables that have another contract while it acts and is looked at.
    """

    begin: Callable[[Lake, Draw], object]
    act: Callable[[Lake, Draw], object]
    contracts: Callable[[], dict[str, Table]] = dict

    @contextlib.contextmanager
    def meant(self) -> Iterator[None]:
        """The contracts that it acts under."""
        with mock.patch.dict(TABLES, self.contracts()):
            yield


def nothing(lake: Lake, draw: Draw) -> None:
    """No lake is there yet."""


def verdicts_of(draw: Draw, hours: int = 3, subscriptions: int = 2) -> Iterator[list[dict]]:
    """Files of verdicts, one an hour and subscription, as lists of rows."""
    for hour in range(hours):
        for subscription in range(subscriptions):
            value = float(draw.randrange(1_000_000))
            yield [
                verdict(
                    0,
                    start_ms=HOUR + hour * BLOCK_MS + i * FIVE,
                    subscription=f"s{subscription}",
                    backlog_entries=value + i,
                )
                for i in range(draw.randint(1, 4))
            ]


def _some_verdicts(lake: Lake, draw: Draw) -> None:
    add(lake, "verdicts", *verdicts_of(draw))


def _many_versions(lake: Lake, draw: Draw) -> None:
    for rows in verdicts_of(draw, hours=4):
        add(lake, "verdicts", rows)


# -- commits -----------------------------------------------------------------------------------


def _append(lake: Lake, draw: Draw, day: int = 1) -> None:
    rows = [
        [verdict(0, start_ms=HOUR + day * DAY_MS + i * FIVE, backlog_entries=float(draw.randrange(1000)))]
        for i in range(draw.randint(1, 3))
    ]
    add(lake, "verdicts", *rows)


def _replace(lake: Lake, draw: Draw) -> None:
    rows = [row for part in verdicts_of(draw, hours=2) for row in part]
    where = {
        "time_column": "window_start_ms",
        "clusters": ["prod"],
        "start_ms": HOUR,
        "end_ms": HOUR + 2 * BLOCK_MS,
    }
    replace_hours(lake, table_of("verdicts", rows), "verdicts", run_id="replace", **where)


def _marks(draw: Draw, names: list[str]) -> pa.Table:
    marks = [
        {"source": "http://p:9090", "selectors": "", "cluster": "c", "metric_name": name, "since_ms": HOUR,
         "complete_until_ms": HOUR + draw.randrange(1, 1000) * FIVE, "read_ms": HOUR, "run_id": "made"}
        for name in names
    ]  # fmt: skip
    return table_of("watermarks", marks)


def _some_marks(lake: Lake, draw: Draw) -> None:
    lake.upsert("watermarks", _marks(draw, ["a", "b", "c"]), run_id="made")


def _upsert(lake: Lake, draw: Draw) -> None:
    lake.upsert("watermarks", _marks(draw, ["b", "c", "d"]), run_id="upsert")


def _to_the_hundredth(lake: Lake, draw: Draw) -> None:
    add(lake, "watermarks", *([row] for row in _marks(draw, ["a", "b", "c"]).to_pylist()))
    # Versions in which nothing changed but who was there: Delta goes by their number.
    for version in range(1, 99):
        info = {"timestamp": HOUR, "operation": "WRITE", "run_id": f"r{version}"}
        lake.storage.write(
            f"watermarks/_delta_log/{version:020}.json", json.dumps({"commitInfo": info}).encode()
        )


def _append_mark(lake: Lake, draw: Draw) -> None:
    add(lake, "watermarks", _marks(draw, ["z"]).to_pylist())


def _past_the_hundredth(lake: Lake, draw: Draw) -> None:
    _to_the_hundredth(lake, draw)
    _upsert(lake, draw)
    _make_old(lake, "watermarks")


def _make_old(lake: Lake, table: str) -> None:
    """Commits but the newest were made longer ago than Delta keeps them; it goes by the time of the file."""
    log, old_s = os.path.join(lake.root, table, "_delta_log"), time.time() - 40 * 24 * 3600
    for name in sorted(os.listdir(log))[:-1]:
        os.utime(os.path.join(log, name), (old_s, old_s))


def _narrow() -> Table:
    contract = TABLES["verdicts"]
    return replace(contract, columns=tuple(one for one in contract.columns if one.name != "capacity_seen_ms"))


def _before_the_column(lake: Lake, draw: Draw) -> None:
    with mock.patch.dict(TABLES, {"verdicts": _narrow()}):
        _some_verdicts(lake, draw)


def _with_the_column(lake: Lake, draw: Draw) -> None:
    add(lake, "verdicts", [verdict(0, start_ms=HOUR + DAY_MS, capacity_seen_ms=draw.randrange(1000))])


def _second_format() -> dict[str, Table]:
    return {"verdicts": replace(TABLES["verdicts"], format_version=2)}


# -- the end of a pull -------------------------------------------------------------------------


def _blocks(draw: Draw, hours: range) -> Iterator[dict]:
    for hour in hours:
        values = tuple(float(draw.randrange(100)) for _ in range(draw.randint(2, 5)))
        yield sample(f"{hour:032x}", HOUR + hour * BLOCK_MS, values, shard=hour % 16)


def _catalogue(rows: list[dict]) -> list[dict]:
    return [
        {"series_id": row["series_id"], "metric_name": row["metric_name"], "cluster": row["cluster"],
         "labels": [("job", "p")], "shard": row["shard"], "first_ms": row["timestamps_ms"][0], "last_ms": row["timestamps_ms"][-1]}
        for row in rows
    ]  # fmt: skip


def _some_samples(lake: Lake, draw: Draw) -> None:
    rows = list(_blocks(draw, range(3)))
    add(lake, "series", *[[row] for row in _catalogue(rows)])
    add(lake, "samples", *[[row] for row in rows])


def _pull(lake: Lake, draw: Draw) -> None:
    """Items write their files and notes, and the driver commits them: :mod:`throttlescope.ingest.pull.pull` without Spark and a source."""
    items = [list(_blocks(draw, range(1, 3))), list(_blocks(draw, range(3, 5)))]
    with Staging.of(lake.root, ["pull", draw.random()]).owned() as staging:
        staging.save_plan({"up": {}})
        notes = staging.notes(["0", "1"])
        committed = {file.minimum["block_start_ms"]: file for file in lake.files("samples")}
        for number, rows in enumerate(items):
            if str(number) in notes:
                continue
            note = ItemNote("up", rows[0]["block_start_ms"], rows[-1]["block_start_ms"] + BLOCK_MS)
            for row in rows:
                file = write_data_file(lake.root, "samples", table_of("samples", [row]))
                old = committed.get(row["block_start_ms"])
                replaces = [] if old is None else [old.relative_path]
                note.blocks.append(
                    BlockNote(
                        row["cluster"],
                        row["block_start_ms"],
                        row["shard"],
                        file,
                        replaces,
                        len(row["values"]),
                    )
                )
            note.series_file = staging.save_series(str(number), table_of("series", _catalogue(rows)))
            staging.save_note(str(number), note)
            notes[str(number)] = note
        # Another run's blocks make notes outdated; here there is none.
        outdated = commit_notes(
            lake, notes, staging, SimpleNamespace(run_id="pull", series=0, samples_written=0)
        )
        if outdated:
            raise AssertionError(f"notes were taken for outdated: {outdated}")
        staging.clear()


# -- upkeep ------------------------------------------------------------------------------------


def _compact(lake: Lake, draw: Draw) -> None:
    compact(lake, "verdicts", run_id="compact", now_ms=LATER_MS)


def _old_and_new(lake: Lake, draw: Draw) -> None:
    rows = [*_blocks(draw, range(3)), *_blocks(draw, range(100, 102))]
    add(lake, "series", *[[row] for row in _catalogue(rows)])
    add(lake, "samples", *[[row] for row in rows])
    _some_verdicts(lake, draw)
    _append(lake, draw)


def _expire(lake: Lake, draw: Draw) -> None:
    expire(lake, HOUR + 20 * BLOCK_MS, run_id="expire", tables=["samples", "verdicts"])


def _rewritten(lake: Lake, draw: Draw) -> None:
    _many_versions(lake, draw)
    for _ in range(3):
        _replace(lake, draw)
    # What killed writers leave, of every kind.
    folder = os.path.join(lake.root, "verdicts", "data", "00")
    os.makedirs(folder, exist_ok=True)
    for name in (".unfinished.parquet.0", "unfinished.parquet.tmp"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"half")
    add(lake, "watermarks", _marks(draw, ["a"]).to_pylist())


def vacuum(lake: Lake, draw: Draw | None = None) -> None:
    """Take everything that nothing names, as after the longest age."""
    found = unnamed(lake, 0, now_ms=time.time_ns() // 1_000_000 + BLOCK_MS, anyway=True)
    delete(lake, found)


def _long_log(lake: Lake, draw: Draw) -> None:
    _many_versions(lake, draw)
    clean_log(lake, "verdicts")
    _replace(lake, draw)
    _make_old(lake, "verdicts")


def _clean_log(lake: Lake, draw: Draw) -> None:
    clean_log(lake, "verdicts")


def begin_everything(lake: Lake, draw: Draw) -> None:
    """A lake whose tables have seen every operation: checkpoints, old commits, replaced files."""
    _old_and_new(lake, draw)
    _some_marks(lake, draw)
    for _ in range(2):
        _replace(lake, draw)
    clean_log(lake, "verdicts")
    _append(lake, draw, day=2)
    _compact(lake, draw)
    clean_log(lake, "samples")


OPERATIONS: dict[str, Operation] = {
    "first commit of a table": Operation(nothing, _some_verdicts),
    "first commit of a table with a format": Operation(nothing, _some_verdicts, _second_format),
    "append": Operation(_some_verdicts, _append),
    "replace a range": Operation(_many_versions, _replace),
    "upsert": Operation(_some_marks, _upsert),
    "commit with a new column": Operation(_before_the_column, _with_the_column),
    "commit with a checkpoint": Operation(_to_the_hundredth, _upsert),
    "commit that drops old commits": Operation(_past_the_hundredth, _append_mark),
    "pull into nothing": Operation(nothing, _pull),
    "pull over a pull": Operation(_some_samples, _pull),
    "compaction": Operation(_some_verdicts, _compact),
    "expiry": Operation(_old_and_new, _expire),
    "vacuum": Operation(_rewritten, vacuum),
    "clean the log": Operation(_long_log, _clean_log),
}


def tables() -> list[str]:
    """Tables that operations write."""
    return ["series", "samples", "verdicts", "watermarks"]


__all__ = ["OPERATIONS", "Operation", "begin_everything", "tables", "vacuum"]
