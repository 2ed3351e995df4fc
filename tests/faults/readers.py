"""Study: two writers on one range, and readers throughout. In: a seed. Out: how many reads were no whole version.

Readers are those that people have: ours by Arrow, DuckDB, Spark, an older version by its number, and Delta's own for people who do not
know of us. Two processes replace the same hours and compact them; a conflicting commit is retried.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.dataset as ds
from deltalake import DeltaTable, QueryBuilder

from tests.faults.study import Found, Study
from tests.faults.writing import COLUMNS, begin, is_whole
from tests.lab.processes import end_with_parent
from throttlescope.ingest.lake import Lake

#: Reads of one instant: what is kept when the study is stopped.
_AT_ONCE = 100
Row = tuple[str, float, float]


def _rows(table) -> list[Row]:
    return list(zip(*(table.column(name).to_pylist() for name in COLUMNS), strict=True))


class Readers:
    """All of them, for one lake."""

    def __init__(self, root: str, seed: int, session: object = None) -> None:
        self.root, self.kept, self.draw = root, Lake(root), random.Random(seed)  # noqa: S311
        self.session = session

    def by_arrow(self) -> list[Row]:
        return _rows(Lake(self.root).read("verdicts", columns=COLUMNS))

    def by_arrow_in_a_kept_lake(self) -> list[Row]:
        return _rows(self.kept.read("verdicts", columns=COLUMNS))

    def by_duckdb(self) -> list[Row]:
        with Lake(self.root).duckdb() as connection:
            return connection.execute(f"SELECT {', '.join(COLUMNS)} FROM verdicts").fetchall()  # noqa: S608

    def by_older_version(self) -> list[Row]:
        newest = self.kept.version("verdicts")
        version = max(0, newest - self.draw.randrange(20))
        return _rows(self.kept.read("verdicts", columns=COLUMNS, version=version))

    def by_delta(self) -> list[Row]:
        return _rows(DeltaTable(f"{self.root}/verdicts").to_pyarrow_table(columns=COLUMNS))

    def by_paths(self) -> list[Row]:
        # What Polars, pandas and Arrow do with a table's list of files.
        return _rows(ds.dataset(DeltaTable(f"{self.root}/verdicts").file_uris()).to_table(columns=COLUMNS))

    def by_datafusion(self) -> list[Row]:
        asked = QueryBuilder().register("verdicts", DeltaTable(f"{self.root}/verdicts"))
        batches = asked.execute(f"SELECT {', '.join(COLUMNS)} FROM verdicts")  # noqa: S608
        return [row for batch in batches for row in _rows(batch)]

    def by_spark(self) -> list[Row]:
        frame = self.kept.spark(self.session, "verdicts", columns=COLUMNS)
        return [tuple(row) for row in frame.collect()]

    def turns(self) -> list[Callable[[], list[Row]]]:
        found = [
            self.by_arrow,
            self.by_arrow_in_a_kept_lake,
            self.by_duckdb,
            self.by_older_version,
            self.by_delta,
            self.by_paths,
        ]
        return [*found, self.by_datafusion]


@contextlib.contextmanager
def two_writers(root: str, seed: int) -> Iterator[list[subprocess.Popen]]:
    """Two processes that write until the end of the context."""
    begin(root, seed)
    ended = Path(root + "-ended")
    ended.unlink(missing_ok=True)
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.faults.writing", root, name, str(seed), str(ended)],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent,
        )
        for name in ("one", "two")
    ]
    try:
        yield writers
    finally:
        ended.touch()
        for writer in writers:
            writer.wait(timeout=300)


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    root = str(scratch / "lake")
    with contextlib.ExitStack() as stack:
        session = None
        if instants >= 1_000:
            from throttlescope.ingest.spark.session import spark_session

            session = spark_session("throttlescope-faults", cores=1, driver_memory="1g")
            stack.callback(session.stop)
        writers = stack.enter_context(two_writers(root, seed))
        yield _instants(Readers(root, seed, session), writers, seed)


def _instants(
    readers: Readers, writers: list[subprocess.Popen], seed: int
) -> Iterator[tuple[str, Callable[[], Found]]]:
    for number in itertools.count():
        name = f"reads {number * _AT_ONCE} to {(number + 1) * _AT_ONCE}"
        yield name, lambda name=name, number=number: _reads(readers, writers, name, number)


def _reads(readers: Readers, writers: list[subprocess.Popen], name: str, number: int) -> Found:
    found, seen = Found(name, counts=_AT_ONCE), Counter()
    before = readers.kept.version("verdicts")
    turns = itertools.cycle(readers.turns())
    for i in range(_AT_ONCE):
        read = readers.by_spark if i == 0 and readers.session is not None else next(turns)
        seen[f"reader {read.__name__[3:].replace('_', ' ')}"] += 1
        try:
            rows = read()
        except Exception as error:
            found.wrong.append(f"{read.__name__}: {type(error).__name__}: {error}"[:300])
            continue
        if not is_whole(rows):
            found.torn += 1
            found.wrong.append(
                f"{read.__name__}: {len(rows)} rows of {len({row[0] for row in rows})} versions"
            )
    versions = readers.kept.version("verdicts") - before
    seen["versions written meanwhile"] = versions
    if not versions or any(writer.poll() is not None for writer in writers):
        found.wrong.append("nothing was written meanwhile, so nothing was tried")
    found.tally = dict(seen)
    return found


STUDY = Study("readers", "each read is one whole version", 10_000, opened)
