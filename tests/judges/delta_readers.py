"""Other readers of Delta tables, run in environments of their own. In: a reader, a folder, folders of tables. Out: Parquet in that folder.

``python delta_readers.py READER OUT TABLE ...``, READER being ``duckdb``, ``spark`` or ``spark-deletes``, which first lets delta-spark delete the
oldest window of the table with a deletion vector. Nothing of ours is imported here.
"""

from __future__ import annotations

import sys
from pathlib import Path


def by_duckdb(out: Path, tables: list[Path]) -> None:
    """By DuckDB's ``delta_scan``."""
    import duckdb
    import duckdb_ext

    connection = duckdb_ext.init(duckdb.connect())
    connection.execute("LOAD delta")
    for table in tables:
        connection.execute(
            f"COPY (SELECT * FROM delta_scan('{table}')) TO '{out / table.name}' (FORMAT parquet)"  # noqa: S608 - no user's text
        )


def by_spark(out: Path, tables: list[Path], *, deletes: bool) -> None:
    """By delta-spark."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.appName("throttlescope-judges")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .getOrCreate()
    )
    for table in tables:
        if deletes:
            name = f"delta.`{table}`"
            session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
            oldest = session.sql(f"SELECT min(window_start_ms) FROM {name}").first()[0]  # noqa: S608
            session.sql(f"DELETE FROM {name} WHERE window_start_ms = {oldest}")  # noqa: S608
        session.read.format("delta").load(str(table)).coalesce(1).write.parquet(str(out / table.name))
    session.stop()


if __name__ == "__main__":
    reader, out, *tables = sys.argv[1], *map(Path, sys.argv[2:])
    if reader == "duckdb":
        by_duckdb(out, tables)
    else:
        by_spark(out, tables, deletes=reader == "spark-deletes")
