"""Child processes of the lab: in, a command; out, a running process that ends with us and in bounded time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


#: Below those that the kernel gives to connections: none of them takes a port between its choice and its server's start.
_PORTS = range(15_000, 32_000)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a TCP port that is free on a loopback address right now."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((host, port))
            return port
    raise RuntimeError(f"no free port from {_PORTS.start} to {_PORTS.stop}")


def go_first() -> bool:
    """Run before everything else on the machine, with all processes that are started from now on, where we may.

    Niceness does little where the kernel shares a CPU between sessions of processes (autogroup). What takes less than one of two CPUs leaves
    the rest to others, and these do not make it wait.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (PermissionError, AttributeError):
        return False
    return True


def end_with_parent() -> None:
    """For ``preexec_fn``: a test that is killed must not leave what it started behind."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def running_process(
    command: list[str],
    log_file: Path,
    *,
    max_lifetime_s: float,
    priority: int = 0,
    stop_timeout_s: float = 20.0,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    pipes: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for the length of the context.

    Parameters
    ----------
    command, log_file, env, cwd
        What to start, and the file that takes its standard output and error.
    max_lifetime_s
        The process is terminated after this time even if the context is still open.
    priority
        Niceness, 0 keeps the caller's; a negative one is ignored when we may not ask for it.
    stop_timeout_s
        Time between SIGTERM and SIGKILL when the context closes.
    pipes
        Whether standard input and output are pipes for the caller; the log then takes standard error only.
    """

    def in_child() -> None:
        end_with_parent()
        if priority:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, priority)

    log_file.parent.mkdir(parents=True, exist_ok=True)
    with log_file.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipes else log,
            stderr=log,
            preexec_fn=in_child,
            env=env,
            cwd=cwd,
        )
    watchdog = threading.Timer(max_lifetime_s, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        stop(process, stop_timeout_s)


def stop(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    """End one process by its own id: SIGTERM, then SIGKILL after the timeout."""
    if process.poll() is not None:
        return
    process.terminate()
    # A paused process sees SIGTERM only when it goes on.
    process.send_signal(signal.SIGCONT)
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout_s)


def wait_until_ready(
    process: subprocess.Popen[bytes],
    ready: Callable[[], bool],
    what: str,
    log_file: Path,
    timeout_s: float,
    poll_s: float = 0.2,
) -> None:
    """Wait until a server answers; raise with the end of its log when it ends first or takes too long."""
    deadline = time.monotonic() + timeout_s
    while not ready():
        if process.poll() is not None:
            raise RuntimeError(f"{what} ended at start:\n{log_tail(log_file)}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} not ready after {timeout_s:.0f} s:\n{log_tail(log_file)}")
        time.sleep(poll_s)


def log_tail(log_file: Path, lines: int = 15) -> str:
    """Return the end of a log file, for error messages."""
    if not log_file.exists():
        return "(no log)"
    return "\n".join(log_file.read_text(errors="replace").splitlines()[-lines:])
