"""One run: in, a scenario and a seed; out, the tables of what happened. No clock, no file: the same in, the same out."""

from __future__ import annotations

from throttlescope.models.throttling.tdmq.agenda import Agenda
from throttlescope.models.throttling.tdmq.cluster import ClusterThrottle
from throttlescope.models.throttling.tdmq.consumption import Consumption
from throttlescope.models.throttling.tdmq.partition import PartitionThrottle
from throttlescope.models.throttling.tdmq.production import Production
from throttlescope.models.throttling.tdmq.records import Records
from throttlescope.models.throttling.tdmq.scenario import WINDOW_US, ClusterScenario, Scenario
from throttlescope.models.throttling.tdmq.tables import Tables, tables_of
from throttlescope.models.throttling.tdmq.throttle_gates import TdmqGate


def simulate(scenario: Scenario, seed: int = 0) -> Tables:
    """Run a scenario, one request after the other.

    Parameters
    ----------
    scenario : ClusterScenario or PartitionScenario
        From :func:`~throttlescope.models.throttling.tdmq.scenario.load_scenario`, which refuses runs that are too long.
    seed : int
        Of ``spacing: random``; nothing else is drawn.

    Returns
    -------
    Tables
        Windows, requests, deliveries and closings. What happens at or after the end of the run is left out.
    """
    records = Records()
    agenda = Agenda()
    is_cluster = isinstance(scenario, ClusterScenario)
    producing = [quota for quota in scenario.quotas if quota != "consumption"]
    places = range(scenario.places)
    production_gates = [
        TdmqGate(place, producing, records.closings) for place in places if scenario.producers
    ]
    consumption_gates = [
        TdmqGate(place, ["consumption"], records.closings) for place in places if scenario.consumers
    ]
    build = ClusterThrottle if is_cluster else PartitionThrottle
    throttle = build(scenario, agenda, [*production_gates, *consumption_gates], records.thresholds)
    throttle.start()
    consumption = None
    if scenario.consumers:
        consumption = Consumption(scenario.consumers, agenda, consumption_gates, throttle, records.deliveries)
        consumption.start()
    Production(
        scenario,
        seed,
        agenda,
        production_gates,
        throttle,
        holds_answers=is_cluster,
        when_processed=consumption.add if consumption else lambda request: None,
        requests=records.requests,
    ).start()
    agenda.run(scenario.duration_s * WINDOW_US)
    return tables_of(scenario, records)
