"""What a session of ours sets. In: a place and what a user requested. Out: Spark's settings by name, as text."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from throttlescope.ingest.spark.master import MasterKind, SparkMaster

_LOG4J2 = Path(__file__).with_name("spark-log4j2.properties")

#: Where an executor unpacks the package's archive, and the Python in it.
UNPACKED = "environment"
PACKAGE_PYTHON = f"./{UNPACKED}/bin/python"


def settings_of(
    place: SparkMaster,
    app_name: str,
    *,
    cores: int | None,
    driver_memory: str,
    java_options: Sequence[str],
    package: str | None,
) -> dict[str, str]:
    """All settings of a session whose driver's JVM this process starts, or finds started by spark-submit."""
    settings = {
        "spark.app.name": app_name,
        # No page on a port that was not requested, no progress bars between our own lines.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # No table of Spark's own is ever made; should one be, it must not appear in the working directory.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "throttlescope-spark-warehouse"),
    }
    if package is not None:
        settings["spark.archives"] = f"{package}#{UNPACKED}"
    if place.kind is MasterKind.submitted:
        return settings
    options = [f"-Dlog4j2.configurationFile={_LOG4J2.as_uri()}", "-Duser.timezone=UTC", *java_options]
    settings |= {
        "spark.master": place.master,
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": " ".join(options),
    }
    if place.kind is MasterKind.local:
        # Our shuffles are small (signals, verdicts): Spark's 200 partitions would be 200 almost empty tasks.
        settings["spark.sql.shuffle.partitions"] = str(cores or os.cpu_count() or 2)
    if place.on_loopback:
        # Loopback: nothing of such a session can be reached, or needs to be resolved, from outside.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def executor_python(
    place: SparkMaster, package: str | None, here: str, environment: Mapping[str, str] = os.environ
) -> str:
    """The Python that tasks run on.

    Parameters
    ----------
    here : str
        The Python of this process.

    Notes
    -----
    Spark's own default is the first ``python3`` in the executor's PATH: one without our packages. On this machine tasks
    run on our own Python. Elsewhere it is what ``PYSPARK_PYTHON`` names (spark-submit sets it from ``spark.pyspark.python``),
    else the one in the package's archive, else our own path, which executors then must have as well.
    """
    if place.kind is MasterKind.local:
        return here
    return environment.get("PYSPARK_PYTHON") or (PACKAGE_PYTHON if package is not None else here)
