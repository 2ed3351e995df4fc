"""A query that has no answer: what is wrong, with its place in the text. In: a text and an error. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.services.promql.errors import UNAVAILABLE, ApiError
from throttlescope.app.web.components.parts import hostile_sentence
from throttlescope.app.web.components.shell import panel
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.promql.errors import QueryTimeoutError, TooManySamplesError

#: Characters of a line that are shown on each side of the place.
_AROUND = 90


def fault_of_query(text: str, error: ThrottlescopeError | ApiError, *, timeout_s: float) -> html.Div:
    """The text with the place marked, and the error's text."""
    if isinstance(error, ApiError):
        busy = error.kind == UNAVAILABLE
        return panel(
            sentence("promql.busy.title") if busy else sentence("promql.busy.waited"),
            [sentence("promql.busy.why")],
            next_step=sentence("promql.busy.next"),
            tone="orange",
        )
    position = getattr(error, "position", None)
    facts = [
        [f"{label}: ", hostile_sentence(str(value))]
        for label, value in (
            (sentence("label.got"), error.got),
            (sentence("label.expected"), error.expected),
            (sentence("label.next"), _fix(error, timeout_s)),
        )
        if value is not None
    ]
    return html.Div(
        [
            *([marked(text, position)] if position is not None else []),
            panel(f"{fmt.name(error.what, 600)}.", facts, tone="orange"),
        ],
        className="promql-fault",
    )


def marked(text: str, position: int) -> html.Pre:
    """The line of a text that holds ``position``, the character there marked, and its place below."""
    position = max(0, min(position, len(text)))
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[begin : len(text) if end < 0 else end]
    column = position - begin
    first = max(0, column - _AROUND)
    before = ("…" if first else "") + fmt.name(line[first:column])
    at = fmt.name(line[column : column + 1]) or "\N{NO-BREAK SPACE}"
    last = column + 1 + _AROUND
    behind = fmt.name(line[column + 1 : last]) + ("…" if last < len(line) else "")
    number = text.count("\n", 0, position) + 1
    return html.Pre(
        [
            before,
            html.Mark(at),
            behind,
            "\n",
            " " * len(before),
            html.Span("▲", className="marked-place", **{"aria-hidden": "true"}),
            f" {sentence('promql.place.line', line=number, column=column + 1)}",
        ],
        className="promql-marked",
        tabIndex=0,
        **{"aria-label": sentence("promql.place.label")},
    )


def _fix(error: ThrottlescopeError, timeout_s: float) -> str | None:
    """The error's own, where it is not an option of the command line."""
    if isinstance(error, TooManySamplesError):
        return sentence("promql.fix.samples")
    if isinstance(error, QueryTimeoutError):
        return sentence("promql.fix.timeout", timeout_s=timeout_s)
    return error.fix
