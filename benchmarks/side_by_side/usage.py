"""What processes have used. In: a process id. Out: its processor time and its peak memory, from ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path

#: Lines of ``/proc/PID/status``.
_PEAK, _NOW = "VmHWM:", "VmRSS:"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int, *, ended: bool = False) -> float:
    """Processor seconds so far, of a process and of all that it started and that run.

    Parameters
    ----------
    ended : bool
        And of those that ended, as far as their parents waited for it.
    """
    return sum(_cpu_s(one, ended) for one in (pid, *descendants(pid)))


def memory_mb(pid: int, *, peak: bool = True) -> dict[str, float]:
    """Resident memory of a ``process``, and of Spark below it: the ``jvm``, and all Python ``workers`` together.

    Parameters
    ----------
    peak : bool
        The peak so far; otherwise what is resident now.
    """
    field = _PEAK if peak else _NOW
    found = {"process": _field_mb(pid, field)}
    for one in descendants(pid):
        try:
            name, mb = Path(f"/proc/{one}/comm").read_text().strip(), _field_mb(one, field)
        except OSError:
            continue
        kind = "jvm" if name == "java" else "workers" if name.startswith("python") else None
        if kind:
            found[kind] = round(found.get(kind, 0.0) + mb, 1)
    return found


def peak_mb(pid: int) -> float:
    """Peak of the resident memory of one process."""
    return _field_mb(pid, _PEAK)


def resident_mb(pid: int) -> float:
    """Resident memory of a process and of all below it, pages that they share counted once."""
    total = 0
    for one in (pid, *descendants(pid)):
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return round(total / 1024, 1)


def child_running(module: str) -> int:
    """The process that we started last with a module in its command."""
    for pid in reversed(descendants(os.getpid())):
        if module.encode() in Path(f"/proc/{pid}/cmdline").read_bytes() and _parent(pid) == os.getpid():
            return pid
    raise RuntimeError(f"no process below this one runs {module}")


def descendants(pid: int) -> list[int]:
    """Processes below one."""
    found, todo = [], [pid]
    while todo:
        for task in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            try:
                children = [int(text) for text in task.read_text().split()]
            except OSError:
                continue
            found += children
            todo += children
    return found


def _parent(pid: int) -> int:
    text = Path(f"/proc/{pid}/stat").read_text()
    return int(text[text.rindex(")") + 2 :].split()[1])


def _field_mb(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def _cpu_s(pid: int, ended: bool) -> float:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name, in brackets, may hold blanks; fields 14 and 15 are user and system time, 16 and 17 those of children that ended.
    ticks = text[text.rindex(")") + 2 :].split()[11 : 15 if ended else 13]
    return sum(map(int, ticks)) / _TICKS_PER_S
