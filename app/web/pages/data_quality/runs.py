"""What runs did: the list of them, and one opened. In: rows of ``ingest_runs``. Out: components."""

from __future__ import annotations

import json
from dataclasses import replace

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.data_quality import DataAddress
from throttlescope.app.web.components.pager import pager
from throttlescope.app.web.components.parts import hostile, plain_table, run_state, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.quality import PAGE_ROWS, Rows
from throttlescope.models.messages import units
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.language import HTML_CODES, STORED_LANGUAGE

#: How much of the details of a run is shown: entries of a list, levels, entries that are not folded.
_MOST_ENTRIES, _DEEPEST, _SHOWN_OPEN = 40, 5, 12


def status(word: str) -> html.Span:
    """How a run ended, as a mark and in words."""
    mark, words, kind = run_state(word)
    return html.Span([html.Span(mark, className=f"state-mark {kind}"), words], className="state")


def runs(found: Rows, address: DataAddress, opened: dict | None, lake_path: str) -> list:
    """The list, below the run that is opened."""
    if not found.total:
        return [
            panel(
                sentence("data_quality.no_run"),
                [
                    sentence("data_quality.no_run.manifest", lake=lake_path),
                    sentence("data_quality.no_run.start"),
                ],
            )
        ]
    parts: list = []
    if address.run is not None:
        parts.append(_opened(opened, address) if opened else _unknown(address.run))
    newest = found.rows[0]["started_ms"] if found.rows else None
    parts.append(
        section(
            sentence("label.runs"),
            [
                plain_table(
                    (
                        sentence("label.started_zone", zone=fmt.zone_of(newest)),
                        sentence("label.command_title"),
                        sentence("label.result"),
                        sentence("label.duration"),
                        sentence("label.source_title"),
                        sentence("label.requested_range_title"),
                        sentence("label.requests"),
                        sentence("label.read"),
                        sentence("data_quality.runs.samples"),
                        sentence("label.refused"),
                        sentence("label.gates"),
                    ),
                    [_row(row, address) for row in found.rows],
                ),
                pager(
                    address.page, found.total, PAGE_ROWS, lambda page: address.on(page).href(), noun="runs"
                ),
            ],
            note=sentence("data_quality.runs.note"),
        )
    )
    return parts


def _row(row: dict, address: DataAddress) -> list:
    return [
        dcc.Link(
            f"{fmt.moment(row['started_ms']).rsplit(' ', 1)[0]}",
            href=replace(address, run=row["run_id"], page=address.page).href(),
            title=fmt.name(row["run_id"]),
        ),
        html.Code(fmt.name(row["command"], 20)),
        status(row["status"]),
        fmt.duration(row["finished_ms"] - row["started_ms"]),
        html.Span(hostile(row["source"]), className="cell-long"),
        fmt.between(row["start_ms"], row["end_ms"]),
        html.Span(
            fmt.exact(row["source_requests"] + row["admin_requests"]),
            title=sentence(
                "data_quality.runs.requests",
                source=fmt.exact(row["source_requests"]),
                admin=fmt.exact(row["admin_requests"]),
            ),
        ),
        fmt.size(row["source_bytes"]),
        sentence("label.part_of", part=fmt.short(row["samples_written"]), whole=fmt.short(row["samples"])),
        _refused(row),
        _gates(row),
    ]


def _refused(row: dict):
    if not row["rows_quarantined"]:
        return "0"
    return dcc.Link(
        fmt.exact(row["rows_quarantined"]), href=DataAddress("quarantine", run=row["run_id"]).href()
    )


def _gates(row: dict):
    words = [
        units.counted_of(fmt.exact(row[name]), word, one=row[name] == 1)
        for name, word in (("errors", "error"), ("warnings", "warning"))
        if row.get(name)
    ]
    if not words:
        if row["checks"]:
            return sentence("label.marked_nothing_found")
        return html.Span(sentence("data_quality.runs.not_checked"), className="quiet")
    return dcc.Link(
        units.words().list_separator.join(words), href=DataAddress("gates", run=row["run_id"]).href()
    )


def _unknown(run_id: str):
    return panel(
        sentence("data_quality.unknown_run"),
        [sentence("data_quality.unknown_run.why", run=fmt.name(run_id, 80))],
        tone="orange",
    )


def _opened(row: dict, address: DataAddress) -> html.Section:
    facts = [
        (sentence("label.how_it_ended"), status(row["status"])),
        (sentence("label.command"), html.Code(fmt.name(row["command"], 20))),
        (
            sentence("label.cluster_heading"),
            hostile(row["cluster"]) if row["cluster"] else sentence("label.several"),
        ),
        (sentence("label.source"), hostile(row["source"])),
        (sentence("label.requested_range"), fmt.between(row["start_ms"], row["end_ms"])),
        (sentence("label.started"), fmt.moment(row["started_ms"])),
        (sentence("label.duration_heading"), fmt.duration(row["finished_ms"] - row["started_ms"])),
        (sentence("data_quality.run.source_requests"), fmt.exact(row["source_requests"])),
        (sentence("data_quality.run.admin_requests"), fmt.exact(row["admin_requests"])),
        (sentence("label.bytes_received"), fmt.size(row["source_bytes"])),
        (sentence("label.series_seen"), fmt.exact(row["series"])),
        (sentence("label.samples_received"), fmt.exact(row["samples"])),
        (sentence("label.samples_committed"), fmt.exact(row["samples_written"])),
        (sentence("label.rows_refused"), _refused(row)),
    ]
    return section(
        sentence("label.one_run"),
        [
            html.Dl(
                [part for name, value in facts for part in (html.Dt(name), html.Dd(value))],
                className="run-facts",
            ),
            html.P(
                [
                    dcc.Link(
                        sentence("data_quality.run.gates"),
                        href=DataAddress("gates", run=row["run_id"]).href(),
                    ),
                    " · ",
                    dcc.Link(
                        sentence("data_quality.run.refused"),
                        href=DataAddress("quarantine", run=row["run_id"]).href(),
                    ),
                    " · ",
                    dcc.Link(sentence("label.close_heading"), href=replace(address, run=None).href()),
                ]
            ),
            html.Details(
                [
                    html.Summary(sentence("data_quality.run.details")),
                    _details(row["details"]),
                ],
                open=True,
            ),
        ],
        note=fmt.name(row["run_id"], 80),
        id="opened-run",
    )


def _details(text: str):
    try:
        found = json.loads(text)
    except ValueError:
        unreadable = sentence("data_quality.run.details_unreadable", details=fmt.name(text, 200))
        return html.P(unreadable, className="quiet")
    if not found:
        return html.P(sentence("data_quality.run.no_details"), className="quiet")
    return _value(found, 0)


def _value(value: object, depth: int):
    """A JSON value as lists in lists, cut where it is endless."""
    if isinstance(value, dict | list) and not value:
        return sentence("label.none")
    if isinstance(value, dict | list) and depth >= _DEEPEST:
        return fmt.name(json.dumps(value, ensure_ascii=False), 300)
    if isinstance(value, dict):
        shown = [
            part
            for name, item in list(value.items())[:_MOST_ENTRIES]
            for part in (html.Dt(_name(str(name))), html.Dd(_timed(str(name), item, depth)))
        ]
        listed = html.Div([html.Dl(shown, className="run-details"), *_more(len(value))])
        # A sum of every file, say: of interest when it is looked for.
        if depth and len(value) > _SHOWN_OPEN:
            return html.Details(
                [html.Summary(sentence("data_quality.run.entries", number=fmt.exact(len(value)))), listed]
            )
        return listed
    if isinstance(value, list):
        if all(not isinstance(item, dict | list) for item in value):
            return ", ".join(fmt.name(str(item), 120) for item in value[:_MOST_ENTRIES]) + (
                f" {sentence('label.and_more', number=fmt.exact(len(value) - _MOST_ENTRIES))}"
                if len(value) > _MOST_ENTRIES
                else ""
            )
        return html.Div([*(_value(item, depth + 1) for item in value[:_MOST_ENTRIES]), *_more(len(value))])
    if value is None:
        return html.Span(sentence("label.none"), className="quiet")
    return html.Bdi(
        sentence("label.yes")
        if value is True
        else sentence("label.no")
        if value is False
        else fmt.name(str(value), 300)
    )


def _timed(name: str, item: object, depth: int):
    """A number whose name says milliseconds is a time or a length."""
    if name.endswith("_ms") and isinstance(item, int) and not isinstance(item, bool):
        return fmt.moment(item) if item > 1e12 else fmt.duration(item)
    if name.endswith("_bytes") and isinstance(item, int):
        return fmt.size(item)
    return _value(item, depth + 1)


def _name(name: str) -> html.Bdi:
    return html.Bdi(fmt.name(name.replace("_", " "), 120), lang=HTML_CODES[STORED_LANGUAGE])


def _more(count: int) -> list:
    return (
        [html.P(sentence("label.and_more", number=fmt.exact(count - _MOST_ENTRIES)), className="quiet")]
        if count > _MOST_ENTRIES
        else []
    )
