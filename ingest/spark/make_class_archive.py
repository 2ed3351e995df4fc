"""Makes the archive of Spark's classes. In: the Java and pyspark of this machine. Out: a file in the per-user cache."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.spark.class_archive import MAKE_OPTION, archive_file
from throttlescope.ingest.spark.java import find_java
from throttlescope.ingest.spark.jvm import spark_log_file
from throttlescope.ingest.spark.session import spark_session

_EXIT_TIMEOUT_S = 300

# An archive has some 200 MB, and every environment and Java has its own.
_KEPT = 3


def make_archive() -> Path:
    """Run what a run does, in small, and keep the classes that it needed.

    Raises
    ------
    ThrottlescopeError
        Java wrote no archive.
    """
    from pyspark import SparkContext

    target = archive_file(find_java())
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        session = spark_session("throttlescope-classes", java_options=(f"{MAKE_OPTION}{made}",))
        _exercise(session, scratch)
        session.stop()
        # The archive is written while the JVM ends, which it does when its input is closed.
        gateway = SparkContext._gateway
        process = gateway.proc
        gateway.shutdown()
        process.stdin.close()
        process.wait(_EXIT_TIMEOUT_S)
        if not made.exists():
            raise ThrottlescopeError("Java wrote no class archive", fix=f"see {spark_log_file()}")
        made.replace(target)
    archives = sorted(target.parent.glob("classes-*.jsa"), key=lambda file: file.stat().st_mtime)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)
    return target


def _exercise(session, scratch: str) -> None:
    """Parquet both ways, a shuffle, a window, a join, Python workers, a cache: what our jobs are made of."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    path = f"{scratch}/rows"
    rows = session.range(1000).select("id", (F.col("id") % 7).alias("key"), F.array("id").alias("ids"))
    rows.write.parquet(path)
    rows = session.read.schema(rows.schema).parquet(path).persist()
    last = F.last("id").over(Window.partitionBy("key").orderBy("id"))
    rows.withColumn("last", last).join(rows.groupBy("key").agg(F.max("id")), "key").toArrow()
    rows.repartition("key").sortWithinPartitions("id").mapInArrow(
        lambda batches: batches, rows.schema
    ).collect()
    rows.selectExpr("count_if(id > 5)", "max_by(struct(id, key), id)").collect()
    rows.unpersist()


if __name__ == "__main__":
    try:
        if not archive_file(find_java()).exists():
            make_archive()
    except ThrottlescopeError as error:
        sys.exit(str(error))
