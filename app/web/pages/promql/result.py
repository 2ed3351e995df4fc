"""An answer as a table or a graph. In: a view. Out: components; control characters in names and strings are made visible."""

from __future__ import annotations

import dash_mantine_components as dmc
import numpy as np
from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.figures.series import MOST_LINES, Drawn, look, series_figure
from throttlescope.app.services.promql.answer_table import SUMMED_UP, Line, answer_table, readable
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import hostile, plain_table, save_buttons
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.promql.console_answer import QueryView
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.promql.answer import number
from throttlescope.transforms.promql.matrix import StepMatrix
from throttlescope.transforms.promql.query import QueryAnswer

_ROWS = 200
_NOTES = 10


def notes(answer: QueryAnswer) -> list:
    """Warnings and infos, ten of each, and how many more there are."""
    found = []
    for kind, label in (("warning", sentence("label.warning_title")), ("info", sentence("label.info"))):
        records = [one for one in answer.annotations if one.kind == kind]
        found += [
            html.Li([html.Strong(f"{label}: "), html.Bdi(fmt.name(one.located, 600))])
            for one in records[:_NOTES]
        ]
        if len(records) > _NOTES:
            found.append(html.Li(sentence("label.notes_more", label=label, number=len(records) - _NOTES)))
    return [html.Ul(found, className="promql-notes")] if found else []


def table(view: QueryView) -> list:
    """A line per series, or per point where a range has few of them."""
    answer = view.answer
    at = fmt.moment(view.end_ms)
    if answer.kind == "string":
        return [html.P([sentence("promql.string"), html.Code(fmt.name(answer.text, 2_000))])]
    found = answer_table(answer, most=_ROWS)
    if not found.lines:
        return [_empty(sentence("promql.empty.at", at=at, newest=fmt.moment(view.newest_ms)))]
    total, shown = fmt.exact(len(found.lines) + found.left_out), len(found.lines)
    if found.left_out:
        summary = sentence("promql.table.first_lines", number=total, at=at, shown=fmt.exact(shown))
    elif shown == 1:
        summary = sentence("promql.table.line", at=at)
    else:
        summary = sentence("promql.table.lines", number=total, at=at)
    heads = (
        *(fmt.name(head, 60) for head in found.heads),
        *((sentence("label.time_zone", zone=fmt.zone_of(view.end_ms)),) if found.timed else ()),
        *(SUMMED_UP if found.summed else (sentence("label.value_heading"),)),
    )
    return [
        html.P([summary, *_shared(found.shared)], className="promql-said"),
        html.Div(
            plain_table(heads, [_row(line, summed=found.summed) for line in found.lines]),
            className="promql-table",
        ),
    ]


def graph(view: QueryView) -> list:
    """Lines over the range, those with the greatest values, and a table that names them."""
    series = _series(view)
    if not series:
        evaluated = fmt.between(view.start_ms, view.end_ms)
        return [_empty(sentence("promql.empty.range", range=evaluated, newest=fmt.moment(view.newest_ms)))]
    drawn = sorted(range(len(series)), key=lambda at: (-_greatest(series[at][1].values), at))[:MOST_LINES]
    # In the order of labels again: the same series keeps its colour when values change places.
    drawn = sorted(drawn)
    figure, is_short = series_figure(
        [series[at][1] for at in drawn], start_ms=view.start_ms, end_ms=view.end_ms
    )
    all_labels = [series[at][0] for at in drawn]
    shared = {
        name: value
        for name, value in all_labels[0].items()
        if all(one.get(name) == value for one in all_labels)
    }
    names = sorted({name for labels in all_labels for name in labels if name not in shared})
    summary = [
        sentence("promql.graph.series", number=fmt.exact(len(series)), step=fmt.duration(view.step_ms))
    ]
    if len(series) > len(drawn):
        more = fmt.exact(len(series) - len(drawn))
        summary.append(sentence("promql.graph.greatest", shown=len(drawn), more=more))
    if is_short:
        summary.append(sentence("promql.graph.thinned"))
    if infinite := sum(int(np.isinf(one.values).sum()) for _, one in series):
        summary.append(sentence("promql.graph.infinite", number=fmt.exact(infinite)))
    return [
        html.P(["; ".join(summary), *_shared(shared)], className="promql-said"),
        html.Div(
            [
                save_buttons("promql"),
                ChartPlace(
                    dcc.Graph(
                        id="promql-graph",
                        figure=figure,
                        config=graph_config(toImageButtonOptions={"filename": "throttlescope-promql"}),
                        style={"height": figure.layout.height},
                    )
                ),
            ],
            className="chart-box",
        ),
        html.Div(
            plain_table(
                (
                    sentence("label.line"),
                    *(
                        fmt.name(sentence("label.metric") if name == "__name__" else name, 60)
                        for name in names
                    ),
                    sentence("label.last_lengths"),
                    sentence("label.lowest"),
                    sentence("label.highest"),
                ),
                [_legend(number, series[at], names) for number, at in enumerate(drawn)],
            ),
            className="promql-table",
        ),
    ]


def explained(view: QueryView) -> list:
    """How the query would run."""
    lines = "\n".join(fmt.name(line, 2_000) for line in view.explained.split("\n"))
    return [
        html.P(sentence("promql.explain.note"), className="promql-said"),
        html.Pre(
            lines,
            className="promql-explained",
            tabIndex=0,
            **{"aria-label": sentence("promql.explain.label")},
        ),
    ]


def _series(view: QueryView) -> list[tuple[dict[str, str], Drawn]]:
    """Every series of the answer with its labels, on all steps."""
    answer = view.answer
    times_ms = answer.steps.times_ms
    if isinstance(answer.value, StepMatrix):
        matrix = answer.value
        found = [
            (dict(labels), Drawn(times_ms, np.where(here, values, np.nan)))
            for labels, values, here in zip(matrix.labels, matrix.values, matrix.present, strict=True)
        ]
        return sorted(found, key=lambda one: sorted(one[0].items()))
    return [({}, Drawn(times_ms, np.asarray(answer.value, float)))]


def _greatest(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.abs(known).max()) if len(known) else -1.0


def _legend(number_: int, series: tuple[dict[str, str], Drawn], names: list[str]) -> list:
    labels, line = series
    colour, dash = look(number_)
    known = line.values[~np.isnan(line.values)]
    figures = (known[-1], known.min(), known.max()) if len(known) else ()
    return [
        html.Span(
            [
                html.Span(
                    className=f"line-look line-{dash}",
                    style={"color": colour},
                    **{"aria-hidden": "true"},
                ),
                str(number_ + 1),
            ],
            className="line-key",
        ),
        *(_label(labels.get(name)) for name in names),
        *((_value(value) for value in figures) if figures else (NONE, NONE, NONE)),
    ]


def _row(line: Line, *, summed: bool) -> list:
    cells = [_label(label) for label in line.labels]
    if line.time_ms is not None:
        cells.append(fmt.moment(line.time_ms))
    if summed:
        return [*cells, fmt.exact(line.values[0]), *(_value(value) for value in line.values[1:])]
    return [*cells, *(_value(value) for value in line.values)]


def _label(value: str | None):
    return NONE if value is None else hostile(value)


def _value(value: float) -> html.Span:
    return html.Span(readable(float(value)), title=number(float(value)), className="promql-value")


def _shared(shared: dict[str, str]) -> list:
    if not shared:
        return []
    parts: list = [f". {sentence('promql.graph.shared')} "]
    for name, value in shared.items():
        parts += [html.Code([html.Bdi(fmt.name(name, 60)), "=", hostile(value)]), " "]
    return parts


def _empty(evaluated: str) -> dmc.Alert:
    return panel(sentence("promql.empty.title"), [evaluated, sentence("promql.empty.why")])
