"""An answer for programs. In: what was read and what a replay knows. Out: one JSON-able document; units end the names."""

from __future__ import annotations

import math
from typing import Any

from throttlescope.app.presentation import whatif
from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.ingest.core.times import format_time
from throttlescope.models.throttling.replay import Change, Forecast, Outlook, ReplayAnswer
from throttlescope.models.throttling.replay.rebuild import limits_after


def document(found: ReplayInputs, answer: ReplayAnswer) -> dict[str, Any]:
    """Everything that is known, with the curves; ``changed`` and ``effect`` are null where nothing was to be changed."""
    observed, change = answer.observed, answer.change
    is_change = change.words != Change().words
    return {
        "cluster": observed.cluster,
        "namespace": observed.namespace,
        "topic": observed.topic,
        "partition": observed.partition,
        "subscription": observed.subscription,
        "type": observed.types.get(observed.subscription),
        "at": format_time(found.at_ms),
        "at_ms": found.at_ms,
        "change": {
            "limits": dict(change.limits),
            "consumers": change.consumers,
            "processing_ms": change.processing_ms,
            "rate_msg_per_s": change.rate_msg,
            "load": change.load,
            "batch_msg": change.batch_msg,
            "words": whatif.question(answer) if is_change else None,
        },
        "as_is": _forecast(answer.as_is),
        "changed": _forecast(answer.changed) if is_change else None,
        "effect": answer.effect if is_change else None,
        "effect_words": whatif.effect(answer) if is_change else None,
        "backlog_entries": answer.backlog_entries,
        "drained_below_entries": answer.drained_below_entries,
        "horizon_s": found.horizon_s,
        "consumers": observed.consumers(observed.subscription),
        "messages_per_entry": observed.messages_per_entry,
        "limits": limits_after(observed, Change()),
        "arrivals": {
            "msg_per_s": answer.arrivals.msg_per_s,
            "low_msg_per_s": answer.arrivals.low_msg_per_s,
            "high_msg_per_s": answer.arrivals.high_msg_per_s,
            "lower_bound": answer.arrivals.lower_bound,
        },
        "capacity": {
            "seen": answer.capacity.seen,
            "msg_per_s": answer.capacity.msg_per_s,
            "low_msg_per_s": answer.capacity.low_msg_per_s,
            "high_msg_per_s": None if math.isinf(answer.capacity.high_msg_per_s) else answer.capacity.high_msg_per_s,
            "consumers": answer.capacity.consumers,
            "seen_ms": answer.capacity.seen_ms,
            "age_s": answer.capacity.age_s,
        },
        "window": {
            "start_ms": found.start_ms,
            "end_ms": found.at_ms,
            "history_start_ms": int(found.history.times_ms[0]),
            "error_share": answer.speed.error_share,
            "latency_share": answer.speed.fitted_share,
            "least_latency_share": answer.speed.fastest_share,
            "gaps_ms": [list(gap) for gap in observed.gaps],
            "restarts_ms": observed.restarts_ms,
            "times_ms": observed.times_ms.tolist(),
            "backlog_entries": observed.backlog_entries.astype(int).tolist(),
            "replayed_from_ms": int(observed.times_ms[0]),
            "replayed_every_s": 1,
            "replayed_backlog_entries": answer.speed.backlog_entries.tolist(),
        },
        "notes": [note.text for note in answer.notes],
    }  # fmt: skip


def _forecast(forecast: Forecast) -> dict[str, Any]:
    return {
        "drained": whatif.drained(forecast, whatif.PLAIN),
        "earliest_s": forecast.earliest_s,
        "latest_s": forecast.latest_s,
        "fitted": None if forecast.fitted is None else _outlook(forecast.fitted),
        "best": _outlook(forecast.best),
        "worst": _outlook(forecast.worst),
    }


def _outlook(outlook: Outlook) -> dict[str, Any]:
    return {
        "drain_s": outlook.drain_s,
        "held_by": outlook.held_by,
        "growth_entries_per_s": outlook.growth_entries_per_s,
        "out_msg_per_s": outlook.out_msg_per_s,
        "horizon_s": outlook.horizon_s,
        "every_s": outlook.every_s,
        "backlog_entries": outlook.backlog_entries.tolist(),
    }
