"""Other implementations of Delta as judges of the lake. In: the demo's lake, a checkout of DAT. Out: a result for the page.

DuckDB's ``delta_scan`` and delta-spark read every table of the lake, and give the rows that ours gives. The other way round, ours reads data files
by their paths, as if all in them were the table. So the acceptance tables of Delta (DAT) judge which features of Delta it has to refuse: a
table that is neither refused nor read right is a defect.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tests.judges.checkouts import checkout
from tests.judges.demo_lake import demo_lake
from tests.judges.environment import run_with
from tests.lab.parts import DELTA_SPARK_VERSION, SPARK_OF_DELTA, PartMissing, delta_spark_jars
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import Lake
from throttlescope.ingest.lake.formats import features_of_files

_READERS = Path(__file__).with_name("delta_readers.py")
#: The newest DuckDB whose extension for Delta is in PyPI.
DUCKDB, DUCKDB_DELTA = "1.4.4", "1.4.4.20260205"
_GENERATED = Path("out/reader_tests/generated")
_READ_S = 1500


def run(tables: int | None = None) -> dict:
    """Have the first ``tables`` tables of the demo's lake read by others, or all; and read DAT's tables."""
    source = checkout("delta-incubator/dat")
    cases, figures, details = dat_tables(source.folder), [], []
    with tempfile.TemporaryDirectory(prefix="throttlescope-delta-") as folder:
        scratch = Path(folder)
        lake = Lake(shutil.copytree(demo_lake(), scratch / "lake"))
        names = [name for name in TABLES if lake.version(name) is not None][:tables]
        rows = sum(lake.read(name).num_rows for name in names)
        for reader, named in (
            ("duckdb", f"DuckDB {DUCKDB}'s delta_scan"),
            ("spark", f"delta-spark {DELTA_SPARK_VERSION}"),
        ):
            found = read_by(reader, lake, names, scratch / reader)
            differ = [name for name in names if not equal_rows(lake.read(name), found[name])]
            figures.append(f"{named} reads {len(names) - len(differ)} of {len(names)} tables as ours does")
            details += [f"{reader}: {name} differs" for name in differ]
        figures[-1] += f" ({rows:,} rows of the demo's lake)"
        read_by("spark-deletes", lake, ["verdicts"], scratch / "deletes")
        said = refusal(lake, "verdicts")
        figures.append(
            f"after a delete by delta-spark with a deletion vector ours {'refuses the table' if said else 'reads deleted rows'}"
        )
        details.append(f"after the delete: {said}")
    outcomes = {case.name: dat_outcome(case) for case in cases}
    counts = Counter(outcome.partition(":")[0] for outcome in outcomes.values())
    figures.append(
        f"DAT: of {len(outcomes)} tables {counts['right']} read right by path, {counts['refused']} refused by name, {counts['wrong']} wrong, "
        f"{counts['not judged']} not judged"
    )
    details += [f"DAT {name}: {outcome}" for name, outcome in outcomes.items()]
    return {
        "version": f"DuckDB {DUCKDB}, delta-spark {DELTA_SPARK_VERSION} on Spark {SPARK_OF_DELTA}, DAT {source.version}",
        "figure": "; ".join(figures),
        "details": details,
    }


def read_by(reader: str, lake: Lake, names: list[str], out: Path) -> dict[str, pa.Table]:
    """What another program reads of tables, by their names.

    Raises
    ------
    PartMissing
        It cannot be had, or it fails.
    """
    out.mkdir()
    packages = [f"duckdb=={DUCKDB}", f"duckdb-ext-delta=={DUCKDB_DELTA}", "duckdb-ext"]
    environment = dict(os.environ)
    if reader != "duckdb":
        packages = [f"pyspark=={SPARK_OF_DELTA}"]
        jars = ",".join(map(str, delta_spark_jars()))
        environment["PYSPARK_SUBMIT_ARGS"] = (
            f"--master local[1] --driver-memory 1g --jars {jars} --conf spark.ui.enabled=false "
            "--conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 "
            "--conf spark.sql.shuffle.partitions=2 --conf spark.databricks.delta.snapshotPartitions=2 pyspark-shell"
        )
    run_with(
        packages,
        _READERS,
        [reader, str(out), *(f"{lake.root}/{name}" for name in names)],
        timeout_s=_READ_S,
        environment=environment,
    )
    return {name: ds.dataset(str(out / name)).to_table() for name in names}


def equal_rows(ours: pa.Table, theirs: pa.Table) -> bool:
    """Whether two tables have the same columns and rows, in whatever order."""
    names = sorted(ours.column_names)
    if names != sorted(theirs.column_names):
        return False
    return _rows(ours.select(names)) == _rows(theirs.select(names))


def _rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def refusal(lake: Lake, table: str) -> str:
    """What ours says where it refuses to read a table; empty where it reads it."""
    try:
        Lake(lake.root).read(table)
    except ThrottlescopeError as error:
        return str(error)
    return ""


def dat_tables(folder: Path) -> list[Path]:
    """The generated tables of a checkout of DAT.

    Raises
    ------
    PartMissing
        They have not been generated, nor has a release of DAT been unpacked there.
    """
    found = sorted(path.parent for path in (folder / _GENERATED).glob("*/test_case_info.json"))
    if not found:
        raise PartMissing(
            f"no tables in {folder / _GENERATED}: unpack a release of DAT there, or let DAT generate them"
        )
    return found


def dat_outcome(case: Path) -> str:
    """``right``, ``wrong``, by which feature a table is refused, or why it is not judged."""
    try:
        delta = DeltaTable(str(case / "delta"))
    except DeltaError as error:
        return f"refused: deltalake says {str(error)[:160]}"
    if features := features_of_files(delta):
        return f"refused: {', '.join(features)}"
    if delta.metadata().partition_columns:
        # Files of a lake have the columns that they are partitioned by; those of other writers do not.
        return "not judged: its files lack the columns of its partitions"
    expected = ds.dataset(str(case / "expected" / "latest" / "table_content")).to_table()
    files = [
        str(case / "delta" / path)
        for path in pa.table(delta.get_add_actions(flatten=True))["path"].to_pylist()
    ]
    read = ds.dataset(files, schema=expected.schema).to_table()
    return "right" if equal_rows(read, expected) else "wrong"
