"""A look at a lake before it is served, in a process of its own. In: a lake's address. Out: which served tables it has, each table of a format that is read.

Delta's and the object store's libraries start threads, and those do not survive the fork that makes the server's workers: the process that
forks them must not have used such a library. The look is a program of its own and no fork, so it also works in a process that has threads.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys

SERVED_TABLES = ("verdicts", "samples")


def begin_look(lake: str) -> subprocess.Popen:
    """Begin to look; :func:`finish_look` has the answer."""
    # -P: a file in the current folder is not taken for a module. What it logs belongs to the server's own stderr.
    command = [sys.executable, "-P", "-m", __name__, lake]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def finish_look(look: subprocess.Popen) -> tuple[str, ...]:
    """Which of the served tables a lake has; every table that is there can be read by this version.

    Raises
    ------
    InputError
        A table has another format, or the settings of the store are wrong.
    ThrottlescopeError
        The lake cannot be reached, with the exit code that the error has.
    RuntimeError
        The process ended without an answer.
    """
    output, _ = look.communicate()
    try:
        answer = json.loads(output)
    except ValueError:
        raise RuntimeError(
            f"the process that looks at {look.args[-1]} ended without an answer, with exit code {look.returncode}"
        ) from None
    if "error" in answer:
        raise _as_error(**answer["error"])
    return tuple(answer["tables"])


def _as_error(exit_code: int, what: str, **parts: str | None) -> Exception:
    from throttlescope.ingest.core.errors import (
        EXIT_INPUT,
        EXIT_UNREACHABLE,
        InputError,
        SourceError,
        ThrottlescopeError,
    )

    kinds = {EXIT_INPUT: InputError, EXIT_UNREACHABLE: SourceError}
    return kinds.get(exit_code, ThrottlescopeError)(what, **parts)


def _answer(lake: str) -> dict:
    from throttlescope.ingest.core.errors import ThrottlescopeError

    try:
        tables = _tables_there(lake)
        if tables:
            _check_formats(lake)
    except ThrottlescopeError as error:
        parts = {"got": error.got, "expected": error.expected, "fix": error.fix}
        texts = {name: None if part is None else str(part) for name, part in parts.items()}
        return {"error": {"exit_code": error.exit_code, "what": error.what, **texts}}
    return {"tables": tables}


def _tables_there(lake: str) -> list[str]:
    from throttlescope.ingest.lake.open_storage import storage_of

    storage = storage_of(lake)
    return [
        table
        for table in SERVED_TABLES
        if storage.exists(f"{table}/_delta_log/{0:020d}.json") or storage.list(f"{table}/_delta_log")
    ]


def _check_formats(lake: str) -> None:
    """Raise where a table has another format. Other faults may pass while the server runs: ``/-/ready`` is about them."""
    from throttlescope.ingest.contracts import TABLES
    from throttlescope.ingest.core.errors import InputError
    from throttlescope.ingest.lake import Lake

    opened = Lake(lake)
    for table in TABLES:
        try:
            opened.version(table)
        except InputError:
            raise
        except Exception:  # noqa: S112
            continue


if __name__ == "__main__":
    # Ctrl-C reaches the server as well, and it ends this process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    json.dump(_answer(sys.argv[1]), sys.stdout)
