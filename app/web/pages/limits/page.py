"""Limits and policies: every limit that is in force, how much of it was used, who set it; and for one subscription which policy applies.

Below it what limits publishing: topics, resource groups and brokers, totals, and producers that a backlog quota stops.

In: the address (search, filters, one subscription, a range for changes). Out: components. Rows are sorted, filtered and paged by the server.
"""

from __future__ import annotations

from dataclasses import replace

from dash import Dash, Output, html, no_update

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.links.paths import LIMITS_PATH
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.components.inputs_in_address import AddressInputs, choice, search_box
from throttlescope.app.web.components.range_bar import chosen_range, range_bar
from throttlescope.app.web.components.served_table import ROW_PX, page_grid, register_table, shown_store
from throttlescope.app.web.components.shell import (
    cluster_choices,
    freshness_line,
    no_verdicts,
    skeleton,
)
from throttlescope.app.web.data import newest
from throttlescope.app.web.data.limit_changes import changes
from throttlescope.app.web.data.limit_subject import subject
from throttlescope.app.web.data.limiters import Known, known, limiters
from throttlescope.app.web.data.newest import ClusterFreshness
from throttlescope.app.web.data.publishing import publishing
from throttlescope.app.web.data.reader import LakeReader
from throttlescope.app.web.page_declaration import WebPage
from throttlescope.app.web.pages.limits.changes import changes_section
from throttlescope.app.web.pages.limits.limits_table import (
    columns,
    grid_row,
    not_known,
    status,
    toggles,
    uses,
)
from throttlescope.app.web.pages.limits.publishing import publishing_sections
from throttlescope.app.web.pages.limits.subject import head, in_force, ladder, raw
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS
from throttlescope.models.messages.catalogue import sentence

TITLE = "Limits"

#: Changes are looked for over this long, unless the address says otherwise, and never over more than the longest.
DEFAULT_MS, LONGEST_MS = DAY_MS, 31 * DAY_MS
_HEAD_PX, _MOST_HEIGHT_PX = 56, 520
LENGTHS_MS = (6 * BLOCK_MS, DAY_MS, 7 * DAY_MS, 31 * DAY_MS)

_INPUTS = AddressInputs("limits", LimitsAddress, ("search", "clusters", "namespaces"), unless="subject")


def layout(address: LimitsAddress | None, query: str | None) -> html.Div:
    """The frame of the page: the table, and the place of what is opened; callbacks show one of them."""
    address = address or LimitsAddress()
    is_opened = address.subject is not None
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H1(sentence("label.limits_and_policies_title")),
                            html.Div(id="limits-freshness", className="freshness"),
                        ],
                        className="page-head",
                    ),
                    html.Div(
                        [
                            html.Div(id="limits-use", className="views"),
                            search_box(
                                "limits",
                                address.search,
                                sentence("limits.page.search"),
                                label=sentence("limits.page.search_label"),
                            ),
                            choice("limits", "clusters"),
                            choice("limits", "namespaces"),
                        ],
                        className="toolbar",
                    ),
                    html.Div(id="limits-toggles", className="limits-toggles"),
                    html.Div(id="limits-status", className="status", role="status"),
                    page_grid("limits"),
                ],
                id="limits-list",
                hidden=is_opened,
            ),
            html.Div(skeleton() if is_opened else None, id="limits-below"),
            # Read apart: it takes longer than the rows do, and they need not wait for it.
            html.Div(id="limits-changes"),
            html.Div(id="limits-publishing"),
            shown_store("limits", query),
            *_INPUTS.stores(),
        ],
        className="limits-page",
    )


def register(app: Dash, reader: LakeReader) -> None:
    """Callbacks: the parts of the page, the changes, the rows of the table, and the inputs."""
    PAGE.fill(
        app,
        lambda address: page_parts(reader, address),
        Output("limits-below", "children"),
        Output("limits-list", "hidden"),
        Output("limits-freshness", "children"),
        Output("limits-status", "children"),
        Output("limits-clusters", "data"),
        Output("limits-namespaces", "data"),
        Output("limits-use", "children"),
        Output("limits-toggles", "children"),
        Output("limits-grid", "columnDefs"),
        Output("limits-grid", "style"),
        on_fault=(True, *(no_update,) * 8),
        table="limits",
    )
    PAGE.fill_quietly(
        app, lambda address: changes_part(reader, address), Output("limits-changes", "children")
    )

    PAGE.fill_quietly(
        app, lambda address: publishing_part(reader, address), Output("limits-publishing", "children")
    )

    def rows(address, sort, start, end):
        if address.subject is not None:
            return [], 0
        found, total = limiters(reader, address, sort=sort, start=start, end=end)
        return [grid_row(row) for row in found], total

    register_table(app, "limits", LimitsAddress, rows)
    _INPUTS.register(app)


def page_parts(reader: LakeReader, address: LimitsAddress) -> tuple:
    """What is below the list, whether the list is hidden, and the parts of the list."""
    freshness = newest.freshness(reader)
    limits = known(reader)
    if address.subject is not None:
        found = subject(reader, address.subject)
        page = html.Div(
            [
                head(address.subject),
                html.Div(policies_line(limits, freshness), className="facts"),
                in_force(found),
                ladder(found),
                raw(found),
            ]
        )
        return (page, True, *(no_update,) * 8)
    _, total = limiters(reader, address, end=0)
    summary = (
        status(address, limits, total)
        if freshness.subscriptions or limits.limiters
        else no_verdicts(reader.lake_path)
    )
    return (
        html.Div(not_known(limits)),
        False,
        [*freshness_line(freshness), html.Span(policies_line(limits, freshness))],
        summary,
        cluster_choices(freshness),
        [{"value": name, "label": fmt.name(name, 60)} for name in limits.namespaces],
        uses(address, limits),
        toggles(address),
        columns(limits, fmt.zone_of(limits.observed_ms)),
        # As high as its rows, so that the changes below a short table are seen.
        {"height": f"{min(_MOST_HEIGHT_PX, _HEAD_PX + ROW_PX * max(1, total))}px"},
    )


def policies_line(limits: Known, freshness: ClusterFreshness) -> str:
    """How fresh the policies are: when the admin API answered last, against the newest data."""
    if limits.observed_ms is None:
        return sentence("limits.policies.never_read")
    at, behind_ms = fmt.moment(limits.observed_ms), (freshness.data_up_to_ms or 0) - limits.observed_ms
    if behind_ms > BLOCK_MS:
        return sentence("limits.policies.read_before_data", at=at, before=fmt.duration(behind_ms))
    return sentence("limits.policies.read", at=at)


def changes_part(reader: LakeReader, address: LimitsAddress) -> html.Div | None:
    """What changed in the range of the address, of the table's filters or of the subscription that is opened."""
    limits, freshness = known(reader), newest.freshness(reader)
    if limits.observed_ms is None:
        return None
    up_to_ms = max(limits.observed_ms + 1, freshness.data_up_to_ms or 0)
    start_ms, end_ms, was_cut = chosen_range(
        address.start_ms, address.end_ms, newest_ms=up_to_ms, default_ms=DEFAULT_MS, longest_ms=LONGEST_MS
    )

    def to(start: int, end: int) -> str:
        return replace(address, start_ms=max(0, start), end_ms=max(1, end)).href()

    return html.Div(
        [
            range_bar(
                start_ms,
                end_ms,
                to,
                data_up_to_ms=freshness.data_up_to_ms or limits.observed_ms,
                lengths_ms=LENGTHS_MS,
                cut_to_ms=LONGEST_MS if was_cut else None,
            ),
            changes_section(changes(reader, address, start_ms, end_ms)),
        ]
    )


def publishing_part(reader: LakeReader, address: LimitsAddress) -> html.Div | None:
    """What limits publishing, of the clusters and namespaces of the address; nothing next to one subscription that is opened."""
    found = None if address.subject is not None else publishing(reader, address)
    return None if found is None else html.Div(publishing_sections(found))


PAGE = WebPage(LIMITS_PATH, TITLE, LimitsAddress, layout, register)
