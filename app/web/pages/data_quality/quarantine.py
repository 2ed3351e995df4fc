"""Rows refused by ingest validation. In: rows of ``quarantine``. Out: components: counts by reason, rows to look at, and what to do."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import copy_button, hostile, plain_table, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.quality import PAGE_ROWS, Rows
from throttlescope.app.web.pages.data_quality.gates import example
from throttlescope.ingest.quarantine import REASONS

_AGAIN = "throttlescope quarantine list"


def refused(by_reason: list[dict], found: Rows, address: DataAddress) -> list:
    """Counts by reason, then the rows themselves."""
    of_run = f" by run {fmt.name(address.run, 80)}" if address.run is not None else ""
    everything = (
        dcc.Link("All that was refused", href=DataAddress("quarantine").href())
        if address.run is not None or address.reason is not None
        else None
    )
    if not by_reason:
        return [
            panel(
                f"Nothing was refused{of_run}.",
                [
                    "Every row that runs read could be placed. Rows that cannot are kept whole, with the reason."
                ],
                next_step=everything,
            )
        ]
    counts = section(
        "Refused, by reason",
        [
            plain_table(
                ("Reason", "What it means", "Meant for", "Rows lost with it", "Kept here", "Runs", "Newest"),
                [
                    [
                        dcc.Link(
                            fmt.name(row["reason"], 60).replace("_", " "),
                            href=replace(address, reason=row["reason"], page=1).href(),
                        ),
                        REASONS.get(row["reason"], "a reason that this version does not know"),
                        fmt.name(row["table"], 20),
                        fmt.exact(row["rows"]),
                        fmt.exact(row["kept"]),
                        fmt.exact(row["runs"]),
                        fmt.moment(row["newest_ms"]),
                    ]
                    for row in by_reason
                ],
            ),
            html.P(
                [
                    "A refused row can be repaired and validated again: throttlescope quarantine readmit. What is "
                    "wrong at the source is mended there; a run replaces what it reads. ",
                    html.Code(_AGAIN),
                    " ",
                    copy_button(_AGAIN),
                ],
                className="what-to-do",
            ),
        ],
        note="a row that cannot be placed does not fail its run",
    )
    if not found.total:
        rows = panel(
            "No row was refused for that reason.",
            [f"Selected: {fmt.name(address.reason or '', 80)}."],
            next_step=everything,
        )
    else:
        rows = html.Div(
            [
                plain_table(
                    ("Refused for", "Meant for", "Cluster", "The row", "Rows", "Refused", "Run"),
                    [
                        [
                            fmt.name(row["reason"], 60).replace("_", " "),
                            fmt.name(row["table"], 20),
                            hostile(row["cluster"]) if row["cluster"] else "not known",
                            example(row["row"]),
                            fmt.exact(row["rows"]),
                            fmt.moment(row["observed_ms"]),
                            dcc.Link(
                                "run",
                                href=DataAddress("runs", run=row["run_id"]).href(),
                                title=fmt.name(row["run_id"]),
                            ),
                        ]
                        for row in found.rows
                    ],
                ),
                pager(
                    address.page,
                    found.total,
                    PAGE_ROWS,
                    lambda page: address.on(page).href(),
                    noun="kept rows",
                ),
            ]
        )
    title = (
        "Refused rows"
        if address.reason is None
        else f"Refused rows: {fmt.name(address.reason, 60).replace('_', ' ')}"
    )
    return [
        counts,
        section(title, [*([html.P(everything)] if everything else []), rows], note=f"newest first{of_run}"),
    ]
