"""Advice: facts that can be stored, the document for programs, and the report for terminals. In: what was read, and an `Advice`. Out: dicts and lines.

The facts are the document without its sentences: messages and records in their place. A process, a page or a bundle that gets them
words them itself, and never takes a sentence apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from throttlescope.app.presentation.output import freshness
from throttlescope.app.presentation.text_report import TextLine, TextReport, TextTable
from throttlescope.ingest.core.times import SECOND_MS, format_time
from throttlescope.models.messages.catalogue import Message, message, sentence
from throttlescope.models.messages.limiting import limiting_factor
from throttlescope.models.messages.units import count, duration
from throttlescope.models.recommendation.recommendation import Recommendation, messages_of

if TYPE_CHECKING:
    from throttlescope.app.services.whatif.replay import ReplayInputs
    from throttlescope.models.recommendation import Advice

#: What the replays say as a whole, by :attr:`Counterfactuals.primary`.
PRIMARY = {
    "limiter": message("advice.primary.limiter"),
    "consumers": message("advice.primary.consumers"),
    "both": message("advice.primary.both"),
    None: message("advice.primary.none"),
}


def primary_text(known: Mapping[str, Any]) -> str:
    """What the replays of some facts say as a whole."""
    if known["not_modelled"]:
        return sentence(f"advice.not_modelled.{known['not_modelled']}")
    if known["is_far_off"]:
        return sentence("advice.far_off")
    if known["primary"] is None and known["recommendations"]:
        return sentence("advice.primary.small")
    return PRIMARY[known["primary"]].text


def none_found(known: Mapping[str, Any]) -> str:
    """Why some facts have no recommendation."""
    if known["not_modelled"]:
        return sentence(f"advice.none_not_modelled.{known['not_modelled']}")
    if known["is_far_off"]:
        return sentence("advice.none_far_off")
    if known["is_drained"]:
        return sentence("advice.none_drained")
    return sentence("advice.none_found", target_s=known["target_s"])


def replay_error(known: Mapping[str, Any]) -> str:
    """Which window was replayed for some facts, and how well."""
    return sentence(
        "advice.replay_error",
        window_s=(known["at_ms"] - known["window_start_ms"]) / SECOND_MS,
        percent=100 * known["replay_error_share"],
    )


def no_command() -> str:
    """Where no command of pulsar-admin makes a change."""
    return sentence("advice.no_command")


def no_roll_back() -> str:
    """Where no command rolls it back."""
    return sentence("advice.no_roll_back")


def facts(found: ReplayInputs, advice: Advice) -> dict[str, Any]:
    """What is known, ready for JSON; recommendations, levers that do not help and notes as records."""
    known = advice.counterfactuals
    return {
        "cluster": found.observed.cluster,
        "subscription": str(found.name),
        "at_ms": found.at_ms,
        "target_s": advice.target_s,
        "backlog_entries": known.backlog_entries,
        "as_is_entries": asdict(known.as_is_entries),
        "primary": known.primary,
        "window_start_ms": found.start_ms,
        "replay_error_share": known.error_share,
        "is_far_off": known.is_far_off,
        "not_modelled": known.not_modelled,
        "is_drained": known.is_drained,
        "counterfactuals": [{**asdict(row), "change": row.change.words} for row in known.rows],
        "recommendations": [asdict(one) for one in advice.recommendations],
        "not_helping": [asdict(one) for one in advice.not_helping],
        "executed": False,
        "notes": [asdict(one) for one in known.notes],
    }


def document(known: Mapping[str, Any]) -> dict[str, Any]:
    """The facts as ``recommend --format json`` prints them, with their sentences."""
    return {
        **known,
        "recommendations": [one.document() for one in recommendations_of(known)],
        "not_helping": texts_of(known["not_helping"]),
        "notes": texts_of(known["notes"]),
    }


def recommendations_of(known: Mapping[str, Any]) -> list[Recommendation]:
    """The recommendations of some facts, best first."""
    return [Recommendation.of(one) for one in known["recommendations"]]


def texts_of(messages: list[Mapping[str, Any]]) -> list[str]:
    """The sentences of messages in some facts."""
    return [one.text for one in messages_of(messages)]


def advice_report(found: ReplayInputs, advice: Advice, *, now_ms: int | None) -> TextReport:
    """What would drain it, what to do first, what does not help; without ``now_ms`` it does not say how old the data is."""
    known, shown = advice.counterfactuals, facts(found, advice)
    rows = [["nothing changed", _span(known.as_is_entries), "-", "-", "-"]]
    rows += [
        [
            lever_text(row.lever, row.limiter),
            _span(row.entries),
            _span(row.gain_entries),
            drain_within(row.earliest_drain_s, row.latest_drain_s),
            limiting_factor(row.held_by),
        ]
        for row in known.rows
    ]
    table = TextTable(
        sentence(
            "tables.advice.title",
            subscription=found.name,
            entries=count(known.backlog_entries),
            time=format_time(found.at_ms),
            horizon=duration(known.horizon_s),
        ),
        [
            (sentence("label.without_heading"), "left"),
            (sentence("label.backlog_then_entries"), "right"),
            (sentence("tables.advice.less"), "right"),
            (sentence("label.gone_in_heading"), "left"),
            (sentence("label.then_limited_by_heading"), "left"),
        ],
        rows,
        notes=[primary_text(shown)],
    )
    error = replay_error(shown)
    report: TextReport = [table]
    for number, one in enumerate(advice.recommendations, 1):
        report += recommendation_lines(number, one)
    if not advice.recommendations:
        report += [TextLine(), TextLine(none_found(shown))]
    return [
        *report,
        *not_helping_lines(advice.not_helping),
        *note_lines(known.notes),
        TextLine(f"{error} {freshness(found.at_ms, now_ms)}"),
    ]


def recommendation_lines(number: int, one: Recommendation) -> TextReport:
    """One change with its command, its rollback, its risks and its checks."""
    gone = sentence("label.advice_gone", length=one.gone_in.text) if one.gone_in else ""
    head = sentence(
        "label.advice_head",
        number=number,
        action=one.text,
        gone=gone,
        factor=limiting_factor(one.next_limiting_factor),
    )
    return [
        TextLine(),
        TextLine(head),
        *[
            TextLine(f"   {label}: {command}", is_copied=True)
            for label, command in (("run", one.apply), ("undo", one.roll_back))
            if command
        ],
        *[TextLine(f"   {sentence('label.risk_line', text=risk.text)}") for risk in one.risks],
        *[
            TextLine(f"   {sentence('label.check_line', text=check.text)}", is_copied=True)
            for check in one.checks
        ],
    ]


def not_helping_lines(messages: tuple[Message, ...]) -> TextReport:
    """Levers that do not help."""
    return [
        line
        for one in messages
        for line in (TextLine(), TextLine(sentence("label.caution_line", text=one.text)))
    ]


def note_lines(notes: list[Message]) -> TextReport:
    """That nothing was executed, and what makes the answer less sure."""
    return [
        TextLine(),
        TextLine(sentence("label.nothing_was_executed")),
        *[TextLine(sentence("label.note_line", text=note.text)) for note in notes],
    ]


def lever_text(lever: str, limiter: str | None) -> str:
    """What a replay took away: ``the topic message limit``."""
    if lever == "limiter":
        return message("advice.lever.limiter", limiter=limiter).text
    return _LEVERS[lever].text


_LEVERS = {"consumers": message("advice.lever.consumers"), "together": message("advice.lever.together")}


def drain_within(earliest_s: float | None, latest_s: float | None) -> str:
    """When a backlog is gone by the horizon, or that it is not."""
    if earliest_s is None:
        return "not by then"
    if latest_s is None:
        return sentence("label.earliest_at", length=duration(earliest_s))
    low, high = duration(earliest_s), duration(latest_s)
    return high if low == high else sentence("label.range_words", low=low, high=high)


def _span(span) -> str:
    low, high = count(span.low), count(span.high)
    return low if low == high else sentence("label.range_words", low=low, high=high)
