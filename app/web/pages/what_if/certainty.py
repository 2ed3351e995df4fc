"""How much to believe. In: a view. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import whatif as answer_words
from throttlescope.app.web.components.parts import hostile_sentence, section
from throttlescope.app.web.pages.what_if import run_text
from throttlescope.app.web.pages.what_if.runs import LabView
from throttlescope.models.throttling.replay.notes import FAR_OFF_SHARE


def error_line(view: LabView) -> html.P:
    """How well the window was replayed, above everything that rests on it."""
    share = view.window.error_share
    peak = float(view.as_is.observed.backlog_entries.max())
    if peak <= view.window.drained_below_entries:
        text = "There was no backlog in this window to hold the replay against."
        return html.P(
            [html.Strong(text), " The bands do not hold the replay's own error."],
            className="what-if-error-line",
        )
    far = share >= FAR_OFF_SHARE
    mark = "\N{WARNING SIGN} " if far else ""
    return html.P(
        [
            html.Strong(f"{mark}The replay misses the recorded backlog of this window by {fmt.percent(share)} of its peak on average."),
            " That error is not in the bands.",
        ],
        className="what-if-error-line far" if far else "what-if-error-line",
    )  # fmt: skip


def sure(view: LabView) -> html.Section:
    """What the runs rest on, and what makes them less sure."""
    answer = view.as_is
    run = view.chosen.answer or answer
    rests = [
        ("Backlog at the end", f"{fmt.exact(answer.backlog_entries)} entries; gone is at most {fmt.exact(view.window.drained_below_entries)}"),
        ("Arrivals", answer_words.arrivals(answer)),
        ("Consumers can do", run_text.spoken(answer_words.capacity(run.capacity, fmt.moment))),
        ("Curves", "what came less what the simulator serves from a full backlog: means over a limit's periods; a search below can simulate a run in full"),
        ("Bands", "what the samples leave open: arrivals, what the consumers can do, how fast the broker reads"),
    ]  # fmt: skip
    notes = [
        html.Li(hostile_sentence(run_text.spoken(f"{text[:1].upper()}{text[1:]}."))) for text in run.notes
    ]
    return section(
        "How sure",
        [
            html.Dl(
                [part for name, text in rests for part in (html.Dt(name), html.Dd(text))],
                className="what-if-rests",
            ),
            *([html.Ul(notes, className="what-if-notes")] if notes else []),
        ],
        note=f"run {view.chosen.letter}" if view.chosen.asks else None,
    )
