"""Backlogs from start to drain. In: signals and verdicts. Out: episodes, roll-ups of them, and shared incidents.

``minutes`` a subscription's backlog -> ``bounds`` its start and end -> ``since`` when it began to grow, ``steady`` its causes over
time, ``marks`` events in it -> ``episode`` one row, continued where an earlier run left it open. ``find`` runs in-process, ``apply``
on Spark; ``incidents`` and ``rollups`` read only episodes.
"""

from throttlescope.models.episodes.incidents import incidents_of
from throttlescope.models.episodes.rollups import BY, rollups

__all__ = ["BY", "incidents_of", "rollups"]
