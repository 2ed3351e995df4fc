"""How right the verdicts are. In: signals and truth. Out: an :class:`Evaluation`, ready for JSON.

Windows are judged (:mod:`judged`), those that lie whole inside one range of truth are settled (:mod:`settled`) and counted
(:mod:`scores`, :mod:`alarm`, :mod:`calibration`, :mod:`flips`); the windows before them give the :mod:`delays`. Simpler rules
(:mod:`baselines`) go through the same counting.
"""

from throttlescope.models.evaluation.evaluation import Evaluation, JudgedRule, Part, evaluate, part_of
from throttlescope.models.evaluation.judged import JudgedWindow, judge
from throttlescope.models.evaluation.settled import Settled, settled_windows

__all__ = [
    "Evaluation",
    "JudgedRule",
    "JudgedWindow",
    "Part",
    "Settled",
    "evaluate",
    "judge",
    "part_of",
    "settled_windows",
]
