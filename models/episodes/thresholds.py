"""Every number that decides about an episode: its name, value, unit, and where it comes from.

In: nothing. Out: :data:`THRESHOLDS`, rendered into ``docs/background/episodes.md``, and each value as a constant. The floor of a
backlog is the diagnosis' own: ``READ_BATCH_ENTRIES`` and ``HELD_S``. None was fitted to a recording.
"""

from __future__ import annotations

from functools import partial

from throttlescope.models.diagnosis.thresholds import Threshold, declare

_ALL: list[Threshold] = []
_threshold = partial(declare, _ALL)


# -- from when to when ----------------------------------------------------------------------------

LEAST_MINUTES = _threshold(
    "LEAST_MINUTES", 2, "minutes", "judgement",
    "one minute above the floor alone is a scrape's moment, not a backlog",
)  # fmt: skip
CALM_MINUTES = _threshold(
    "CALM_MINUTES", 5, "known minutes", "judgement",
    "a backlog is gone when it stayed at or below the floor for as long as a verdict's window; minutes without a sample do not count",
)  # fmt: skip
GAP_MINUTES = _threshold(
    "GAP_MINUTES", 2, "minutes", "judgement",
    "from so many minutes without a sample on there is a gap; one alone is a scrape that came late",
)  # fmt: skip
SILENT_MINUTES = _threshold(
    "SILENT_MINUTES", 60, "minutes", "judgement",
    "an open episode of which nothing was seen for so long while others of the cluster were: deleted, or no longer scraped",
)  # fmt: skip

# -- since when -------------------------------------------------------------------------------------

SINCE_MINUTES = _threshold(
    "SINCE_MINUTES", 60, "minutes", "judgement",
    "the change is looked for from so long before the episode's first minute to so long after it",
)  # fmt: skip
PENALTY = _threshold(
    "PENALTY", 2, "noise variances x ln(points)", "statistics",
    "what one more change point has to explain: Schwarz's criterion for a change of a mean, two numbers each",
)  # fmt: skip
NOISE_SHARE = _threshold(
    "NOISE_SHARE", 0.1, "of the floor", "judgement",
    "growth of less per minute is noise, however still the backlog was before: below the floor it comes and goes with every read",
)  # fmt: skip
RISE_SHARE = _threshold(
    "RISE_SHARE", 0.25, "of the growth at the floor", "judgement",
    "a stretch before that grew at least a quarter as fast belongs to the same growth",
)  # fmt: skip

# -- causes over time ---------------------------------------------------------------------------------

REPLACE_WINDOWS = _threshold(
    "REPLACE_WINDOWS", 2, "windows that do not overlap", "judgement",
    "so many have to name another cause or limiter before it replaces the one before",
)  # fmt: skip
REPLACE_WITHIN_WINDOWS = _threshold(
    "REPLACE_WITHIN_WINDOWS", 3, "window lengths", "judgement",
    "and they lie within so much time, with none between them that names the one before; a longer hole in the verdicts "
    "starts over",
)  # fmt: skip

# -- shared incidents ------------------------------------------------------------------------------

SHARED_OVERLAP_MINUTES = _threshold(
    "SHARED_OVERLAP_MINUTES", 5, "minutes", "judgement",
    "a member had the cause for at least a verdict's window while enough others had it",
)  # fmt: skip
SHARED_JOIN_MINUTES = _threshold(
    "SHARED_JOIN_MINUTES", 15, "minutes", "judgement",
    "two incidents of the same thing less than this apart are one: the time in which a cause is replaced",
)  # fmt: skip
LEAST_ON_LIMITER = _threshold(
    "LEAST_ON_LIMITER", 2, "subscription partitions", "engine",
    "one limiter of a topic or a broker that limits two of those that share it is one fact",
)  # fmt: skip
LEAST_ON_POLICY = _threshold(
    "LEAST_ON_POLICY", 2, "topics", "judgement",
    "a namespace's policy is in common when topics that have nothing else in common are limited by it",
)  # fmt: skip
LEAST_ON_BROKER = _threshold(
    "LEAST_ON_BROKER", 3, "topics", "judgement",
    "two topics of one broker may read cold by chance; as many as make anomalies of one broker a group",
)  # fmt: skip

THRESHOLDS: tuple[Threshold, ...] = tuple(_ALL)
