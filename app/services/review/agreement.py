"""Agreement of verdicts and replays. In: rows of ``episodes`` of a range. Out: an :class:`Agreement`.

A replay was run where the verdicts of an episode leave open whether a limiter or the consumers caused it.
"""

from __future__ import annotations

from dataclasses import dataclass

from throttlescope.app.services.review.query import KEY, ReviewQuery
from throttlescope.models.intervals import wilson


@dataclass(frozen=True)
class Disagreement:
    """An episode whose verdicts suggest one lever, and whose replay shows that another one drains more.

    Attributes
    ----------
    verdict_lever, primary : str
        ``limiter``, ``consumers`` or ``both``.
    gain_entries : float or None
        How much less backlog the replay has at its horizon with the primary lever; None: unknown.
    """

    cluster: str
    namespace: str
    topic: str
    partition: int
    subscription: str
    episode_id: str
    start_ms: int
    cause: str
    verdict_lever: str
    primary: str
    gain_entries: float | None


@dataclass(frozen=True)
class Agreement:
    """How often they agree.

    Attributes
    ----------
    episodes : int
        In the range, Pulsar's own topics included.
    asked, failed : int
        Episodes with a replay, and those of them whose replay failed.
    agree, compared : int
        Of the replays that name a lever.
    wilson : pair of float or None
        95 % interval of agree / compared.
    disagreements : list of Disagreement
        Largest gain first.
    """

    episodes: int
    asked: int
    failed: int
    agree: int
    compared: int
    wilson: tuple[float, float] | None
    disagreements: list[Disagreement]


def agreement_of(query: ReviewQuery) -> Agreement:
    """Count agreement in a range."""
    (total,) = query.rows(f"""
        SELECT count(*) AS episodes, count(counterfactual) AS asked, count(counterfactual.failed) AS failed,
            count(*) FILTER (counterfactual.agrees) AS agree, count(counterfactual.agrees) AS compared
        FROM episodes WHERE {query.spans()}
    """)  # noqa: S608
    rows = query.rows(f"""
        SELECT {KEY}, episode_id, start_ms, cause, counterfactual.verdict_lever AS verdict_lever,
            counterfactual.primary AS primary,
            coalesce(counterfactual.gain_likely_entries, counterfactual.gain_low_entries) AS gain_entries
        FROM episodes WHERE {query.spans()} AND NOT counterfactual.agrees
        ORDER BY gain_entries DESC NULLS LAST, {KEY}, start_ms LIMIT {query.most}
    """)  # noqa: S608
    return Agreement(
        **total,
        wilson=wilson(total["agree"], total["compared"]),
        disagreements=[Disagreement(**row) for row in rows],
    )
