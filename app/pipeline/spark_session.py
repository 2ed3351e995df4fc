"""Spark for a command. In: the settings. Out: a session that can do the command's work, wherever it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.config import Settings


def start_spark(settings: Settings, *, debug: bool = False) -> SparkSession:
    """Start Spark where the settings say, and see that its tasks can work on the lake.

    Raises
    ------
    InputError
        No such master; executors lack the package or do not see the lake's folder.
    SourceError
        Spark did not start, or the cluster gave no executor.
    """
    from throttlescope.ingest.spark.executors import check_shared_folder, on_this_machine
    from throttlescope.ingest.spark.session import spark_session

    session = spark_session(debug=debug, **settings.spark.options())
    if settings.lake.is_remote:
        from throttlescope.ingest.lake.store_environment import share_with_tasks

        share_with_tasks()
    elif not on_this_machine(session):
        check_shared_folder(session, str(settings.lake))
    return session
