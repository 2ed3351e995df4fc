"""How fast the web app is on a large lake: real Chromium, and a load of people at once.

In: sizes. Out: a table on standard output, and JSON where it is wanted. The lake is made at the first start and kept in ``.bench/web``
(``benchmarks/web_load/rows.py`` says what is in it): a day of verdicts every five minutes of all subscriptions, and seven days of
minutes of a thousand of them. Whoever interrupts that goes on from there.

1. Pages in a browser with nothing cached, the server warm: to the shell, to the content, bytes.
2. A session in a browser: overview, table, filter, sort, page, search, a subscription, other windows. Callbacks are timed by the
   browser; the time inside the app is from the click to the content.
3. A load: threads in a process of their own make the requests of that session again, each time for another subscription, with 3 to
   10 seconds of thought between two steps. Every answer is timed; the server's memory is looked at every five seconds.

Before 2 and 3 each worker has answered some requests. Targets are those of the project's own list; a missed one is marked.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import requests

from benchmarks.side_by_side.usage import child_running, cpu_s, resident_mb
from benchmarks.web_load.lake import lake_of, watched_names
from benchmarks.web_load.session import CALLBACK, cold_overview, cold_subscription, encodings, href, session
from tests.app.web.browser import running_chromium, running_server

SUBSCRIPTIONS, WATCHED = 100_000, 1_000
USERS, LOAD_S = 30, 300
#: Steps of which the answers are what the second target names.
_CALLBACK_MS, _LOAD_MS, _PAGE_BYTES = 250, 1_000, 1.5e6
_LOOK_S = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subscriptions", type=int, default=SUBSCRIPTIONS, metavar="N")
    parser.add_argument(
        "--watched", type=int, default=WATCHED, metavar="N", help="subscriptions that have minutes"
    )
    parser.add_argument("--users", type=int, default=USERS, metavar="N")
    parser.add_argument("--seconds", type=int, default=LOAD_S, metavar="S", help="length of the load")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of pages and sessions")
    parser.add_argument(
        "--quick", action="store_true", help="a small lake and a short load: to see that it works"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="file for everything that was measured")
    given = parser.parse_args()
    if given.quick:
        given.subscriptions, given.watched, given.users, given.seconds, given.runs = 1_000, 20, 5, 30, 2
    lake, made = lake_of(given.subscriptions, given.watched)
    names = watched_names(given.subscriptions, given.watched)
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "load_1min": os.getloadavg()[0],
        "lake": made,
    }
    with running_server(lake.root) as address:
        server = child_running("throttlescope.app.server.app")
        found["start_s"] = _warm(address, names)
        found |= browse(address, names, given.runs)
        recorded = found.pop("recorded")
        found["load"] = load(address, server, recorded, names, given.users, given.seconds)
    rows = table(found)
    print(
        f"{given.subscriptions:,} subscriptions, {given.watched:,} with minutes; load average {found['load_1min']:.1f} at the start"
    )
    print("| what | median | p95 | target | |\n|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def browse(address: str, names: list[dict], runs: int) -> dict:
    """Pages without a cache, and sessions."""
    overview, subscription, inside, callbacks, recorded = [], [], [], [], None
    for run in range(runs):
        # A browser of its own each time: contexts of one share what the browser compiled.
        with running_chromium() as browser:
            overview.append(cold_overview(browser, address))
            subscription.append(cold_subscription(browser, address, names[run % len(names)]))
        with running_chromium() as browser:
            recorded, seconds = session(browser, address, names[(7 + run) % len(names)])
            inside.append(seconds)
            callbacks += recorded.callbacks
            recorded = {"steps": recorded.steps, "mine": encodings(names[(7 + run) % len(names)])}
        print(f"browser: run {run + 1} of {runs}", file=sys.stderr, flush=True)
    return {
        "cold_overview": overview, "cold_subscription": subscription, "inside": inside, "callbacks": callbacks,
        "recorded": recorded,
    }  # fmt: skip


def load(address: str, server: int, recorded: dict, names: list[dict], users: int, seconds: int) -> dict:
    """Thirty people, and the memory of the server meanwhile."""
    memory: list[tuple[float, float]] = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            memory.append((time.monotonic(), resident_mb(server)))
            over.wait(_LOOK_S)

    work = recorded | {
        "address": address, "users": users, "seconds": seconds, "others": [encodings(name) for name in names],
    }  # fmt: skip
    watcher, used_s = threading.Thread(target=look), cpu_s(server)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(work, file)
        file.flush()
        watcher.start()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.web_load.load", file.name],
                stdout=subprocess.PIPE, check=True, text=True,
            )  # fmt: skip
        finally:
            over.set()
            watcher.join()
    answers = json.loads(done.stdout)
    first_s = memory[0][0]
    return {
        "users": users,
        "seconds": seconds,
        "answers": answers,
        "server_cpu_s": round(cpu_s(server) - used_s, 1),
        "memory_mb": [(round(at_s - first_s, 1), mb) for at_s, mb in memory],
    }


def table(found: dict) -> list[tuple[str, ...]]:
    """Rows of what, median, p95, target, and whether it was met."""
    rows = []

    def add(
        what: str, values: list[float], unit: str, target: float, *, at: str = "median", scale: float = 1.0
    ) -> None:
        median, p95 = statistics.median(values) * scale, _p95(values) * scale
        met = (median if at == "median" else p95) < target
        digits = 0 if unit == "ms" else 2
        rows.append(
            (
                what,
                f"{median:.{digits}f} {unit}",
                f"{p95:.{digits}f} {unit}",
                f"{at} < {target:g} {unit}",
                "" if met else "missed",
            )
        )

    for page in ("overview", "subscription"):
        cold = found[f"cold_{page}"]
        add(f"{page}, cold browser: shell", [one["shell_s"] for one in cold], "s", 1.0)
        add(f"{page}, cold browser: content", [one["content_s"] for one in cold], "s", 3.0)
        if page == "subscription":
            add(f"{page}, cold browser: its last chart", [one["drawn_s"] for one in cold], "s", 3.0)
    for page in found["inside"][0]:
        add(f"{page}, inside the app: content", [one[page] for one in found["inside"]], "s", 1.0)
    add(
        "data of one subscription page",
        [one["data_bytes"] for one in found["cold_subscription"]],
        "MB",
        _PAGE_BYTES / 1e6,
        scale=1e-6,
    )
    add(
        "the same with all scripts, cold",
        [one["all_bytes"] for one in found["cold_subscription"]],
        "MB",
        float("inf"),
        scale=1e-6,
    )
    by_step: dict[str, list[float]] = {}
    for one in found["callbacks"]:
        by_step.setdefault(one["step"], []).append(one["ms"])
    add(
        "callbacks of a session, one person",
        [one["ms"] for one in found["callbacks"]],
        "ms",
        _CALLBACK_MS,
        at="p95",
    )
    for step, values in by_step.items():
        add(f"- {step}", values, "ms", _CALLBACK_MS, at="p95")
    answers = found["load"]["answers"]
    people = f"{found['load']['users']} people"
    add(f"{people}, all answers ({len(answers):,})", [one["ms"] for one in answers], "ms", _LOAD_MS, at="p95")
    callbacks = [one["ms"] for one in answers if one["is_callback"]]
    add(f"{people}, callbacks ({len(callbacks):,})", callbacks, "ms", _LOAD_MS, at="p95")
    wrong = [one["wrong"] for one in answers if one["wrong"]]
    rows.append(
        ("- errors", str(len(wrong)), "", "0", "missed: " + ", ".join(sorted(set(wrong))) if wrong else "")
    )
    used_s = found["load"]["server_cpu_s"]
    rows.append(
        ("- processor time of the server", f"{1000 * used_s / max(1, len(callbacks)):.0f} ms a callback",
         f"{100 * used_s / found['load']['seconds']:.0f} % of a core", "", "")
    )  # fmt: skip
    memory = found["load"]["memory_mb"]
    settled = [mb for at_s, mb in memory if at_s > found["load"]["seconds"] / 3]
    half = len(settled) // 2
    before, after = statistics.median(settled[:half] or settled), statistics.median(settled[half:])
    rows.append(
        ("- memory of the server", f"{before:.0f} MB, then {after:.0f} MB", f"most {max(mb for _, mb in memory):.0f} MB", "flat",
         "" if after < 1.1 * before else "missed")
    )  # fmt: skip
    return rows


def _warm(address: str, names: list[dict]) -> float:
    """Seconds until every worker has answered pages: which one answers cannot be chosen, so each page is requested often."""
    began_s = time.monotonic()
    callbacks = [
        one
        for one in requests.get(address + "/_dash-dependencies", timeout=120).json()
        if not one["clientside_function"]
        and any(part in one["output"] for part in ("page.children", "overview-content."))
    ]
    for path in ("/", "/subscriptions", *(href(name) for name in names[:4])) * 4:
        requests.get(address + path, timeout=120)
        for callback in callbacks:
            requests.post(address + CALLBACK, json=_body(callback, path), timeout=120).raise_for_status()
    return round(time.monotonic() - began_s, 2)


def _body(callback: dict, path: str) -> dict:
    """The request of a callback that reads the address alone, as the browser makes it for a page that is opened."""
    pathname, _, search = path.partition("?")
    address = {"pathname": pathname, "search": f"?{search}" if search else ""}

    def filled(parts: list[dict]) -> list[dict]:
        return [
            part | {"value": address.get(part["property"]) if part["id"] == "address" else None}
            for part in parts
        ]

    names = [name.rsplit(".", 1) for name in callback["output"].strip(".").split("...")]
    outputs = [{"id": name, "property": what} for name, what in names]
    return {
        "output": callback["output"], "outputs": outputs if callback["output"].startswith("..") else outputs[0],
        "inputs": filled(callback["inputs"]), "state": filled(callback["state"]), "changedPropIds": ["address.search"],
    }  # fmt: skip


def _p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


if __name__ == "__main__":
    main()
