"""Signals in a live Prometheus. In: the shipped rules. Out: the same rules with our labels, and rules about backlogs and queues."""

from __future__ import annotations

from throttlescope.app.rules_export.labels import KEY, normalized
from throttlescope.app.rules_export.options import ExportOptions, duration_text
from throttlescope.app.rules_export.rule_records import ExportedRecording
from throttlescope.ingest.core.system_names import SYSTEM_SUBSCRIPTION, SYSTEM_TOPIC
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.rules.load import PREFIX, column_rules

#: How long the last number of messages per entry is used when nothing is published.
ENTRY_MEMORY = "6h"

#: Columns of ``signals`` that the rules below read.
_GAUGES = (
    "backlog_ready_entries",
    "unacked_msg",
    "consumers",
    "blocked_on_unacked",
    "permits_max",
    "redeliver_msg_rate",
    "write_entry_rate",
    "replication_connected",
)
#: Pulsar has internal topics and subscriptions, such as for compaction, whose backlogs are normal.
NOT_PULSARS_OWN = f'topic!~"{SYSTEM_TOPIC}", subscription!~"{SYSTEM_SUBSCRIPTION}"'
_RATES = ("in_msg_rate_5m", "in_bytes_rate_5m", "out_msg_rate_5m", "out_bytes_rate_5m")


def signal_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Columns of ``signals``, as the shipped rules give them."""
    shipped = column_rules()
    found = []
    for column in (*_GAUGES, "permits_min", *_RATES):
        aggregate = "min" if column == "permits_min" else "sum" if column in _RATES else "max"
        expr = shipped[column].expr.replace("[5m]", f"[{options.window}]")
        found.append(
            ExportedRecording(column_rule(column, options), normalized(aggregate, KEY, expr, options))
        )
    return found


def column_rule(column: str, options: ExportOptions) -> str:
    """The rule of a column; its name ends with the window."""
    return PREFIX + column.replace("_5m", f"_{options.window}")


def backlog_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Rules: is there a backlog, and does it grow or drain? (``models/diagnosis/symptoms/backlog.py``)"""
    window_s = options.window_ms // 1000
    ready, published = f"{PREFIX}backlog_ready_entries{{{NOT_PULSARS_OWN}}}", f"{PREFIX}write_entry_rate"
    growth = column_rule("backlog_growth_entries_5m", options)
    batch, least = _n(t.READ_BATCH_ENTRIES), _n(t.LEAST_ENTRIES)
    per_entry = f"last_over_time({PREFIX}messages_per_entry[{ENTRY_MEMORY}])"
    read = f"{PREFIX}read_entries"
    return [
        ExportedRecording(
            f"{PREFIX}messages_per_entry",
            f"{column_rule('in_msg_rate_5m', options)} / ({published} > 0) > 0",
        ),
        ExportedRecording(
            read,
            f"clamp({batch} / {per_entry}, {least}, {batch})\n  or\n{batch} + 0 * {ready}",
            why=sentence("exported_rules.rule.read_entries"),
        ),
        ExportedRecording(
            f"{PREFIX}undelivered_entries",
            f"clamp_min(\n  {ready}\n    -\n"
            f"  ({PREFIX}unacked_msg / last_over_time({PREFIX}messages_per_entry[{ENTRY_MEMORY}]) or {PREFIX}unacked_msg)\n"
            f", 0)\n  or\n{ready}",
            why=sentence("exported_rules.rule.undelivered_entries"),
        ),
        ExportedRecording(
            f"{PREFIX}backlog_held_entries",
            f"{PREFIX}undelivered_entries\n  >\n({_n(t.HELD_S)} * {published} > {read} or {read})",
            why=sentence("exported_rules.rule.backlog"),
        ),
        ExportedRecording(growth, f"{ready} - {ready} offset {options.window}"),
        ExportedRecording(
            f"{PREFIX}backlog_growing_entries",
            f"{growth}\n  >=\n"
            f"({_n(t.GROWTH_SHARE * window_s)} * {published} > {read} or {read})\n"
            f"  and\n{ready} > {read}",
        ),
        ExportedRecording(
            f"{PREFIX}backlog_gone_in_s",
            f"{window_s} * {ready} / -({growth} < 0)",
            why=sentence("exported_rules.rule.backlog_gone_in"),
        ),
    ]


def queue_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Rules: are the consumers' queues full? (``models/diagnosis/consumer_queues.py``)"""
    unacked, permits_max, permits_min = (
        f"{PREFIX}{name}" for name in ("unacked_msg", "permits_max", "permits_min")
    )
    window, step = options.window, duration_text(options.interval_ms)
    tracked = f"max_over_time({unacked}[{window}]) > 0"
    fill = f"avg_over_time({PREFIX}consumers_fill_share[{window}])"
    starved = f"avg_over_time({PREFIX}consumers_starved[{window}])"
    full = f"{PREFIX}consumers_queue_full"
    unacked_full = _n(t.FILL_FULL_SHARE * t.RECEIVER_QUEUE_MSG)
    return [
        ExportedRecording(
            f"{PREFIX}consumers_starved",
            f"({permits_max} <= bool 0 and {unacked} > 0)\n  or\n{permits_min} <= bool 0",
            why=sentence("exported_rules.rule.consumers_starved"),
        ),
        ExportedRecording(
            f"{PREFIX}consumers_fill_share",
            f"{unacked}\n  /\n"
            f"({unacked} + {PREFIX}consumers * clamp_min(({permits_min} + {permits_max}) / 2, 0) > 0)\n"
            f"  and\n{tracked}",
        ),
        ExportedRecording(
            full,
            f"{starved} >= {_n(t.STARVED_FULL_SHARE)}\n  or\n{fill} >= {_n(t.FILL_FULL_SHARE)}\n  or\n"
            f"({unacked} >= {unacked_full} * ({PREFIX}consumers > 0) unless {permits_max})",
        ),
        ExportedRecording(
            f"{PREFIX}consumers_queue_empty",
            f"(\n  avg_over_time(({unacked} <= bool 0)[{window}:{step}]) >= {_n(t.IDLE_SHARE)} and {tracked}\n    or\n"
            f"  {fill} < {_n(t.FILL_EMPTY_SHARE)}\n    or\n"
            f"  ({starved} < {_n(t.STARVED_EMPTY_SHARE)} unless {fill})\n)\n  unless\n{full}",
        ),
    ]


def _n(value: float) -> str:
    return f"{value:g}"
