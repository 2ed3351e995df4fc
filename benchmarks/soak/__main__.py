"""An hour as it is lived: a Prometheus that scrapes, a run every two minutes, the web app under ten users.

In: a length and sizes. Out: a table on standard output, and JSON where it is wanted. Three brokers of a made fleet answer the scrapes of a
real Prometheus every 15 seconds. Every two minutes ``throttlescope run --since-watermark`` reads it into one lake, on Spark, and the web
app's server with two workers answers ten people beside it, who make the requests of a session in a real Chromium again. At the end:

- every run ended with 0, and no answer of the web app was an error
- the memory of every process that goes on stayed flat, and that of the runs too: the middle of the last third is at most a tenth above
  that of the third before
- every sample that the Prometheus has is in the lake once and as it was scraped, and no other (:mod:`benchmarks.soak.accounts`)
- ``lake check`` finds nothing
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import requests

from benchmarks.fleet.live import CLUSTER, LiveFleet
from benchmarks.side_by_side.usage import child_running, resident_mb
from benchmarks.soak.accounts import account
from benchmarks.soak.runs import Runs, run
from benchmarks.soak.table import table
from benchmarks.web_load.session import encodings, session
from tests.app.http_server import answering
from tests.app.web.browser import running_chromium, running_server
from tests.lab.prometheus import running_prometheus
from throttlescope.ingest.lake import Lake

SCRAPE_S, LOOK_S = 15, 10.0
#: A scrape that began before is stored by then.
_SCRAPED_S = 5
#: Runs, a minute apart, in which there has to be a verdict.
_TRIES = 12


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--subscriptions", type=int, default=200, metavar="N")
    parser.add_argument("--every", type=float, default=120, metavar="S", help="seconds from run to run")
    parser.add_argument("--users", type=int, default=10, metavar="N")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="throttlescope-soak-") as folder:
        found = soak(Path(folder), given.minutes * 60, given.subscriptions, given.every, given.users)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    rows = table(found)
    print("| what | seen | target | |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return 1 if any(row[3] for row in rows) else 0


def soak(folder: Path, seconds: float, subscriptions: int, every_s: float, users: int) -> dict[str, Any]:
    """All of it. Returns what was seen."""
    began_ms = time.time_ns() // 1_000_000
    fleet, lake, log = LiveFleet(subscriptions), Lake(folder / "lake"), folder / "runs.jsonl"
    with contextlib.ExitStack() as stack:
        brokers = stack.enter_context(
            answering(lambda method, path, headers: (200, "text/plain; version=0.0.4", _page(fleet, path)))
        )
        server = stack.enter_context(
            running_prometheus(
                [_scrape(brokers, number) for number in range(3)], scrape_interval_s=SCRAPE_S, remote_write=False,
                out_of_order_window=None, max_lifetime_s=seconds + 3600,
            )
        )  # fmt: skip
        time.sleep(3 * SCRAPE_S)
        # Pages need a lake with verdicts, and these a window of five minutes.
        first = [run(server.url, lake.root, "--start", "-1h", log=log)]
        while not (names := _names(lake)):
            if first[-1]["code"] != 0 or len(first) == _TRIES:
                raise RuntimeError(f"no verdict after {len(first)} runs: {first[-1]['said']}")
            time.sleep(60)
            first.append(run(server.url, lake.root, log=log))
        address = stack.enter_context(running_server(lake.root))
        with running_chromium() as browser:
            recorded, _ = session(browser, address, names[0])
        work = {
            "steps": recorded.steps, "mine": encodings(names[0]), "others": [encodings(name) for name in names],
            "address": address, "users": users, "seconds": seconds,
        }  # fmt: skip
        memory = stack.enter_context(
            _watched({"web server": child_running("throttlescope.app.server.app"), "Prometheus": server.pid})
        )
        runs = Runs(lambda: run(server.url, lake.root, log=log), every_s)
        runs.start()
        answers = _load(folder, work)
        runs.over.set()
        runs.join()
        until_ms = time.time_ns() // 1_000_000 - _SCRAPED_S * 1000
        last = run(server.url, lake.root, log=log)
        time.sleep(1)
        accounts = account(server.url, lake, began_ms, until_ms)
        ready = requests.get(f"{address}/-/ready", timeout=60).status_code
    check = subprocess.run(
        [sys.executable, "-m", "throttlescope.app.cli", "lake", "check", "--lake", str(lake.root)],
        capture_output=True, text=True,
    )  # fmt: skip
    return {
        "subscriptions": subscriptions, "seconds": seconds, "every_s": every_s, "users": users, "cores": os.cpu_count(),
        "runs": [*first, *runs.done, last], "answers": _summed(answers), "memory_mb": memory, "accounts": accounts, "ready": ready,
        "check": {"code": check.returncode} | ({"said": check.stdout.strip()[-500:]} if check.returncode else {}),
        "quarantined": lake.read("quarantine").num_rows,
        "lake": {table: len(lake.files(table)) for table in ("samples", "signals", "verdicts", "quality")},
    }  # fmt: skip


def _page(fleet: LiveFleet, path: str) -> bytes:
    return fleet.page(time.time_ns() // 1_000_000, f"broker-{path.rpartition('/')[2]}:8080").encode()


def _scrape(brokers: str, number: int) -> dict[str, Any]:
    return {
        "job_name": f"broker-{number}",
        "metrics_path": f"/metrics/{number}",
        "honor_labels": True,
        "static_configs": [
            {
                "targets": [brokers.removeprefix("http://")],
                "labels": {"instance": f"broker-{number}:8080", "job": "pulsar", "cluster": CLUSTER},
            }
        ],
    }


def _names(lake: Lake) -> list[dict[str, Any]]:
    """Subscriptions that have verdicts, those with a backlog first."""
    rows = lake.read("verdict_latest").to_pylist()
    rows.sort(key=lambda row: (row["cause"] == "healthy", row["topic"], row["subscription"]))
    return [
        {name: row[name] for name in ("cluster", "topic", "partition", "subscription")} for row in rows[:50]
    ]


def _load(folder: Path, work: dict[str, Any]) -> list[dict[str, Any]]:
    """Ten people, in a process of their own, until the time is over."""
    file = folder / "work.json"
    file.write_text(json.dumps(work))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.web_load.load", str(file)], stdout=subprocess.PIPE, check=True, text=True
    )  # fmt: skip
    return json.loads(done.stdout)


def _summed(answers: list[dict[str, Any]]) -> dict[str, Any]:
    wrong: dict[str, int] = {}
    for one in answers:
        if one["wrong"]:
            wrong[one["wrong"]] = wrong.get(one["wrong"], 0) + 1
    took = sorted(one["ms"] for one in answers)
    return {"count": len(took), "p95_ms": took[int(0.95 * (len(took) - 1))], "wrong": wrong}


@contextlib.contextmanager
def _watched(pids: dict[str, int]) -> Any:
    """Looks at the memory of processes, with all below them, until the end of the context."""
    began_s, over = time.monotonic(), threading.Event()
    looks: dict[str, list[tuple[float, float]]] = {name: [] for name in pids}

    def look() -> None:
        while not over.wait(LOOK_S):
            for name, pid in pids.items():
                looks[name].append((round(time.monotonic() - began_s, 1), resident_mb(pid)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield looks
    finally:
        over.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(main())
