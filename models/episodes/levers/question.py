"""Which episodes need a replay. In: rows of ``episodes`` and of ``verdicts``. Out: one question for each that does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.models.diagnosis.causes import CAUSES
from throttlescope.models.diagnosis.counterfactual import hypotheses_alive
from throttlescope.models.diagnosis.window import SubscriptionKey

#: Raised when the same question would be answered otherwise: answers to an older form are recomputed.
FORM = 1
#: Two that disagree have to be distinguished; one alone is what the verdict says.
LEAST_ALIVE = 2
#: Columns of ``verdicts`` that are read.
VERDICT_COLUMNS = (
    *SUBSCRIPTION_KEY_NAMES, "window_start_ms", "window_end_ms", "cause", "limiter", "contributing",
)  # fmt: skip

_LEVER_OF = {cause.name: cause.lever for cause in CAUSES if cause.lever}


@dataclass(frozen=True)
class LeverQuestion:
    """The question about one episode that a replay answers.

    Attributes
    ----------
    at_ms : int
        From here on causes are lifted: the end of the minute with the largest backlog. What made it is in the window before, and
        what would have drained it had the most to drain.
    limiters : tuple of str
        Limiters that its verdicts name, those named most first.
    verdict_lever, verdict_limiter : str or None
        What the episode's main cause asks for; None where it is neither.
    """

    key: SubscriptionKey
    episode_id: str
    at_ms: int
    limiters: tuple[str, ...]
    verdict_lever: str | None
    verdict_limiter: str | None

    @property
    def stored_part(self) -> dict[str, Any]:
        """The question's part of the stored answer."""
        return {
            "at_ms": self.at_ms,
            "limiters": list(self.limiters),
            "form": FORM,
            "verdict_lever": self.verdict_lever,
        }

    def is_answered(self, stored: Mapping[str, Any] | None) -> bool:
        """Whether a stored answer is one to this question; one that failed is tried again."""
        return (
            stored is not None
            and stored["failed"] is None
            and all(
                stored[name] == value for name, value in self.stored_part.items() if name != "verdict_lever"
            )
        )


def questions(
    episodes: Iterable[Mapping[str, Any]], verdicts: Iterable[Mapping[str, Any]]
) -> dict[str, LeverQuestion]:
    """Questions of the episodes whose verdicts leave two levers open, by episode.

    Parameters
    ----------
    episodes : iterable of mappings
        Rows of ``episodes``.
    verdicts : iterable of mappings
        Rows of ``verdicts`` of the same subscription partitions, with :data:`VERDICT_COLUMNS`.
    """
    said: dict[SubscriptionKey, list[Mapping[str, Any]]] = {}
    for row in verdicts:
        said.setdefault(_key(row), []).append(row)
    found = {}
    for row in episodes:
        key = _key(row)
        mine = [
            one
            for one in said.get(key, ())
            if one["window_end_ms"] > row["start_ms"] and one["window_start_ms"] < row["over_until_ms"]
        ]
        if hypotheses_alive(mine) < LEAST_ALIVE:
            continue
        found[row["episode_id"]] = LeverQuestion(
            key=key,
            episode_id=row["episode_id"],
            at_ms=row["peak_ms"],
            limiters=_named(mine),
            verdict_lever=_LEVER_OF.get(row["cause"]),
            verdict_limiter=row["limiter"],
        )
    return found


def _named(verdicts: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Limiters that hold something by some verdicts, those named most first."""
    count: Counter[str] = Counter()
    for row in verdicts:
        for one in (row, *(row["contributing"] or ())):
            if one["limiter"] and _LEVER_OF.get(one["cause"]) in ("limiter", "both"):
                count[one["limiter"]] += 1
    return tuple(sorted(count, key=lambda name: (-count[name], name)))


def _key(row: Mapping[str, Any]) -> SubscriptionKey:
    return SubscriptionKey(*(row[name] for name in SUBSCRIPTION_KEY_NAMES))
