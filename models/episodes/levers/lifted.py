"""One episode's answer. In: a question and the samples of its topic. Out: the value of ``counterfactual``.

The half hour before the peak is replayed, then half an hour ahead with each cause lifted; consumers' capacity is looked for a day
back. A topic with so many messages that this would take longer than some ten seconds is replayed for less time, or not at all. Whatever
goes wrong is the answer's ``failed``: other episodes have theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from throttlescope.ingest.core.errors import InputError, ThrottlescopeError
from throttlescope.ingest.core.subscription_name import SubscriptionName
from throttlescope.ingest.core.times import DAY_MS
from throttlescope.models.diagnosis.counterfactual import (
    Counterfactual,
    Counterfactuals,
    counterfactuals,
    limiters_of,
)
from throttlescope.models.episodes.levers.question import LeverQuestion
from throttlescope.models.throttling.replay import Ground, Observed
from throttlescope.models.throttling.replay.admin import TopicFacts
from throttlescope.models.throttling.replay.observed_window import observed_of
from throttlescope.models.throttling.replay.speed import TRIED
from throttlescope.transforms.promql.source import Series

HISTORY_MS = DAY_MS
#: Length of the window, which is the horizon as well: the longest of these that does not take too long.
WINDOWS_S = (1_800, 600, 300)
#: Entries that are simulated for one episode at most. The simulator does a few million in a second.
MOST_ENTRIES = 30_000_000
#: A future is simulated to half its horizon first, and each with what is likely, best and worst.
_FUTURES = 3 * 1.5


def answer(question: LeverQuestion, series: Iterable[Series], facts: TopicFacts) -> dict[str, Any]:
    """Lift each cause of an episode in a replay.

    Parameters
    ----------
    series : iterable of Series
        Those of the topic and of its cluster's brokers, of the day before ``question.at_ms``.
    facts : TopicFacts
        What the admin API reported of the topic.

    Returns
    -------
    dict
        The value of ``counterfactual``; ``failed`` says why there is no more.
    """
    series = list(series)
    try:
        history = _window(question, series, facts, HISTORY_MS)
        for length_s in WINDOWS_S:
            observed = _window(question, series, facts, length_s * 1000)
            named = set(limiters_of(observed)) & set(question.limiters)
            limiters = tuple(name for name in question.limiters if name in named)
            entries = simulated_entries(observed, len(limiters) or len(limiters_of(observed)), length_s)
            if entries <= MOST_ENTRIES:
                break
        else:
            raise InputError(
                "A replay would take too long",
                got=f"{entries:.0e} entries",
                expected=f"at most {MOST_ENTRIES:.0e}",
            )
        found = counterfactuals(observed, limiters, ground=Ground(observed, history), horizon_s=length_s)
    except ThrottlescopeError as error:
        return question.stored_part | {"failed": str(error)}
    except Exception as error:  # One episode's odd samples must not cost the others theirs.
        return question.stored_part | {"failed": f"{type(error).__name__}: {error}"}
    return question.stored_part | _value(question, found, length_s)


def simulated_entries(observed: Observed, limiters: int, length_s: int) -> float:
    """Entries that the replays of a window go through, about.

    The window is replayed at every speed that is tried, the future with each lever and as it is; every reader of the topic
    is simulated. What waits may be drained in each of them.
    """
    published = sum(float(item.in_msg.sum()) for item in observed.partitions.values())
    readers = len({name for name, _ in observed.readers})
    per_s = readers * published / observed.messages_per_entry / observed.elapsed_s
    futures = _FUTURES * (1 + limiters + 1 + bool(limiters))
    waiting = sum(float(item.backlog_entries[-1]) for item in observed.readers.values())
    return per_s * (len(TRIED) * observed.elapsed_s + futures * length_s) + futures * waiting


def verdict_agrees(question: LeverQuestion, primary: str | None, limiter: str | None) -> bool | None:
    """Whether the main cause asks for the lever that drains most; None where one of them names none."""
    if primary is None or question.verdict_lever is None:
        return None
    if primary != question.verdict_lever:
        return False
    return primary != "limiter" or question.verdict_limiter in (None, limiter)


def _window(question: LeverQuestion, series: list[Series], facts: TopicFacts, length_ms: int) -> Observed:
    key = question.key
    name = SubscriptionName(key.topic, None if key.partition < 0 else key.partition, key.subscription)
    return observed_of(key.cluster, name, series, facts, question.at_ms - length_ms, question.at_ms)


def _value(question: LeverQuestion, found: Counterfactuals, length_s: int) -> dict[str, Any]:
    best = _best(found)
    limiter = best.limiter if best is not None and found.primary == "limiter" else None
    capacity = found.capacity
    return {
        "primary": found.primary,
        "limiter": limiter,
        **_gain(best),
        "agrees": verdict_agrees(question, found.primary, limiter),
        "horizon_s": found.horizon_s,
        "window_s": length_s,
        "error_share": found.error_share,
        "capacity_msg_rate": capacity.msg_per_s,
        "capacity_at_least_msg_rate": capacity.low_msg_per_s,
        "capacity_age_s": capacity.age_s,
        "tried": [
            {
                "lever": row.lever,
                "limiter": row.limiter,
                **_gain(row),
                "effect": row.effect,
                "held_by": row.held_by,
            }
            for row in found.rows
        ],
        "notes": [note.stored for note in found.notes],
        "failed": None,
    }


def _best(found: Counterfactuals) -> Counterfactual | None:
    """The row of the primary lever; rows come by what they gain."""
    return found.row_of("together" if found.primary == "both" else found.primary or "")


def _gain(row: Counterfactual | None) -> Mapping[str, float | None]:
    gain = None if row is None else row.gain_entries
    return {
        "gain_low_entries": gain and gain.low,
        "gain_likely_entries": gain and gain.likely,
        "gain_high_entries": gain and gain.high,
    }
