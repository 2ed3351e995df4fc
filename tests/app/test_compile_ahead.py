"""Compiling ahead: afterwards nothing is left to compile for a query."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

_PROGRAM = """
import gc, random
from numba.core.dispatcher import Dispatcher
from tests.promql.compare import source_of
from tests.promql.generate import BASE_MS, random_data, random_vector
from throttlescope.app.services.compile_ahead import queries_and_minutes
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.transforms.promql.query import range_query

def compiled():
    functions = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return sum(sum(one.stats.cache_misses.values()) for one in functions)

queries_and_minutes()
before = compiled()
answered = 0
for seed in range(60):
    rng = random.Random(seed)
    source = source_of(random_data(rng))
    for _ in range(5):
        try:
            range_query(random_vector(rng, 3), source, BASE_MS, BASE_MS + 600_000, 60_000)
            answered += 1
        except ThrottlescopeError:
            pass
print(answered, compiled() - before)
"""


@pytest.mark.study
@pytest.mark.long
def test_later_queries_compile_nothing():
    """300 random queries in a process of their own: what a test before this one has called does not count."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=300, check=True
    )
    answered, compiled_later = (int(number) for number in done.stdout.split())
    assert answered > 150
    assert compiled_later == 0


@pytest.mark.long
def test_compiling_process_ends_with_the_one_that_began_it(tmp_path):
    program = "import sys; from throttlescope.app.services.whatif import warm; print(warm.compile_beside().pid, file=open(sys.argv[1], 'w'))"
    environment = os.environ | {"THROTTLESCOPE_CACHE": str(tmp_path)}
    noted = tmp_path / "pid"
    # Not through a pipe: the child would have it, too.
    subprocess.run([sys.executable, "-c", program, noted], env=environment, timeout=120, check=True)
    child = int(noted.read_text())
    until_s = time.monotonic() + 30
    while time.monotonic() < until_s and _is_running(child):
        time.sleep(0.05)
    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that nobody waits for stays in the list of processes after its end.
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"
