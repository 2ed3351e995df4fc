"""A past verdict as text and for programs. In: a `Reopened`. Out: tables, or one dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness, print_table, write_result
from throttlescope.app.presentation.verdicts import subscription_text
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.stored import verdict_in_language
from throttlescope.models.messages.units import count, minute_text, percent

if TYPE_CHECKING:
    from throttlescope.app.cli.settings import CommandOptions
    from throttlescope.models.diagnosis.reopen import Reopened

#: Columns of signals that the table of minutes shows; JSON has all.
_SHOWN = (
    ("backlog (entries)", "backlog_ready_entries"),
    ("in (msg)", "in_msg_delta"),
    ("out (msg)", "out_msg_delta"),
    ("unacked (msg)", "unacked_msg"),
    ("consumers", "consumers"),
    ("no permits", "permits_exhausted_share"),
)


def document(found: Reopened) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "stored": verdict_in_language(found.stored),
        "made_ms": found.made_ms,
        "signals_version": found.signals_version,
        "repaired": found.repaired,
        "again": verdict_in_language(found.again.to_row()),
        "differences": {name: {"then": then, "now": now} for name, (then, now) in found.differences.items()},
        "minutes": found.minutes,
    }


def print_reopened(found: Reopened, *, now_ms: int) -> None:
    """Print the verdict then and now, its evidence and its minutes."""
    stored, again = map(verdict_in_language, (found.stored, found.again.to_row()))
    print_table(
        [("", "left"), (sentence("label.then"), "left"), (sentence("label.today_s_rules"), "left")],
        [
            [name, _cell(name, stored), _cell(name, again)]
            for name in ("cause", "side", "limiter", "variant", "confidence", "why", "rules_version")
        ],
        title=sentence(
            "tables.reopen.title",
            subscription=subscription_text(stored),
            start=format_time(stored["window_start_ms"]),
            end=format_time(stored["window_end_ms"]),
        ),
        notes=_notes(found),
    )
    print_table(
        [
            (sentence("label.evidence_then"), "left"),
            (sentence("label.weight"), "left"),
            (sentence("label.in_words_heading"), "left"),
        ],
        [[row["symptom"], row["weight"], row["text"]] for row in stored["evidence"]],
        title=sentence("label.evidence"),
    )
    print_table(
        [
            (sentence("label.minute_utc"), "left"),
            *((heading, "right") for heading, _ in _SHOWN),
            *_limit_columns(found),
        ],
        [
            [
                minute_text(row["minute_ms"]),
                *(percent(row[name]) if name.endswith("_share") else count(row[name]) for _, name in _SHOWN),
                *(percent(row[name]) for name in _rhos(found)),
            ]
            for row in found.minutes
        ],
        title=sentence("label.minutes_title"),
        notes=[
            sentence("tables.reopen.note", freshness=freshness(stored["window_end_ms"], now_ms)),
        ],
    )


def _notes(found: Reopened) -> list[str]:
    written, version = format_time(found.made_ms), found.signals_version
    if found.repaired:
        first = sentence("tables.reopen.repaired", written=written, version=version)
    else:
        first = sentence("tables.reopen.written", written=written, version=version)
    if not found.differences:
        return [first, sentence("tables.reopen.same")]
    return [first, sentence("tables.reopen.different", names=", ".join(found.differences))]


def _cell(name: str, row: dict[str, Any]) -> str:
    value = row[name]
    if value is None:
        return "-"
    return percent(value) if name == "confidence" else str(value)


def _rhos(found: Reopened) -> list[str]:
    names = sorted(name for name in (found.minutes[0] if found.minutes else {}) if name.startswith("rho_"))
    return [name for name in names if any(row[name] is not None for row in found.minutes)]


def _limit_columns(found: Reopened) -> list[tuple[str, str]]:
    return [("rho " + name.removeprefix("rho_").replace("_", "."), "right") for name in _rhos(found)]


def write_reopened(found: Reopened, options: CommandOptions) -> None:
    """Write a past verdict in the requested format."""
    write_result(
        options.format,
        table=lambda: print_reopened(found, now_ms=options.now_ms),
        document=lambda: document(found),
    )
