"""Anomalies as text and for programs. In: rows of `anomaly_rows`. Out: a table, or dicts ready for JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import counted, duration_text, minute_text

if TYPE_CHECKING:
    from throttlescope.app.queries.anomalies import AnomalyRows

#: Units of a signal; samples have none.
UNITS = {
    "in_msg_rate": "msg/s",
    "out_msg_rate": "msg/s",
    "backlog_ready_entries": "entries",
    "throttled_events": "events/min",
}


def exported_columns() -> list[str]:
    """Keys of an exported anomaly, in their order."""
    from throttlescope.ingest.contracts import TABLES

    return [column.name for column in TABLES["anomalies"].columns if column.name != "date"]


def exported(row: Mapping[str, Any]) -> dict[str, Any]:
    """One anomaly as it is printed in JSON and CSV."""
    return {name: row[name] for name in exported_columns()}


def print_anomalies(found: AnomalyRows, *, now_ms: int) -> None:
    """Print one line per anomaly, those of one incident together, and how many are still being learned."""
    live = [row for row in found.rows if row["state"] != "learning"]
    learning = [row for row in found.rows if row["state"] == "learning"]
    begins: dict[str, int] = {}
    for row in live:
        begins[row["group_id"]] = min(row["start_ms"], begins.get(row["group_id"], row["start_ms"]))
    live.sort(
        key=lambda row: (begins[row["group_id"]], row["group_id"], row["start_ms"], subscription_text(row))
    )
    clusters = len({row["cluster"] for row in live}) > 1
    columns = [
        (sentence("label.incident"), "left"),
        *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
        (sentence("label.subscription_heading"), "left"),
        (sentence("label.signal"), "left"),
        (sentence("label.from_utc"), "left"),
        (sentence("label.duration_heading"), "right"),
        (sentence("label.state"), "left"),
        (sentence("label.value_heading"), "right"),
        (sentence("label.usual_heading"), "left"),
        (sentence("label.score"), "right"),
        (sentence("label.verdict_then_heading"), "left"),
        (sentence("label.shared_with"), "left"),
    ]
    cells = [
        [
            row["group_id"][:6],
            *((row["cluster"],) if clusters else ()),
            subscription_text(row),
            f"{row['signal']} {row['direction']}" if row["signal"] != "samples" else "no samples",
            minute_text(row["start_ms"]),
            duration_text(row["end_ms"] - row["start_ms"]),
            row["state"] + (", learned" if row["adopted"] else ""),
            _amount(row["value"], UNITS.get(row["signal"], "")),
            f"{_amount(row['low'])} to {_amount(row['high'])}" if row["high"] is not None else "-",
            f"{row['score']:.1f}",
            row["verdict_cause"] or "-",
            f"{row['shared_kind']} {row['shared_with']}" if row["shared_kind"] else "-",
        ]
        for row in live
    ]
    groups = len(begins)
    what = f"{counted(len(live), 'anomaly', 'anomalies')} in {counted(groups, 'incident')}"
    zones = ", ".join(sorted({row["zone"] for row in found.rows})) or "-"
    versions = ", ".join(sorted({f"{row['method']} {row['method_version']}" for row in found.rows})) or "-"
    print_table(
        columns,
        cells,
        title=f"{what}, {minute_text(found.start_ms)} to {minute_text(found.end_ms)} UTC",
        heads=3 if clusters else 2,
        notes=[
            *([_learning_text(learning)] if learning else []),
            *([sentence("tables.anomalies.note")] if live else []),
            sentence(
                "tables.anomalies.basis",
                freshness=freshness(found.end_ms, now_ms),
                zones=zones,
                versions=versions,
            ),
        ],
    )


def _learning_text(rows: list[dict[str, Any]]) -> str:
    whole = [row for row in rows if row["signal"] == "samples"]
    known = [row["learning_until_ms"] for row in rows if row["learning_until_ms"] is not None]
    parts = [counted(len(whole), "subscription partition")] if whole else []
    if len(rows) > len(whole):
        parts.append(sentence("tables.anomalies.late_signals", signals=len(rows) - len(whole)))
    series = " and ".join(parts)
    if not known:
        return sentence("tables.anomalies.learning_open", series=series)
    return sentence("tables.anomalies.learning", series=series, until=minute_text(min(known)))


def _amount(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".strip()
