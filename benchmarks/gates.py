"""How long the gates take: an hour of a fleet, every gate of a run, on Spark ``local[2]``.

In: numbers of subscriptions, and runs. Out: a table on standard output, JSON where it is wanted. Each fleet is made once and kept in
``.bench/gates``: two hours of samples at 60 s, fourteen series a subscription and ``up`` of eight brokers, written as ingest writes them; limits; and the signals
and verdicts that a run computes from them, by the product's own code. The gates check the second hour, so that there is an hour
before it to compare with. The first round, in which Spark, its workers and Great Expectations start, is told apart. Beside the time
that passed stands the processor time of all processes: the machine's other work moves the first, not the second.

Every round has to find the same, no error among it: a gate that stops a sound hour, or that has checked nothing, makes the figure void.

Target: 10,000 subscriptions, 8.4 million samples, in at most 25 s.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.side_by_side.usage import cpu_s, memory_mb
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.labels import LabelMapping, normalise
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import Lake, write_data_file
from throttlescope.ingest.pull.commit import commit_series
from throttlescope.ingest.pull.item import series_rows
from throttlescope.ingest.quality.gates import GATES
from throttlescope.ingest.spark.session import spark_session

FOLDER = Path(".bench/gates")
VERSION = 2
TARGET_S = 25
CLUSTER = "prod"
START_MS = 1_795_046_400_000  # midnight, UTC
HOURS = 2
#: With the six throttle series and the topic's four, of which two subscriptions share one, fourteen series a subscription.
_METRICS = (
    "pulsar_subscription_back_log", "pulsar_subscription_msg_ack_rate", "pulsar_subscription_unacked_messages",
    "pulsar_subscription_consumers_count", "pulsar_out_messages_total", "pulsar_out_bytes_total",
)  # fmt: skip
_THROTTLED = (
    "pulsar_subscription_dispatch_throttled_msg_events",
    "pulsar_subscription_dispatch_throttled_bytes_events",
)
_OF_TOPIC = (
    "pulsar_in_messages_total", "pulsar_in_bytes_total", "pulsar_rate_in", "pulsar_storage_write_rate",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[1_000, 10_000], metavar="N")
    parser.add_argument("--runs", type=int, default=3, help="rounds with everything started")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    parser.add_argument("--alone", type=int, metavar="N", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measure(arguments.alone, arguments.runs)))
        return
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "target_s": TARGET_S,
        "fleets": {},
    }
    for subscriptions in arguments.subscriptions:
        command = [
            sys.executable,
            "-m",
            "benchmarks.gates",
            "--alone",
            str(subscriptions),
            "--runs",
            str(arguments.runs),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        one = found["fleets"][subscriptions] = json.loads(done.stdout.strip().splitlines()[-1])
        print(
            f"{subscriptions:,} subscriptions, {one['samples']:,} samples of {one['series']:,} series: {one['median_s']} s (first "
            f"{one['first_s']} s), processors {one['cpu_median_s']} s, load {one['load_1min']}; by gate {one['gates_s']}; "
            f"{one['checks']} checks held, {one['warnings']} warnings; peak MB {one['memory_mb']}",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def measure(subscriptions: int, runs: int) -> dict:
    """Check one fleet's second hour again and again."""
    session = spark_session("throttlescope-benchmark", cores=2)
    lake, load = lake_of(session, subscriptions), os.getloadavg()[0]
    start_ms, end_ms = START_MS + BLOCK_MS, START_MS + HOURS * BLOCK_MS
    rounds: list[dict] = []
    for number in range(1 + runs):
        seconds, used_s, findings = {}, cpu_s(os.getpid()), {}
        for name, gate in GATES.items():
            began_s = time.monotonic()
            result = gate.check(session, lake, [CLUSTER], start_ms, end_ms, f"run-{number}")
            seconds[name] = round(time.monotonic() - began_s, 2)
            for row in result.rows.to_pylist():
                findings[f"{name} {row['table']} {row['check']}"] = (
                    row["success"],
                    row["severity"],
                    row["observed"],
                )
        rounds.append({"s": seconds, "cpu_s": round(cpu_s(os.getpid()) - used_s, 2), "findings": findings})
        print(f"{subscriptions} subscriptions, round {number}: {seconds}", file=sys.stderr, flush=True)
    memory = memory_mb(os.getpid())
    session.stop()
    findings = rounds[0]["findings"]
    if any(one["findings"] != findings for one in rounds):
        raise RuntimeError("the rounds found different things")
    failed = {name: told for name, told in findings.items() if not told[0]}
    if any(severity == "error" for _, severity, _ in failed.values()) or any(
        "rows_present" in name for name in failed
    ):
        raise RuntimeError(f"a sound hour does not pass: {failed}")
    whole = [round(sum(one["s"].values()), 2) for one in rounds]
    files = lake.files("samples", between={"block_start_ms": (start_ms, end_ms - 1)})
    series = sum(file.rows for file in files)
    return {
        "series": series,
        "samples": series * (BLOCK_MS // MINUTE_MS),
        "first_s": whole[0],
        "seconds": whole[1:],
        "median_s": round(statistics.median(whole[1:]), 1),
        "gates_s": {name: statistics.median(one["s"][name] for one in rounds[1:]) for name in GATES},
        "cpu_median_s": round(statistics.median(one["cpu_s"] for one in rounds[1:]), 1),
        "load_1min": load,
        "memory_mb": memory,
        "checks": sum(told[0] for told in findings.values()),
        "warnings": len(failed),
        "told": {name: told[2] for name, told in findings.items() if told[2]},
    }


def lake_of(session, subscriptions: int) -> Lake:
    """The lake of a fleet; made when it is not there."""
    from throttlescope.ingest.spark.task_executor import SparkPoolExecutor
    from throttlescope.models.diagnosis.apply import build_verdicts
    from throttlescope.transforms.signals import build_signals

    folder = FOLDER / f"{subscriptions}-v{VERSION}"
    lake = Lake((folder / "lake").absolute())
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        keys = [_place(number) for number in range(subscriptions)]
        _write_samples(lake, keys)
        lake.upsert("limits", _limits(keys), run_id="benchmark")
        print(f"{subscriptions} subscriptions: samples are there", file=sys.stderr, flush=True)
        span = ([CLUSTER], START_MS, START_MS + HOURS * BLOCK_MS, "benchmark")
        executor = SparkPoolExecutor(session)
        build_signals(executor, lake, *span)
        build_verdicts(executor, lake, *span)
        (folder / "made").touch()
    return lake


def _place(number: int) -> dict[str, str]:
    namespace = f"acme/team-{number // 250:03d}"
    return {
        "cluster": CLUSTER, "namespace": namespace, "topic": f"persistent://{namespace}/orders-{number // 2:06d}",
        "partition": "-1", "subscription": f"service-{number % 2}", "instance": f"broker-{number // 2 % 8}:8080",
    }  # fmt: skip


def _write_samples(lake: Lake, keys: list[dict[str, str]]) -> None:
    """One file per metric, shard and hour, as ingest leaves them."""
    rng = np.random.default_rng(len(keys))
    times = START_MS + np.arange(HOURS * 60) * MINUTE_MS + 7_000
    minutes = np.arange(HOURS * 60)
    grouped: dict[tuple[str, int], list] = {}
    catalogue = []
    for number, key in enumerate(keys):
        rate = rng.integers(60, 3_000)
        behind = rng.integers(0, 5) * (number % 50 == 0)
        values = {
            "pulsar_subscription_back_log": 10.0 + behind * minutes,
            "pulsar_subscription_msg_ack_rate": np.full(len(minutes), (rate - behind) / 60),
            "pulsar_subscription_unacked_messages": np.full(len(minutes), 3.0),
            "pulsar_subscription_consumers_count": np.full(len(minutes), 2.0),
            "pulsar_out_messages_total": 1e6 + rate * minutes,
            "pulsar_out_bytes_total": 1e9 + 1000.0 * rate * minutes,
        }
        own = {
            name: key[name]
            for name in ("cluster", "namespace", "topic", "partition", "subscription", "instance")
        }
        series = [({"__name__": name} | own, one) for name, one in values.items()]
        series += [
            ({"__name__": name, "reason": level} | own, np.floor(rate / 100 * minutes))
            for name in _THROTTLED
            for level in LEVELS
        ]
        if number % 2 == 0:
            of_topic = {name: value for name, value in own.items() if name != "subscription"}
            flows = (1e6 + rate * minutes, 1e9 + 1000.0 * rate * minutes, np.full(len(minutes), rate / 60))
            series += [
                ({"__name__": name} | of_topic, one)
                for name, one in zip(_OF_TOPIC, (*flows, flows[2]), strict=True)
            ]
        if number % 2 == 0 and number // 2 < 8:
            # The first topic of each broker: every scrape of it succeeded.
            series.append(
                ({"__name__": "up", "cluster": CLUSTER, "instance": own["instance"]}, np.ones(len(minutes)))
            )
        for labels, one in series:
            found = normalise(tuple(labels.items()), LabelMapping())
            catalogue.append((found, int(times[0]), int(times[-1])))
            grouped.setdefault((found.metric_name, found.shard), []).append((found.series_id, one))
    import pyarrow.dataset as ds

    commit_series(lake, ds.dataset(series_rows(catalogue)), "benchmark")
    files = []
    for (metric_name, shard), mine in sorted(grouped.items()):
        mine.sort(key=lambda one: one[0])
        for hour in range(HOURS):
            here, start_ms = slice(hour * 60, hour * 60 + 60), START_MS + hour * BLOCK_MS
            files.append(
                write_data_file(
                    lake.root, "samples", _block(metric_name, shard, start_ms, times[here], mine, here)
                )
            )
    lake.commit("samples", files, run_id="benchmark")


def _block(
    metric_name: str, shard: int, start_ms: int, times: np.ndarray, mine: list, here: slice
) -> pa.Table:
    count, schema = len(mine), TABLES["samples"].loose_schema
    offsets = pa.array(np.arange(count + 1) * len(times), pa.int32())
    columns = {
        "series_id": pa.array([series_id for series_id, _ in mine]),
        "metric_name": pa.repeat(metric_name, count),
        "date": pa.repeat(date_of(start_ms), count),
        "cluster": pa.repeat(CLUSTER, count),
        "shard": pa.repeat(pa.scalar(shard, pa.int32()), count),
        "block_start_ms": pa.repeat(start_ms, count),
        "timestamps_ms": pa.ListArray.from_arrays(offsets, pa.array(np.tile(times, count))),
        "values": pa.ListArray.from_arrays(
            offsets, pa.array(np.concatenate([values[here] for _, values in mine]))
        ),
        "stale_ms": pa.ListArray.from_arrays(
            pa.array(np.zeros(count + 1), pa.int32()), pa.array([], pa.int64())
        ),
    }
    return pa.Table.from_arrays(
        [columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema
    )


def _limits(keys: list[dict[str, str]]) -> pa.Table:
    """Every second topic has a limit; the other levels are known to have none."""
    rows = []
    for number, key in enumerate(keys):
        place = {name: key[name] for name in ("cluster", "namespace", "topic", "subscription")} | {
            "partition": -1
        }
        for level in LEVELS:
            rate = 100 if level == "topic" and number % 4 < 2 else None
            rows.append(
                place
                | {
                    "level": level, "rate_msg": rate, "rate_bytes": None, "period_s": 1, "counts": "messages",
                    "relative_to_publish": False, "exempt_caught_up": False, "read_batch_entries": 100,
                    "read_size_bytes": 5_242_880, "broker": key["instance"], "set_by": "none" if rate is None else "topic_policy",
                    "observed_ms": START_MS + BLOCK_MS, "date": date_of(START_MS),
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema)


if __name__ == "__main__":
    main()
