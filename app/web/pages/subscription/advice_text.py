"""What to change, and what would not help. In: what ``recommend --format json`` prints. Out: components; nothing of it was executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html

from throttlescope.app.incident.remedies import NO_COMMAND, NO_WAY_BACK, held_words, when_gone
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import PRIMARY, drain_within, lever_words
from throttlescope.app.web.components.parts import copy_button, hostile_sentence, plain_table
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.throttling.replay.notes import FAR_OFF_SHARE

#: Between the query of a check and what it should show.
_SHOULD = " should "
NOT_EXECUTED = "not executed"


def advice(found: Mapping[str, Any]) -> html.Section:
    """The smallest changes first, then what does not help, then the counterfactuals that say so."""
    target = fmt.duration(found["target_s"] * SECOND_MS)
    known = found["recommendations"]
    head = html.Div(
        [
            html.H2("The smallest change" if len(known) == 1 else "The smallest changes, best first"),
            html.Span(NOT_EXECUTED, className="not-executed"),
            html.Span(
                f"as of {fmt.moment(found['at_ms'])}; the backlog is to be gone within {target}",
                className="section-note",
            ),
        ],
        className="section-head",
    )
    body: list = [_recommendation(number, one) for number, one in enumerate(known, 1)]
    if not body:
        body = [html.P(html.Strong(f"Nothing that was tried drains it within {target}."))]
    if found["not_helping"]:
        body.append(
            html.Div(
                [
                    html.H3("What will not help"),
                    html.Ul([html.Li(hostile_sentence(words)) for words in found["not_helping"]]),
                ]
            )
        )
    return html.Section(
        [head, *body, _counterfactuals(found)], className="result", **{"aria-label": "the smallest change"}
    )


def _recommendation(number: int, one: Mapping[str, Any]) -> html.Article:
    gone = when_gone(one)
    facts = [("Gone in", gone)] if gone else []
    facts.append(("Then holds the drain", held_words(one["next_brake"])))
    parts: list = [
        html.H3([f"{number}. ", hostile_sentence(one["words"])]),
        html.P(" · ".join(f"{label}: {words}" for label, words in facts), className="facts"),
    ]
    for label, command in (("Command", one["do"]), ("Rollback", one["undo"])):
        if command:
            parts.append(_command(label, command))
    if not one["undo"]:
        parts.append(html.P(NO_WAY_BACK if one["do"] else NO_COMMAND, className="facts"))
    if one["risks"]:
        parts.append(
            html.P([html.Strong("Risk: "), hostile_sentence(f"{'; '.join(one['risks'])}.")], className="risk")
        )
    if one["verify"]:
        parts.append(html.Details([html.Summary("How to verify"), *map(_check, one["verify"])]))
    return html.Article(parts, className="recommendation")


def _command(label: str, command: str) -> html.Div:
    return html.Div(
        [
            html.Span([html.Strong(label), html.Span(f" {NOT_EXECUTED}", className="quiet")]),
            html.Pre(
                html.Code(fmt.name(command, 20_000)), tabIndex=0, **{"aria-label": f"{label}, {NOT_EXECUTED}"}
            ),
            copy_button(command, f"copy the {label.lower()}"),
        ],
        className="command",
    )


def _check(words: str) -> html.Div:
    """The query apart from what it should show."""
    query, should, rest = words.rpartition(_SHOULD)
    if not query:
        return html.P(hostile_sentence(words))
    return html.Div(
        [html.Code(fmt.name(query, 4_000)), html.Span(f"{should}{rest}."), copy_button(query)],
        className="check",
    )


def _counterfactuals(found: Mapping[str, Any]) -> html.Details:
    later = fmt.duration(found["target_s"] * SECOND_MS)
    rows = [["nothing", _span(found["as_is_entries"]), "", "", ""]]
    rows += [
        [
            lever_words(row["lever"], row["limiter"]),
            _span(row["entries"]),
            _span(row["gain_entries"]),
            drain_within(row["earliest_drain_s"], row["latest_drain_s"]),
            held_words(row["held_by"]),
        ]
        for row in found["counterfactuals"]
    ]
    off = found["replay_error_share"]
    notes = [
        f"The replay of the half hour itself is off by {100 * off:.1f}\N{NO-BREAK SPACE}% of its largest backlog."
    ]
    if off >= FAR_OFF_SHARE:
        notes.append("That is far off: take these figures as rough.")
    notes += [f"{note[:1].upper()}{note[1:]}." for note in found["notes"]]
    return html.Details(
        [
            html.Summary(["Counterfactuals: ", PRIMARY[found["primary"]]]),
            plain_table(
                (
                    "Taken away",
                    f"Backlog {later} later, entries",
                    "Less than as it is",
                    "Gone in",
                    "Then holds it",
                ),
                rows,
            ),
            *(html.P(hostile_sentence(note), className="facts") for note in notes),
        ],
        open=True,
    )


def _span(span: Mapping[str, Any]) -> str:
    low, high = fmt.short(round(span["low"])), fmt.short(round(span["high"]))
    return low if low == high else f"{low} to {high}"
