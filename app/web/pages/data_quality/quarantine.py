"""Rows refused by ingest validation. In: rows of ``quarantine``. Out: components: counts by reason, rows to look at, and what to do."""

from __future__ import annotations

from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import copy_button, hostile, plain_table, section
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.quality import PAGE_ROWS, Rows
from throttlescope.app.web.pages.data_quality.gates import example
from throttlescope.ingest.quarantine import REASONS
from throttlescope.models.messages.catalogue import message, sentence

_LIST = "throttlescope quarantine list"


def refused(by_reason: list[dict], found: Rows, address: DataAddress) -> list:
    """Counts by reason, then the rows themselves."""
    run = None if address.run is None else fmt.name(address.run, 80)
    everything = None
    if address.run is not None or address.reason is not None:
        everything = dcc.Link(sentence("data_quality.refused.all"), href=DataAddress("quarantine").href())
    if not by_reason:
        return [
            panel(
                sentence("data_quality.refused.none")
                if run is None
                else sentence("data_quality.refused.none_run", run=run),
                [sentence("data_quality.refused.none.why")],
                next_step=everything,
            )
        ]
    title, note = sentence("label.refused_rows"), sentence("data_quality.refused.note")
    if address.reason is not None:
        title = sentence("data_quality.refused.title", reason=_words(address.reason))
    if run is not None:
        note = sentence("data_quality.refused.note_run", run=run)
    rows = _rows(found, address) if found.total else _none_for_reason(address, everything)
    return [
        _counts(by_reason, address),
        section(title, [*([html.P(everything)] if everything else []), rows], note=note),
    ]


def _words(reason: str) -> str:
    return fmt.name(reason, 60).replace("_", " ")


def _counts(by_reason: list[dict], address: DataAddress) -> html.Section:
    """How many rows were refused for each reason, and what to do."""
    head = (
        sentence("label.reason"),
        sentence("label.what_it_means"),
        sentence("label.meant_for"),
        sentence("data_quality.refused.lost"),
        sentence("label.kept"),
        sentence("label.runs"),
        sentence("label.newest"),
    )
    unknown = sentence("data_quality.refused.unknown_reason")
    rows = [
        [
            dcc.Link(_words(row["reason"]), href=replace(address, reason=row["reason"], page=1).href()),
            REASONS.get(row["reason"], unknown),
            fmt.name(row["table"], 20),
            fmt.exact(row["rows"]),
            fmt.exact(row["kept"]),
            fmt.exact(row["runs"]),
            fmt.moment(row["newest_ms"]),
        ]
        for row in by_reason
    ]
    repair = message("data_quality.refused.repair", command=html.Code(_LIST), copy=copy_button(_LIST))
    return section(
        sentence("label.refused_by_reason"),
        [plain_table(head, rows), html.P(sentence_parts(repair), className="what-to-do")],
        note=sentence("data_quality.refused.counts.note"),
    )


def _none_for_reason(address: DataAddress, everything: dcc.Link | None):
    return panel(
        sentence("data_quality.refused.none_for_reason"),
        [sentence("data_quality.refused.selected", reason=fmt.name(address.reason or "", 80))],
        next_step=everything,
    )


def _rows(found: Rows, address: DataAddress) -> html.Div:
    """Refused rows, newest first."""
    rows = [
        [
            _words(row["reason"]),
            fmt.name(row["table"], 20),
            hostile(row["cluster"]) if row["cluster"] else sentence("label.not_known"),
            example(row["row"]),
            fmt.exact(row["rows"]),
            fmt.moment(row["observed_ms"]),
            dcc.Link(
                "run", href=DataAddress("runs", run=row["run_id"]).href(), title=fmt.name(row["run_id"])
            ),
        ]
        for row in found.rows
    ]
    return html.Div(
        [
            plain_table(
                (
                    sentence("label.refused_for"),
                    sentence("label.meant_for"),
                    sentence("label.cluster"),
                    sentence("label.the_row"),
                    sentence("label.rows"),
                    sentence("label.refused"),
                    sentence("label.run"),
                ),
                rows,
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
