"""The compiled simulator, compiled before a request waits for it. In: nothing. Out: whether this process has it.

The first run on a machine compiles for about a minute and leaves the result on disk; a server
has that done by a process of its own, so that it goes on answering meanwhile. One process of a machine compiles at a time, and the others load what is there.
"""

from __future__ import annotations

import atexit
import logging
import subprocess
import sys
import threading

from throttlescope.app.services.simulate.scenario import is_compiled

_LOG = logging.getLogger(__name__)
_LONGEST_S = 900
_ready = threading.Event()
_begun = threading.Lock()


def is_warm() -> bool:
    """Whether a replay can start at once."""
    return _ready.is_set()


def begin() -> None:
    """Load the simulator in a thread; a second call does nothing."""
    if not _ready.is_set() and _begun.acquire(blocking=False):
        threading.Thread(target=_warm, name="simulator", daemon=True).start()


def if_compiled() -> None:
    """Load the simulator before this process is forked, so that its children share it; nothing where it would have to be compiled."""
    if is_compiled():
        now()


def now() -> None:
    """Load the simulator into this process; compile it if it is not compiled yet."""
    from throttlescope.models.throttling import LAB, Scenario
    from throttlescope.models.throttling.compile import compile_scenario
    from throttlescope.models.throttling.simulate import run

    body = {
        "format": 1,
        "name": "warm",
        "topics": [{"name": "orders"}],
        "limits": [
            {"level": "topic", "set_at": "topic", "topic": "orders", "msg": 10},
        ],
        "subscriptions": [
            {"name": "billing", "topic": "orders", "type": "Shared", "consumers": 1, "processing_ms": 1}
        ],
        "producers": [{"topic": "orders", "rate_msg": 10, "size_bytes": 100}],
        "timeline": [{"name": "warm", "duration_s": 1}],
    }
    run(compile_scenario(Scenario.model_validate(body), LAB, 0), LAB)
    _ready.set()


def _warm() -> None:
    try:
        if child := compile_beside():
            child.wait(_LONGEST_S)
        now()
    except Exception:
        _LOG.exception("the simulator could not be loaded")
        _begun.release()


def compile_beside() -> subprocess.Popen | None:
    """Begin to compile it in a child process, unless it is compiled. Who needs it meanwhile waits for the child, which ends with this process."""
    if is_compiled():
        return None
    child = subprocess.Popen([sys.executable, "-m", __name__])
    atexit.register(child.terminate)
    return child


if __name__ == "__main__":
    now()
