"""Verdicts on the terminal, and as JSON and CSV. In: rows of `verdict_rows`. Out: a table, or dicts ready for JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.app.queries import backlog_ages
from throttlescope.app.queries.verdicts import AGES
from throttlescope.ingest.core import subscription_name
from throttlescope.ingest.core.system_names import is_system
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import MESSAGES
from throttlescope.models.messages.units import count, counted, duration_text, minute_text, percent

if TYPE_CHECKING:
    from throttlescope.app.config import Objectives

_ADDED = ("since_ms", *AGES, *backlog_ages.COLUMNS)


def exported_columns() -> list[str]:
    """Keys of an exported verdict, in their order."""
    from throttlescope.ingest.contracts import TABLES

    return [c.name for c in TABLES["verdicts"].columns if c.name not in ("date", MESSAGES)] + list(_ADDED)


def exported(row: Mapping[str, Any]) -> dict[str, Any]:
    """One verdict as it is printed in JSON and CSV."""
    return {name: row[name] for name in exported_columns()}


def print_summary(rows: Sequence[Mapping[str, Any]], objectives: Objectives, *, now_ms: int) -> None:
    """Print one line per subscription partition: its main cause, and its cause now.

    Healthy subscriptions of Pulsar's own (``__change_events``, ``__compaction`` and the like) are counted, not shown.
    """
    shown = [
        row for row in rows if row["cause"] != "healthy" or not is_system(row["topic"], row["subscription"])
    ]
    hidden = len(rows) - len(shown)
    note = sentence("tables.verdicts.summary_note")
    if hidden:
        note = f"{note} {sentence('tables.verdicts.left_out', hidden=hidden)}"
    dates = {minute_text(ms)[:10] for row in shown for ms in (row["from_ms"], row["to_ms"])}
    # One day for all rows is said once, above the table.
    day, skip = (f", {dates.pop()} UTC", 11) if len(dates) == 1 else ("", 0)
    _print(
        shown,
        objectives,
        [
            (sentence("label.duration_heading"), "right"),
            (sentence("label.between_utc"), "left"),
            (sentence("label.now"), "left"),
        ],
        lambda row: [
            duration_text(row["held_ms"]),
            f"{minute_text(row['from_ms'])[skip:]} to {minute_text(row['to_ms'])[11:]}",
            row["cause_now"] if row["limiter_now"] is None else f"{row['cause_now']} ({row['limiter_now']})",
        ],
        what="subscription",
        after=day,
        end="end_ms",
        notes=note,
        now_ms=now_ms,
    )


def print_windows(rows: Sequence[Mapping[str, Any]], objectives: Objectives, *, now_ms: int) -> None:
    """Print one line per window."""
    _print(
        rows,
        objectives,
        [(sentence("label.duration_heading"), "right"), (sentence("label.window_s_end_utc"), "left")],
        lambda row: [
            duration_text(row["window_end_ms"] - row["since_ms"]),
            minute_text(row["window_end_ms"]),
        ],
        what="verdict",
        after="",
        end="window_end_ms",
        notes=sentence("tables.verdicts.window_note"),
        now_ms=now_ms,
    )


def subscription_text(row: Mapping[str, Any]) -> str:
    """``tenant/ns/topic[-partition-N]#sub``: the selector's form without the usual scheme."""
    return subscription_name.subscription_text(
        row["topic"].removeprefix("persistent://"), row["partition"], row["subscription"]
    )


def _print(rows, objectives, time_columns, time_cells, *, what, after, end, notes, now_ms) -> None:
    keys = [(row["cluster"], subscription_text(row)) for row in rows]
    if len(set(keys)) == len(rows):
        rows = sorted(rows, key=lambda row: (*_harm(row), -row[end]))
    else:
        # Several windows of a subscription are read as a course.
        rows = [row for _, row in sorted(zip(keys, rows, strict=True), key=lambda one: (one[0], one[1][end]))]
    with_cluster = len({row["cluster"] for row in rows}) > 1
    marked = objectives.backlog_entries is not None or objectives.backlog_age_s is not None
    columns = [
        *(((sentence("label.cluster_heading"), "left"),) if with_cluster else ()),
        (sentence("label.subscription_heading"), "left"),
        (sentence("label.cause_heading"), "left"),
        (sentence("label.limiter_heading"), "left"),
        (sentence("label.confidence_heading"), "right"),
        (sentence("label.backlog_entries_heading"), "right"),
        *time_columns,
        (sentence("label.naive_rule_heading"), "left"),
        *(((sentence("label.over_objective"), "left"),) if marked else ()),
    ]
    cells = [
        [
            *((row["cluster"],) if with_cluster else ()),
            subscription_text(row),
            row["cause"],
            row["limiter"] or "-",
            percent(row["confidence"] or None),
            count(row["backlog_entries"]),
            *time_cells(row),
            row["naive_side"],
            *((_broken(row, objectives),) if marked else ()),
        ]
        for row in rows
    ]
    newest_ms = max((row[end] for row in rows), default=None)
    versions = ", ".join(sorted({row["rules_version"] for row in rows})) or "-"
    print_table(
        columns,
        cells,
        title=f"{counted(len(rows), what)}{after}",
        heads=2 if with_cluster else 1,
        notes=[
            f"{notes} {sentence('tables.verdicts.naive')}",
            f"{freshness(newest_ms, now_ms)} Rules {versions}.",
        ],
    )


def _harm(row: Mapping[str, Any]) -> tuple:
    return (row["cause"] == "healthy", -(row["backlog_entries"] or 0), row["cluster"], subscription_text(row))


def _broken(row: Mapping[str, Any], objectives: Objectives) -> str:
    broken = []
    entries = row["backlog_entries"]
    if (
        objectives.backlog_entries is not None
        and entries is not None
        and entries > objectives.backlog_entries
    ):
        broken.append(f"backlog > {count(objectives.backlog_entries)}")
    if objectives.backlog_age_s is not None:
        broken += _too_old(row, objectives.backlog_age_s)
    return ", ".join(broken) or "-"


def _too_old(row: Mapping[str, Any], objective_s: float) -> list[str]:
    """The subscription's own age above the objective; of one that is not known what it is at least, else the topic's age."""
    ages = ((row["oldest_age_s"], "about " if row["oldest_age_source"] == "publish_history" else ""),)
    if row["oldest_age_s"] is None:
        ages = ((row["oldest_age_low_s"], "at least "), (row["backlog_age_s"], "of the topic "))
    return [
        f"age {words}{duration_text(round(age_s * 1000))} > {duration_text(round(objective_s * 1000))}"
        for age_s, words in ages
        if age_s is not None and age_s > objective_s
    ][:1]
