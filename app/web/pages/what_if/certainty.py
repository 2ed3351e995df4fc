"""How certain the answers are. In: a view. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import whatif
from throttlescope.app.web.components.parts import hostile_sentence, section
from throttlescope.app.web.pages.what_if.replayed_runs import LabView
from throttlescope.app.web.pages.what_if.run_text import PAGE
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.throttling.replay.replay_answer import FAR_OFF_SHARE


def error_line(view: LabView) -> html.P:
    """How well the window was replayed; above everything that is based on it."""
    share = view.window.error_share
    peak = float(view.as_is.observed.backlog_entries.max())
    if peak <= view.window.drained_below_entries:
        text, bands = (
            sentence("what_if_page.certainty.no_backlog"),
            sentence("what_if_page.certainty.own_error"),
        )
        return html.P([html.Strong(text), f" {bands}"], className="what-if-error-line")
    far = share >= FAR_OFF_SHARE
    text = sentence(
        f"what_if_page.certainty.replay_error.{'far' if far else 'near'}", share=fmt.percent(share)
    )
    return html.P(
        [html.Strong(text), " ", sentence("what_if_page.certainty.not_in_bands")],
        className="what-if-error-line far" if far else "what-if-error-line",
    )


def certainty(view: LabView) -> html.Section:
    """What the runs are based on, and what makes them less certain."""
    answer = view.as_is
    run = view.chosen.answer or answer
    basis = [
        (
            sentence("what_if_page.certainty.backlog_head"),
            sentence(
                "what_if_page.certainty.backlog",
                entries=fmt.exact(answer.backlog_entries),
                drained=fmt.exact(view.window.drained_below_entries),
            ),
        ),
        (sentence("label.arrivals"), whatif.arrivals(answer, PAGE)),
        (sentence("label.consumer_capacity"), whatif.capacity(run.capacity, PAGE)),
        (sentence("label.curves"), sentence("what_if_page.certainty.curves")),
        (sentence("label.bands"), sentence("what_if_page.certainty.bands")),
    ]
    notes = [html.Li(hostile_sentence(note.text)) for note in run.notes]
    return section(
        sentence("label.certainty"),
        [
            html.Dl(
                [part for name, text in basis for part in (html.Dt(name), html.Dd(text))],
                className="what-if-rests",
            ),
            *([html.Ul(notes, className="what-if-notes")] if notes else []),
        ],
        note=sentence("label.run_letter", letter=view.chosen.letter) if view.chosen.has_change else None,
    )
