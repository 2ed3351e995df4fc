"""A replay's answer as a report for terminals and notebooks. In: what was read, and the answer. Out: lines and a table, the question first."""

from __future__ import annotations

from throttlescope.app.presentation import whatif
from throttlescope.app.presentation.text_report import TextLine, TextReport, TextTable
from throttlescope.app.presentation.whatif import PLAIN
from throttlescope.app.services.whatif.replay import ReplayInputs
from throttlescope.ingest.core.times import format_time
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import count
from throttlescope.models.throttling.replay import Change, Forecast, ReplayAnswer


def whatif_report(found: ReplayInputs, answer: ReplayAnswer) -> TextReport:
    """The question, the answer, what it is based on and what makes it less sure."""
    is_change = found.change.words != Change().words
    rows = [_row("as it is", answer, answer.as_is, Change(), found.horizon_s)]
    if is_change:
        rows.append(_row("changed", answer, answer.changed, found.change, found.horizon_s))
    times_ms = answer.observed.times_ms
    backlog = sentence(
        "tables.whatif.backlog",
        entries=count(answer.backlog_entries),
        drained=count(answer.drained_below_entries),
    )
    facts = (
        ("backlog", backlog),
        ("arrivals", whatif.arrivals(answer, PLAIN)),
        ("capacity", whatif.capacity(answer.capacity, PLAIN)),
        ("replay", whatif.own_error(answer)),
        ("window", f"{_time(times_ms[0])} to {_time(times_ms[-1])}"),
    )
    return [
        TextLine(
            sentence(
                "tables.whatif.title",
                subscription=found.name,
                cluster=answer.observed.cluster,
                time=_time(times_ms[-1]),
            )
        ),
        TextTable(
            whatif.headline(answer),
            [
                ("", "left"),
                (sentence("label.backlog_drained_after"), "left"),
                (sentence("label.best_to_worst_heading"), "left"),
                (sentence("label.dispatched_msg_per_s_heading"), "right"),
                (sentence("label.limited_by_heading"), "left"),
            ],
            rows,
            notes=[whatif.effect(answer)] if is_change else [],
        ),
        TextLine(),
        *[TextLine(f"{label:<10}{text}") for label, text in facts],
        TextLine(sentence("tables.whatif.units")),
        TextLine(sentence("tables.whatif.interval")),
        *[TextLine(sentence("label.note_line", text=note.text)) for note in answer.notes],
    ]


def _row(label: str, answer: ReplayAnswer, forecast: Forecast, change: Change, horizon_s: int) -> list[str]:
    outlook = whatif.main(forecast)
    return [
        label,
        whatif.drained(forecast, PLAIN),
        whatif.interval(forecast, horizon_s, PLAIN),
        f"{outlook.out_msg_per_s:,.0f}",
        whatif.limited_by(answer, outlook, change, PLAIN),
    ]


def _time(time_ms: int) -> str:
    return f"{format_time(int(time_ms))[:19].replace('T', ' ')} UTC"
