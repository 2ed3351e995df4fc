"""The real server and a real Chromium for tests and screenshots. In: a lake. Out: an address and pages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1"]


def chromium_path() -> str | None:
    """``$CHROMIUM``, or Debian's chromium; None where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


@contextmanager
def running_server(lake_path: str) -> Iterator[str]:
    """The app as a person starts it: gunicorn in a process of its own on a free loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = "import sys; from throttlescope.app.web.server import serve; serve(sys.argv[1], port=int(sys.argv[2]))"
    process = subprocess.Popen([sys.executable, "-c", program, lake_path, str(port)])
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/healthz", process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def _wait(address: str, process: subprocess.Popen, timeout_s: float = 180) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode} before it answered")
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:  # noqa: S310
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    raise RuntimeError(f"no answer from {address} within {timeout_s} s")
