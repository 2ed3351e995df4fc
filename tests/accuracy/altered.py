"""Causes that one broker alone cannot show. In: a recording. Out: the recording as it would look under such a cause, or None.

A script writes the cause into samples of a real broker, so these figures say that the rules read the marks of a cause as its
description has them, not that a broker shows it so. They are counted apart.

``phantom_backlog``
    Where the truth is healthy. The backlog of every subscription, and its ready part, is 44,708 entries more at every scrape:
    the counters of ``exposePreciseBacklogInPrometheus=false`` gone wrong. Nothing else is touched.
``filter_rejects``
    Where the truth is slow consumers. Instead of the consumers an entry filter keeps entries back: permits of every consumer are
    1,000 and unacknowledged messages 0 at every scrape; the filter's counters rise with what is dispatched, for each message three
    entries processed and two of them put off.
``read_limit``
    Where the truth is slow consumers. Instead of the consumers the broker's memory for reads is used up: permits and unacknowledged messages
    as above; of 256 MiB for reads in flight 0 and 2 % are free in turn at the broker's scrapes.

In the last two the marks are there in the healthy states of the same recordings as well, where they must not be blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.accuracy.evidence import WORST_OFF_ENTRIES, with_other_backlog
from tests.accuracy.recorded import Recorded
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.transforms.promql.source import Series

PERMITS_MSG = 1000
PROCESSED_PER_MSG, PUT_OFF_PER_MSG = 3, 2
READ_BYTES = 256 * 1024 * 1024
FREE_SHARES = (0.0, 0.02)

_FILTER = "pulsar_subscription_filter_{}_msg_count"
_INFLIGHT, _FREE = "pulsar_ml_reads_inflight_bytes", "pulsar_ml_reads_available_inflight_bytes"


def phantom_backlog(recorded: Recorded) -> Recorded | None:
    """Entries in the backlog that are not there."""
    truth = with_cause(recorded.truth, {"healthy": "phantom_backlog"})
    altered = with_other_backlog(recorded, lambda key, precise: precise + WORST_OFF_ENTRIES)
    return replace(altered, truth=truth) if truth.num_rows else None


def filter_rejects(recorded: Recorded) -> Recorded | None:
    """An entry filter keeps back what slow consumers kept back."""
    truth = with_cause(recorded.truth, {"slow_consumers": "filter_rejects", "healthy": "healthy"})
    keys = keys_of(truth, "filter_rejects")
    if not keys:
        return None
    counters = [
        replace(one, labels={**one.labels, "__name__": _FILTER.format(name)}, values=one.values * factor)
        for one in recorded.series
        if one.labels["__name__"] == "pulsar_out_messages_total" and _key(one) in keys and not _of_one_consumer(one)
        for name, factor in (("processed", PROCESSED_PER_MSG), ("rescheduled", PUT_OFF_PER_MSG))
    ]  # fmt: skip
    names = {_FILTER.format(name) for name in ("processed", "rescheduled")}
    others = [one for one in recorded.series if one.labels["__name__"] not in names or _key(one) not in keys]
    return replace(recorded, truth=truth, series=(*_with_spare_capacity(others, keys), *counters))


def read_limit(recorded: Recorded) -> Recorded | None:
    """Reads wait for the broker's memory."""
    truth = with_cause(recorded.truth, {"slow_consumers": "read_limit", "healthy": "healthy"})
    keys = keys_of(truth, "read_limit")
    if not keys:
        return None
    memory = []
    for one in recorded.series:
        if one.labels["__name__"] == "pulsar_broker_rate_out":
            free = READ_BYTES * np.resize(FREE_SHARES, len(one.timestamps_ms))
            memory += [
                replace(one, labels={**one.labels, "__name__": name}, values=values)
                for name, values in ((_INFLIGHT, READ_BYTES - free), (_FREE, free))
            ]
    others = [one for one in recorded.series if one.labels["__name__"] not in (_INFLIGHT, _FREE)]
    return replace(recorded, truth=truth, series=(*_with_spare_capacity(others, keys), *memory))


ALTERED: dict[str, Callable[[Recorded], Recorded | None]] = {
    "phantom_backlog": phantom_backlog,
    "filter_rejects": filter_rejects,
    "read_limit": read_limit,
}


def with_cause(truth: pa.Table, causes: dict[str, str]) -> pa.Table:
    """Rows of truth whose cause has another name now; the others are left out."""
    rows = [
        row | {"cause": causes[row["cause"]], "side": CAUSE_OF[causes[row["cause"]]].side}
        for row in truth.to_pylist()
        if row["cause"] in causes
    ]
    return pa.Table.from_pylist(rows, schema=truth.schema)


def keys_of(truth: pa.Table, cause: str) -> set[tuple]:
    """Subscription partitions of which a cause is true, as texts."""
    rows = truth.filter(pc.equal(truth["cause"], cause)).select(SUBSCRIPTION_KEY_NAMES).to_pylist()
    return {tuple(str(row[name]) for name in SUBSCRIPTION_KEY_NAMES) for row in rows}


def _with_spare_capacity(series: Iterable[Series], keys: set[tuple]) -> list[Series]:
    """Give the consumers of some subscriptions permits, and no unacknowledged messages."""
    constant = {
        "pulsar_consumer_available_permits": PERMITS_MSG,
        "pulsar_consumer_unacked_messages": 0,
        "pulsar_subscription_unacked_messages": 0,
    }
    return [
        replace(one, values=np.full(len(one.values), float(constant[name])))
        if (name := one.labels["__name__"]) in constant and _key(one) in keys
        else one
        for one in series
    ]


def _key(series: Series) -> tuple:
    return tuple(series.labels.get(name, "") for name in SUBSCRIPTION_KEY_NAMES)


def _of_one_consumer(series: Series) -> bool:
    return "consumer_name" in series.labels or "consumer_id" in series.labels
