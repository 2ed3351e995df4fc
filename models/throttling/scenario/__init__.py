"""The scenario: in, a YAML file; out, a checked :class:`Scenario`, or one line that names the wrong field.

One schema serves the lab, which plays a scenario on a real broker, and the simulator, which computes it. A field that
nothing acts on is refused, never ignored: every model forbids extra fields, and what contradicts itself (a broker limit with a
topic, a truth for an unknown subscription) is refused here, before anything starts.
"""

from throttlescope.models.throttling.scenario.broker import Broker, BrokerSettings, Engine
from throttlescope.models.throttling.scenario.file import ScenarioError, load_scenario, load_scenarios
from throttlescope.models.throttling.scenario.limits import Limit, LimitPlace
from throttlescope.models.throttling.scenario.load import (
    BacklogQuota,
    Batching,
    Bursts,
    Hot,
    Producer,
    PublishRate,
    RetryLetter,
    SizeShare,
    Subscription,
    Topic,
)
from throttlescope.models.throttling.scenario.scenario import Scenario
from throttlescope.models.throttling.scenario.timeline import (
    Hang,
    Intervention,
    LiftLimit,
    Seek,
    SetAck,
    SetBacklogQuota,
    SetConsumers,
    SetDelay,
    SetLimit,
    SetRate,
    SetRedelivery,
    SetTtl,
    State,
    TouchPolicy,
    Unload,
)
from throttlescope.models.throttling.scenario.truth import (
    SIDE_OF_CAUSE,
    Check,
    Drains,
    Grows,
    Loses,
    Peaks,
    Shows,
    StaysBelow,
    Ticks,
    Truth,
)

__all__ = [
    "SIDE_OF_CAUSE",
    "BacklogQuota",
    "Batching",
    "Broker",
    "BrokerSettings",
    "Bursts",
    "Check",
    "Drains",
    "Engine",
    "Grows",
    "Hang",
    "Hot",
    "Intervention",
    "LiftLimit",
    "Limit",
    "LimitPlace",
    "Loses",
    "Peaks",
    "Producer",
    "PublishRate",
    "RetryLetter",
    "Scenario",
    "ScenarioError",
    "Seek",
    "SetAck",
    "SetBacklogQuota",
    "SetConsumers",
    "SetDelay",
    "SetLimit",
    "SetRate",
    "SetRedelivery",
    "SetTtl",
    "Shows",
    "SizeShare",
    "State",
    "StaysBelow",
    "Subscription",
    "Ticks",
    "Topic",
    "TouchPolicy",
    "Truth",
    "Unload",
    "load_scenario",
    "load_scenarios",
]
