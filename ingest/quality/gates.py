"""All gates in the order in which data passes them. In: the name of a gate. Out: its function and its checks.

Every gate is called in the same way: ``check(session, lake, clusters, start_ms, end_ms, run_id)``. Without a session it counts in this
process; with one, what is large is counted by Spark's tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from throttlescope.ingest.quality import flow_balance, ingest_validation, policies, samples, signals, verdicts
from throttlescope.ingest.quality.checks import GateCheck
from throttlescope.ingest.quality.findings import PRESENT, GateResult


@dataclass(frozen=True)
class Gate:
    """One gate.

    Attributes
    ----------
    between : str
        The two steps that it is between, and what it checks, in words.
    check : callable
        As the module says.
    suites : tuple of (str, tuple of GateCheck)
        What is checked, by table.
    """

    name: str
    between: str
    check: Callable[..., GateResult]
    suites: tuple[tuple[str, tuple[GateCheck, ...]], ...]


GATES: dict[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate(
            "door",
            "sources and the lake: the catalogue, and which hours hold how many series",
            ingest_validation.check_ingested,
            (("series", ingest_validation.SERIES_CHECKS), ("samples", ingest_validation.HOUR_CHECKS)),
        ),
        Gate(
            "samples",
            "ingest and transforms: every block of the range",
            samples.check_samples,
            (("samples", samples.CHECKS),),
        ),
        Gate(
            "policies",
            "the admin API and signals: answers, the limits resolved from them, and stats",
            policies.check_policies,
            (
                ("policies", policies.ANSWER_CHECKS),
                ("limits", policies.LIMIT_CHECKS),
                ("topic_stats", policies.STATS_CHECKS),
            ),
        ),
        Gate(
            "signals",
            "transforms and models: every minute of the range, and whether backlogs move as their flows say",
            signals.check_signals,
            (("signals", (*signals.CHECKS, flow_balance.CHECK)),),
        ),
        Gate(
            "verdicts",
            "models and what follows: every verdict of the range, and subscriptions without one",
            verdicts.check_verdicts,
            (("verdicts", verdicts.SUITE),),
        ),
    )
}

__all__ = ["GATES", "PRESENT", "Gate"]
