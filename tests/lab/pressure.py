"""How long processes waited for a CPU: in, process ids; out, waits per minute from ``/proc/PID/task/*/schedstat``.

What counts is the wait per time slice. The share of wall time would not do: a thread that wakes 5,000 times a second
waits 45 us each time for an idle virtual CPU to come back, which is 22 % of wall time on a machine that is half idle.
"""

from __future__ import annotations

import time
from pathlib import Path

#: Threads below this rate are left out: a few kernels charge one of them many seconds of sleep as wait.
_BUSY_SLICES_PER_S = 10


class Pressure:
    """Samples of run-queue waits, one row per process and call of :meth:`sample`."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes
        self._last = {name: (time.monotonic(), _threads(pid)) for name, pid in processes.items()}
        self.rows: list[dict[str, float | str | int]] = []

    def restarted(self, name: str, pid: int) -> None:
        """Go on with another process under a name."""
        self._processes[name] = pid
        self._last[name] = (time.monotonic(), _threads(pid))

    def sample(self) -> None:
        """Add one row per process about the time since the last sample.

        ``run_share`` is the CPU time of all threads as a share of wall time, ``wait_ms_per_slice`` the mean wait of
        busy threads before they ran, ``busiest_wait_share`` the wait of the thread with most slices as a share of
        wall time.
        """
        for name, pid in self._processes.items():
            before_s, before = self._last[name]
            now_s, now = time.monotonic(), _threads(pid)
            wall_s = max(1e-9, now_s - before_s)
            grown = [
                tuple(after - earlier for after, earlier in zip(now[tid], before[tid], strict=True))
                for tid in now.keys() & before.keys()
            ]
            busy = [row for row in grown if row[2] >= _BUSY_SLICES_PER_S * wall_s]
            slices = sum(row[2] for row in busy)
            wait_ns = sum(row[1] for row in busy)
            busiest = max(busy, key=lambda row: row[2], default=(0, 0, 0))
            self.rows.append(
                {
                    "at_ms": round(time.time() * 1000),
                    "process": name,
                    "run_share": round(sum(row[0] for row in grown) / 1e9 / wall_s, 4),
                    "wait_ms_per_slice": round(wait_ns / 1e6 / max(1, slices), 4),
                    "busiest_wait_share": round(busiest[1] / 1e9 / wall_s, 4),
                }
            )
            self._last[name] = (now_s, now)


def _threads(pid: int) -> dict[str, tuple[int, int, int]]:
    threads = {}
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            run_ns, wait_ns, slices = file.read_text().split()
        except (OSError, ValueError):
            continue
        threads[file.parent.name] = (int(run_ns), int(wait_ns), int(slices))
    return threads
