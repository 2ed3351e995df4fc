"""Our side, in a process of its own. In: requests as lines of JSON. Out: for each a line with its time and the memory so far.

One process serves one lake in one place, in-process or on Spark, and stays warm between requests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.side_by_side.usage import cpu_s, memory_mb
from tests.lab.processes import log_tail, running_process

_ROOT = Path(__file__).parent.parent.parent
_MAX_SAMPLES = 500_000_000
_TIMEOUT_S = 3_600.0


@dataclass(frozen=True)
class Timed:
    """One answer.

    Attributes
    ----------
    seconds : float
        From the text to the JSON.
    json_seconds : float
        What of it was the making of JSON.
    cpu_seconds : float
        Processor time of all processes meanwhile.
    bytes : int
        Length of the JSON.
    memory_mb : dict
        As :func:`usage.memory_mb`.
    """

    seconds: float
    json_seconds: float
    cpu_seconds: float
    bytes: int
    memory_mb: dict[str, float]


class Ours:
    """The process, seen from outside."""

    def __init__(self, process, log_file: Path, answer_file: Path) -> None:
        self._process, self._log_file, self._answer_file = process, log_file, answer_file

    def ask(self, text: str, start_ms: int, end_ms: int, step_ms: int) -> tuple[Timed, bytes]:
        """Have a range query answered and timed."""
        request = {"text": text, "start_ms": start_ms, "end_ms": end_ms, "step_ms": step_ms}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"our side ended:\n{log_tail(self._log_file)}")
        return Timed(**json.loads(line)), self._answer_file.read_bytes()


@contextmanager
def running_ours(lake_dir: Path, place: str, scratch_dir: Path) -> Iterator[Ours]:
    """Start the process for the length of the context; it is ready when it has imported and opened what it needs."""
    log_file, answer_file = scratch_dir / f"{place}.log", scratch_dir / f"{place}.json"
    command = [sys.executable, "-m", "benchmarks.side_by_side.ours", str(lake_dir), place, str(answer_file)]
    with running_process(command, log_file, max_lifetime_s=6 * 3600, cwd=_ROOT, pipes=True) as process:
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"our side did not start:\n{log_tail(log_file)}")
        yield Ours(process, log_file, answer_file)


def main() -> None:
    lake_dir, place, answer_file = sys.argv[1:]
    # Requests and answers have the pipes for themselves, whatever a library prints.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    from throttlescope.ingest.lake import Lake
    from throttlescope.transforms.promql.answer import data_json
    from throttlescope.transforms.promql.engine import Engine
    from throttlescope.transforms.promql.query import Options

    options = Options(max_samples=_MAX_SAMPLES, timeout_s=_TIMEOUT_S)
    session = _session() if place == "spark" else None
    engine = Engine(Lake(lake_dir), (lambda: session) if session else None)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        used_s, began_s = cpu_s(os.getpid()), time.perf_counter()
        answer = engine.range(**request, options=options, place=place)
        answered_s = time.perf_counter()
        content = data_json(answer)
        done_s = time.perf_counter()
        used_s = cpu_s(os.getpid()) - used_s
        Path(answer_file).write_bytes(content)
        timed = Timed(done_s - began_s, done_s - answered_s, used_s, len(content), memory_mb(os.getpid()))
        print(json.dumps(asdict(timed)), file=answers, flush=True)
        del answer, content
    if session:
        session.stop()


def _session():
    from throttlescope.ingest.spark.session import spark_session

    session = spark_session(cores=2)
    # Python workers start with the first task; they belong to a session that is warm.
    session.range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id long").collect()
    return session


if __name__ == "__main__":
    main()
