"""What is expected. In: nothing. Out: the table ``forecasts``; each is kept as it was made, so that it can be compared with what happened."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts.keys import DATE, SUBSCRIPTION_KEY, SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.table import Column, Table
from throttlescope.ingest.contracts.vocabulary import SET_BY

FORECAST_KINDS = ("drain", "ttl", "quota_size", "quota_age")
#: ``never``: not at this rate. ``unknown``: there is no trend to go by yet.
FORECAST_STATES = ("expected", "never", "unknown")
FORECAST_METHODS = ("trend", "replay")


def _opt(name: str, doc: str, type_: pa.DataType, words: tuple[str, ...] | None = None) -> Column:
    return Column(name, type_, doc, True, words)


#: Key and values of each sentence as JSON, by column.
FORECAST_MESSAGES = pa.struct(
    [pa.field("consequence", pa.list_(pa.string())), pa.field("basis", pa.list_(pa.string()))]
)

FORECASTS = Table(
    "forecasts",
    "One moment that was forecast for one subscription partition, as it was made. Times are of the first check of the "
    "broker, or the first sample, that finds it so.",
    (
        *SUBSCRIPTION_KEY,
        Column("made_at_ms", pa.int64(), "nothing later than this was looked at"),
        Column(
            "kind",
            pa.string(),
            "the backlog is drained, message TTL expires messages, or a backlog quota (by size, by age) is exceeded",
            words=FORECAST_KINDS,
        ),
        Column(
            "method", pa.string(), "trend of the signals, or replay of the limiters", words=FORECAST_METHODS
        ),
        Column(
            "state",
            pa.string(),
            "expected; never at this rate; unknown while there is no trend to go by",
            words=FORECAST_STATES,
        ),
        _opt("predicted_ms", "median; NULL: never or unknown", pa.int64()),
        _opt("low_ms", "start of the 90 % interval; NULL: never or unknown", pa.int64()),
        _opt("high_ms", "its end; NULL with a predicted time: open, it may never come", pa.int64()),
        _opt(
            "probability",
            "of a deadline: that it comes before the backlog is drained; of a drain: the share of earlier forecasts of this "
            "reach that drained at all",
            pa.float64(),
        ),
        _opt(
            "now",
            "value at made_at_ms: entries (drain), bytes (quota_size), seconds (ttl, quota_age)",
            pa.float64(),
        ),
        _opt("threshold", "value at which it happens, in the same unit", pa.float64()),
        Column("unit", pa.string(), "unit of now and threshold", words=("entries", "bytes", "s")),
        _opt("change_per_s", "change of the value per second that the forecast goes on", pa.float64()),
        _opt("window_start_ms", "start of the stretch that the change was seen in", pa.int64()),
        _opt("points", "samples in it", pa.int32()),
        _opt("check_interval_ms", "how often the broker looks; NULL: not a check of the broker", pa.int64()),
        _opt("set_by", "which record set the threshold; NULL: none did", pa.string(), SET_BY),
        Column("consequence", pa.string(), "what happens then, in words"),
        Column("basis", pa.string(), "what the interval rests on, in words"),
        Column("method_version", pa.string(), "version of the method and of its calibration"),
        _opt(
            "messages",
            "key and values, rounded as shown, of each sentence of consequence and basis as JSON, for other languages; NULL: older rows",
            FORECAST_MESSAGES,
        ),
        DATE,
    ),
    key=(*SUBSCRIPTION_KEY_NAMES, "made_at_ms", "kind", "method"),
    partition_by=("cluster", "date"),
)
