"""How long processes waited for a CPU: in, process ids; out, waits per minute from ``/proc/PID/task/*/schedstat``."""

from __future__ import annotations

import time
from pathlib import Path


class Pressure:
    """Samples of run-queue waits, one row per process and call of :meth:`sample`."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes
        self._last = {name: (time.monotonic(), _threads(pid)) for name, pid in processes.items()}
        self.rows: list[dict[str, float | str | int]] = []

    def sample(self) -> None:
        """Add one row per process: shares of wall time since the last sample.

        ``run_share`` is CPU time of all threads, ``wait_share`` the waiting of the thread that waited most, and
        ``wait_share_all`` the sum over all threads.
        """
        for name, pid in self._processes.items():
            before_s, before = self._last[name]
            now_s, now = time.monotonic(), _threads(pid)
            wall_ns = max(1.0, (now_s - before_s) * 1e9)
            waits = [wait - before.get(tid, (0, 0))[1] for tid, (_, wait) in now.items()]
            runs = [run - before.get(tid, (0, 0))[0] for tid, (run, _) in now.items()]
            self.rows.append(
                {
                    "at_ms": round(time.time() * 1000),
                    "process": name,
                    "run_share": round(sum(runs) / wall_ns, 4),
                    "wait_share": round(max(waits, default=0) / wall_ns, 4),
                    "wait_share_all": round(sum(waits) / wall_ns, 4),
                }
            )
            self._last[name] = (now_s, now)


def _threads(pid: int) -> dict[str, tuple[int, int]]:
    threads = {}
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            run_ns, wait_ns, _ = file.read_text().split()
        except (OSError, ValueError):
            continue
        threads[file.parent.name] = (int(run_ns), int(wait_ns))
    return threads
