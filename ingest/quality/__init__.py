"""The quality gates: in, tables of the lake; out, rows of ``quality`` and whether the run has to stop.

``samples`` is checked between ingest and transforms, ``signals`` between transforms and models. Great Expectations
judges; what it judges is one small row per series and hour (or per subscription), which Spark's tasks compute from
the blocks, so that a gate's cost follows the number of series and not the number of samples.

An *error* stops the run: what would be computed from such a table is wrong. A *warning* does not: what it tells of
happens to healthy sources too, and is carried on as missing or doubtful evidence.
"""

from throttlescope.ingest.quality.expectations import preload
from throttlescope.ingest.quality.findings import GateResult
from throttlescope.ingest.quality.samples import check_samples
from throttlescope.ingest.quality.signals import check_signals

__all__ = ["GateResult", "check_samples", "check_signals", "preload"]
