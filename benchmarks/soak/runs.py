"""A run every two minutes, as a scheduler starts it. In: a Prometheus, a lake. Out: how each went, and the memory that it took."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.usage import memory_mb

_LOOK_S = 0.5


def run(url: str, lake: Path, *options: str, log: Path) -> dict[str, Any]:
    """One run, to its end, in a process of its own.

    Returns
    -------
    dict
        ``at_s`` when it began, ``s`` how long it took, its exit ``code``, what it ``said`` where
        it failed, and ``peak_mb`` by kind of process: resident at once, of all processes of that kind together.
    """
    command = [
        sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", url, "--cluster", "fleet", "--lake", str(lake),
        "--since-watermark", "--master", "local[2]", "--quiet", "--format", "json", *options,
    ]  # fmt: skip
    began_s, peak_mb = time.time(), {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            try:
                for kind, mb in memory_mb(process.pid, peak=False).items():
                    peak_mb[kind] = max(peak_mb.get(kind, 0.0), mb)
            except OSError:
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        out, err = process.communicate(timeout=900)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    finally:
        over.set()
        watcher.join()
    with log.open("a") as file:
        file.write(json.dumps({"at_s": began_s, "code": process.returncode, "out": out, "err": err}) + "\n")
    return {
        "at_s": round(began_s, 1), "s": round(time.time() - began_s, 1), "code": process.returncode, "peak_mb": peak_mb,
        "said": err.strip()[-500:],
    }  # fmt: skip


class Runs(threading.Thread):
    """Starts a run every so often, or at once where the one before took longer, until it is stopped."""

    def __init__(self, act: Callable[[], dict[str, Any]], every_s: float) -> None:
        super().__init__(daemon=True)
        self.act, self.every_s = act, every_s
        self.done: list[dict[str, Any]] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            began_s = time.monotonic()
            self.done.append(self.act())
            one = self.done[-1]
            print(
                f"run {len(self.done)}: {one['s']} s, exit code {one['code']}, {one['peak_mb']}",
                file=sys.stderr,
                flush=True,
            )
            self.over.wait(max(0.0, self.every_s - (time.monotonic() - began_s)))
