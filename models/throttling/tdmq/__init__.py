"""TDMQ's own throttles, simulated as TDMQ's page describes them. In: a scenario. Out: tables of every request.

``scenario`` what is run -> ``simulation`` one run on an ``agenda``: ``production`` and ``consumption`` pass ``gates`` that
the ``cluster`` or the ``partition`` throttle closes -> ``records`` -> ``tables``. ``docs/background/tdmq.md`` shows them.
"""

from throttlescope.models.throttling.tdmq.scenario import (
    ClusterScenario,
    PartitionScenario,
    load_scenario,
    read_scenario,
)
from throttlescope.models.throttling.tdmq.simulation import simulate
from throttlescope.models.throttling.tdmq.tables import Tables

__all__ = [
    "ClusterScenario",
    "PartitionScenario",
    "Tables",
    "load_scenario",
    "read_scenario",
    "simulate",
]
