"""The quality gates: in, tables of the lake; out, rows of ``quality`` and whether the run has to stop.

One gate per boundary that data passes (:mod:`gates`): behind the door, between ingest and transforms, behind the admin API,
between transforms and models, and behind the diagnosis. Great Expectations judges; what it judges are small rows of counted
faults, one per block, subscription hour or answer, which Spark's tasks or DuckDB count, so that a gate's cost follows the
number of series and not the number of samples.

An *error* stops the run: what would be computed from such a table is wrong. A *warning* does not: what it tells of
happens to healthy sources too, and is carried on as missing or doubtful evidence.
"""

from throttlescope.ingest.quality.expectations import preload
from throttlescope.ingest.quality.findings import GateResult
from throttlescope.ingest.quality.ingest_validation import check_door
from throttlescope.ingest.quality.policies import check_policies
from throttlescope.ingest.quality.samples import check_samples
from throttlescope.ingest.quality.signals import check_signals
from throttlescope.ingest.quality.verdicts import check_verdicts

__all__ = [
    "GateResult",
    "check_door",
    "check_policies",
    "check_samples",
    "check_signals",
    "check_verdicts",
    "preload",
]
