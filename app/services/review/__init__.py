"""A look back at a week. In: a lake and a range. Out: a :class:`Review`: forecasts, flips, counterfactuals and limits, held against what came.

Nothing is judged anew but forecasts, whose outcome only later samples tell, and nothing is written.
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
