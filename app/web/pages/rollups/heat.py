"""How full the limits of a topic, namespace or broker were over its range. In: a view. Out: components: strips, and a table of their numbers."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import figures
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LIMIT
from throttlescope.app.presentation.figures.chart import graph_config
from throttlescope.app.presentation.figures.lanes import BANDS, Lane, band_words, owner_words
from throttlescope.app.web.components.chart_place import ChartPlace
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import plain_table, save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.lanes import Lanes
from throttlescope.app.web.pages.rollups.view import RollupView
from throttlescope.models.messages.catalogue import sentence


def heat(view: RollupView) -> html.Section:
    """Strips with their key, or which kind of nothing this is."""
    title = sentence("rollups.heat.title")
    lanes = view.lanes
    figure = figures.lanes_figure(lanes.lanes, lanes.step_ms, start_ms=view.start_ms, end_ms=view.end_ms)
    if figure is None:
        return section(title, [_nothing()])
    graph = dcc.Graph(
        id="rollups-heat",
        figure=figure,
        config=graph_config(toImageButtonOptions={"filename": "throttlescope-limits"}),
        style={"height": figure.layout.height},
    )
    return section(
        title,
        [_key(), ChartPlace(graph), _numbers(lanes.lanes, lanes.step_ms, view.start_ms)],
        note=_note(lanes),
        tools=save_buttons("limits"),
    )


def _note(lanes: Lanes) -> str:
    """What a cell is, and what was left out."""
    cell, shown, total = fmt.duration(lanes.step_ms), len(lanes.lanes), fmt.exact(lanes.total)
    is_cut = lanes.total > len(lanes.lanes)
    if lanes.topics_read is None:
        if is_cut:
            return sentence("rollups.heat.note_first", cell=cell, shown=shown, total=total)
        return sentence("rollups.heat.note", cell=cell)
    if is_cut:
        return sentence(
            "rollups.heat.note_first_topics", cell=cell, shown=shown, total=total, topics=lanes.topics_read
        )
    return sentence("rollups.heat.note_topics", cell=cell, topics=lanes.topics_read)


def _key() -> html.Ul:
    """What colours and marks mean."""
    return html.Ul(
        [
            *(
                html.Li(
                    [
                        html.Span(
                            className="heat-colour", style={"background": colour}, **{"aria-hidden": "true"}
                        ),
                        band_words(since),
                    ]
                )
                for since, colour in BANDS
            ),
            html.Li(sentence("rollups.heat.empty")),
            html.Li(
                [
                    html.Span("▲", style={"color": LIMIT}, className="cause-mark", **{"aria-hidden": "true"}),
                    sentence("rollups.heat.bound"),
                ]
            ),
        ],
        className="heat-key",
        **{"aria-label": sentence("rollups.heat.key")},
    )


def _numbers(lanes: tuple[Lane, ...], step_ms: int, start_ms: int) -> html.Details:
    """The numbers of the strips, for those who cannot see or point at them."""
    return html.Details(
        [
            html.Summary(sentence("rollups.heat.numbers")),
            plain_table(
                (
                    sentence("label.limiter"),
                    sentence("label.of"),
                    sentence("label.highest_use"),
                    sentence("label.when"),
                    sentence("label.bound_for"),
                    sentence("label.first_bound"),
                ),
                [_row(lane, step_ms, start_ms) for lane in lanes],
            ),
        ],
        className="heat-numbers",
    )


def _row(lane: Lane, step_ms: int, range_start_ms: int) -> list:
    fullest = max(
        (cell for cell in lane.cells if cell.share is not None), key=lambda cell: cell.share, default=None
    )
    bound = [cell.start_ms for cell in lane.cells if cell.bound]
    return [
        lane.limiter,
        html.Bdi(owner_words(lane)),
        fmt.percent(lane.share),
        NONE if fullest is None else fmt.moment(max(fullest.start_ms, range_start_ms)),
        fmt.duration(len(bound) * step_ms) if bound else sentence("rollups.heat.not_bound"),
        fmt.moment(max(bound[0], range_start_ms)) if bound else NONE,
    ]


def _nothing():
    return panel(
        sentence("rollups.heat.none"),
        [sentence("rollups.heat.none.why"), sentence("rollups.heat.none.read")],
    )
