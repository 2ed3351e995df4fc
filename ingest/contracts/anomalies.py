"""Anomalies. In: nothing. Out: the table ``anomalies``: stretches in which a signal of a subscription partition is unusual."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import DATE, SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import CAUSES, LIMITERS

_F = pa.float64()

#: What is judged; ``samples`` is whether there are any.
ANOMALY_SIGNALS = ("in_msg_rate", "out_msg_rate", "backlog_ready_entries", "throttled_events", "samples")
DIRECTIONS = ("up", "down", "silence")
ANOMALY_STATES = ("open", "closed", "learning")
SHARED_KINDS = ("topic", "limiter", "broker", "cluster")


def _opt(name: str, doc: str, type_: pa.DataType = _F, words: tuple[str, ...] | None = None) -> Column:
    return Column(name, type_, doc, True, words)


ANOMALIES = Table(
    "anomalies",
    "One stretch in which a signal of one subscription partition was unusual, or is still being learned.",
    (
        *SUBSCRIPTION_KEY,
        Column("signal", pa.string(), "what was unusual", words=ANOMALY_SIGNALS),
        _opt("direction", "above, below, or no samples; NULL: learning", pa.string(), DIRECTIONS),
        Column("start_ms", pa.int64(), "when it began to stray"),
        Column("end_ms", pa.int64(), "its end, exclusive; of an open one the newest minute that was judged"),
        _opt("detected_ms", "when it could be known: the end of the minute of the alarm", pa.int64()),
        Column(
            "state",
            pa.string(),
            "open at the end of what was judged, closed, or learning",
            words=ANOMALY_STATES,
        ),
        Column("adopted", pa.bool_(), "it ended because it became the new level"),
        _opt(
            "score",
            "greatest sum of deviations / the sum that raises an alarm; silence: length / least length",
        ),
        _opt("worst_ms", "start of the minute that strayed furthest", pa.int64()),
        _opt("value", "there: messages/s of rates, entries of the backlog, events per minute"),
        _opt("expected", "what was expected there"),
        _opt("low", "lower end of the usual there"),
        _opt("high", "upper end of the usual there"),
        _opt("baseline_start_ms", "start of the weeks that it is compared with", pa.int64()),
        _opt("baseline_end_ms", "their end, exclusive: the UTC midnight before it began", pa.int64()),
        Column("baseline_points", pa.int64(), "minutes of them that are known and not masked"),
        Column("masked_share", _F, "share of the known minutes that incidents masked"),
        _opt(
            "learning_until_ms",
            "when judging begins; NULL: no sustained day yet, or not learning",
            pa.int64(),
        ),
        Column("group_id", pa.string(), "the same for anomalies that belong to one incident"),
        Column("group_rows", pa.int32(), "how many rows have this group_id"),
        _opt(
            "shared_kind",
            "what the group's subscriptions share; NULL: one subscription",
            pa.string(),
            SHARED_KINDS,
        ),
        _opt("shared_with", "its name", pa.string()),
        _opt("broker", "instance that served the topic partition then", pa.string()),
        _opt("verdict_cause", "cause of the verdict at the worst minute", pa.string(), CAUSES),
        _opt("verdict_limiter", "its limiter", pa.string(), LIMITERS),
        Column("zone", pa.string(), "IANA time zone of the weeks"),
        Column("method", pa.string(), "name of the method"),
        Column("method_version", pa.string(), "its version"),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "signal", "start_ms"),
    partition_by=("cluster", "date"),
)
