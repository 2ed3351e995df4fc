"""The Spark session: in, how many cores and how much memory; out, a silent local session that is set up one way.

Every Spark session of this project is made here, so that what is measured, tested and run is the same.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from throttlescope.ingest.cachedir import cache_dir
from throttlescope.ingest.class_archive import archive_options
from throttlescope.ingest.errors import SourceError
from throttlescope.ingest.java import Java, find_java

_LOG4J2 = Path(__file__).with_name("spark-log4j2.properties")
_LOGS_KEPT_S = 7 * 24 * 3600


def spark_session(
    app_name: str = "throttlescope",
    master: str | None = None,
    cores: int | None = None,
    *,
    driver_memory: str = "2g",
    conf: Mapping[str, str] | None = None,
    java_options: Sequence[str] = (),
    debug: bool = False,
) -> SparkSession:
    """Return the process's Spark session, started when there is none yet.

    Parameters
    ----------
    app_name : str
        Name of the application.
    master : str, optional
        Spark's master URL; ``local[cores]`` by default.
    cores : int, optional
        Cores of a local master; all of them by default.
    driver_memory : str
        Bound of the JVM's heap in a local session, in Spark's notation.
    conf : mapping, optional
        More settings of Spark's; they win over ours.
    java_options : sequence of str
        More options for the JVM.
    debug : bool
        Leave the JVM's output on the terminal instead of in :func:`spark_log_file`.

    Raises
    ------
    SourceError
        No Java was found, or Spark's JVM did not start.

    Notes
    -----
    One process has one JVM: a second call with other settings gets the running session as it is.
    """
    # Not getActiveSession(): that one belongs to a thread.
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    # Workers are started by the JVM, which would otherwise take the first python3 in PATH: one without our packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    java = None if SparkContext._gateway else find_java()
    if java:
        java_options = [*archive_options(java, java_options), *java_options]
    settings = _settings(app_name, master, cores, driver_memory, java_options) | dict(conf or {})
    spark_conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        spark_conf.set(key, value)
    gateway = _start_jvm(java, spark_conf, debug) if java else None
    SparkContext(conf=spark_conf, gateway=gateway)
    return SparkSession.builder.getOrCreate()


def spark_log_file() -> Path:
    """Where the JVM of this process writes: Spark's warnings and errors, and what Python workers print."""
    return cache_dir("logs") / f"spark-{os.getpid()}.log"


def _settings(
    app_name: str, master: str | None, cores: int | None, driver_memory: str, java_options: Sequence[str]
) -> dict[str, str]:
    master = master or f"local[{cores or '*'}]"
    local = master.startswith("local")
    parallelism = str(cores or os.cpu_count() or 2)
    settings = {
        "spark.app.name": app_name,
        "spark.master": master,
        # No page on a port that nobody asked for, no progress bars between our own lines.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Our shuffles are small (signals, verdicts): Spark's 200 partitions would be 200 almost empty tasks.
        "spark.sql.shuffle.partitions": parallelism,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # No table of Spark's own is ever made; should one be, it must not appear in the working directory.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "throttlescope-spark-warehouse"),
    }
    options = [f"-Dlog4j2.configurationFile={_LOG4J2.as_uri()}", "-Duser.timezone=UTC", *java_options]
    settings["spark.driver.extraJavaOptions"] = " ".join(options)
    if local:
        settings |= {
            # Loopback: nothing of a local session can be reached, or needs to be resolved, from outside.
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": driver_memory,
        }
    return settings


def _start_jvm(java: Java, conf: SparkConf, debug: bool):
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
    with _environment(variables):
        return launch_gateway(conf, popen_kwargs)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    # Only for the length of the launch: other programs that we start choose their own Java.
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
