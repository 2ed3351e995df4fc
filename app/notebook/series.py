"""PromQL in a notebook. In: a lake, a query, times. Out: the answer, as a DataFrame of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from throttlescope.app.notebook.times import Moment, moment_ms
from throttlescope.app.services.promql.answer_table import default_step_ms
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import format_time, parse_duration
from throttlescope.transforms.promql.answer import rows_of
from throttlescope.transforms.promql.query import QueryAnswer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from throttlescope.app.notebook.lake import OpenLake

_LABELS = pa.map_(pa.string(), pa.string())


def evaluate(
    lake: OpenLake,
    query: str,
    start: Moment | None,
    end: Moment | None,
    step: str | None,
    at: Moment | None = None,
) -> QueryAnswer:
    """Evaluate at one moment, or over a range where ``start`` is given.

    Raises
    ------
    InputError
        The times do not fit, the lake has no samples, or the text is not valid PromQL.
    QueryError
        The query has no answer for the data.
    """
    newest_ms = lake.queries.catalogue().newest_ms
    if newest_ms is None:
        raise InputError(
            "There are no samples in this lake", got=lake.lake.root, fix="read some with throttlescope ingest"
        )
    if start is None:
        if end is not None or step is not None:
            raise InputError(
                "An end and a step belong to a range", fix="give start as well, or select one time with at"
            )
        at_ms = moment_ms(at)
        return lake.queries.instant(query, newest_ms if at_ms is None else at_ms)
    if at is not None:
        raise InputError("at and start exclude each other", fix="leave one of them out")
    start_ms, end_ms = moment_ms(start), moment_ms(end)
    end_ms = newest_ms if end_ms is None else end_ms
    if start_ms > end_ms:
        raise InputError(
            "The start is after the end",
            got=f"{format_time(start_ms)} and {format_time(end_ms)}",
            fix="swap them",
        )
    step_ms = default_step_ms(start_ms, end_ms) if step is None else parse_duration(step)
    if step_ms <= 0:
        raise InputError("The step must be more than 0", got=step, expected="more than 0s")
    return lake.queries.range(query, start_ms, end_ms, step_ms)


def answer_table(answer: QueryAnswer) -> pa.Table:
    """``labels``, ``time_ms``, ``value``: a row per point, series by series. A scalar has no labels.

    Raises
    ------
    InputError
        The answer is a text.
    """
    if answer.kind == "string":
        raise InputError("The answer is a text and no series", got=answer.text)
    rows = list(rows_of(answer))
    lengths = [len(values) for _, _, values in rows]
    labels = pa.array([list(labels.items()) for labels, _, _ in rows], _LABELS)
    at = pa.array(np.repeat(np.arange(len(rows)), lengths), pa.int64())
    times_ms = np.concatenate(
        [np.asarray(times, np.int64) for _, times, _ in rows] or [np.array([], np.int64)]
    )
    values = np.concatenate([np.asarray(values, float) for _, _, values in rows] or [np.array([], float)])
    return pa.table({"labels": labels.take(at), "time_ms": times_ms, "value": values})


def answer_frame(session: SparkSession, answer: QueryAnswer) -> DataFrame:
    """The same as a Spark DataFrame."""
    return session.createDataFrame(answer_table(answer))
