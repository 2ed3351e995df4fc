"""How small a lake is, and how quickly it opens as it grows. In: sizes. Out: JSON on standard output.

``samples``
    one hour of a made fleet, every subscription with 14 series at 60 s, written as ingest writes it: bytes per sample, and
    what each part of the files takes of it
``recorded``
    the shipped recordings of a real broker, their series put into one file a metric, as a fleet of that size would have them:
    values as they really are
``versions``
    a table that is committed again and again, as following does: its log, and how long opening takes, before and after the
    log was shortened
``files``
    a table of so many files: how long opening and listing takes

Target: ``samples`` at most 2 bytes per sample on the hour of 10,000 subscriptions. Times are of the processor, the best of several.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fleet import signals as made
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.selector import Selector
from throttlescope.ingest.core.series import Meter
from throttlescope.ingest.core.times import MINUTE_MS, date_of
from throttlescope.ingest.lake import DataFile, Lake, NewFile, write_data_file
from throttlescope.ingest.lake.upkeep.show import show
from throttlescope.ingest.lake.upkeep.vacuum import clean_log
from throttlescope.ingest.sources.recording import list_shipped, read_recording

HOUR = 12
#: Brokers of the fleet: series of one broker share the times of its scrapes.
BROKERS = 10
BYTES_PER_SAMPLE = 2.0
_OPENED, _COMMITS = 9, 20

#: Gauges of a subscription with the column of ``signals`` that each follows.
GAUGES = {
    "pulsar_subscription_back_log": "backlog_entries",
    "pulsar_subscription_unacked_messages": "unacked_msg",
    "pulsar_subscription_blocked_on_unacked_messages": "blocked_on_unacked",
    "pulsar_subscription_consumers_count": "consumers",
    "pulsar_subscription_msg_rate_out": "out_msg_rate_5m",
    "pulsar_subscription_msg_rate_redeliver": "redeliver_msg_rate",
    "pulsar_consumer_available_permits": "permits_min",
}
COUNTERS = {
    "pulsar_out_messages_total": "out_msg_delta",
    "pulsar_out_bytes_total": "out_bytes_delta",
    "pulsar_in_messages_total": "in_msg_delta",
    "pulsar_in_bytes_total": "in_bytes_delta",
}
EVENTS = "pulsar_subscription_dispatch_throttled_msg_events"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--versions", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--files", type=int, nargs="*", default=[10_000, 50_000])
    parser.add_argument("--skip-recorded", action="store_true")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"machine": {"cores": os.cpu_count(), "load_1min": os.getloadavg()[0]}}
    if arguments.subscriptions:
        found["samples"] = hour_of_samples(arguments.subscriptions)
        found["target_2_bytes_per_sample"] = found["samples"]["bytes_per_sample"] <= BYTES_PER_SAMPLE
    if not arguments.skip_recorded:
        found["recorded"] = recorded()
    found["versions"] = [many_versions(count) for count in arguments.versions]
    found["files"] = [many_files(count) for count in arguments.files]
    print(json.dumps(found, indent=1))


# -- bytes per sample ------------------------------------------------------------------------


def hour_of_samples(subscriptions: int) -> dict[str, Any]:
    """Write one hour of a fleet and look at its size."""
    with tempfile.TemporaryDirectory(prefix="throttlescope-size-") as folder:
        lake = Lake(folder)
        files = [write_data_file(lake.root, "samples", rows) for rows in blocks_of(subscriptions)]
        lake.commit("samples", files, run_id="benchmark")
        return {"subscriptions": subscriptions} | _sizes(lake)


def blocks_of(subscriptions: int) -> Iterator[pa.Table]:
    """Rows of ``samples`` of one hour: one metric and shard at a time."""
    fleet = made.Fleet(subscriptions)
    minutes = fleet.hour(HOUR)
    texts = {
        name: minutes.column(name).to_pylist()[::60]
        for name in ("cluster", "namespace", "topic", "partition", "subscription")
    }
    rng = np.random.default_rng(2026)
    start_ms = made.START_MS + HOUR * 60 * MINUTE_MS
    # A broker is scraped at its own moment of the minute, a few milliseconds sooner or later each time.
    scrapes_ms = (
        start_ms
        + rng.integers(0, 55_000, (BROKERS, 1))
        + np.arange(60) * MINUTE_MS
        + rng.integers(0, 6, (BROKERS, 60))
    )
    broker_of = np.arange(subscriptions) % BROKERS
    keys = [
        {name: str(column[at]) for name, column in texts.items()}
        | {"instance": f"broker-{broker_of[at]}:8080"}
        for at in range(subscriptions)
    ]

    def matrix(column: str) -> np.ndarray:
        values = minutes.column(column).cast(pa.float64()).combine_chunks().fill_null(0.0).to_numpy()
        return values.reshape(subscriptions, 60)

    def counted(column: str) -> np.ndarray:
        # It has counted for days.
        before = np.rint(matrix(column).mean(axis=1) * rng.uniform(1_000, 40_000, subscriptions))
        return np.rint(before[:, None] + np.cumsum(matrix(column), axis=1))

    series = [({"__name__": metric}, matrix(column)) for metric, column in GAUGES.items()]
    series += [({"__name__": metric}, counted(column)) for metric, column in COUNTERS.items()]
    series += [
        ({"__name__": EVENTS, "reason": level}, counted(f"throttled_msg_events_{level}_delta"))
        for level in LEVELS
    ]
    by_metric: dict[str, list[tuple[dict[str, str], np.ndarray]]] = {}
    for labels, values in series:
        by_metric.setdefault(labels["__name__"], []).append((labels, values))
    for metric, some in by_metric.items():
        found: dict[int, list[tuple[str, int, np.ndarray]]] = {}
        for labels, values in some:
            for at, key in enumerate(keys):
                one = normalise(tuple((key | labels).items()), LabelMapping())
                found.setdefault(one.shard, []).append((one.series_id, at, values[at]))
        for shard, rows in sorted(found.items()):
            rows.sort(key=lambda row: row[0])
            yield _rows(
                metric,
                shard,
                start_ms,
                [row[0] for row in rows],
                [scrapes_ms[broker_of[row[1]]] for row in rows],
                [row[2] for row in rows],
            )


def _rows(metric: str, shard: int, start_ms: int, ids: list[str], times: list, values: list) -> pa.Table:
    count = len(ids)
    return pa.table(
        {
            "series_id": ids,
            "metric_name": [metric] * count,
            "date": [date_of(start_ms)] * count,
            "cluster": [made.CLUSTER] * count,
            "shard": pa.array([shard] * count, pa.int32()),
            "block_start_ms": pa.array([start_ms] * count, pa.int64()),
            "timestamps_ms": pa.array(times, pa.list_(pa.int64())),
            "values": pa.array(values, pa.list_(pa.float64())),
            "stale_ms": pa.array([[]] * count, pa.list_(pa.int64())),
        }
    )


def recorded() -> dict[str, Any]:
    """Series of the shipped recordings, one file a metric, as if one fleet had had them."""
    by_metric: dict[str, list[tuple[str, Any, Any]]] = {}
    for folder in list_shipped().values():
        source = read_recording(folder).source
        for batch in source.read(Selector(()), 0, 2**62, Meter()):
            for at, pairs in enumerate(batch.labels):
                one, span = normalise(pairs, LabelMapping()), slice(*batch.offsets[at : at + 2])
                if one.metric_name in {*GAUGES, *COUNTERS, EVENTS} and span.stop > span.start:
                    by_metric.setdefault(one.metric_name, []).append(
                        (one.series_id, batch.timestamps_ms[span], batch.values[span])
                    )
    with tempfile.TemporaryDirectory(prefix="throttlescope-size-") as root:
        lake, files = Lake(root), []
        for metric, rows in sorted(by_metric.items()):
            rows.sort(key=lambda row: row[0])
            files.append(
                write_data_file(
                    lake.root, "samples", _rows(metric, 0, made.START_MS, *zip(*rows, strict=True))
                )
            )
        lake.commit("samples", files, run_id="benchmark")
        return _sizes(lake)


def _sizes(lake: Lake) -> dict[str, Any]:
    (facts,) = show(lake, ["samples"])
    parts: dict[str, int] = {}
    for file in lake.files("samples"):
        metadata, inside = pq.read_metadata(file.path), 0
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(column)
                name = chunk.path_in_schema.split(".")[0]
                parts[name] = parts.get(name, 0) + chunk.total_compressed_size
                inside += chunk.total_compressed_size
        parts["pages' names and footers"] = (
            parts.get("pages' names and footers", 0) + file.size_bytes - inside
        )
    return {
        "series": facts.rows,
        "samples": facts.samples,
        "files": facts.files,
        "bytes": facts.size_bytes,
        "bytes_per_sample": round(facts.bytes_per_sample, 3),
        "of_it": {
            name: round(size / facts.samples, 3)
            for name, size in sorted(parts.items(), key=lambda part: -part[1])
            if size / facts.samples >= 0.001
        },
    }


# -- opening ---------------------------------------------------------------------------------


def many_versions(count: int) -> dict[str, Any]:
    """Commit again and again: each version replaces one file of 200."""
    with tempfile.TemporaryDirectory(prefix="throttlescope-size-") as root:
        lake = Lake(root)
        lake.commit("verdicts", [_named(number) for number in range(200)], run_id="benchmark")
        lake.commit("verdicts", [_named(200)], [_committed(_named(0))], run_id="run-200")
        # The commits between are that one with other names: a log is made of such texts, and ours take longer to make.
        log = Path(root) / "verdicts" / "_delta_log"
        pattern, names = (
            (log / f"{1:020d}.json").read_text(),
            (_named(200).relative_path, _named(0).relative_path),
        )
        for version in range(2, count - _COMMITS):
            text = pattern.replace(names[0], _named(version + 199).relative_path)
            (log / f"{version:020d}.json").write_text(
                text.replace(names[1], _named(version - 1).relative_path)
            )
            if version == (count - _COMMITS - 1) // 100 * 100:
                # As Delta's own hook does after a commit.
                lake._open("verdicts").create_checkpoint()
        began_s = time.process_time()
        for number in range(count - 1 - _COMMITS, count - 1):
            lake.commit(
                "verdicts", [_named(number + 200)], [_committed(_named(number))], run_id=f"run-{number}"
            )
        took_s = time.process_time() - began_s
        found = {"versions": lake.version("verdicts") + 1, "commit_ms": round(1000 * took_s / _COMMITS, 1)}
        found |= _opening(lake)
        # As after a month: all but what was made just now is older than Delta keeps a log for.
        for path in sorted(log.glob("0*"))[:-_COMMITS]:
            os.utime(path, (1, 1))
        removed = clean_log(lake, "verdicts")
        return found | {"commits_removed": removed, "shortened": _opening(lake)}


def many_files(count: int) -> dict[str, Any]:
    """Open a table of so many files."""
    with tempfile.TemporaryDirectory(prefix="throttlescope-size-") as root:
        lake = Lake(root)
        for first in range(0, count, 10_000):
            lake.commit(
                "verdicts",
                [_named(number) for number in range(first, min(first + 10_000, count))],
                run_id="benchmark",
            )
        found = {"files": count, "log": _opening(lake)}
        clean_log(lake, "verdicts")
        return found | {"from_a_checkpoint": _opening(lake)}


def _named(number: int) -> NewFile:
    """A file of a cluster's hour that is only named: opening a table looks at none."""
    start_ms = made.START_MS + number * 60 * MINUTE_MS
    low = {
        "cluster": "prod", "namespace": "acme/shop", "topic": "persistent://acme/shop/a", "partition": -1, "subscription": "a",
        "window_start_ms": start_ms, "window_end_ms": start_ms + 5 * MINUTE_MS,
    }  # fmt: skip
    high = low | {"topic": "persistent://acme/shop/z", "window_start_ms": start_ms + 55 * MINUTE_MS}
    partition = {"cluster": "prod", "date": date_of(start_ms)}
    return NewFile("verdicts", f"data/00/{number:032x}.parquet", partition, 1_200, 40_000, low, high)


def _committed(new: NewFile) -> DataFile:
    return DataFile(
        "", new.relative_path, new.partition, new.rows, new.size_bytes, new.minimum, new.maximum, 0
    )


def _opening(lake: Lake) -> dict[str, Any]:
    log = lake.storage.list("verdicts/_delta_log")
    now_ms = time.time_ns() // 1_000_000
    return {
        "log_files": len(log),
        "log_mb": round(sum(file.size_bytes for file in log) / 1e6, 2),
        "version_ms": _best_ms(lambda: lake.version("verdicts")),
        "files_ms": _best_ms(lambda: lake.files("verdicts")),
        "version_at_ms": _best_ms(lambda: lake.version_at("verdicts", now_ms)),
        "oldest_version_at_ms": _best_ms(lambda: lake.version_at("verdicts", 0)),
    }


def _best_ms(act: Callable[[], object]) -> float:
    """Processor time: what else the machine does is not in it."""
    best = float("inf")
    for _ in range(_OPENED):
        began_s = time.process_time()
        act()
        best = min(best, time.process_time() - began_s)
    return round(1000 * best, 1)


if __name__ == "__main__":
    main()
