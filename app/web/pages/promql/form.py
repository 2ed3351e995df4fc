"""The form of the console: query, times, and the buttons that run and cancel it. In: an address. Out: components.

The browser's script writes what was typed into the address; the page reads it from there.
"""

from __future__ import annotations

from dataclasses import replace

import dash_mantine_components as dmc
from dash import dcc, html

from throttlescope.app.web.address.promql import EXPLAIN, GRAPH, TABLE, PromqlAddress
from throttlescope.app.web.components.form_inputs import running_words, time_box
from throttlescope.app.web.components.parts import view_link
from throttlescope.app.web.pages.promql.completions import KINDS, completions
from throttlescope.models.messages.catalogue import sentence


def _tabs() -> tuple:
    """The word of a tab in an address, its name, and what it shows."""
    return (
        (TABLE, sentence("label.tab.table"), sentence("promql.tab.table")),
        (GRAPH, sentence("label.tab.graph"), sentence("promql.tab.graph")),
        (EXPLAIN, sentence("label.tab.explain"), sentence("promql.tab.explain")),
    )


def form(address: PromqlAddress) -> html.Div:
    """All inputs; they stay in place while answers change."""
    return html.Div(
        [
            html.Div(
                [
                    dmc.Textarea(
                        id="promql-query",
                        value=address.query,
                        placeholder=sentence("promql.query.placeholder"),
                        autosize=True,
                        minRows=2,
                        maxRows=14,
                        spellCheck=False,
                        className="promql-query",
                        classNames={"input": "promql-input"},
                        **{
                            "aria-label": sentence("label.promql_expression"),
                            "aria-autocomplete": "list",
                            "aria-haspopup": "listbox",
                            "aria-controls": "promql-suggestions",
                            "aria-describedby": "promql-keys",
                        },
                    ),
                    # Filled by the browser's script.
                    html.Div(
                        id="promql-suggestions",
                        className="suggestions",
                        role="listbox",
                        hidden=True,
                        **{
                            "aria-label": sentence("label.suggestions"),
                            "data-one": sentence("promql.suggestion.one"),
                            "data-many": sentence("promql.suggestion.many"),
                            **{f"data-{kind}": sentence(f"promql.suggestion.kind.{kind}") for kind in KINDS},
                        },
                    ),
                    html.Span(id="promql-suggested", className="only-heard", role="status"),
                ],
                className="promql-box",
            ),
            html.Div(
                [
                    html.Button(
                        [f"{sentence('promql.run')} ", html.Kbd("Ctrl Enter")],
                        id="promql-run",
                        className="run-button",
                        type="button",
                    ),
                    *running_words("promql-content"),
                    time_box("promql-from", sentence("label.from_box")),
                    time_box("promql-to", sentence("label.to_box")),
                    dmc.TextInput(
                        id="promql-step",
                        label=sentence("label.step"),
                        placeholder=sentence("promql.step.auto"),
                        value="",
                        className="step-box",
                    ),
                    html.Span(
                        [
                            html.Kbd("Ctrl Space"),
                            f" {sentence('promql.query.keys')}",
                        ],
                        id="promql-keys",
                        className="quiet",
                    ),
                ],
                className="typed-row",
            ),
            dcc.Store(id="promql-words", data=completions()),
        ],
        className="promql-form",
    )


def tabs(address: PromqlAddress) -> html.Nav:
    """Ways to see an answer, as links."""
    return html.Nav(
        [
            view_link(label, replace(address, tab=tab).href(), chosen=tab == address.tab, title=title)
            for tab, label, title in _tabs()
        ],
        className="views promql-tabs",
        **{"aria-label": sentence("promql.tab.label")},
    )
