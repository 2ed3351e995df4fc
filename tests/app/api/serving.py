"""``throttlescope serve`` for tests. In: a lake. Out: the address of a running server, in a process of its own."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.lab.processes import free_port, log_tail, running_process


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    pid: int
    log_file: Path


@contextlib.contextmanager
def serving(lake: str | Path, log_file: Path, *options: str) -> Iterator[Served]:
    """Serve a lake for the length of the context."""
    port = free_port()
    command = [
        sys.executable, "-m", "throttlescope.app.cli",
        "serve", "--lake", str(lake), "--port", str(port), *options,
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with running_process(command, log_file, max_lifetime_s=3600) as process:
        deadline_s = time.monotonic() + 300
        while not _ready(url):
            if process.poll() is not None or time.monotonic() > deadline_s:
                raise RuntimeError(f"serve is not ready:\n{log_tail(log_file)}")
            time.sleep(0.1)
        yield Served(url, process.pid, log_file)


def _ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/-/ready", timeout=5).status_code == 200
    except requests.RequestException:
        return False
