"""Backlogs from start to drain. In: signals and verdicts. Out: episodes, roll-ups of them, and shared incidents.

``minutes`` a subscription's backlog -> ``bounds`` where it begins and is gone -> ``since`` when it began to grow, ``steady`` what
held it when, ``marks`` what happened meanwhile -> ``episode`` one row, continued where an earlier run left it open. ``find``
does it in-process, ``apply`` on Spark; ``incidents`` and ``rollups`` read only episodes.
"""

from throttlescope.models.episodes.incidents import incidents_of
from throttlescope.models.episodes.rollups import BY, rollups

__all__ = ["BY", "incidents_of", "rollups"]
