"""Backlogs by hand. In: entries by the minute and what windows say. Out: rows of ``signals`` and ``verdicts``."""

from __future__ import annotations

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, MINUTE_MS, date_of
from throttlescope.ingest.lake import write_data_file
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.diagnosis.window import SubscriptionKey
from throttlescope.models.episodes.find import episodes_of
from throttlescope.models.episodes.minutes import COLUMNS

DAY = 1_795_046_400_000  # a UTC midnight
assert DAY % DAY_MS == 0
KEY = SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", 0, "billing")

#: One letter a window.
SAYS = {
    "T": ("throttled", "subscription.msg"),
    "P": ("throttled", "topic.msg"),
    "B": ("throttled", "broker.msg"),
    "S": ("slow_consumers", None),
    "C": ("cold_reads", None),
    "N": ("no_consumers", None),
    "h": ("healthy", None),
    "u": ("unknown", None),
}


def minutes(entries, *, key=KEY, start_ms=DAY, rate=5.0, **columns):
    """Rows of ``signals``, one a minute; None is a minute without a sample, a gap has no row.

    Parameters
    ----------
    entries : sequence of (float or None)
        Ready backlog at each minute's end; publishing is ``rate`` entries/s, so the floor is 100 entries.
    columns : dict
        Further columns: a value for all minutes, or {minute: value}.
    """
    rows = []
    for i, ready in enumerate(entries):
        if ready is None:
            continue
        row = dict.fromkeys(TABLES["signals"].schema.names)
        minute_ms = start_ms + i * MINUTE_MS
        row = {
            **key._asdict(),
            "minute_ms": minute_ms,
            "date": date_of(minute_ms),
            "backlog_ready_entries": float(ready),
            "unacked_msg": 0.0,
            "messages_per_entry": 1.0,
            "in_msg_rate_5m": rate,
            "in_span_ms": MINUTE_MS,
            "delta_span_ms": MINUTE_MS,
            "broker": "broker-0:8080",
            "broker_changed": False,
            "counter_resets": 0,
            "coverage_share": 1.0,
            "limits_observed": True,
            "limit_observed_later": False,
            "limits_changed": False,
        }
        for name, value in columns.items():
            row[name] = value.get(i, row.get(name)) if isinstance(value, dict) else value
        rows.append(row)
    return rows


def verdicts(letters, *, key=KEY, start_ms=DAY, window=5, every=5, confidence=0.9):
    """Rows of ``verdicts``, a letter of :data:`SAYS` each; a space is a window without a verdict."""
    rows = []
    for i, letter in enumerate(letters):
        if letter == " ":
            continue
        cause, limiter = SAYS[letter]
        low = start_ms + i * every * MINUTE_MS
        rows.append(
            {
                **key._asdict(),
                "window_start_ms": low,
                "window_end_ms": low + window * MINUTE_MS,
                "side": CAUSE_OF[cause].side,
                "cause": cause,
                "limiter": limiter,
                "confidence": 0.0 if cause == "unknown" else confidence,
                "evidence": [],
                "missing_evidence": [],
                "naive_side": "throttle",
                "rules_version": "2",
                "backlog_entries": None,
                "backlog_growth_entries": None,
                "variant": None,
                "why": None,
                "contributing": [],
                "capacity_msg_rate": None,
                "capacity_seen_ms": None,
                "date": date_of(low),
            }
        )
    return rows


def signals_table(rows):
    schema = pa.schema([TABLES["signals"].loose_schema.field(name) for name in COLUMNS])
    return pa.Table.from_pylist(rows, schema=schema)


def verdicts_table(rows):
    return pa.Table.from_pylist(rows, schema=TABLES["verdicts"].loose_schema)


def episodes(rows, said=(), *, from_ms=None, until_ms=None, stored=()):
    """Episodes of some rows, as dicts."""
    newest = max((row["minute_ms"] for row in rows), default=DAY) + MINUTE_MS
    return episodes_of(
        signals_table(rows),
        verdicts_table(list(said)),
        from_ms=min(row["minute_ms"] for row in rows) if from_ms is None else from_ms,
        judged_until_ms=newest if until_ms is None else until_ms,
        stored=stored,
    ).to_pylist()


def fill(lake, table, rows, time_column):
    """Commit rows as the transforms and the diagnosis do: a file per hour."""
    all_rows = pa.Table.from_pylist(rows, schema=TABLES[table].loose_schema)
    hours = sorted({(row["cluster"], row[time_column] // BLOCK_MS) for row in rows})
    places = [(row["cluster"], row[time_column] // BLOCK_MS) for row in rows]
    files = [
        write_data_file(lake.root, table, all_rows.filter(pa.array([place == hour for place in places])))
        for hour in hours
    ]
    lake.commit(table, files, run_id="by hand")
