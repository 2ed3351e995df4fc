"""The runs compared. In: a view. Out: components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation import whatif
from throttlescope.app.presentation.figures.what_if import AS_IS_LOOK, RUN_LOOKS
from throttlescope.app.web.address.what_if import AHEADS_S, MOST_RUNS, NOTHING
from throttlescope.app.web.components.parts import plain_table, section
from throttlescope.app.web.pages.what_if.replayed_runs import LabRun, LabView
from throttlescope.app.web.pages.what_if.run_text import PAGE
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import exact_duration
from throttlescope.models.throttling.replay import Change, ReplayAnswer


def _ahead() -> tuple:
    return (
        sentence("label.run"),
        sentence("label.change"),
        sentence("what_if_page.runs.drained_after"),
        sentence("label.best_to_worst"),
        sentence("label.dispatched"),
        sentence("label.limited_by"),
        sentence("label.next_limit"),
    )


def _past() -> tuple:
    return (sentence("label.run"), sentence("label.change"), sentence("label.largest_entries"), sentence("label.at_the_end_entries"), sentence("label.gone_after"), sentence("label.dispatched"), sentence("label.used_most"), sentence("label.next_limit"))  # fmt: skip


def runs_table(view: LabView) -> html.Section:
    """As it is, and each run."""
    rows = [_row(view, None, view.as_is, Change())]
    rows += [
        _row(view, run, run.answer, run.change) for run in view.runs if run.has_change or len(view.runs) > 1
    ]
    past = view.address.when == "start"
    note = (
        sentence("what_if_page.runs.past")
        if past
        else sentence("what_if_page.runs.ahead", ahead=exact_duration(AHEADS_S[view.address.ahead]))
    )
    tail = [_add(view)] if len(view.runs) < MOST_RUNS and view.runs[-1].has_change else []
    return section(
        sentence("label.runs"),
        [plain_table(_past() if past else _ahead(), rows), *_errors(view), *tail],
        note=note,
    )


def _row(view: LabView, run: LabRun | None, answer: ReplayAnswer | None, change: Change) -> list:
    letter = _letter(view, run)
    if answer is None:
        return [
            letter,
            html.Span(sentence("what_if_page.runs.not_run"), className="what-if-bad"),
            *["-"] * (5 if view.address.when == "end" else 6),
        ]
    what = whatif.changes(answer.observed, change, PAGE) or [sentence("label.nothing_heading")]
    clauses = html.Span([html.Span(clause, className="what-if-clause") for clause in what])
    forecast = answer.changed
    outlook = whatif.main(forecast)
    out = fmt.msg_rate(outlook.out_msg_per_s)
    limited_by = whatif.limited_by(answer, outlook, change, PAGE)
    next_limit = whatif.next_limit(answer, outlook, change, PAGE)
    if view.address.when == "start":
        length_s = int(answer.observed.elapsed_s)
        gone = (
            sentence("what_if_page.runs.not_drained")
            if outlook.drain_s is None
            else fmt.duration(1000 * outlook.drain_s)
        )
        curves = [one.backlog_entries for one in forecast.all]
        return [
            letter, clauses, _between([float(np.max(curve)) for curve in curves]),
            _between([float(curve[-1]) for curve in curves]),
            gone if length_s else "-", out, limited_by, next_limit,
        ]  # fmt: skip
    return [
        letter,
        clauses,
        whatif.drained(forecast, PAGE),
        whatif.interval(forecast, view.ahead_s, PAGE),
        out,
        limited_by,
        next_limit,
    ]


def _between(values: list[float]) -> html.Span:
    """The likeliest, with the least and the most in small."""
    low, high = min(values), max(values)
    around = (
        f" ({sentence('label.range_words', low=fmt.short(low), high=fmt.short(high))})"
        if fmt.short(low) != fmt.short(high)
        else ""
    )
    return html.Span([fmt.short(values[0]), html.Span(around, className="quiet")])


def _letter(view: LabView, run: LabRun | None) -> html.Span:
    if run is None:
        return html.Span([_mark(AS_IS_LOOK), sentence("what_if_page.runs.as_is")], className="what-if-run")
    number = "ABCD".index(run.letter)
    is_chosen = number == view.address.chosen
    choose = dcc.Link(
        [_mark(RUN_LOOKS[number]), run.letter, *_chosen(is_chosen)], href=replace(view.address, chosen=number).href(),
        className="what-if-run chosen" if is_chosen else "what-if-run",
        title=sentence("what_if_page.runs.chosen_hint")
        if is_chosen
        else sentence("what_if_page.runs.choose_hint"),
    )  # fmt: skip
    remove = sentence("what_if_page.runs.remove", letter=run.letter)
    remove_link = dcc.Link(
        ["\N{MULTIPLICATION SIGN}", html.Span(f" {remove}", className="only-read")], href=view.address.without_run(number).href(), className="what-if-away",
        title=remove,
    )  # fmt: skip
    return html.Span(
        [choose, remove_link],
        className="what-if-letter",
    )


def _chosen(is_chosen: bool) -> list:
    """For screen readers, which do not see the frame."""
    return (
        [html.Span([" ", sentence("what_if_page.runs.chosen")], className="only-read")] if is_chosen else []
    )


def _mark(look: tuple[str, str]) -> html.Span:
    colour, dash = look
    style = {"solid": "solid", "dash": "dashed", "dot": "dotted", "dashdot": "double"}[dash]
    return html.Span(
        className="what-if-mark", style={"borderTop": f"3px {style} {colour}"}, **{"aria-hidden": "true"}
    )


def _add(view: LabView) -> html.P:
    """A further run, which begins as the chosen one is."""
    text = view.chosen.text if view.chosen.has_change else NOTHING
    href = view.address.with_run(len(view.runs), text).href()
    return html.P(dcc.Link(sentence("what_if_page.runs.add"), href=href, className="what-if-add"))


def _errors(view: LabView) -> list[html.Div]:
    found = []
    for run in view.runs:
        if run.error is None:
            continue
        parts = [
            html.Strong([sentence("what_if_page.runs.error", letter=run.letter), " "]),
            fmt.name(run.error.what, 300) + ". ",
        ]
        for label, value in (
            (sentence("label.got_colon"), run.error.got),
            (sentence("label.accepted_colon"), run.error.expected),
            (sentence("label.next_colon"), run.error.fix),
        ):
            if value is not None:
                parts += [
                    html.Span(label, className="quiet"),
                    fmt.name(str(value), 300),
                    ". ",
                ]
        found.append(html.Div(parts, className="what-if-error", role="alert"))
    return found
