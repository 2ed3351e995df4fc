"""The tables of a simulation run. In: its records. Out: Arrow tables. Their columns are declared here and printed in the documentation.

Times are microseconds from the beginning of the run, ranges are [start, end). NULL means that it did not happen before the
end of the run, or that there is no limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.models.throttling.tdmq.records import Records, Threshold
from throttlescope.models.throttling.tdmq.scenario import WINDOW_US, Scenario

QUOTAS = ("production", "delayed", "consumption")

_I, _F, _B = pa.int64(), pa.float64(), pa.bool_()
_PLACE = Column("place", _I, "number of the node, or of the partition")
_QUOTA = Column("quota", pa.string(), "the quota that is used", words=QUOTAS)
_SIZE = Column("size_bytes", _I, "size of the message")
_WAITED = Column("waited_for_channel", _B, "its channel was closed at some time while it waited")

WINDOWS = Table(
    "windows",
    "What one node or partition used of one quota in one second. For `consumption`, a request is a message that became"
    " available to a subscription, and accepted and processed mean pushed.",
    (
        Column("window_start_us", _I, "the second's beginning"),
        _PLACE,
        _QUOTA,
        Column("requests", _I, "requests whose send call was in the window"),
        Column("accepted", _I, "requests that were accepted in the window"),
        Column("processed", _I, "requests that were processed in the window"),
        Column("processed_bytes", _I, "and their bytes"),
        Column("processed_after_close", _I, "those of them that were in flight when the channel closed"),
        Column("threshold_msg", _I, "messages that might be processed; in a cluster the window's last threshold", True),
        Column("threshold_bytes", _I, "and bytes", True),
        Column("throttle_count", _I, "how often the channels were closed in the window because of this quota"),
        Column("delayed_requests", _I, "accepted requests that had waited for a closed channel"),
        Column("wait_ms_mean", _F, "mean wait of the accepted requests, from send call to acceptance", True),
        Column("wait_ms_max", _F, "and the longest", True),
        Column("waiting", _I, "requests not accepted when the window ends"),
    ),
    key=("window_start_us", "place", "quota"),
)  # fmt: skip

REQUESTS = Table(
    "requests",
    "One request of a producer.",
    (
        _PLACE,
        Column("producer", _I, "number of the producer"),
        Column("number", _I, "number of the request within its producer"),
        _QUOTA,
        _SIZE,
        Column("sent_us", _I, "the application's send call"),
        Column("accepted_us", _I, "the server took it from the channel", True),
        Column("processed_us", _I, "it was processed and counted", True),
        Column("answered_us", _I, "its answer was sent", True),
        Column("wait_us", _I, "from send call to acceptance", True),
        Column("after_close", _B, "it was in flight when the channel closed"),
        _WAITED,
    ),
    key=("producer", "number"),
)

DELIVERIES = Table(
    "deliveries",
    "One message on its way to one subscription.",
    (
        _PLACE,
        Column("subscription", _I, "number of the subscription on its node or partition"),
        Column("producer", _I, "number of the message's producer; NULL: it was there at the beginning", True),
        Column("number", _I, "number of the message within its producer, or within what was there"),
        _SIZE,
        Column("available_us", _I, "it could have been pushed"),
        Column("pushed_us", _I, "it was pushed", True),
        Column("wait_us", _I, "from available to pushed", True),
        _WAITED,
    ),
    key=("place", "subscription", "producer", "number"),
)

CLOSINGS = Table(
    "closings",
    "One throttling: the channels of a node or partition were closed because a quota was used up.",
    (
        _PLACE,
        _QUOTA,
        Column("closed_us", _I, "the channels closed"),
        Column("opened_us", _I, "they opened again", True),
    ),
    key=("place", "quota", "closed_us"),
)

CONTRACTS = (WINDOWS, REQUESTS, DELIVERIES, CLOSINGS)


class Tables(NamedTuple):
    """All tables of a run, each with the columns of its contract."""

    windows: pa.Table
    requests: pa.Table
    deliveries: pa.Table
    closings: pa.Table


class _Passage(NamedTuple):
    """What requests and deliveries have in common."""

    place: int
    quota: str
    size_bytes: int
    offered_us: int
    accepted_us: int | None
    processed_us: int | None
    after_close: bool
    waited_for_channel: bool


@dataclass(slots=True)
class _Count:
    requests: int = 0
    accepted: int = 0
    processed: int = 0
    processed_bytes: int = 0
    processed_after_close: int = 0
    throttle_count: int = 0
    delayed_requests: int = 0
    waits_us: list[int] = field(default_factory=list)


def tables_of(scenario: Scenario, records: Records) -> Tables:
    """The records of a run of ``scenario`` as tables."""
    requests = [
        (r.place, r.producer, r.number, r.quota, r.size_bytes, r.sent_us, r.accepted_us, r.processed_us,
         r.answered_us, _wait(r.sent_us, r.accepted_us), r.after_close, r.waited_for_channel)
        for r in records.requests
    ]  # fmt: skip
    deliveries = [
        (d.place, d.subscription, None if d.producer < 0 else d.producer, d.number, d.size_bytes,
         d.available_us, d.pushed_us, _wait(d.available_us, d.pushed_us), d.waited_for_channel)
        for d in records.deliveries
    ]  # fmt: skip
    closings = [(c.place, c.quota, c.closed_us, c.opened_us) for c in records.closings]
    return Tables(
        _table(WINDOWS, _windows(scenario, records)),
        _table(REQUESTS, requests),
        _table(DELIVERIES, deliveries),
        _table(CLOSINGS, closings),
    )


def _windows(scenario: Scenario, records: Records) -> list[tuple]:
    starts_us = range(0, scenario.duration_s * WINDOW_US, WINDOW_US)
    counts = {
        (start_us, place, quota): _Count()
        for start_us in starts_us
        for place in range(scenario.places)
        for quota in scenario.quotas
    }
    for p in _passages(records):
        counts[_window(p.offered_us), p.place, p.quota].requests += 1
        if p.accepted_us is not None:
            accepted = counts[_window(p.accepted_us), p.place, p.quota]
            accepted.accepted += 1
            accepted.delayed_requests += p.waited_for_channel
            accepted.waits_us.append(p.accepted_us - p.offered_us)
        if p.processed_us is not None:
            processed = counts[_window(p.processed_us), p.place, p.quota]
            processed.processed += 1
            processed.processed_bytes += p.size_bytes
            processed.processed_after_close += p.after_close
    for closing in records.closings:
        counts[_window(closing.closed_us), closing.place, closing.quota].throttle_count += 1
    waiting = dict.fromkeys(((place, quota) for _, place, quota in counts), 0)
    rows = []
    for (start_us, place, quota), c in counts.items():
        waiting[place, quota] += c.requests - c.accepted
        threshold = records.thresholds.get((start_us, place, quota), Threshold(None, None))
        mean_ms = sum(c.waits_us) / len(c.waits_us) / 1000 if c.waits_us else None
        max_ms = max(c.waits_us) / 1000 if c.waits_us else None
        rows.append(
            (start_us, place, quota, c.requests, c.accepted, c.processed, c.processed_bytes, c.processed_after_close,
             threshold.msg, threshold.bytes, c.throttle_count, c.delayed_requests, mean_ms, max_ms, waiting[place, quota])
        )  # fmt: skip
    return rows


def _passages(records: Records) -> Iterator[_Passage]:
    for r in records.requests:
        yield _Passage(
            r.place, r.quota, r.size_bytes, r.sent_us, r.accepted_us, r.processed_us, r.after_close, r.waited_for_channel
        )  # fmt: skip
    for d in records.deliveries:
        yield _Passage(
            d.place, "consumption", d.size_bytes, d.available_us, d.pushed_us, d.pushed_us, False, d.waited_for_channel
        )  # fmt: skip


def _window(time_us: int) -> int:
    return time_us - time_us % WINDOW_US


def _wait(from_us: int, until_us: int | None) -> int | None:
    return None if until_us is None else until_us - from_us


def _table(contract: Table, rows: list[tuple]) -> pa.Table:
    values = zip(*rows, strict=True) if rows else ((),) * len(contract.columns)
    arrays = [pa.array(column, type_.type) for column, type_ in zip(values, contract.columns, strict=True)]
    return contract.conform(pa.Table.from_arrays(arrays, names=contract.schema.names))
