"""A run on the terminal: what its steps report, what a follower reports, and what a backfill plans."""

from __future__ import annotations

_SAMPLES = "{samples} samples of {series} series"
_AT_ONCE = "; read again, because the same is being read by {other}"
_QUESTIONS = "{failures} requests without an answer, such as {scope} of {subject}: {reason}"

SENTENCES = {
    # Steps.
    "pipeline.step.chunks": "Planning the chunks",
    "pipeline.starting_spark": "starting Spark",
    "pipeline.step.anomalies": "Comparing with the weeks before",
    "pipeline.step.history": "Adding a synthetic history, made by the simulator",
    "pipeline.step.whole_range": "Episodes and anomalies of the whole range",
    "pipeline.no_samples": "no samples in the range",
    "pipeline.no_samples.gap": "no samples in the range; a gap was recorded",
    "pipeline.samples.all_new": _SAMPLES,
    "pipeline.samples.some_new": _SAMPLES + ", {new} of them new",
    "pipeline.samples.shared_all_new": _SAMPLES + _AT_ONCE,
    "pipeline.samples.shared_some_new": _SAMPLES + ", {new} of them new" + _AT_ONCE,
    "pipeline.commit_conflict": "another run wrote the same hours; planning them again",
    "pipeline.anomalies": "{anomalies} anomalies",
    "pipeline.anomalies.no_history": "{anomalies} anomalies, not enough history for {series} series (two weeks needed)",
    "pipeline.anomalies.no_history_until": "{anomalies} anomalies, not enough history for {series} series until {until}",
    "pipeline.admin.unanswered": _QUESTIONS,
    "pipeline.admin.expected": "an answer to every request; without one the limit concerned is unknown",
    # Following.
    "pipeline.follow.away": "{source} does not answer, next attempt in {wait_s:.0f} s: {error}",
    "pipeline.follow.back": "{source} answers again after {away_s:.0f} s; what was missed is read now",
    "pipeline.follow.conflict": "{source}: {error}; next attempt in {wait_s:.0f} s",
    "pipeline.follow.ended": "ended after {cycles} cycles; everything that was read is in the lake",
    "pipeline.follow.no_backlog": "no backlog seen yet",
    "pipeline.follow.limits.away": "limits cannot be read for now, known limits stay in use: {error}",
    "pipeline.follow.limits.back": "limits are read again",
    "pipeline.follow.stats.away": "stats of topics cannot be read for now: {error}",
    "pipeline.follow.stats.back": "stats of topics are read again",
    # A backfill's plan.
    "pipeline.plan.nothing": "Every chunk is in the lake; there is nothing to read.",
    "pipeline.plan.chunks": "{left} of {chunks} chunks to read, oldest first, from {start}: "
    "about {samples:,} samples in {requests:,} requests.",
    "pipeline.plan.bytes": "About {read_mb:,.1f} MB read and {stored_mb:,.1f} MB stored, by what earlier reads took per sample.",
    "pipeline.plan.bytes_unknown": "The number of bytes is not known: nothing was read into this lake yet.",
}
