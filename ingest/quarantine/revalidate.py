"""Validation of refused rows. In: refused rows of a table as JSON objects. Out: rows that fit, or the reason why they still do not.

A row is validated as it was when it was refused: labels are normalised, answers and stats are read as they are when they come from
the source, and the contract is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelError, LabelMapping, normalise
from throttlescope.ingest.core.series import DecodedSeries, batch_of
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.lake.blocks import BlockBuffer
from throttlescope.ingest.sources.policy_answers import answer_fault
from throttlescope.ingest.sources.topic_stats import stats_rows, stats_table


class StillRefusedError(Exception):
    """A row that validation refuses again: reason code and words."""

    def __init__(self, reason: str, fault: str) -> None:
        super().__init__(fault)
        self.reason, self.fault = reason, fault


def fit_series(row: Any) -> DecodedSeries:
    """A refused series with its samples.

    Raises
    ------
    StillRefusedError
    """
    labels = row.get("labels") if isinstance(row, dict) else None
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        raise StillRefusedError("row_unreadable", "labels are no object of texts")
    pairs = tuple(sorted(labels.items()))
    try:
        normalise(pairs, LabelMapping())
    except LabelError as fault:
        raise StillRefusedError(fault.reason, fault.detail) from None
    samples = row.get("held")
    if samples is None:
        raise StillRefusedError(
            "samples_not_kept",
            "its samples were not kept; fix the labels at the source and read the range again",
        )
    try:
        times = np.array(samples["timestamps_ms"], np.int64)
        values = np.array([float(value) for value in samples["values"]])
        stale = np.array(samples.get("stale_ms", []), np.int64)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise StillRefusedError(
            "row_unreadable", f"held is not samples: {type(error).__name__} {error}"
        ) from None
    if times.ndim != 1 or stale.ndim != 1 or len(times) != len(values) or not len(times) + len(stale):
        raise StillRefusedError("row_unreadable", f"held has {len(times)} times and {len(values)} values")
    return DecodedSeries(pairs, times, values, stale)


def blocks_of(series: list[DecodedSeries]) -> tuple[dict[str, dict], list]:
    """Blocks of series that fit, by metric, as a pull makes them; and the series for the catalogue."""
    by_metric: dict[str, list[DecodedSeries]] = {}
    for one in series:
        by_metric.setdefault(dict(one.labels)["__name__"], []).append(one)
    blocks, catalogue = {}, []
    with tempfile.TemporaryDirectory(prefix="throttlescope-") as scratch:
        for metric_name, some in sorted(by_metric.items()):
            buffer = BlockBuffer(LabelMapping(), Path(scratch))
            # The same series may have been refused by several runs; equal times are then there once.
            for one in some:
                buffer.add(batch_of([one]))
            blocks[metric_name] = dict(buffer.blocks())
            catalogue += list(buffer.series())
    return blocks, catalogue


def fit_answer(row: Any) -> pa.Table:
    """An answer of the admin API as a row of ``policies``.

    Raises
    ------
    StillRefusedError
    """
    table = _conform("policies", row)
    (own,) = table.to_pylist()
    if fault := answer_fault(own["scope"], own["body"]):
        raise StillRefusedError("policy_unreadable", f"{own['scope']} of {own['key']}: {fault}")
    return table


def fit_stats(row: Any) -> pa.Table:
    """Stats of a topic partition as rows of ``topic_stats``.

    Raises
    ------
    StillRefusedError
    """
    names = ("cluster", "namespace", "topic", "partition", "observed_ms", "body")
    if not isinstance(row, dict) or set(names) - set(row):
        raise StillRefusedError("row_unreadable", f"expected {', '.join(names)}")
    try:
        found = stats_rows(*(row[name] for name in names))
        return stats_table(found)
    except InputError as fault:
        raise StillRefusedError("stats_unreadable", str(fault)) from None
    except (TypeError, ValueError, KeyError, AttributeError, pa.ArrowException) as fault:
        raise StillRefusedError("stats_unreadable", f"{type(fault).__name__}: {fault}") from None


#: Validators of the small tables; samples have one of their own, because their rows become blocks.
ROW_VALIDATORS: dict[str, Callable[[Any], pa.Table]] = {"policies": fit_answer, "topic_stats": fit_stats}


def _conform(table: str, row: Any) -> pa.Table:
    contract = TABLES[table]
    if not isinstance(row, dict):
        raise StillRefusedError("row_unreadable", "no object")
    try:
        observed_ms = row["observed_ms"]
        whole = row | {"date": date_of(observed_ms)}
        if surplus := set(whole) - set(contract.loose_schema.names):
            raise StillRefusedError("row_unreadable", f"no such columns: {', '.join(sorted(surplus))}")
        return contract.conform(pa.Table.from_pylist([whole], schema=contract.loose_schema))
    except InputError as fault:
        raise StillRefusedError("row_unreadable", str(fault)) from None
    except (KeyError, TypeError, ValueError, OverflowError, OSError, pa.ArrowException) as fault:
        raise StillRefusedError("row_unreadable", f"{type(fault).__name__}: {fault}") from None
