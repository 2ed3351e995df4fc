"""What to change. In: an observed window with a backlog and a target. Out: the smallest change that helps, and what will not.

``counterfactual`` (in :mod:`throttlescope.models.diagnosis`) says which lever drains -> ``smallest`` how little of it is
enough -> ``commands`` what to type, and how to take it back -> ``advice`` puts them together. ``objective`` asks the other way
round: what would have kept the messages young for two weeks. Nothing is executed.
"""

from throttlescope.models.recommendation.advice import Advice, Recommendation, advise

__all__ = ["Advice", "Recommendation", "advise"]
