"""Spark's classes, read once: in, the Java and pyspark of this machine; out, an archive that shortens every later start.

A JVM spends most of Spark's start reading and checking some ten thousand classes. Java can write them into one file
when a program ends (AppCDS) and map that file next time. ``python -m throttlescope.ingest.class_archive`` makes it, in
the per-user cache; without it, with one of another Java, or with a damaged one, Java starts as it always did.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from throttlescope.ingest.cachedir import cache_dir
from throttlescope.ingest.errors import ThrottlescopeError
from throttlescope.ingest.java import Java, find_java

_MAKE = "-XX:ArchiveClassesAtExit="
_EXIT_TIMEOUT_S = 300
# An archive has some 200 MB, and every environment and Java has its own.
_KEPT = 3


def archive_file(java: Java) -> Path:
    """Where the archive of this Java and this pyspark is, if it was made."""
    import pyspark

    facts = (
        str(java.binary.resolve()),
        java.version,
        java.binary.resolve().stat().st_mtime_ns,
        pyspark.__version__,
        pyspark.__file__,
    )
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    return cache_dir("java") / f"classes-{name}.jsa"


def archive_options(java: Java, java_options: Sequence[str] = ()) -> list[str]:
    """JVM options that use the archive; none where there is none, or where ``java_options`` are to make one."""
    file = archive_file(java)
    if not file.exists() or any(option.startswith(_MAKE) for option in java_options):
        return []
    # auto: an archive that does not fit is passed over, and without a word.
    return [f"-XX:SharedArchiveFile={file}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


def make_archive() -> Path:
    """Run what a run does, in small, and keep the classes that it needed.

    Raises
    ------
    ThrottlescopeError
        Java wrote no archive.
    """
    from pyspark import SparkContext

    from throttlescope.ingest.session import spark_log_file, spark_session

    target = archive_file(find_java())
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        session = spark_session("throttlescope-classes", java_options=(f"{_MAKE}{made}",))
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
