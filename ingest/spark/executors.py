"""Executors that answer. In: a session. Out: how many tasks run at once, or one line that says why a task cannot run.

A cluster without a free worker lets a job wait for ever, and one whose executors lack the package, or see another disk
under the lake's path, fails late or, worse, not at all. All three are checked before a run begins.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.spark.tags import cancel_jobs, over_connect, tag_jobs, untag_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COUNTED: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def on_this_machine(session: SparkSession) -> bool:
    """Whether tasks are threads of this machine's JVM, which sees the files that we see."""
    return not over_connect(session) and session.sparkContext.master.startswith("local")


def parallelism(session: SparkSession) -> int:
    """How many tasks run at once; work is cut into as many parts at least."""
    if not over_connect(session):
        return session.sparkContext.defaultParallelism
    if session not in _COUNTED:
        from pyspark.sql import functions as F

        # The server does not tell; a range is cut into as many parts as it has cores.
        parts = session.range(1_000_000).select(F.spark_partition_id()).distinct()
        _COUNTED[session] = max(1, parts.count())
    return _COUNTED[session]


def settled_parallelism(session: SparkSession, *, wait_s: float = 10.0, same_s: float = 1.0) -> int:
    """:func:`parallelism` when no more executors come: they register one after the other behind the first."""
    end_s, since_s, found = time.monotonic() + wait_s, time.monotonic(), parallelism(session)
    while time.monotonic() < end_s and time.monotonic() - since_s < same_s:
        time.sleep(0.1)
        if (now := parallelism(session)) != found:
            found, since_s = now, time.monotonic()
    return found


def ask_executors(session: SparkSession, tasks: int = 1, *, wait_s: float = 180.0) -> list[dict[str, str]]:
    """Run a small task on executors, and let each say what it is.

    Parameters
    ----------
    tasks : int
        How many there are; two of them may meet in one executor.
    wait_s : float
        How long the cluster may take to give the first executor.

    Returns
    -------
    list of dict
        ``host``, ``pid``, ``python``, ``throttlescope`` (its version) and ``found_in`` (its folder) of each task's process.

    Raises
    ------
    SourceError
        No executor came in time.
    InputError
        Executors have no Python, another one, not the package, or another version of it.
    """
    found = [json.loads(row.said) for row in _in_time(session, _say, "said string", tasks, wait_s)]
    for executor in found:
        for name, ours, fix in (
            (
                "python",
                _python(),
                "install that Python there and name it: PYSPARK_PYTHON, or THROTTLESCOPE_PYTHON for the package's archive",
            ),
            ("throttlescope", _version(), "rebuild its archive: throttlescope spark package"),
        ):
            if executor[name] != ours:
                raise InputError(
                    f"An executor has another {name} than this process",
                    got=f"{executor[name]} on {executor['host']}",
                    expected=ours,
                    fix=fix,
                )
    return found


def check_shared_folder(session: SparkSession, folder: str | Path) -> None:
    """See that executors have the same folder under this path: tasks write files there that this process commits.

    Raises
    ------
    InputError
        A file that this process wrote there is not there for an executor.
    """
    folder = Path(folder).absolute()
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    name = f".shared-{uuid.uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
        look = _looker(str(folder / name))
        rows = session.range(0, parallelism(session), 1, parallelism(session)).mapInArrow(look, "host string")
        blind = sorted({row.host for row in rows.collect()})
    except OSError as error:
        raise InputError("The lake's folder cannot be written", got=f"{folder}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
        for one in missing:
            with contextlib.suppress(OSError):
                one.rmdir()
    if blind:
        raise InputError(
            "Executors do not see the lake's folder",
            got=f"{folder} on {', '.join(blind)}",
            expected="one folder that all machines share under the same path, or an object store",
            fix="name such a folder with --lake, or run without --master",
        )


def _in_time(session: SparkSession, function: Callable, schema: str, tasks: int, wait_s: float) -> list[Any]:
    """A small job's rows; cancelled when no executor takes it."""
    tag, late = f"ask-{uuid.uuid4().hex[:12]}", threading.Event()

    def cancel() -> None:
        late.set()
        cancel_jobs(session, tag)

    timer = threading.Timer(wait_s, cancel)
    timer.daemon = True
    tag_jobs(session, tag)
    timer.start()
    try:
        return session.range(0, tasks, 1, tasks).mapInArrow(function, schema).collect()
    except Exception as error:
        if late.is_set():
            raise SourceError(
                "The Spark cluster gave no executor",
                got=f"none in {wait_s:.0f} s",
                fix="see that workers are alive and have free cores and memory (spark.executor.memory, spark.cores.max)",
            ) from error
        raise _explained(error) from error
    finally:
        timer.cancel()
        untag_jobs(session, tag)


def _explained(error: Exception) -> Exception:
    text = str(error)
    if "No module named" in text:
        missing = text.split("No module named", 1)[1].splitlines()[0].strip(" '\".")
        return InputError(
            "Executors do not have the package",
            got=f"no module {missing} there",
            fix="make its archive with throttlescope spark package and name it as package in [spark], "
            "or set PYSPARK_PYTHON to a Python there that has it",
        )
    if "Cannot run program" in text:
        program = text.split("Cannot run program", 1)[1].split(":")[0].strip(' "')
        return InputError(
            "Executors do not have the Python that tasks run on",
            got=program,
            fix="set PYSPARK_PYTHON to one that they have, or give them the package's archive (package in [spark])",
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return InputError(
            "Executors run another Python than this process",
            expected=_python(),
            fix="set PYSPARK_PYTHON to a Python of that release there",
        )
    return error


def _say(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        said = {
            "host": socket.gethostname(),
            "pid": str(os.getpid()),
            "python": _python(),
            "throttlescope": _version(),
            "found_in": str(Path(__file__).parents[2]),
        }
        yield pa.RecordBatch.from_pydict({"said": [json.dumps(said)] * batch.num_rows})


def _looker(path: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            if not os.path.exists(path):
                yield pa.RecordBatch.from_pydict({"host": [socket.gethostname()]})

    return look


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def _version() -> str:
    try:
        return version("throttlescope")
    except PackageNotFoundError:
        return "not installed"
