"""After compiling for minutes, a task of ``signals`` and a diagnosis of one topic compile nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_COMPILE = """
from throttlescope.ingest.core.compilation import are_compiled
from throttlescope.transforms.compile_minutes import MINUTES, compile_minutes
assert not are_compiled(*MINUTES)
compile_minutes()
assert are_compiled(*MINUTES)
"""
_USE = """
import gc, tempfile
from pathlib import Path
import numpy as np
from numba.core.dispatcher import Dispatcher
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS
from throttlescope.transforms.compile_minutes import rows_of, small_lake
from throttlescope.transforms.minutes import metrics_read, minute_rows
from throttlescope.transforms.promql.source import MemorySource, Series

with tempfile.TemporaryDirectory() as folder:
    in_lake = rows_of(small_lake(Path(folder)))
times_ms = np.arange(0, 2 * BLOCK_MS, 15_000)
labels = {"cluster": "c", "namespace": "t/n", "topic": "persistent://t/n/orders", "partition": "-1", "subscription": "s",
          "instance": "b:8080", "job": "broker"}
series = [Series({**labels, "__name__": metric}, times_ms, times_ms / 1000) for metric in sorted(metrics_read())]
limits, stats = (TABLES[name].loose_schema.empty_table() for name in ("limits", "topic_stats"))
rows = minute_rows(MemorySource(series), limits, stats, BLOCK_MS, 2 * BLOCK_MS, {"c": 2 * BLOCK_MS}).num_rows
functions = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
hits, misses = (sum(sum(getattr(one.stats, name).values()) for one in functions) for name in ("cache_hits", "cache_misses"))
print(in_lake, rows, hits, misses)
"""


@pytest.mark.study
@pytest.mark.long
def test_tasks_compile_nothing_afterwards(tmp_path):
    environment = os.environ | {"THROTTLESCOPE_CACHE": str(tmp_path)}

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=550
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(_COMPILE)
    in_lake, rows, hits, misses = (int(number) for number in run(_USE).split())
    assert (in_lake, rows) == (60, 60)
    assert hits > 10
    assert misses == 0
