"""What a broker's limit is held against, in one process. In: minutes of tasks. Out: rows of ``signals``.

The twin of :func:`~throttlescope.transforms.signals.with_broker_use`, which does the same on Spark: the use of all
subscriptions that one broker serves in a minute is summed in the order of their keys, so both give the same last digit.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.words import UNITS

_SIGNALS = TABLES["signals"].loose_schema
_PLACE = ("cluster", "broker", "minute_ms")


def signals_of(minutes: pa.Table, neighbours: pa.Table | None = None, *, whole: bool = True) -> pa.Table:
    """Hold the use of everything that shares a broker against its limit.

    Parameters
    ----------
    minutes : pyarrow.Table
        Rows as :func:`~throttlescope.transforms.minutes.minute_rows` makes them.
    neighbours : pyarrow.Table, optional
        Such rows of other subscriptions, which are counted and not handed back.
    whole : bool
        Whether the rows hold all that the brokers serve. If not, the sum would say too little, so the use of a broker's
        limit is left open (NULL).

    Returns
    -------
    pyarrow.Table
        ``minutes`` in their order, with exactly the columns of ``signals``.
    """
    columns = {name: minutes.column(name) for name in minutes.column_names if name in _SIGNALS.names}
    for unit in UNITS:
        columns[f"rho_broker_{unit}"] = (
            _rho(minutes, neighbours, unit) if whole else pa.nulls(minutes.num_rows, pa.float64())
        )
    return pa.table([columns[field.name].cast(field.type) for field in _SIGNALS], schema=_SIGNALS)


def _rho(minutes: pa.Table, neighbours: pa.Table | None, unit: str) -> pa.Array | pa.ChunkedArray:
    limit = minutes.column(f"limit_broker_{unit}").cast(pa.float64())
    if limit.null_count == minutes.num_rows:
        return limit
    used = [*SUBSCRIPTION_KEY_NAMES, "broker", "minute_ms", f"use_{unit}_per_s"]
    rows = minutes.select(used)
    if neighbours is not None:
        rows = pa.concat_tables([rows, neighbours.select(used)])
    ordered = rows.sort_by([(name, "ascending") for name in SUBSCRIPTION_KEY_NAMES[1:]])
    totals: dict[tuple, float] = {}
    for *place, use in zip(
        *(ordered.column(name).to_pylist() for name in (*_PLACE, f"use_{unit}_per_s")), strict=True
    ):
        # NULL adds nothing; where nobody's use is known there is no sum.
        if use is not None and not np.isnan(use):
            totals[tuple(place)] = totals.get(tuple(place), 0.0) + use
    together = pa.array(
        [
            None if place[1] is None else totals.get(place)
            for place in zip(*(minutes.column(name).to_pylist() for name in _PLACE), strict=True)
        ],
        pa.float64(),
    )
    period = minutes.column("limit_broker_period_s").cast(pa.float64())
    return pc.divide(together, pc.divide(limit, period))
