"""Review of a week. In: a lake and a range. Out: a :class:`Review`: forecasts, flips, counterfactuals and limits, compared with the outcome.

Only forecasts are recomputed, because their outcome is known later. Nothing is written.
"""

from throttlescope.app.services.review.agreement import Agreement, Disagreement
from throttlescope.app.services.review.flips import VerdictFlips, Wavering
from throttlescope.app.services.review.limits import LimitUse, LimitUses
from throttlescope.app.services.review.review import Review, review_lake

__all__ = [
    "Agreement",
    "Disagreement",
    "LimitUse",
    "LimitUses",
    "Review",
    "VerdictFlips",
    "Wavering",
    "review_lake",
]
