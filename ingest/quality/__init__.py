"""The quality gates. In: tables of the lake. Out: rows of ``quality`` and whether the run has to stop.

One gate per boundary that data passes (:mod:`gates`): after ingest validation, between ingest and transforms, after the admin API,
between transforms and models, and after the diagnosis. Great Expectations judges; what it judges are small rows of counted
faults, one per block, subscription hour or answer, which Spark's tasks or DuckDB count, so that a gate's cost follows the
number of series and not the number of samples.

An *error* stops the run: what would be computed from such a table is wrong. A *warning* does not: what it reports
happens to healthy sources too, and verdicts list it as missing or doubtful evidence.
"""

from throttlescope.ingest.quality.expectations import preload
from throttlescope.ingest.quality.findings import GateResult
from throttlescope.ingest.quality.ingest_validation import check_ingested
from throttlescope.ingest.quality.policies import check_policies
from throttlescope.ingest.quality.samples import check_samples
from throttlescope.ingest.quality.signals import check_signals
from throttlescope.ingest.quality.verdicts import check_verdicts

__all__ = [
    "GateResult",
    "check_ingested",
    "check_policies",
    "check_samples",
    "check_signals",
    "check_verdicts",
    "preload",
]
