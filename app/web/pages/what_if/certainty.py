"""How certain the answers are. In: a view. Out: components."""

from __future__ import annotations

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import whatif
from throttlescope.app.web.components.parts import hostile_sentence, section
from throttlescope.app.web.pages.what_if.run_text import PAGE
from throttlescope.app.web.pages.what_if.runs import LabView
from throttlescope.models.throttling.replay.notes import FAR_OFF_SHARE


def error_line(view: LabView) -> html.P:
    """How well the window was replayed; above everything that is based on it."""
    share = view.window.error_share
    peak = float(view.as_is.observed.backlog_entries.max())
    if peak <= view.window.drained_below_entries:
        text = "There was no backlog in this window to compare the replay with."
        return html.P(
            [html.Strong(text), " The bands do not include the replay's own error."],
            className="what-if-error-line",
        )
    far = share >= FAR_OFF_SHARE
    mark = "\N{WARNING SIGN} " if far else ""
    return html.P(
        [
            html.Strong(f"{mark}The replay misses the recorded backlog of this window by {fmt.percent(share)} of its peak on average."),
            " The bands do not include that error.",
        ],
        className="what-if-error-line far" if far else "what-if-error-line",
    )  # fmt: skip


def sure(view: LabView) -> html.Section:
    """What the runs are based on, and what makes them less certain."""
    answer = view.as_is
    run = view.chosen.answer or answer
    rests = [
        ("Backlog at the end", f"{fmt.exact(answer.backlog_entries)} entries; drained is at most {fmt.exact(view.window.drained_below_entries)}"),
        ("Arrivals", whatif.arrivals(answer, PAGE)),
        ("Consumer capacity", whatif.capacity(run.capacity, PAGE)),
        ("Curves", "arrivals minus what the simulator dispatches from a full backlog: means over the periods of a limit; a search below can simulate a run in full"),
        ("Bands", "what the samples leave open: arrivals, capacity of the consumers, read speed of the broker"),
    ]  # fmt: skip
    notes = [html.Li(hostile_sentence(note.text)) for note in run.notes]
    return section(
        "Certainty",
        [
            html.Dl(
                [part for name, text in rests for part in (html.Dt(name), html.Dd(text))],
                className="what-if-rests",
            ),
            *([html.Ul(notes, className="what-if-notes")] if notes else []),
        ],
        note=f"run {view.chosen.letter}" if view.chosen.asks else None,
    )
