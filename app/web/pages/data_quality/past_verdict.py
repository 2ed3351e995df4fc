"""A past verdict, opened: what was stored, the minutes it saw, and what today's rules say of them. In: windows and a ``Reopened``. Out: components."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import SIDES, limiter_words
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.data_quality import DataAddress, past_verdict
from throttlescope.app.web.components.grid import NONE
from throttlescope.app.web.components.parts import (
    cause_badge,
    copy_button,
    hostile,
    hostile_sentence,
    plain_table,
    section,
)
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.past_verdict import MOST_WINDOWS
from throttlescope.app.web.pages.data_quality.evidence import evidence, missing
from throttlescope.ingest.core.times import format_time
from throttlescope.models.diagnosis.reopen import Reopened
from throttlescope.models.diagnosis.verdict import RULES_VERSION

_ROWS = (
    ("cause", "Cause"), ("side", "Side"), ("limiter", "Limiter"), ("variant", "Form"), ("confidence", "Confidence"),
    ("why", "Rule that named it"), ("rules_version", "Rules"),
)  # fmt: skip
#: Columns of the minutes beside the limits: heading, column, how it is shown.
_MINUTES = (
    ("backlog, entries", "backlog_ready_entries", fmt.exact),
    ("in, msg", "in_msg_delta", fmt.exact),
    ("out, msg", "out_msg_delta", fmt.exact),
    ("acked, msg/s", "ack_msg_rate", fmt.short),
    ("unacked, msg", "unacked_msg", fmt.exact),
    ("consumers", "consumers", fmt.exact),
    ("no permits", "permits_exhausted_share", fmt.percent),
    ("seen", "coverage_share", fmt.percent),
)


def chooser(found: Sequence[dict], total: int, address: DataAddress) -> html.Section:
    """Subscriptions that fit the search, each leading to its windows."""
    if not total:
        body: Any = html.P("No subscription fits these words.", className="quiet")
    else:
        body = plain_table(
            ("Subscription", "Cluster", "Newest verdict"),
            [
                [
                    dcc.Link(
                        [
                            html.Bdi(fmt.name(row["subscription"], 60), className="row-name"),
                            html.Bdi(fmt.topic_name(row["topic"], row["partition"]), className="row-place"),
                        ],
                        href=past_verdict(_key(row)).href(),
                        className="row-link",
                    ),
                    hostile(row["cluster"]),
                    [cause_badge(row["cause"], row["limiter"]), f" at {fmt.moment(row['window_end_ms'])}"],
                ]
                for row in found
            ],
        )
    note = f"{fmt.exact(len(found))} of {fmt.exact(total)}" + (
        ": search to see others" if total > len(found) else ""
    )
    return section("Whose verdict?", [body], note=note)


def _key(row: dict) -> SubscriptionPartition:
    return SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])


def windows(
    rows: Sequence[dict], key: SubscriptionPartition, at_ms: int | None, chosen: dict | None
) -> html.Section:
    """Windows of one subscription, newest first; each opens its verdict."""
    if not rows:
        where = "" if at_ms is None else f" within hours of {fmt.moment(at_ms)}"
        return html.Section(
            panel(
                f"No verdict of this subscription is stored{where}.",
                ["It was not judged then, or the hour was judged again with other windows."],
                next_step=dcc.Link("Its newest windows", href=past_verdict(key).href())
                if at_ms is not None
                else None,
                tone="orange",
            )
        )
    versions = sorted({row["rules_version"] for row in rows})
    return section(
        "Windows",
        [
            html.Ul(
                [
                    html.Li(
                        dcc.Link(
                            [
                                fmt.between(row["window_start_ms"], row["window_end_ms"]),
                                " ",
                                cause_badge(row["cause"]),
                                html.Span(f" rules {fmt.name(row['rules_version'], 40)}", className="quiet"),
                            ],
                            href=past_verdict(key, row["window_end_ms"]).href(),
                            className="window-link chosen" if row is chosen else "window-link",
                        )
                    )
                    for row in rows
                ],
                className="window-list",
            )
        ],
        note=f"{_how_many(rows, at_ms)}; judged by rules {', '.join(fmt.name(v, 40) for v in versions)}",
    )


def _how_many(rows: Sequence[dict], at_ms: int | None) -> str:
    if len(rows) < MOST_WINDOWS:
        return f"{fmt.exact(len(rows))} here"
    return f"{'the newest' if at_ms is None else 'the nearest'} {fmt.exact(len(rows))}"


def identity(key: SubscriptionPartition, at_ms: int | None) -> html.P:
    """Whose verdict it is, and the way to its page."""
    return html.P(
        [
            hostile(key.subscription),
            html.Span(" of ", className="quiet"),
            hostile(fmt.topic_name(key.topic, key.partition)),
            html.Span(" in ", className="quiet"),
            hostile(key.cluster),
            " · ",
            dcc.Link("its page then", href=SubscriptionAddress(key, at_ms=at_ms).href()),
            " · ",
            dcc.Link("another subscription", href=DataAddress("verdict").href()),
        ],
        className="identity",
    )


def opened(found: Reopened, key: SubscriptionPartition) -> list:
    """The stored verdict next to the result of today's rules for the same minutes, its evidence and the minutes."""
    stored, again = found.stored, found.again.to_row()
    return [
        section(
            "Then, and today",
            [
                html.P(_sentence(found), className="reopened-says", id="reopened"),
                plain_table(
                    (
                        "Verdict",
                        f"Stored, rules {fmt.name(stored['rules_version'], 40)}",
                        f"Today, rules {RULES_VERSION}",
                        "Compared",
                    ),
                    [
                        [
                            title,
                            _cell(name, stored),
                            _cell(name, again),
                            _compared(name, found),
                        ]
                        for name, title in _ROWS
                    ],
                ),
                html.P(
                    [html.Code(_command(key, stored)), " ", copy_button(_command(key, stored))],
                    className="what-to-do",
                ),
            ],
            note=fmt.between(stored["window_start_ms"], stored["window_end_ms"]),
        ),
        _minutes(found),
        html.Div(
            [
                evidence("Evidence that was stored", stored),
                evidence("What today's rules see", again),
                missing("Missing then", stored),
                missing("Missing today", again),
            ],
            className="then-and-now",
        ),
    ]


def _compared(name: str, found: Reopened) -> html.Span:
    if name in found.differences:
        return html.Span([html.Span("≠", className="state-mark warn"), "differs"], className="state")
    unwritten = found.stored[name] is None and found.again.to_row()[name] is not None
    return html.Span("cannot be compared" if unwritten else "same", className="quiet")


def _sentence(found: Reopened) -> str:
    differs = [name.replace("_", " ") for name in found.differences]
    if not differs:
        says = "Today's rules say the same of the same minutes."
    elif differs == ["rules version"]:
        says = "Today's rules are newer and say the same of the same minutes."
    else:
        says = f"Today's rules say otherwise of the same minutes: {', '.join(differs)}."
    written = f" Written {fmt.moment(found.made_ms)} from version {found.signals_version} of the minutes."
    repaired = (
        " The minutes have been repaired since; both columns judge those of then." if found.repaired else ""
    )
    return says + written + repaired


def _cell(name: str, row: dict):
    value = row[name]
    if name == "cause":
        return cause_badge(value)
    if name == "side":
        return f"{SIDES[value].mark} {SIDES[value].label}"
    if name == "confidence":
        return "names no cause" if row["cause"] == "unknown" else fmt.percent(value)
    if value is None:
        return (
            "none"
            if name == "limiter"
            else "not written then"
            if name in ("why", "variant") and row.get("why") is None
            else "none"
        )
    if name == "limiter":
        return limiter_words(value)
    return html.Span(hostile_sentence(str(value)), className="cell-long")


def _minutes(found: Reopened) -> html.Section:
    if not found.minutes:
        return section(
            "The minutes it saw", [html.P("None: nothing of this window was scraped.", className="quiet")]
        )
    rhos = [
        name
        for name in sorted(name for name in found.minutes[0] if name.startswith("rho_"))
        if any(row[name] is not None for row in found.minutes)
    ]
    start_ms, end_ms = found.minutes[0]["minute_ms"], found.minutes[-1]["minute_ms"]
    day = fmt.moment(start_ms).split(" ", 1)[0]
    heads = [heading for heading, _, _ in _MINUTES]
    heads += [f"use of {limiter_words(name.removeprefix('rho_').replace('_', '.'))}" for name in rhos]
    rows = [
        [
            fmt.clock(row["minute_ms"]),
            *(_measured(row.get(name), show) for _, name, show in _MINUTES),
            *(_measured(row[name], fmt.percent) for name in rhos),
        ]
        for row in found.minutes
    ]
    return section(
        "The minutes it saw",
        [plain_table((f"Minute, {day}", *heads), rows)],
        note=f"{len(rows)} rows of signals as they were then, {fmt.between(start_ms, end_ms + 60_000, day=False)}; "
        "in and out are messages in the minute, no permits is a share of the consumers' samples",
    )


def _measured(value: float | None, show) -> html.Span | str:
    return html.Span(NONE, title="not measured", className="quiet") if fmt.is_missing(value) else show(value)


def _command(key: SubscriptionPartition, stored: dict) -> str:
    partition = "" if key.partition < 0 else f"-partition-{key.partition}"
    name = f"{key.topic}{partition}#{key.subscription}"
    at = format_time(stored["window_start_ms"])
    return f"throttlescope reopen {shlex.quote(name)} --cluster {shlex.quote(key.cluster)} --at {at}"
