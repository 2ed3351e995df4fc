"""Spark for a command. In: the settings, and how much work there is. Out: a session that can do it, wherever it runs; None where none is needed.

Why small work needs none is in docs/decisions/0123-small-runs-need-no-spark.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from throttlescope.ingest.spark.master import MasterKind, place_of
from throttlescope.ingest.spark.task_executor import InProcessExecutor, SparkPoolExecutor, TaskExecutor
from throttlescope.models.messages.catalogue import sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.app.config import Settings

#: Minutes of subscription partitions (rows of ``signals``) that this process reads and judges at most: an hour of 2,000.
IN_PROCESS_MINUTES = 120_000


def names_spark(settings: Settings) -> bool:
    """Whether the user chose where Spark runs: by a master, or by ``spark-submit``.

    Raises
    ------
    InputError
        No such master.
    """
    master = settings.spark.master
    return master is not None or place_of(master).kind is not MasterKind.local


class SparkIfNeeded:
    """Spark of a command, started at most once, by the first work that is too large for this process.

    Parameters
    ----------
    session : SparkSession, optional
        One that was started before; it does what it would do if it had been started here.
    debug : bool
        Leave the JVM's output on the terminal.
    """

    def __init__(
        self, settings: Settings, *, debug: bool = False, session: SparkSession | None = None
    ) -> None:
        self._settings, self._debug, self._session = settings, debug, session

    def starts_for(self, rows: int | None, most: int | None = None) -> bool:
        """Whether work on so many rows starts Spark.

        Parameters
        ----------
        rows : int or None
            None: it is not known how many.
        most : int, optional
            Rows that this process works on at most; :data:`IN_PROCESS_MINUTES` by default.

        Raises
        ------
        InputError
            No such master.
        """
        if self._session is not None:
            return False
        most = IN_PROCESS_MINUTES if most is None else most
        return rows is None or rows > most or names_spark(self._settings)

    def session_for(
        self, rows: int | None, most: int | None = None, *, note: Callable[[str], None] | None = None
    ) -> SparkSession | None:
        """The session for work on so many rows; None: it is done in this process.

        Parameters
        ----------
        rows, most : int
            As of :meth:`starts_for`.
        note : callable, optional
            Gets a step where Spark is started now.

        Raises
        ------
        InputError
            No such master; executors lack the package or do not see the lake's folder.
        SourceError
            Spark did not start, or the cluster gave no executor.
        """
        if self.starts_for(rows, most):
            if note is not None:
                note(sentence("pipeline.starting_spark"))
            self._session = start_spark(self._settings, debug=self._debug)
        return self._session

    def executor_for(
        self, rows: int | None, most: int | None = None, *, note: Callable[[str], None] | None = None
    ) -> TaskExecutor:
        """The executor for work on so many rows; where Spark runs, it also does what is small. As :meth:`session_for`."""
        session = self.session_for(rows, most, note=note)
        return InProcessExecutor() if session is None else SparkPoolExecutor(session)


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
