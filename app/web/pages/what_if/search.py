"""A search in the background: which change is enough. In: an address, and how far a search is. Out: components."""

from __future__ import annotations

import dash_mantine_components as dmc
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.figures.sweep import sweep_figure
from throttlescope.app.services.whatif.background import SearchProgress
from throttlescope.app.services.whatif.scales import scales
from throttlescope.app.services.whatif.search import ANY, EXACT
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.app.web.components.chart_key import PageKey
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.parts import hostile_sentence, plain_table, save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.what_if import LabWindow
from throttlescope.app.web.pages.what_if import run_text
from throttlescope.app.web.pages.what_if.command import command_line
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import exact_duration

TARGETS_S = (600, 1_800, 3_600, 21_600)


def form(address: WhatIfAddress, window: LabWindow) -> html.Section:
    """What to search, and the place for what it finds."""
    there = scales(window.ground)
    levers = [
        {"value": ANY, "label": sentence("what_if_page.search.any")},
        {"value": EXACT, "label": sentence("what_if_page.search.exact")},
        *(
            {"value": key, "label": run_text.lever_labels()[key][0]}
            for key, scale in there.items()
            if _can(key, scale.now)
        ),
    ]
    return section(
        sentence("label.search"),
        [
            html.Div(
                [
                    dmc.Select(
                        id="what-if-lever", label=sentence("label.which_value_of"), data=levers, value=ANY, allowDeselect=False, size="xs",
                        comboboxProps={"withinPortal": False},
                    ),
                    dmc.Select(
                        id="what-if-target", label=sentence("what_if_page.search.within"), value="1800", allowDeselect=False, size="xs",
                        data=[{"value": str(seconds), "label": exact_duration(seconds)} for seconds in TARGETS_S],
                        comboboxProps={"withinPortal": False},
                    ),
                    html.Button(sentence("label.search"), id="what-if-start", className="shell-button what-if-start"),
                ],
                className="what-if-form",
            ),
            html.Div(id="what-if-job", **{"aria-live": "polite"}),
        ],
        note=sentence("what_if_page.search.note"),
    )  # fmt: skip


def _can(key: str, now: float | None) -> bool:
    """A limit's period is no lever of its own, and one that is not set cannot be raised."""
    return not key.endswith("period_s") and (now is not None or key == "processing_ms")


def deleted() -> html.Div:
    """A search of the address that has been deleted."""
    return html.Div(
        panel(sentence("what_if_page.search.deleted"), [sentence("what_if_page.search.deleted_why")])
    )


def shown(found: SearchProgress) -> html.Div:
    """How far it is, or what it found."""
    title = _title(found)
    if not found.is_over:
        share = 100 * found.done / max(1, found.total)
        doing = sentence("what_if_page.search.waiting") if found.state == "waiting" else found.words
        return html.Div(
            [
                html.P([html.Strong(title), html.Span(f" {doing}", className="quiet")]),
                dmc.Progress(
                    value=share, striped=True, animated=True, size="lg",
                    attributes={"section": {"aria-label": sentence("what_if_page.search.progress_label"), "aria-valuetext": f"{share:.0f} %"}},
                ),
                html.Div(
                    [
                        html.Span(sentence("what_if_page.search.progress", percent=share, duration=fmt.duration(1000 * found.seconds)), className="quiet"),
                        html.Button(sentence("label.cancel"), id="what-if-cancel", className="shell-button"),
                    ],
                    className="what-if-progress",
                ),
            ]
        )  # fmt: skip
    if found.document is None:
        detail = [fmt.name(found.words, 400)] if found.words and found.state == "failed" else []
        ended = sentence(f"what_if_page.search.ended.{found.state.replace(' ', '_')}")
        again = sentence("what_if_page.search.again")
        return html.Div(panel(ended, [title, *detail], next_step=again))
    if found.document["lever"] == ANY:
        return _advice(title, found.document)
    if found.document["lever"] == EXACT:
        return _exact(title, found.document)
    return _sweep(title, found.document)


def _title(found: SearchProgress) -> str:
    search = found.search
    if search.lever == EXACT:
        change = fmt.name(search.change, 300) or sentence("what_if_page.search.nothing_changed")
        return sentence("what_if_page.search.title.exact", change=change)
    target = fmt.duration(1000 * search.target_s)
    if search.lever == ANY:
        return sentence("what_if_page.search.title.any", target=target)
    lever = run_text.lever_labels()[search.lever][0].lower()
    return sentence("what_if_page.search.title.values", lever=lever, target=target)


def _sweep(title: str, document: dict) -> html.Div:
    key, enough = document["lever"], document["enough"]
    label, unit = run_text.lever_labels()[key]
    if enough is None:
        answer = [html.Strong(sentence("what_if_page.search.no_value", number=len(document["points"])))]
    else:
        text = sentence("what_if_page.search.enough", value=run_text.amount(enough, key))
        answer = [html.Strong(f"{text} "), _try(f"{key}={enough:.12g}")]
    figure = sweep_figure(
        document["points"], title=label + sentence("what_if_page.controls.unit", unit=unit), target_s=document["target_s"], look_s=document["look_s"],
        now=document["now"], enough=enough,
    )  # fmt: skip
    words = PageKey().take(figure)
    graph = dcc.Graph(
        id="what-if-sweep", figure=figure, config=graph_config(), style={"height": figure.layout.height}
    )
    return html.Div(
        [
            html.P([html.Span(f"{title} ", className="quiet"), *answer]),
            save_buttons("what-if-sweep"),
            *words,
            ChartPlace(graph),
        ],
        className="chart-box",
    )


def _exact(title: str, document: dict) -> html.Div:
    look_s, past = document["look_s"], document["when"] == "start"
    if past:
        not_drained = sentence("what_if_page.runs.not_drained")
    else:
        not_drained = sentence("what_if_page.search.not_within", length=fmt.duration(1000 * look_s))
    rows = []
    for name, one in document["forecasts"].items():
        first, likely, last = (
            not_drained if one[key] is None else fmt.duration(1000 * one[key])
            for key in ("earliest_s", "drain_s", "latest_s")
        )
        if not one["seen"] and one["latest_s"] is None:
            likely = sentence("what_if_page.search.at_the_earliest", length=likely)
        between = first if first == last else sentence("label.range_words", low=first, high=last)
        rows.append(
            [
                name,
                likely,
                between,
                fmt.msg_rate(one["out_msg_per_s"]),
                fmt.short(one["peak_entries"]),
            ]
        )
    head = (
        sentence("label.run"),
        sentence("what_if_page.runs.drained_after"),
        sentence("label.best_to_worst"),
        sentence("label.dispatched"),
        sentence("what_if_page.search.peak"),
    )
    return html.Div([html.P(html.Strong(title)), plain_table(head, rows)])


def _advice(title: str, document: dict) -> html.Div:
    parts: list = [html.P(html.Span(title, className="quiet"))]
    if not document["recommendations"]:
        parts.append(html.P(html.Strong(sentence("what_if_page.search.nothing_enough"))))
    for one in document["recommendations"]:
        times = _times(one)
        tried = [" ", _try(one["change"])] if one["change"] else []
        lines = [command_line(sentence("label.do"), one["do"])] if one["do"] else []
        lines += [command_line(sentence("label.roll_back"), one["undo"])] if one["undo"] else []
        parts.append(
            html.Div(
                [
                    html.P([html.Strong(hostile_sentence(one["words"])), times, *tried]),
                    *([html.P(sentence("what_if_page.command.not_executed"), className="facts"), *lines] if lines else []),
                    html.Ul([html.Li(hostile_sentence(risk)) for risk in one["risks"]], className="what-if-notes"),
                ],
                className="what-if-advice",
            )
        )  # fmt: skip
    parts += [html.P(hostile_sentence(text), className="never") for text in document["not_helping"]]
    return html.Div(parts)


def _try(text: str) -> html.Button:
    """Puts a run into the page's address when it is pressed; the browser's script does it."""
    return html.Button(
        sentence("what_if_page.search.try"), className="shell-button what-if-try", **{"data-run": text}
    )


def _times(one: dict) -> str:
    likely = one["likely_drain_s"] if one["likely_drain_s"] is not None else one["earliest_drain_s"]
    if likely is None:
        return ""
    return f" {sentence('what_if_page.search.drained_after', length=fmt.duration(1000 * likely))}"
