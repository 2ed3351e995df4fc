"""How full the limits of a place were over its range. In: a view. Out: components: strips, and the same as a table of numbers."""

from __future__ import annotations

from dash import dcc, html

from throttlescope.app.presentation import figures
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LIMIT
from throttlescope.app.presentation.figures.chart import CONFIG
from throttlescope.app.presentation.figures.lanes import BANDS, Lane, owner_words
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import plain_table, save_buttons, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.rollups.listing import PlaceView

TITLE = "How full its limits were"


def heat(view: PlaceView) -> html.Section:
    """Strips with their key, or which kind of nothing this is."""
    lanes = view.lanes
    figure = figures.lanes_figure(lanes.lanes, lanes.step_ms, start_ms=view.start_ms, end_ms=view.end_ms)
    if figure is None:
        return section(TITLE, [_nothing(view)])
    cell = fmt.duration(lanes.step_ms)
    notes = [f"each cell the fullest minute of {cell}"]
    if lanes.total > len(lanes.lanes):
        notes.append(
            f"{len(lanes.lanes)} of {fmt.exact(lanes.total)} limiters: those that bound longest, then the fullest"
        )
    if lanes.topics_read is not None:
        notes.append(
            f"read were the {lanes.topics_read} topics whose limits bound in this range or are fullest now; the place has too many to read all"
        )
    graph = dcc.Graph(
        id="rollups-heat",
        figure=figure,
        config={**CONFIG, "toImageButtonOptions": {"filename": "throttlescope-limits"}},
        style={"height": figure.layout.height},
    )
    return section(
        TITLE,
        [_key(), graph, _numbers(lanes.lanes, lanes.step_ms, view.start_ms)],
        note="use / limit, use summed over all that share it; " + "; ".join(notes),
        tools=save_buttons("limits"),
    )


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
                        words,
                    ]
                )
                for _, words, colour in BANDS
            ),
            html.Li("empty: no limit known, or no use measured"),
            html.Li(
                [
                    html.Span("▲", style={"color": LIMIT}, className="cause-mark", **{"aria-hidden": "true"}),
                    "with a line: it bound, by the verdicts of these minutes",
                ]
            ),
        ],
        className="heat-key",
        **{"aria-label": "colours and marks"},
    )


def _numbers(lanes: tuple[Lane, ...], step_ms: int, start_ms: int) -> html.Details:
    """The same in numbers, for those who cannot see or point at strips."""
    return html.Details(
        [
            html.Summary("The same in numbers"),
            plain_table(
                ("Limiter", "Of", "Fullest", "When", "Bound for", "First bound"),
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
        fmt.duration(len(bound) * step_ms) if bound else "not",
        fmt.moment(max(bound[0], range_start_ms)) if bound else NONE,
    ]


def _nothing(view: PlaceView):
    return panel(
        "No limit is known in this range.",
        [
            "Either none is set, or none was read, or nothing was scraped then: the page of a subscription says which.",
            "Limits come from the admin API: throttlescope run --pulsar-admin URL.",
        ],
        next_step=None,
    )
