"""The driver's JVM. In: a Java and settings. Out: a gateway to it; what it prints goes to a file, not to the terminal."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from throttlescope.ingest.core.cache_folder import cache_dir
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.spark.java import Java

_LOGS_KEPT_S = 7 * 24 * 3600


def spark_log_file() -> Path:
    """Where the JVM of this process writes: Spark's warnings and errors, and what Python workers print."""
    return cache_dir("logs") / f"spark-{os.getpid()}.log"


def start_jvm(java: Java, conf: SparkConf, debug: bool):
    """Start a JVM with these settings.

    Raises
    ------
    SourceError
        It did not start.
    """
    variables = {"JAVA_HOME": str(java.home)}
    if conf.get("spark.driver.host", None) == "127.0.0.1":
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    if debug:
        return _launched(conf, variables, {})
    log_file = spark_log_file()
    _forget_old_logs(log_file.parent)
    with log_file.open("wb") as log:
        try:
            return _launched(conf, variables, {"stdout": log, "stderr": log})
        except PySparkRuntimeError as error:
            lines = log_file.read_text(errors="replace").strip().splitlines()
            raise SourceError(
                f"Spark's JVM did not start (Java {java.version} from {java.found_in}: {java.binary})",
                got=lines[-1] if lines else str(error),
                fix=f"the whole output is in {log_file}; another Java can be given with JAVA_HOME",
            ) from error


def _launched(conf: SparkConf, variables: Mapping[str, str], popen_kwargs: dict):
    with environment(variables):
        return launch_gateway(conf, popen_kwargs)


@contextlib.contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Variables for the length of a launch alone: other programs that we start choose their own Java and Python."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _forget_old_logs(folder: Path) -> None:
    oldest_s = time.time() - _LOGS_KEPT_S
    for file in folder.glob("spark-*.log"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest_s:
                file.unlink()
