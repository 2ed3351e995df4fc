"""One lake in a notebook. In: its folder or URI, and where Spark runs. Out: DataFrames, figures, answers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from throttlescope.app.config import Settings, find_config, load_settings
from throttlescope.app.notebook.charts import Figures
from throttlescope.app.notebook.tables import frame, with_selector
from throttlescope.app.notebook.times import Moment, range_ms
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.system_names import SYSTEM_SUBSCRIPTION, SYSTEM_TOPIC
from throttlescope.ingest.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from throttlescope.app.notebook.answers import AdviceAnswer, WhatIf, Why
    from throttlescope.app.notebook.rules import OwnRules
    from throttlescope.app.services.promql.lake_queries import LakeQueries

#: How a DataFrame at the end of a cell is shown.
_SHOWN = {
    "spark.sql.repl.eagerEval.enabled": "true",
    "spark.sql.repl.eagerEval.maxNumRows": "50",
    "spark.sql.repl.eagerEval.truncate": "120",
}


def open_lake(
    lake: str | Path | None = None,
    *,
    session: SparkSession | None = None,
    master: str | None = None,
    config: str | Path | None = None,
) -> OpenLake:
    """Open a lake.

    Parameters
    ----------
    lake : str or Path, optional
        Folder, or ``s3://bucket/prefix``; by default the one that the configuration names.
    session : SparkSession, optional
        One that is running, on any kind of master, Spark Connect among them. Its settings are left as they are.
    master : str, optional
        Where Spark is to run otherwise: ``local[N]``, ``spark://HOST:PORT`` or ``sc://HOST:PORT`` (Spark Connect). By default
        what the configuration says, or all cores of this machine. Spark starts with the first DataFrame.
    config : str or Path, optional
        Configuration file; by default ``$THROTTLESCOPE_CONFIG`` or ``./throttlescope.toml``, if there is one.

    Raises
    ------
    InputError
        There is no lake there, or the configuration is not right.
    """
    if session is not None and master is not None:
        raise InputError("Spark is configured twice", got="session and master", fix="leave one of them out")
    flags = {"lake": lake, "spark": {"master": master}}
    settings = load_settings(find_config(None if config is None else Path(config)), flags)
    return OpenLake(settings, session)


class OpenLake:
    """A lake that is open; see :func:`open_lake`.

    Times are UTC. Subscriptions are named as on the command line: ``persistent://tenant/ns/topic[-partition-N]#sub``, with
    and ``cluster=`` if several clusters have one of that name.

    Attributes
    ----------
    lake : Lake
    figures : Figures
        Charts of one subscription, and of a PromQL query.
    """

    def __init__(self, settings: Settings, session: SparkSession | None = None) -> None:
        self.settings, self._session = settings, session
        self.lake = Lake(settings.lake.absolute())
        if all(self.lake.version(table) is None for table in ("samples", "signals", "verdicts")):
            raise InputError(
                "There is no lake there", got=self.lake.root,
                fix="make one with throttlescope run --lake DIR, or try demo_lake()",
            )  # fmt: skip
        self.figures = Figures(self)

    def __repr__(self) -> str:
        return f"<lake {self.lake.root}>"

    @property
    def session(self) -> SparkSession:
        """The Spark session; started at first use."""
        if self._session is None:
            from throttlescope.app.pipeline.spark_session import start_spark

            self._session = start_spark(self.settings)
            for name, value in _SHOWN.items():
                self._session.conf.set(name, value)
        return self._session

    # -- tables ----------------------------------------------------------------------------

    def table(
        self,
        name: str,
        subscription: str | None = None,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> DataFrame:
        """Rows of any table of the lake, with the columns of ``docs/reference/tables.md``.

        Parameters
        ----------
        subscription, cluster : str, optional
            Only theirs.
        start, end : str, int or datetime, optional
            Only what touches [start, end).

        Raises
        ------
        InputError
            There is no such table, or it does not have a selected column.
        """
        start_ms, end_ms = range_ms(start, end)
        return frame(
            self.lake, self.session, name, subscription=subscription, cluster=cluster, start_ms=start_ms, end_ms=end_ms
        )  # fmt: skip

    def subscriptions(self, *, cluster: str | None = None, own_topics: bool = False) -> DataFrame:
        """The current cause of every subscription and its main cause in the recent hours, the largest backlog first.

        Parameters
        ----------
        own_topics : bool
            With healthy subscriptions of Pulsar's own (``__change_events``, ``__compaction`` and the like).

        Returns
        -------
        DataFrame
            ``selector``, then the columns of ``verdict_latest``.
        """
        from pyspark.sql import functions as F

        found = self._latest(cluster)
        if not own_topics:
            own = F.col("topic").rlike(f"^({SYSTEM_TOPIC})$") | F.col("subscription").rlike(
                f"^({SYSTEM_SUBSCRIPTION})$"
            )
            was_healthy = F.coalesce("main_cause", F.lit("healthy")) == "healthy"
            found = found.where(~(own & was_healthy & (F.col("cause") == "healthy")))
        harmless = F.coalesce("main_cause", "cause") == "healthy"
        return with_selector(found).orderBy(
            harmless, F.desc_nulls_last("main_peak_entries"), "cluster", "selector"
        )

    def _latest(self, cluster: str | None) -> DataFrame:
        """``verdict_latest``; computed where the lake was written before there was such a table."""
        if self.lake.version("verdict_latest") is not None:
            return self.table("verdict_latest", cluster=cluster)
        import pyarrow as pa

        from throttlescope.models.diagnosis.latest import latest_of

        by_cluster: dict[str, list] = {}
        for file in self.lake.files("verdicts"):
            if cluster in (None, file.partition["cluster"]):
                by_cluster.setdefault(file.partition["cluster"], []).append(file)
        parts = [latest_of(files) for files in by_cluster.values()] or [latest_of([])]
        return self.session.createDataFrame(pa.concat_tables(parts))

    def verdicts(
        self,
        subscription: str | None = None,
        *,
        cluster: str | None = None,
        cause: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> DataFrame:
        """Verdicts of every window, oldest first.

        Parameters
        ----------
        cause : str, optional
            Only these.

        Raises
        ------
        InputError
            As :meth:`table`, or there is no such cause.
        """
        from throttlescope.app.queries.verdicts import check_cause

        found = self.table("verdicts", subscription, cluster=cluster, start=start, end=end)
        if cause is not None:
            check_cause(cause)
            found = found.where(found.cause == cause)
        return with_selector(found).orderBy("cluster", "selector", "window_start_ms", "window_end_ms")

    def signals(
        self,
        subscription: str | None = None,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> DataFrame:
        """One row per subscription partition and minute, oldest first."""
        found = self.table("signals", subscription, cluster=cluster, start=start, end=end)
        return with_selector(found).orderBy("cluster", "selector", "minute_ms")

    def episodes(
        self,
        subscription: str | None = None,
        *,
        cluster: str | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
    ) -> DataFrame:
        """Each backlog from its start to its drain, oldest first."""
        found = self.table("episodes", subscription, cluster=cluster, start=start, end=end)
        return with_selector(found).orderBy("start_ms", "cluster", "selector")

    def limits(self, subscription: str | None = None, *, cluster: str | None = None) -> DataFrame:
        """Every limiter of every subscription partition as it was observed, oldest first."""
        found = self.table("limits", subscription, cluster=cluster)
        return with_selector(found).orderBy("cluster", "selector", "level", "observed_ms")

    # -- PromQL ----------------------------------------------------------------------------

    def promql(
        self,
        query: str,
        start: Moment | None = None,
        end: Moment | None = None,
        step: str | None = None,
        *,
        at: Moment | None = None,
    ) -> DataFrame:
        """Evaluate PromQL at one moment, or over a range where ``start`` is given.

        Parameters
        ----------
        start, end : str, int or datetime, optional
            First step, and the end of the range, included where a step falls on it; the newest sample by default.
        step : str, optional
            ``1m``; a 250th of the range by default.
        at : str, int or datetime, optional
            The moment; the newest sample by default.

        Returns
        -------
        DataFrame
            ``labels`` (a map), ``time_ms``, ``value``: a row per point, series by series.

        Raises
        ------
        InputError
            The text is no PromQL, or the times do not fit.
        QueryError
            The data has no answer to it.
        """
        from throttlescope.app.notebook.series import answer_frame, evaluate

        return answer_frame(self.session, evaluate(self, query, start, end, step, at))

    @cached_property
    def queries(self) -> LakeQueries:
        """Evaluates PromQL; samples are cached for the next query."""
        from throttlescope.app.services.promql.lake_queries import LakeQueries

        return LakeQueries(self.lake.root, lambda: self.session)

    # -- answers ---------------------------------------------------------------------------

    def why(self, subscription: str, at: Moment | None = None, *, cluster: str | None = None) -> Why:
        """Why a subscription has a backlog: the verdict with its evidence, the evidence, what is missing.

        Parameters
        ----------
        at : str, int or datetime, optional
            The moment; by default the newest, or if it is healthy again, the worst of its last episode.

        Raises
        ------
        InputError
            The lake has no data of it at that time.
        """
        from throttlescope.app.notebook.answers import read_why

        return read_why(self.lake, subscription, at, cluster)

    def what_if(
        self,
        subscription: str,
        *changes: str,
        at: Moment | None = None,
        cluster: str | None = None,
        window: str = "30m",
        history: str = "24h",
        horizon: str = "24h",
        drained_below_entries: int | None = None,
    ) -> WhatIf:
        """Replay a subscription's last samples in the simulator, then look ahead: as it is, and with changes.

        Parameters
        ----------
        *changes : str
            As ``throttlescope whatif --set``: ``"subscription.msg=1500"``, ``"consumers=8"``; none: how it goes on as it is.
        at : str, int or datetime, optional
            When the change happens; the newest sample by default.
        window, history, horizon : str
            What is replayed, where the consumers' capacity is looked for, and how far ahead is looked.
        drained_below_entries : int, optional
            Entries that count as no backlog.

        Raises
        ------
        InputError
            A change is not understood, or the lake has too little of it.
        """
        from throttlescope.app.notebook.answers import read_what_if

        settings = (changes, at, window, history, horizon, drained_below_entries)
        return read_what_if(self.lake, subscription, cluster, *settings)

    def recommend(
        self,
        subscription: str,
        *,
        target: str = "30m",
        at: Moment | None = None,
        cluster: str | None = None,
        window: str | None = None,
        history: str = "24h",
    ) -> AdviceAnswer:
        """The smallest changes after which a backlog is gone within ``target``, and what will not help. Nothing is executed.

        Without ``window`` the last 30 minutes are replayed, or the longest of 15, 10 and 5 minutes that is replayed well.

        Raises
        ------
        InputError
            The lake has too little data of it.
        """
        from throttlescope.app.notebook.answers import read_advice

        return read_advice(self.lake, subscription, cluster, target, at, window, history)

    def rules(self, rules: str | Path) -> OwnRules:
        """Rules of Prometheus' format, from a file (a ``Path``) or as text, checked.

        Raises
        ------
        InputError
            What is wrong, with its line.
        """
        from throttlescope.app.notebook.rules import OwnRules

        return OwnRules(self, rules)

    def alert(self, name: str, start: Moment, end: Moment) -> DataFrame:
        """When an alert that ``throttlescope rules export`` writes would have fired; as :meth:`OwnRules.fires`.

        Raises
        ------
        InputError
            There is no such alert, or the range is more than a preview may take.
        """
        from throttlescope.app.notebook.rules import exported_fires

        return exported_fires(self, name, start, end)
