"""A lake as large as the web app's targets say. In: a size. Out: the lake, made once and kept in ``.bench/web``.

Every hour is written by the lake's own committer, filed as a run files it: windows in which nothing waits in files of a quarter of
a million rows, the others in one of their own. Hours that are there are not made again, so that whoever interrupts it goes on.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from benchmarks.fleet.signals import CLUSTER, START_MS
from benchmarks.web_load.rows import DAYS, END_MS, WINDOW_MS, Subscriptions, hours_of_verdicts
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, date_of
from throttlescope.ingest.lake import Lake, NewFile, write_data_file
from throttlescope.models.diagnosis.latest import build_latest

FOLDER = Path(".bench/web")
VERSION = 2
#: As :mod:`~throttlescope.models.diagnosis.fleet.quiet` files them.
_FILE_ROWS = 250_000


def lake_of(subscriptions: int, watched: int) -> tuple[Lake, dict]:
    """The lake, and what is known of it: rows, files, bytes, and how long ``verdict_latest`` took."""
    folder = FOLDER / f"{subscriptions}-{watched}-v{VERSION}"
    lake, note = Lake(folder / "lake"), folder / "made.json"
    if not note.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fleet = Subscriptions(subscriptions, watched)
        verdicts = _hours(
            folder / "verdicts.jsonl",
            "verdicts",
            {
                int(starts_ms[0]): lambda starts_ms=starts_ms: _verdicts(lake, fleet, starts_ms)
                for starts_ms in hours_of_verdicts()
            },
        )
        signals = _hours(
            folder / "signals.jsonl",
            "signals",
            {
                START_MS + hour * BLOCK_MS: lambda hour=hour: [
                    write_data_file(lake.root, "signals", fleet.watched.hour(hour))
                ]
                for hour in range(DAYS * 24)
            },
        )
        lake.commit("verdicts", verdicts, run_id="benchmark")
        lake.commit("signals", signals, run_id="benchmark")
        episodes = fleet.episodes()
        lake.upsert("episodes", episodes, run_id="benchmark")
        lake.upsert("forecasts", fleet.forecasts(episodes), run_id="benchmark")
        lake.upsert("ingest_runs", _manifest(), run_id="benchmark")
        began_s = time.monotonic()
        latest = build_latest(lake, [CLUSTER], "benchmark")
        note.write_text(
            json.dumps(
                {
                    "subscriptions": subscriptions,
                    "watched": watched,
                    "latest": latest,
                    "latest_s": round(time.monotonic() - began_s, 1),
                    **{
                        table: {
                            "rows": sum(file.rows for file in lake.files(table)),
                            "files": len(lake.files(table)),
                            "megabytes": round(sum(file.size_bytes for file in lake.files(table)) / 1e6, 1),
                        }
                        for table in ("verdicts", "signals", "verdict_latest", "episodes", "forecasts")
                    },
                }
            )
        )
    return lake, json.loads(note.read_text())


def watched_names(subscriptions: int, watched: int) -> list[dict]:
    """Keys of the subscriptions that have minutes, those in trouble first."""
    fleet = Subscriptions(subscriptions, watched).watched
    names = [name for name in fleet.named if name != "broker"]
    order = sorted(range(watched), key=lambda i: (-int(fleet.kind[i] >= 4), i))
    rows = pa.table({name: fleet.named[name] for name in names}).to_pylist()
    return [rows[i] for i in order]


def _verdicts(lake: Lake, fleet: Subscriptions, starts_ms) -> list[NewFile]:
    at_once = _FILE_ROWS // len(starts_ms)
    files, ill = [], []
    for first in range(0, fleet.fleet.count, at_once):
        quiet, others = fleet.verdicts(starts_ms, slice(first, min(first + at_once, fleet.fleet.count)))
        files += _by_day(lake, quiet)
        ill.append(others)
    return files + _by_day(lake, pa.concat_tables(ill))


def _by_day(lake: Lake, rows: pa.Table) -> list[NewFile]:
    return [write_data_file(lake.root, "verdicts", rows)] if rows.num_rows else []


def _hours(note: Path, what: str, work: dict[int, Callable[[], Iterable[NewFile]]]) -> list[NewFile]:
    """Do what is not noted yet, hour by hour."""
    done: dict[int, list[str]] = {}
    if note.exists():
        for line in note.read_text().splitlines():
            one = json.loads(line)
            done[one["hour_ms"]] = one["files"]
    with note.open("a") as notes:
        for place, (hour_ms, make) in enumerate(work.items(), 1):
            if hour_ms in done:
                continue
            done[hour_ms] = [file.to_json() for file in make()]
            notes.write(json.dumps({"hour_ms": hour_ms, "files": done[hour_ms]}) + "\n")
            notes.flush()
            print(f"{what}: hour {place} of {len(work)}", file=sys.stderr, flush=True)
    return [NewFile.from_json(text) for hour_ms in work for text in done[hour_ms]]


def _manifest() -> pa.Table:
    counts = (
        "source_requests", "admin_requests", "source_bytes", "series", "samples", "samples_written", "rows_quarantined",
    )  # fmt: skip
    row = dict.fromkeys(counts, 0) | {
        "run_id": "benchmark", "cluster": CLUSTER, "command": "run", "source": "made", "start_ms": END_MS - 24 * BLOCK_MS,
        "end_ms": END_MS, "started_ms": END_MS, "finished_ms": END_MS + WINDOW_MS, "status": "done", "details": "{}",
        "date": date_of(END_MS),
    }  # fmt: skip
    return pa.Table.from_pylist([row], schema=TABLES["ingest_runs"].loose_schema)
