"""What to change. In: an observed window with a backlog and a target. Out: the smallest change that helps, and what will not.

``counterfactual`` (in :mod:`throttlescope.models.diagnosis`) finds which lever drains -> ``smallest`` how little of it is enough ->
``commands`` that set it, and roll it back -> ``advice`` combines them to :class:`Recommendation` records. ``slo`` searches the other
way: what would have kept the messages young for two weeks. Nothing is executed.
"""

from throttlescope.models.recommendation.advice import Advice, advise
from throttlescope.models.recommendation.recommendation import Recommendation

__all__ = ["Advice", "Recommendation", "advise"]
