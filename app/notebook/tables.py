"""Rows of the lake's tables. In: a table, a subscription's name, a range. Out: a Spark DataFrame with the contract's columns.

Files are pruned by cluster and time before Spark opens any, so that a query of an hour reads an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from throttlescope.app.presentation.table_rows import time_column
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.table import Table
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.topic_name import PART_TEXT_SQL

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from throttlescope.ingest.lake import Lake

_AFTER_ALL_MS = 2**62
#: Columns with the start and end of a row; a row is returned if it overlaps the range.
_SPANS = (("window_start_ms", "window_end_ms"), ("start_ms", "end_ms"))


def frame(
    lake: Lake,
    session: SparkSession,
    name: str,
    *,
    subscription: str | None = None,
    cluster: str | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
) -> DataFrame:
    """Rows of a table.

    Parameters
    ----------
    subscription : str, optional
        ``persistent://tenant/ns/topic[-partition-N]#sub``; without the suffix every partition.
    start_ms, end_ms : int, optional
        Rows of [start_ms, end_ms): those that lie in it, or touch it where a row speaks of a span. What has no end goes on.

    Raises
    ------
    InputError
        There is no such table, it was never written, or it does not have a selected column.
    """
    from pyspark.sql import functions as F

    if name not in TABLES:
        raise InputError("There is no such table", got=name, expected=", ".join(sorted(TABLES)))
    contract = TABLES[name]
    columns = set(contract.schema.names)
    version = lake.version(name)
    if version is None:
        raise InputError(
            f"The lake has no table {name} yet",
            got=lake.root,
            fix="make it with throttlescope run --lake DIR",
        )
    where: list[Column] = []
    if cluster is not None:
        _check(contract, columns, "cluster")
        where.append(F.col("cluster") == cluster)
    if subscription is not None:
        wanted = SubscriptionName.of(subscription)
        _check(contract, columns, "topic", "subscription")
        where += [F.col("topic") == wanted.topic, F.col("subscription") == wanted.subscription]
        if wanted.partition is not None:
            where.append(F.col("partition") == wanted.partition)
    between = {}
    if start_ms is not None or end_ms is not None:
        between, bounds = _range(contract, columns, start_ms, end_ms)
        where += bounds
    parts = {"cluster": [cluster]} if cluster is not None and "cluster" in contract.partition_by else None
    found = lake.spark(session, name, lake.files(name, partition=parts, between=between, version=version))
    for condition in where:
        found = found.where(condition)
    return found


def with_selector(found: DataFrame) -> DataFrame:
    """The same with ``selector`` before its columns: the name of a subscription partition as arguments take it."""
    from pyspark.sql import functions as F

    selector = F.concat(F.expr(PART_TEXT_SQL), F.lit("#"), F.col("subscription"))
    return found.select(selector.alias("selector"), "*")


def _range(contract: Table, columns: set[str], start_ms: int | None, end_ms: int | None):
    """Bounds that files are pruned by, and the conditions on rows."""
    from pyspark.sql import functions as F

    low = 0 if start_ms is None else start_ms
    high = _AFTER_ALL_MS if end_ms is None else end_ms
    span = next((pair for pair in _SPANS if columns.issuperset(pair)), None)
    if span is None:
        time = time_column(contract)
        if time is None:
            raise InputError(
                f"The table {contract.name} has no time to compare a range with",
                fix="leave start and end out",
            )
        return {time: (low, high - 1)}, [F.col(time) >= low, F.col(time) < high]
    first, last = span
    # The files' greatest end says nothing of rows without one, so that only starts prune.
    return {first: (0, high - 1)}, [F.col(first) < high, F.col(last).isNull() | (F.col(last) > low)]


def _check(contract: Table, columns: set[str], *names: str) -> None:
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(
            f"The table {contract.name} has no {missing[0]}", expected=", ".join(contract.schema.names)
        )
