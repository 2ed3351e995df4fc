"""A past verdict, opened: what was stored, its minutes, and the verdict of today's rules for them. In: windows and a ``Reopened``. Out: components."""

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
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.past_verdict import MOST_WINDOWS
from throttlescope.ingest.core.subscription_name import short_text, subscription_text
from throttlescope.ingest.core.times import MINUTE_MS, format_time
from throttlescope.models.diagnosis.reopen import Reopened
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.spacing import text_of
from throttlescope.models.messages.stored import verdict_in_language


def _rows() -> tuple:
    return (
    ("cause", sentence("label.cause")), ("side", sentence("label.side")), ("limiter", sentence("label.limiter")), ("variant", sentence("label.form")), ("confidence", sentence("label.confidence")),
    ("why", sentence("data_quality.reopened.rule")), ("rules_version", sentence("label.rules")),
)  # fmt: skip


def _minutes_labels() -> tuple:
    """Columns of the minutes, without the limits: heading, column, how it is shown."""
    return (
        (sentence("label.backlog_entries"), "backlog_ready_entries", fmt.exact),
        (sentence("label.in_msg"), "in_msg_delta", fmt.exact),
        (sentence("label.out_msg"), "out_msg_delta", fmt.exact),
        (sentence("label.acked_msg_per_s"), "ack_msg_rate", fmt.short),
        (sentence("label.unacked_msg"), "unacked_msg", fmt.exact),
        ("consumers", "consumers", fmt.exact),
        (sentence("label.no_permits"), "permits_exhausted_share", fmt.percent),
        (sentence("label.seen"), "coverage_share", fmt.percent),
    )


def _weights() -> dict:
    """Marks of the evidence: for the verdict, against it, neither."""
    return {
        "for": ("+", sentence("label.speaks_for_it"), "good"),
        "against": ("\N{MINUS SIGN}", sentence("label.speaks_against_it"), "bad"),
        "neutral": ("·", sentence("label.neither"), "open"),
    }


def chooser(found: Sequence[dict], total: int, address: DataAddress) -> html.Section:
    """Subscriptions that fit the search, each leading to its windows."""
    if not total:
        body: Any = html.P(sentence("data_quality.choose.none"), className="quiet")
    else:
        body = plain_table(
            (sentence("label.subscription"), sentence("label.cluster"), sentence("label.newest_verdict")),
            [
                [
                    dcc.Link(
                        [
                            html.Bdi(fmt.name(short_text(row["subscription"]), 60), className="row-name"),
                            html.Bdi(fmt.topic_name(row["topic"], row["partition"]), className="row-place"),
                        ],
                        href=past_verdict(_key(row)).href(),
                        className="row-link",
                    ),
                    hostile(row["cluster"]),
                    [
                        cause_badge(row["cause"], row["limiter"]),
                        f" {sentence('label.at_time', time=fmt.moment(row['window_end_ms']))}",
                    ],
                ]
                for row in found
            ],
        )
    shown, of = fmt.exact(len(found)), fmt.exact(total)
    note = sentence("data_quality.choose.note", shown=shown, total=of)
    if total > len(found):
        note = sentence("data_quality.choose.note_more", shown=shown, total=of)
    return section(sentence("data_quality.choose"), [body], note=note)


def _key(row: dict) -> SubscriptionPartition:
    return SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])


def windows(
    rows: Sequence[dict], key: SubscriptionPartition, at_ms: int | None, chosen: dict | None
) -> html.Section:
    """Windows of one subscription, newest first; each opens its verdict."""
    if not rows:
        title, newest = sentence("data_quality.windows.none"), None
        if at_ms is not None:
            title = sentence("data_quality.windows.none_then", at=fmt.moment(at_ms))
            newest = dcc.Link(sentence("data_quality.windows.newest"), href=past_verdict(key).href())
        why = [sentence("data_quality.windows.none.why")]
        return html.Section(panel(title, why, next_step=newest, tone="orange"))
    return section(
        sentence("label.windows"),
        [
            html.Ul(
                [
                    html.Li(
                        dcc.Link(
                            [
                                fmt.between(row["window_start_ms"], row["window_end_ms"]),
                                " ",
                                cause_badge(row["cause"]),
                                html.Span(
                                    f" {sentence('data_quality.windows.rules', version=fmt.name(row['rules_version'], 40))}",
                                    className="quiet",
                                ),
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
        note=_windows_note(rows, at_ms),
    )


def _windows_note(rows: Sequence[dict], at_ms: int | None) -> str:
    """How many windows there are, and which rules judged them."""
    rules = [fmt.name(version, 40) for version in sorted({row["rules_version"] for row in rows})]
    number = fmt.exact(len(rows))
    if len(rows) < MOST_WINDOWS:
        return sentence("data_quality.windows.note", windows=number, rules=rules)
    if at_ms is None:
        return sentence("data_quality.windows.note_newest", windows=number, rules=rules)
    return sentence("data_quality.windows.note_nearest", windows=number, rules=rules)


def identity(key: SubscriptionPartition, at_ms: int | None) -> html.P:
    """The subscription, and a link to its page."""
    return html.P(
        [
            *sentence_parts(
                message(
                    "label.of_in",
                    subscription=hostile(key.subscription),
                    topic=hostile(fmt.topic_name(key.topic, key.partition)),
                    cluster=hostile(key.cluster),
                )
            ),
            " · ",
            dcc.Link(
                sentence("label.its_page_at_that_time"), href=SubscriptionAddress(key, at_ms=at_ms).href()
            ),
            " · ",
            dcc.Link(sentence("label.another_subscription"), href=DataAddress("verdict").href()),
        ],
        className="identity",
    )


def opened(found: Reopened, key: SubscriptionPartition) -> list:
    """The stored verdict next to the result of today's rules for the same minutes, its evidence and the minutes."""
    stored, today = map(verdict_in_language, (found.stored, found.again.to_row()))
    command = _command(key, stored)
    return [
        section(
            sentence("data_quality.reopened.title"),
            [
                html.P(_comparison(found), className="reopened-says", id="reopened"),
                plain_table(
                    (
                        sentence("label.verdict"),
                        sentence("label.stored_rules", version=fmt.name(stored["rules_version"], 40)),
                        sentence("label.today_rules", version=RULES_VERSION),
                        sentence("label.compared"),
                    ),
                    [
                        [
                            title,
                            _cell(name, stored),
                            _cell(name, today),
                            _compared(name, found),
                        ]
                        for name, title in _rows()
                    ],
                ),
                html.P([html.Code(command), " ", copy_button(command)], className="what-to-do"),
            ],
            note=fmt.between(stored["window_start_ms"], stored["window_end_ms"]),
        ),
        _minutes(found),
        html.Div(
            [
                _evidence(sentence("data_quality.reopened.evidence_then"), stored),
                _evidence(sentence("data_quality.reopened.evidence_today"), today),
                _missing(sentence("label.missing_then"), stored),
                _missing(sentence("label.missing_today"), today),
            ],
            className="then-and-now",
        ),
    ]


def _compared(name: str, found: Reopened) -> html.Span:
    if name in found.differences:
        return html.Span(
            [html.Span("≠", className="state-mark warn"), sentence("label.differs")], className="state"
        )
    unwritten = found.stored[name] is None and found.again.to_row()[name] is not None
    return html.Span(
        sentence("label.cannot_be_compared") if unwritten else sentence("label.same"), className="quiet"
    )


def _comparison(found: Reopened) -> str:
    """Whether today's rules agree, and from which minutes the verdict was computed."""
    differs = [name.replace("_", " ") for name in found.differences]
    if not differs:
        sentences = [sentence("data_quality.reopened.same")]
    elif differs == ["rules version"]:
        sentences = [sentence("data_quality.reopened.same_newer")]
    else:
        sentences = [sentence("data_quality.reopened.differs", differences=differs)]
    at = fmt.moment(found.made_ms)
    sentences.append(sentence("data_quality.reopened.written", at=at, version=found.signals_version))
    if found.repaired:
        sentences.append(sentence("data_quality.reopened.repaired"))
    return text_of(sentences)


def _cell(name: str, row: dict):
    value = row[name]
    if name == "cause":
        return cause_badge(value)
    if name == "side":
        return f"{SIDES[value].mark} {SIDES[value].label}"
    if name == "confidence":
        return sentence("label.names_no_cause") if row["cause"] == "unknown" else fmt.percent(value)
    if value is None:
        return (
            sentence("label.none")
            if name == "limiter"
            else sentence("label.not_written_then")
            if name in ("why", "variant") and row.get("why") is None
            else sentence("label.none")
        )
    if name == "limiter":
        return limiter_words(value)
    return html.Span(hostile_sentence(str(value)), className="cell-long")


def _minutes(found: Reopened) -> html.Section:
    title = sentence("data_quality.minutes.title")
    if not found.minutes:
        return section(title, [html.P(sentence("data_quality.minutes.none"), className="quiet")])
    rhos = [
        name
        for name in sorted(name for name in found.minutes[0] if name.startswith("rho_"))
        if any(row[name] is not None for row in found.minutes)
    ]
    start_ms, end_ms = found.minutes[0]["minute_ms"], found.minutes[-1]["minute_ms"]
    day = fmt.moment(start_ms).split(" ", 1)[0]
    heads = [heading for heading, _, _ in _minutes_labels()]
    heads += [
        sentence(
            "data_quality.minutes.use",
            limiter=limiter_words(name.removeprefix("rho_").replace("_", ".")),
        )
        for name in rhos
    ]
    rows = [
        [
            fmt.clock(row["minute_ms"]),
            *(_measured(row.get(name), show) for _, name, show in _minutes_labels()),
            *(_measured(row[name], fmt.percent) for name in rhos),
        ]
        for row in found.minutes
    ]
    return section(
        title,
        [plain_table((sentence("label.minute_of_day", day=day), *heads), rows)],
        note=sentence(
            "data_quality.minutes.note",
            rows=len(rows),
            range=fmt.between(start_ms, end_ms + MINUTE_MS, day=False),
        ),
    )


def _measured(value: float | None, show) -> html.Span | str:
    return (
        html.Span(NONE, title=sentence("label.not_measured"), className="quiet")
        if fmt.is_missing(value)
        else show(value)
    )


def _evidence(title: str, row: dict) -> html.Section:
    """Evidence for and against, strongest first."""
    found = row["evidence"] or ()
    if not found:
        return section(title, [html.P(sentence("label.none_title"), className="quiet")])
    return section(
        title,
        [
            plain_table(
                (
                    sentence("label.weighs"),
                    sentence("label.in_words"),
                    sentence("label.value"),
                    sentence("label.threshold"),
                ),
                [_evidence_row(item) for item in found],
            )
        ],
    )


def _evidence_row(item: dict) -> list:
    mark, meaning, kind = _weights()[item["weight"]]
    return [
        html.Span(
            mark,
            className=f"state-mark {kind}",
            title=meaning,
            role="img",
            **{"aria-label": meaning},
        ),
        html.Span(hostile_sentence(item["text"]), title=fmt.name(item["symptom"], 80), className="cell-long"),
        _number(item["value"], item["unit"]),
        _number(item["threshold"], item["unit"]),
    ]


def _number(value: float | None, unit: str | None) -> str:
    return NONE if fmt.is_missing(value) else fmt.quantity(value, unit)


def _missing(title: str, row: dict) -> html.Section:
    """What would have made it surer, each with its fix."""
    found = row["missing_evidence"] or ()
    if not found:
        return section(title, [html.P(sentence("label.nothing"), className="quiet")])
    return section(
        title,
        [
            html.Ul(
                [
                    html.Li(
                        [
                            fmt.name(item["what"], 600),
                            html.Strong(f" {sentence('label.fix_colon')}"),
                            fmt.name(item["fix"], 600),
                        ]
                    )
                    for item in found
                ],
                className="missing-briefly",
            )
        ],
    )


def _command(key: SubscriptionPartition, stored: dict) -> str:
    name = subscription_text(key.topic, key.partition, key.subscription)
    at = format_time(stored["window_start_ms"])
    return f"throttlescope reopen {shlex.quote(name)} --cluster {shlex.quote(key.cluster)} --at {at}"
