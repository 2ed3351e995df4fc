"""All compiled functions, compiled before somebody waits for them. In: nothing. Out: machine code in the user's cache folder.

A function that Numba compiles is compiled at its first call on a machine, and its machine code is kept on disk (:mod:`throttlescope.ingest.core.compilation`).
All of them together take minutes of processor time; a first query, or processes that begin side by side, would wait for it. So each is called
once here, for a lake of a few samples; where all have been compiled already, nothing is called.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from throttlescope.app.services.whatif import warm
from throttlescope.ingest.core.compilation import not_compiled
from throttlescope.ingest.core.times import BLOCK_MS, MINUTE_MS
from throttlescope.ingest.lake.blocks import load_kernels
from throttlescope.ingest.sources.remote_read import load_decoder
from throttlescope.transforms.compile_minutes import rows_of, small_lake
from throttlescope.transforms.promql.engine import Engine
from throttlescope.transforms.promql.json_points import write_points

_BACKLOG = "pulsar_subscription_back_log"
#: Together they call every compiled function of the PromQL engine.
_QUERIES = (
    "{m}",
    "rate({m}[5m])",
    "sum({m})",
    "max({m})",
    "quantile(0.5, {m})",
    "topk(1, {m})",
    "limitk(1, {m})",
    "histogram_quantile(0.5, {m})",
    "histogram_fraction(0, 1, {m})",
    "exp({m})",
    "{m} ^ 2",
    "{m} atan2 {m}",
    "avg_over_time({m}[5m])",
    "sum_over_time({m}[5m])",
    "max_over_time({m}[5m])",
    "last_over_time({m}[5m])",
    "quantile_over_time(0.5, {m}[5m])",
    "deriv({m}[5m])",
    "double_exponential_smoothing({m}[5m], 0.5, 0.5)",
)


_SIMULATOR = "throttlescope.models.throttling.kernel.simulation.run_packed"


def functions_not_compiled() -> list[str]:
    """Names of all compiled functions of the package whose machine code is not on disk."""
    import throttlescope.models.throttling.kernel  # noqa: F401 - the one module with such functions that nothing here imports

    return not_compiled()


def queries_and_minutes() -> None:
    """Compile what reads samples, stores them, counts them by minute and answers PromQL."""
    load_decoder()
    load_kernels()
    with tempfile.TemporaryDirectory(prefix="throttlescope-compile-") as folder:
        lake = small_lake(Path(folder))
        rows_of(lake)
        engine = Engine(lake)
        for text in _QUERIES:
            engine.range(text.format(m=_BACKLOG), 0, BLOCK_MS, MINUTE_MS, place="local")
    write_points(np.array([0]), np.array([0.5]), np.array([0, 1]))


def main() -> None:
    """Compile what is not compiled; the simulator, which takes as long as the rest, in a second process at the same time."""
    missing = functions_not_compiled()
    simulator = warm.compile_beside()
    if set(missing) - {_SIMULATOR}:
        queries_and_minutes()
    if simulator is not None and simulator.wait():
        raise SystemExit("throttlescope: the simulator could not be compiled; what it printed is above")


if __name__ == "__main__":
    main()
