"""Episodes, incidents and their roll-ups in tables."""

from __future__ import annotations

SENTENCES = {
    "episodes.title": "{episodes}, {open} not drained",
    "episodes.note": (
        "since: when the backlog began to grow (~: it grew already in the first minute of the data; >: the first minute above the floor, "
        "without a clear change). cause: the main cause; confidence: its mean. peak: ready entries (batches). lever: computed where "
        "verdicts name both a limiter and the consumers: the removal that would have drained most at the peak, and how many entries less "
        "half an hour later; !: the main cause is another one. flips/h: how often verdicts changed, and how often after hysteresis."
    ),
    "episodes.incidents.note": "members: with the largest ready backlog (entries). Times are UTC.",
    "episodes.rollups.title": "Episodes by {by}",
    "episodes.rollups.note": (
        "duration: all episodes together; causes: episodes by main cause; partitions: of the worst one's topic."
    ),
}
