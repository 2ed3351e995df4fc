"""The rules on many windows at once. In: rows of ``signals``. Out: verdicts of the windows that need no thought.

``frame`` lays minutes of many subscriptions side by side -> ``limiters`` reads the six limiters -> ``quiet`` finds the
windows in which nothing waits and nothing happened -> ``evidence`` and ``rows`` write their verdicts. What they write is
equal to what :func:`~throttlescope.models.diagnosis.verdict.diagnose` answers, which judges all other windows.
"""

from throttlescope.models.diagnosis.healthy_fast_path.frame import WindowGrid
from throttlescope.models.diagnosis.healthy_fast_path.quiet import COLUMNS
from throttlescope.models.diagnosis.healthy_fast_path.rows import FastAnswer, answers, judge

__all__ = ["COLUMNS", "FastAnswer", "WindowGrid", "answers", "judge"]
