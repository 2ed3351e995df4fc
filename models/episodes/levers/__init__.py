"""What would have drained an episode. In: episodes, their verdicts, samples. Out: the column ``counterfactual`` of ``episodes``.

An episode whose verdicts blame both a limiter and the consumers cannot be settled by looking: while one holds, what the other
could do is not seen. ``question`` says which episodes ask and from when on -> ``shard`` reads the samples of those topics, each file
once -> ``lifted`` lifts each cause in a replay -> ``apply`` does it on Spark and writes. Verdict and answer both stay.
"""

from throttlescope.models.episodes.levers.lifted import answer
from throttlescope.models.episodes.levers.question import LeverQuestion, questions

__all__ = ["LeverQuestion", "answer", "questions"]
