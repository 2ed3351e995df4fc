"""The Spark session: in, where Spark is to run and how much it may take; out, a silent session that is set up one way.

Every Spark session of this project is made here, so that what is measured, tested and run is the same: on this machine,
on a cluster, under ``spark-submit`` and behind Spark Connect (:mod:`throttlescope.ingest.spark.master`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.spark.connect import connect_session
from throttlescope.ingest.spark.executors import ask_executors, parallelism, settled_parallelism
from throttlescope.ingest.spark.java import find_java
from throttlescope.ingest.spark.jvm import environment, spark_log_file, start_jvm
from throttlescope.ingest.spark.master import MasterKind, SparkMaster, check_answers, place_of
from throttlescope.ingest.spark.settings import executor_python, settings_of

__all__ = ["spark_log_file", "spark_session"]

_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def spark_session(
    app_name: str = "throttlescope",
    master: str | None = None,
    cores: int | None = None,
    *,
    driver_memory: str = "2g",
    conf: Mapping[str, str] | None = None,
    package: str | None = None,
    executor_wait_s: float = 180.0,
    java_options: Sequence[str] = (),
    debug: bool = False,
) -> SparkSession:
    """Return the process's Spark session, started when there is none yet.

    Parameters
    ----------
    app_name : str
        Name of the application.
    master : str, optional
        Spark's master URL: ``local[N]``, ``spark://HOST:PORT``, ``yarn``, ``k8s://URL``, or ``sc://HOST:PORT`` for Spark
        Connect. ``local[cores]`` by default; what spark-submit says, where it has started this process.
    cores : int, optional
        Cores of a local master; all of them by default.
    driver_memory : str
        Bound of the heap of a JVM that is started here, in Spark's notation.
    conf : mapping, optional
        More settings of Spark's; they win over ours. Those of spark-submit win over both.
    package : str, optional
        Archive made by ``throttlescope spark package``, a path or a URL that Spark can read, for executors that do not
        have the package.
    executor_wait_s : float
        How long a cluster may take to give the first executor.
    java_options : sequence of str
        More options for the JVM.
    debug : bool
        Leave the JVM's output on the terminal instead of in :func:`spark_log_file`.

    Raises
    ------
    InputError
        No such master; executors lack the package or run another Python.
    SourceError
        No Java was found, Spark's JVM did not start, the master does not answer or gave no executor.

    Notes
    -----
    One process has one session: a second call with other settings gets the running one as it is.
    """
    # Not getActiveSession(): that one belongs to a thread.
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    place = place_of(master, cores=cores)
    conf = dict(conf or {})
    if place.kind is MasterKind.connect:
        session = connect_session(place, conf=conf, package=package)
        ask_executors(session, wait_s=executor_wait_s)
        if _SHUFFLE_PARTITIONS not in conf:
            session.conf.set(_SHUFFLE_PARTITIONS, str(2 * parallelism(session)))
        return session
    if place.kind is MasterKind.cluster:
        check_answers(place)
    java = None if SparkContext._gateway or place.kind is MasterKind.submitted else find_java()
    settings = settings_of(
        place,
        app_name,
        cores=cores,
        driver_memory=driver_memory,
        java_options=java_options,
        package=package,
    )
    settings |= conf
    # Read by the context when it starts, and sent along with every task. A later session, and what we start, choose their own.
    pythons = {
        "PYSPARK_PYTHON": executor_python(place, package, sys.executable),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    with environment(pythons):
        if place.kind is MasterKind.submitted:
            context = _joined(place, settings)
        else:
            spark_conf = SparkConf(loadDefaults=False)
            for key, value in settings.items():
                spark_conf.set(key, value)
            context = _started(place, spark_conf, start_jvm(java, spark_conf, debug) if java else None)
    session = SparkSession.builder.getOrCreate()
    if not context.master.startswith("local"):
        try:
            ask_executors(session, wait_s=executor_wait_s)
        except BaseException:
            session.stop()
            raise
        if _SHUFFLE_PARTITIONS not in conf and context.getConf().get(_SHUFFLE_PARTITIONS) is None:
            # Known only now that executors are there. A place where they come and go gets twice as many parts.
            session.conf.set(_SHUFFLE_PARTITIONS, str(2 * settled_parallelism(session)))
    return session


def _started(place: SparkMaster, spark_conf: SparkConf, gateway) -> SparkContext:
    if place.kind is MasterKind.local:
        return SparkContext(conf=spark_conf, gateway=gateway)
    try:
        return SparkContext(conf=spark_conf, gateway=gateway)
    except Exception as error:
        said = str(error).splitlines()
        why = next(
            (line for line in said if "Exception:" in line or "Error:" in line), said[0] if said else ""
        )
        raise SourceError(
            f"Spark did not start on {place.shown}",
            got=why.strip(": ") or type(error).__name__,
            fix=f"the driver's log is {spark_log_file()}",
        ) from error


def _joined(place: SparkMaster, settings: Mapping[str, str]) -> SparkContext:
    """The context in the JVM that spark-submit has started; its settings win over what we would set."""
    gateway = SparkContext._gateway or launch_gateway()
    SparkContext._ensure_initialized(gateway=gateway)
    spark_conf = SparkConf(loadDefaults=True, _jvm=gateway.jvm)
    named = spark_conf.get("spark.master", "")
    if place.master and place.master != named:
        raise InputError(
            "Two Spark masters are named",
            got=f"{place.shown}, and spark-submit's {named}",
            fix="leave out --master, and master in [spark], of a program that spark-submit starts",
        )
    for key, value in settings.items():
        spark_conf.setIfMissing(key, value)
    return SparkContext(conf=spark_conf, gateway=gateway)
