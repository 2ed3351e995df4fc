"""Settings that meet an objective over weeks. In: minutes of arrivals and an observed window. Out: the smallest values that meet it.

A replay at scrape resolution of two weeks would take hours for every value that is tried. So weeks go through a fluid: ``arrivals``
minute by minute, ``age`` what waits and how old its oldest message is, under a constant ``service``. What a limit, a period or so many
consumers serve is not assumed: the simulator says it, for two minutes of a full backlog. ``keep`` looks for the smallest
value, ``check`` compares the fluid with a replay of the worst half hour, ``words`` says it with its commands.
"""

from throttlescope.models.recommendation.slo.arrivals import ArrivalMinutes, read_minutes
from throttlescope.models.recommendation.slo.result import Keep, SloResult, keep_age

__all__ = ["ArrivalMinutes", "Keep", "SloResult", "keep_age", "read_minutes"]
