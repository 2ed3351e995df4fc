"""Spark's classes, read once: in, the Java and pyspark of this machine; out, an archive that shortens every later start.

A JVM spends most of Spark's start reading and checking some ten thousand classes. Java can write them into one file
when a program ends (AppCDS) and map that file next time. ``python -m throttlescope.ingest.spark.make_class_archive`` makes it, in
the per-user cache; without it, with one of another Java, or with a damaged one, Java starts as it always did.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from throttlescope.ingest.core.cache_folder import cache_dir
from throttlescope.ingest.spark.java import Java

MAKE_OPTION = "-XX:ArchiveClassesAtExit="


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
    if not file.exists() or any(option.startswith(MAKE_OPTION) for option in java_options):
        return []
    # auto: an archive that does not fit is passed over, and without a word.
    return [f"-XX:SharedArchiveFile={file}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
