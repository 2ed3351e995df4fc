"""Hand-made windows. In: minutes and words. Out: rows of truth, and windows as they were judged."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.evaluation import JudgedWindow

START_MS = 1_795_000_200_000

THROTTLED = ("throttle", "throttled", "topic.msg")
SLOW = ("consumer_capacity", "slow_consumers")
HEALTHY = ("neither", "healthy")
UNKNOWN = ("unknown", "unknown")


def minute(n: float) -> int:
    return START_MS + round(n * MINUTE_MS)


def key(recording: str, subscription: str = "billing") -> SubscriptionKey:
    return SubscriptionKey(recording, "lab/x", "persistent://lab/x/orders", -1, subscription)


def true(
    recording, start, end, side, cause, limiter=None, *, family="f", kept_aside=False, subscription="billing"
):
    return {
        **key(recording, subscription)._asdict(), "start_ms": minute(start), "end_ms": minute(end), "side": side,
        "cause": cause, "limiter": limiter, "family": family, "recording": recording, "kept_aside": kept_aside,
    }  # fmt: skip


def said(
    recording, start, side, cause, limiter=None, *, naive="neither", subscription="billing", length=5,
    confidence=None, grade="A", missing=(),
):  # fmt: skip
    answered = cause != "unknown"
    return JudgedWindow(
        key=key(recording, subscription),
        start_ms=minute(start),
        end_ms=minute(start + length),
        side=side,
        cause=cause,
        limiter=limiter,
        confidence=(0.95 if confidence is None else confidence) if answered else 0.0,
        grade=grade if answered else "",
        missing=missing,
        rules_version="1",
        baselines={"naive rule": naive},
    )


def truth(rows) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=TABLES["truth"].loose_schema)
