"""The commands of the selected run, and their rollback. In: a view. Out: components; nothing is executed."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.parts import copy_button, section
from throttlescope.app.web.pages.what_if.replayed_runs import LabRun, LabView
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.recommendation.commands import Command, set_limit
from throttlescope.models.throttling.replay import Change, Observed

#: What a run may change and no command does.
_NOT_A_COMMAND = ("consumers", "processing_ms", "rate_msg", "load", "batch_msg")


def commands_of(observed: Observed, change: Change) -> list[Command]:
    """A command for every level that a change touches and the lake knows."""
    found = []
    partition = min(observed.partitions) if observed.partition is None else observed.partition
    for level in LEVELS:
        fields = {
            key.partition(".")[2]: value
            for key, value in change.limits.items()
            if key.startswith(f"{level}.")
        }
        row = observed.limits.get((level, partition, observed.subscription))
        if not fields or row is None:
            continue
        command = set_limit(
            row, observed.topic, observed.subscription,
            msg=fields.get("msg", row["rate_msg"]), size=fields.get("bytes", row["rate_bytes"]),
            period_s=fields.get("period_s", row["period_s"] or 1),
        )  # fmt: skip
        if command.do:
            found.append(command)
    return found


def command_card(view: LabView) -> html.Section:
    """Commands of the selected run with their rollback, or why there are none."""
    run = view.chosen
    return section(
        sentence("what_if_page.command.title", letter=run.letter),
        _body(run, view),
        note=sentence("what_if_page.command.note"),
    )


def _body(run: LabRun, view: LabView) -> list:
    if run.answer is None:
        return [html.P(sentence("what_if_page.command.not_run"), className="quiet")]
    if not run.has_change:
        return [html.P(sentence("what_if_page.command.no_change"), className="quiet")]
    observed = run.answer.observed
    parts: list = []
    for command in commands_of(observed, run.change):
        parts += [
            html.P(
                [
                    html.Strong([sentence("what_if_page.command.not_executed"), " "]),
                    fmt.name(command.place.text, 300),
                ]
            ),
            command_line(sentence("label.do"), command.do),
            command_line(sentence("label.roll_back"), command.undo),
            html.Ul([html.Li(fmt.name(note.text, 300)) for note in command.notes], className="what-if-notes"),
        ]
    if run.change.limits and not parts:
        parts.append(html.P(sentence("what_if_page.command.limits_unread"), className="quiet"))
    others = [
        sentence(f"what_if_page.no_command.{name}")
        for name in _NOT_A_COMMAND
        if getattr(run.change, name) is not None
    ]
    if others:
        parts.append(html.Ul([html.Li(text) for text in dict.fromkeys(others)], className="what-if-notes"))
    return parts


def command_line(label: str, text: str) -> html.Div:
    return html.Div(
        [
            html.Span(label, className="quiet what-if-verb"),
            html.Code(fmt.name(text, 4_000)),
            copy_button(text),
        ],
        className="what-if-command",
    )
