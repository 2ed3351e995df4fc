"""A month assembled from recorded half hours. In: shipped recordings, a timetable. Out: a recording of 30 days.

No recording of a real broker here is longer than half an hour. What a month adds is *when*: so each half hour of 30 days gets the
samples of one recording, moved to its place. Values are as they were measured, one scrape of each minute, of the two metrics that the
naive rule reads; names are those of one topic with two subscriptions, because a subscription has one name all month; counters begin at
zero in each half hour, as after a restart, so that a jump between two recordings is not counted. The two to four minutes that a
recording lacks of a half hour have no samples.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, parse_time
from throttlescope.ingest.sources.recording import FORMAT, list_shipped, read_recording

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from throttlescope.ingest.lake import Lake

NAME = "month"
START_MS = parse_time("2026-10-01T00:00:00Z", now_ms=0)
DAYS = 30
END_MS = START_MS + DAYS * DAY_MS
SLOT_MS = 30 * MINUTE_MS
TOPIC = f"persistent://lab/{NAME}/orders"
BILLING, AUDIT = "billing", "audit"
#: What each subscription does by default.
QUIET = {BILLING: "healthy-msg-1000", AUDIT: "healthy-msg-90"}
METRICS = ("pulsar_subscription_back_log", "pulsar_subscription_dispatch_throttled_msg_events")
_GAUGES = frozenset(("pulsar_subscription_back_log",))
_SAMPLES = pa.schema(
    [
        pa.field("labels", pa.map_(pa.string(), pa.string())),
        pa.field("timestamps_ms", pa.list_(pa.int64())),
        pa.field("values", pa.list_(pa.float64())),
        pa.field("stale_ms", pa.list_(pa.int64())),
    ]
)


@dataclass(frozen=True)
class Visit:
    """One half hour of one subscription.

    Attributes
    ----------
    subscription : str
        ``billing`` or ``audit``.
    start_ms : int
        On a half hour.
    recording : str
        Name of the recording that it repeats.
    """

    subscription: str
    start_ms: int
    recording: str


def timetable() -> list[Visit]:
    """The events of the month; all other half hours are quiet.

    ``billing`` is throttled by its limit on every weekday at 09:00 and at 14:00, from the 15th on at 11:30 as well: traffic has
    grown. ``audit`` has slow consumers on Sundays from 03:00 to 05:00.
    """
    visits = []
    for day_ms in range(START_MS, END_MS, DAY_MS):
        # The first day of the epoch was a Thursday.
        weekday, number = (day_ms // DAY_MS + 3) % 7, (day_ms - START_MS) // DAY_MS + 1
        hours = ([9, 14] + ([11.5] if number >= 15 else [])) if weekday < 5 else []
        visits += [Visit(BILLING, day_ms + round(hour * BLOCK_MS), "sub-msg-1000") for hour in hours]
        hours = [3, 3.5, 4, 4.5] if weekday == 6 else []
        visits += [Visit(AUDIT, day_ms + round(hour * BLOCK_MS), "slow-large") for hour in hours]
    return sorted(visits, key=lambda visit: (visit.start_ms, visit.subscription))


def fill(session: SparkSession, lake: Lake, visits: Sequence[Visit]) -> None:
    """Create the month and ingest it into a lake like any recording.

    Raises
    ------
    InputError
        A visit is not on a half hour of the month, or names no subscription or no recording.
    """
    from throttlescope.ingest.pull.manifest import new_run_id
    from throttlescope.ingest.pull.recordings import ingest_recordings
    from throttlescope.ingest.spark.task_executor import SparkPoolExecutor

    with TemporaryDirectory(prefix="throttlescope-") as folder:
        write_month(Path(folder), visits)
        ingest_recordings(SparkPoolExecutor(session), lake, [folder], new_run_id())


def write_month(folder: Path, visits: Sequence[Visit]) -> None:
    """Write the month as a recording: a folder that ``throttlescope ingest --recording`` takes."""
    _check(visits)
    rows = [row for subscription in QUIET for row in _series(subscription, visits)]
    pq.write_table(
        pa.Table.from_pylist(rows, schema=_SAMPLES), folder / "samples.parquet", compression="zstd"
    )
    (folder / "policies.jsonl").write_text("")
    (folder / "topic_stats.jsonl").write_text("")
    (folder / "truth.json").write_text(json.dumps({"format": FORMAT, "rows": []}))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
    (folder / "recording.json").write_text(json.dumps({"format": FORMAT, "name": NAME, "files": files}))


def _check(visits: Iterable[Visit]) -> None:
    shipped = list_shipped()
    for visit in visits:
        if visit.subscription not in QUIET:
            raise InputError(
                "There is no such subscription in the month",
                got=visit.subscription,
                expected=", ".join(QUIET),
            )
        if visit.recording not in shipped:
            raise InputError("There is no such recording", got=visit.recording, expected=", ".join(shipped))
        if not START_MS <= visit.start_ms < END_MS or visit.start_ms % SLOT_MS:
            raise InputError("A visit is not on a half hour of the month", got=str(visit.start_ms))


def _series(subscription: str, visits: Iterable[Visit]) -> list[dict]:
    """Series of one subscription over the month."""
    slots = dict.fromkeys(range(START_MS, END_MS, SLOT_MS), QUIET[subscription])
    slots |= {visit.start_ms: visit.recording for visit in visits if visit.subscription == subscription}
    half_hours = {name: _half_hour(name) for name in set(slots.values())}
    series: dict[tuple, tuple[list, list]] = {}
    for start_ms, name in slots.items():
        for key, (after_ms, values) in half_hours[name].items():
            times, found = series.setdefault(key, ([], []))
            times.append(start_ms + after_ms)
            found.append(values)
    return [
        {
            "labels": sorted(_labels(subscription, metric, reason).items()),
            "timestamps_ms": np.concatenate(times),
            "values": np.concatenate(found),
            "stale_ms": [],
        }
        for (metric, reason), (times, found) in sorted(series.items())
    ]


def _labels(subscription: str, metric: str, reason: str) -> dict[str, str]:
    found = {
        "__name__": metric, "cluster": NAME, "instance": "broker:8080", "job": "pulsar", "namespace": f"lab/{NAME}",
        "topic": TOPIC, "partition": "-1", "subscription": subscription,
    }  # fmt: skip
    return found | ({"reason": reason} if reason else {})


def _half_hour(name: str) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """The series of a recording's first half hour, by metric and reason: milliseconds after its start, and values; a scrape a minute."""
    recording = read_recording(list_shipped()[name])
    table = pq.read_table(recording.folder / "samples.parquet")
    found = {}
    for row, pairs in enumerate(table["labels"].to_pylist()):
        labels = dict(pairs)
        metric = labels["__name__"]
        # Pulsar's own topics, and the same counters by consumer, would be other series.
        if (
            metric not in METRICS
            or "consumer_id" in labels
            or not labels.get("topic", "").endswith("/orders")
        ):
            continue
        after_ms = np.asarray(table["timestamps_ms"][row].as_py(), np.int64) - recording.start_ms
        values = np.asarray(table["values"][row].as_py(), float)
        _, first = np.unique(after_ms // MINUTE_MS, return_index=True)
        kept = first[after_ms[first] < SLOT_MS]
        begins = 0.0 if metric in _GAUGES else values[kept[0]]
        found[metric, labels.get("reason", "")] = after_ms[kept], values[kept] - begins
    return found
