"""Every step on Spark, however small. In: nothing, or a command's arguments. Out: the thresholds as for a fleet that is too large for one process.

``python -m tests.cluster.spark_ways ARGUMENTS...`` is ``throttlescope ARGUMENTS...`` with them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

#: What is taken for small enough for this process, or to be held at once, by the module that asks.
THRESHOLDS = {
    ("throttlescope.app.pipeline.spark_session", "IN_PROCESS_MINUTES"): -1,
    ("throttlescope.app.pipeline.results", "IN_PROCESS_ROWS"): -1,
    ("throttlescope.app.pipeline.results", "ROWS_WITHOUT_SPARK"): -1,
    ("throttlescope.app.pipeline.results", "COMPARED_IN_PROCESS"): -1,
    ("throttlescope.app.pipeline.results", "COMPARED_WITHOUT_SPARK"): -1,
    ("throttlescope.app.pipeline.incremental.lake_view", "_AT_ONCE_ROWS"): -1,
    ("throttlescope.ingest.quality.frames", "IN_PROCESS_ROWS"): -1,
    ("throttlescope.ingest.quality.samples", "_IN_PROCESS_BLOCKS"): -1,
    ("throttlescope.ingest.pull.commit", "_SERIES_AT_ONCE"): -1,
}


def all_on_spark(put: Callable[[object, str, int], None] = setattr) -> None:
    """Lower every threshold; ``put`` may be pytest's, which takes it back."""
    for (module, name), value in THRESHOLDS.items():
        there = importlib.import_module(module)
        # A threshold that is called otherwise now would leave the small way, unseen.
        assert isinstance(getattr(there, name), int), (module, name)
        put(there, name, value)


if __name__ == "__main__":
    from throttlescope.app.cli import main

    all_on_spark()
    main(sys.argv[1:])
