"""Compiling ahead: afterwards nothing is left to compile for a query."""

from __future__ import annotations

import subprocess
import sys

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
