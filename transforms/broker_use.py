"""Use of a broker's limit, in one process. In: minutes of tasks. Out: rows of ``signals``.

Equivalent of :func:`~throttlescope.transforms.signals.with_broker_use`, which does the same on Spark: the use of all
subscriptions that one broker serves in a minute is summed in the order of their keys, so both give the same last digit.

If only part of a broker was read, the sum is too small. The broker's own gauge shows that: ``broker_read_share`` is the dispatch
rate of its subscriptions that were read, over the rate that it reports itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import UNITS

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
    limited = pc.or_(*(minutes.column(f"limit_broker_{unit}").is_valid() for unit in UNITS))
    nothing = pa.nulls(minutes.num_rows, pa.float64())
    is_summed = whole and pc.any(limited).as_py()
    for unit in UNITS:
        columns[f"rho_broker_{unit}"] = _rho(minutes, neighbours, unit) if is_summed else nothing
    columns["broker_read_share"] = _read_share(minutes, neighbours, limited) if is_summed else nothing
    return pa.table([columns[field.name].cast(field.type) for field in _SIGNALS], schema=_SIGNALS)


def _rho(minutes: pa.Table, neighbours: pa.Table | None, unit: str) -> pa.Array | pa.ChunkedArray:
    limit = minutes.column(f"limit_broker_{unit}").cast(pa.float64())
    if limit.null_count == minutes.num_rows:
        return limit
    used = f"use_{unit}_per_s"
    together = _together(minutes, neighbours, (used,), lambda rows: rows.column(used))
    period = minutes.column("limit_broker_period_s").cast(pa.float64())
    return pc.divide(together, pc.divide(limit, period))


def _read_share(minutes: pa.Table, neighbours: pa.Table | None, limited: pa.ChunkedArray) -> pa.ChunkedArray:
    together = _together(minutes, neighbours, ("out_msg_delta", "delta_span_ms"), _dispatched_per_s)
    by_itself = minutes.column("broker_out_msg_rate")
    share = pc.min_element_wise(1.0, pc.divide(together, by_itself), skip_nulls=False)
    # A broker that says nothing was dispatched leaves nothing out.
    share = pc.if_else(pc.equal(by_itself, 0.0), 1.0, share)
    named = minutes.column("broker").is_valid()
    return pc.if_else(pc.and_(limited, named), share, pa.scalar(None, pa.float64()))


def _dispatched_per_s(rows: pa.Table) -> pa.ChunkedArray:
    span_s = pc.divide(rows.column("delta_span_ms").cast(pa.float64()), 1000.0)
    return pc.divide(rows.column("out_msg_delta"), pc.if_else(pc.greater(span_s, 0.0), span_s, None))


def _together(
    minutes: pa.Table,
    neighbours: pa.Table | None,
    names: tuple[str, ...],
    value_of: Callable[[pa.Table], pa.ChunkedArray],
) -> pa.Array:
    """The sum of a value over all that the same broker serves in the same minute, row by row."""
    used = [*SUBSCRIPTION_KEY_NAMES, "broker", "minute_ms", *names]
    rows = minutes.select(used)
    if neighbours is not None:
        rows = pa.concat_tables([rows, neighbours.select(used)])
    ordered = rows.sort_by([(name, "ascending") for name in SUBSCRIPTION_KEY_NAMES[1:]])
    totals: dict[tuple, float] = {}
    places = zip(*(ordered.column(name).to_pylist() for name in _PLACE), strict=True)
    for place, value in zip(places, value_of(ordered).to_pylist(), strict=True):
        # NULL adds nothing; without any known value there is no sum.
        if value is not None and not np.isnan(value):
            totals[place] = totals.get(place, 0.0) + value
    return pa.array(
        [
            None if place[1] is None else totals.get(place)
            for place in zip(*(minutes.column(name).to_pylist() for name in _PLACE), strict=True)
        ],
        pa.float64(),
    )
