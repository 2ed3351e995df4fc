"""The command line in a process that ends itself and all that it started at a step or a commit. In: ``$FAULT_AT`` and arguments. Out: as the command's.

``step 3``: when the third step is announced. ``commit 5 before`` and ``commit 5 after``: around the fifth commit of a table.
``count FILE``: nowhere; how many of both there were is written there.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def session_members(session: int) -> list[int]:
    """Processes of a session: Spark's workers have a group of their own, and the same session."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                if int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[3]) == session:
                    found.append(int(entry))
    return found


def kill_session(session: int) -> None:
    """SIGKILL to all of a session, its leader last; new ones that were started meanwhile too."""
    for _ in range(3):
        for pid in sorted(session_members(session), key=lambda pid: pid == session):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def main() -> None:
    from throttlescope.app.cli import main as command
    from throttlescope.app.presentation.progress import TerminalProgress
    from throttlescope.ingest.lake import Lake

    at, counted = os.environ.get("FAULT_AT", ""), Counter()
    announced, commit = TerminalProgress.step, Lake.commit

    def reached(what: str) -> None:
        if what == at:
            kill_session(os.getsid(0))

    @contextlib.contextmanager
    def step(self: TerminalProgress, what: str) -> Iterator[TerminalProgress]:
        counted["steps"] += 1
        reached(f"step {counted['steps']}")
        with announced(self, what):
            yield self

    def committed(self: Lake, table: str, *arguments: object, **options: object) -> int | None:
        counted["commits"] += 1
        number = counted["commits"]
        reached(f"commit {number} before")
        version = commit(self, table, *arguments, **options)
        reached(f"commit {number} after")
        return version

    TerminalProgress.step, Lake.commit = step, committed
    try:
        command(sys.argv[1:])
    finally:
        if at.startswith("count "):
            Path(at.removeprefix("count ")).write_text(json.dumps(counted))


if __name__ == "__main__":
    main()
