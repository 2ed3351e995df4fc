"""Episodes as text and for programs. In: rows of `episode_rows`. Out: tables, or dicts ready for JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from throttlescope.app.presentation.output import freshness, print_table
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count, counted, duration_text, minute_text, percent

_SINCE = {"change_point": "", "first_minute": ">", "start_of_data": "~"}
_KINDS = {
    "broker": "broker",
    "broker_limiter": "broker",
    "namespace_policy": "policies of namespace",
    "topic_limiter": "topic",
}

ROLLUP_COLUMNS = (
    "cluster", "name", "episodes", "open", "subscription_partitions", "topics", "partitions", "partitions_of", "causes",
    "held_ms", "total_ms", "since_ms", "worst",
)  # fmt: skip


def exported_columns(table: str) -> list[str]:
    """Keys of an exported episode or incident, in their order."""
    from throttlescope.ingest.contracts import TABLES

    return [column.name for column in TABLES[table].columns if column.name != "date"]


def exported(row: Mapping[str, Any], table: str) -> dict[str, Any]:
    """One episode or incident as it is printed in JSON and CSV."""
    return {name: row[name] for name in exported_columns(table)}


def print_episodes(rows: Sequence[Mapping[str, Any]], *, now_ms: int) -> None:
    """Print one line per episode: open ones first, the largest backlog first."""
    rows = sorted(rows, key=lambda row: (row["end_ms"] is not None, -row["peak_entries"], row["episode_id"]))
    clusters = len({row["cluster"] for row in rows}) > 1
    columns = [
        *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
        (sentence("label.subscription_heading"), "left"),
        (sentence("label.since_utc"), "left"),
        (sentence("label.duration_heading"), "right"),
        (sentence("label.state"), "left"),
        (sentence("label.cause_heading"), "left"),
        (sentence("label.limiter_heading"), "left"),
        (sentence("label.confidence_heading"), "right"),
        (sentence("label.lever"), "left"),
        (sentence("label.peak_entries"), "right"),
        (sentence("label.causes"), "left"),
        (sentence("label.flips_per_h"), "right"),
        (sentence("label.marks"), "left"),
    ]
    cells = [
        [
            *((row["cluster"],) if clusters else ()),
            subscription_text(row),
            f"{_SINCE[row['since_method']]}{minute_text(row['since_ms'])}",
            duration_text((row["end_ms"] or row["known_until_ms"]) - row["since_ms"]),
            row["state"],
            row["cause"],
            row["limiter"] or "-",
            percent(row["confidence"] or None),
            lever_text(row["counterfactual"]),
            count(row["peak_entries"]),
            _causes_text(row["causes"]),
            f"{_rate(row['flips_before_per_h'])} -> {_rate(row['flips_after_per_h'])}",
            _marks_text(row["marks"]),
        ]
        for row in rows
    ]
    still = sum(row["end_ms"] is None for row in rows)
    newest_ms = max((row["judged_until_ms"] for row in rows), default=None)
    print_table(
        columns,
        cells,
        title=sentence("episodes.title", episodes=counted(len(rows), "episode"), open=still),
        heads=2 if clusters else 1,
        notes=[*([sentence("episodes.note")] if rows else []), freshness(newest_ms, now_ms)],
    )


def print_incidents(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one line per shared incident, and its members below it."""
    clusters = len({row["cluster"] for row in rows}) > 1
    columns = [
        (sentence("label.incident"), "left"),
        *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
        (sentence("label.shared_heading"), "left"),
        (sentence("label.limiter_heading"), "left"),
        (sentence("label.cause_heading"), "left"),
        (sentence("label.since_utc"), "left"),
        (sentence("label.together_from"), "left"),
        (sentence("label.until"), "left"),
        (sentence("label.members"), "left"),
    ]
    cells = [
        [
            row["incident_id"][:6],
            *((row["cluster"],) if clusters else ()),
            f"{_KINDS[row['kind']]} {row['shared_with'].removeprefix('persistent://')}",
            row["limiter"] or "-",
            row["cause"],
            minute_text(row["since_ms"]),
            minute_text(row["start_ms"])[11:],
            "still" if row["end_ms"] is None else minute_text(row["end_ms"])[11:],
            ", ".join(
                f"{subscription_text(member)} ({count(member['peak_entries'])})" for member in row["members"]
            ),
        ]
        for row in rows
    ]
    print_table(
        columns,
        cells,
        title=counted(len(rows), "shared incident"),
        heads=2 if clusters else 1,
        notes=[sentence("episodes.incidents.note")] if rows else [],
    )


def print_rollups(rows: Sequence[Mapping[str, Any]], by: str) -> None:
    """Print one line per subscription, topic, namespace, broker or limiter."""
    clusters = len({row["cluster"] for row in rows}) > 1
    columns = [
        *(((sentence("label.cluster_heading"), "left"),) if clusters else ()),
        (by, "left"),
        (sentence("label.episodes"), "right"),
        (sentence("label.open"), "right"),
        (sentence("label.duration_heading"), "right"),
        (sentence("label.causes"), "left"),
        (sentence("label.open_since_utc"), "left"),
        (sentence("label.worst"), "left"),
        (sentence("label.peak_entries"), "right"),
        (sentence("label.partitions"), "left"),
    ]
    cells = [
        [
            *((row["cluster"],) if clusters else ()),
            row["name"].removeprefix("persistent://"),
            str(row["episodes"]),
            str(row["open"]),
            duration_text(row["total_ms"]),
            ", ".join(f"{cause} {number}" for cause, number in row["causes"].items()),
            minute_text(row["since_ms"]),
            subscription_text(row["worst"]),
            count(row["worst"]["peak_entries"]),
            partitions_text(row),
        ]
        for row in rows
    ]
    print_table(
        columns,
        cells,
        title=sentence("episodes.rollups.title", by=by),
        heads=2 if clusters else 1,
        notes=[sentence("episodes.rollups.note")] if rows else [],
    )


def partitions_text(row: Mapping[str, Any]) -> str:
    """``1 of 8``: how many partitions of the worst topic have episodes; a dash where it has none."""
    if row["worst"]["partition"] < 0:
        return "-"
    return f"{row['partitions']} of {row['partitions_of'] or 'unknown'}"


def lever_text(answer: Mapping[str, Any] | None) -> str:
    """``limiter subscription.msg -98,000 (90,000 to 99,000)``: what drains most, and by how much; a dash where it was not computed."""
    if answer is None:
        return "-"
    if answer["failed"] is not None:
        return "no answer"
    if answer["primary"] is None:
        return "none"
    name = " ".join(part for part in (answer["primary"], answer["limiter"]) if part)
    return f"{'!' if answer['agrees'] is False else ''}{name} -{gain_text(answer)}"


def gain_text(answer: Mapping[str, Any], show: Callable[[float], str] = count) -> str:
    """``98,000 (90,000 to 99,000)``: by how many entries the backlog would have been smaller."""
    low, likely, high = (answer[f"gain_{which}_entries"] for which in ("low", "likely", "high"))
    span = show(high) if low == high else sentence("label.range_words", low=show(low), high=show(high))
    return (
        span
        if likely is None or low == high
        else sentence("label.likely_range", likely=show(likely), range=span)
    )


def _causes_text(causes: Sequence[Mapping[str, Any]]) -> str:
    from throttlescope.models.episodes.steady import joined

    rows = joined(causes)
    shown = rows[-4:]
    texts = [f"{row['cause']} {duration_text(row['end_ms'] - row['start_ms'])}" for row in shown]
    return " > ".join((["..."] if len(rows) > len(shown) else []) + texts) or "-"


def _marks_text(marks: Sequence[Mapping[str, Any]]) -> str:
    texts = [f"{mark['kind']} {minute_text(mark['start_ms'])[11:]}" for mark in marks[-3:]]
    return ", ".join((["..."] if len(marks) > 3 else []) + texts) or "-"


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
