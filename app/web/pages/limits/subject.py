"""The limits of one subscription: the limits in force, which policy applies and what it overrides, and the answers of the admin API. In: what was read. Out: components."""

from __future__ import annotations

import contextlib
import json

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import set_by_words
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.app.presentation.links.paths import LIMITS_PATH
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.parts import hostile, identity, plain_table, section
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.limit_subject import Subject
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis.thresholds import READ_BATCH_ENTRIES_5, READ_SIZE_BYTES
from throttlescope.models.messages.catalogue import message, sentence
from throttlescope.models.messages.language import HTML_CODES, STORED_LANGUAGE
from throttlescope.models.messages.limiting import level_words
from throttlescope.transforms.limits import Rung

_LONGEST_BODY = 20_000


def head(key: SubscriptionPartition) -> html.Div:
    """Whose limits these are, and ways to its other pages."""
    topic = RollupsAddress("topic").opened(key.cluster, key.topic)
    return html.Div(
        [
            html.Div([dcc.Link(sentence("label.marked_all_limits"), href=LIMITS_PATH)], className="crumbs"),
            html.H1([html.Span(sentence("limits.subject"), className="quiet"), hostile(key.subscription)]),
            identity(
                key,
                html.Span(" · ", className="quiet"),
                dcc.Link(sentence("label.diagnosis"), href=SubscriptionAddress(key).href()),
                topic=dcc.Link(hostile(key.topic), href=topic.href()),
            ),
        ],
        className="page-identity",
    )


def in_force(found: Subject) -> html.Section:
    """What each level lets through, and what its events are worth."""
    if not found.levels:
        body = panel(
            sentence("limits.in_force.unread"),
            [sentence("limits.in_force.unread_why"), sentence("limits.in_force.unread_means")],
        )
        return section(sentence("label.in_force"), [body])
    rows, missing = [], [level_words(level) for level in LEVELS if level not in found.levels]
    for level in LEVELS:
        for unit in UNITS:
            if level in found.levels:
                rows.append(_level_row(level, unit, found.levels[level]))
    notes = []
    if missing:
        notes.append(
            html.P(
                sentence("limits.in_force.unknown_levels", levels=missing),
                className="facts",
            )
        )
    one = next(iter(found.levels.values()))
    if one["exempt_caught_up"]:
        notes.append(html.P(sentence("limits.in_force.exempt"), className="facts"))
    note = _where_it_counts(found.segments, fmt.name(one["broker"], 80) if one["broker"] else None)
    return section(
        sentence("label.in_force"),
        [
            plain_table(
                (
                    sentence("label.limiter"),
                    sentence("label.limit"),
                    sentence("label.per_second"),
                    sentence("label.set_by"),
                    sentence("label.read_at"),
                    sentence("limits.in_force.events"),
                ),
                rows,
            ),
            *notes,
        ],
        note=note,
    )


def _where_it_counts(segments: int | None, broker: str | None) -> str:
    """What limits of topic and subscription count in, and which broker that is."""
    if segments is None:
        return (
            sentence("limits.in_force.broker", broker=broker)
            if broker
            else sentence("limits.in_force.broker_unknown")
        )
    if broker:
        return sentence("limits.in_force.segments", segments=segments, broker=broker)
    return sentence("limits.in_force.segments_broker_unknown", segments=segments)


def _level_row(level: str, unit: str, row: dict) -> list:
    planned = row["read_size_bytes"] if unit == "bytes" else row["read_batch_entries"]
    limit = KnownLimit(
        level, unit, row[f"rate_{unit}"], row["period_s"], row["counts"], row["set_by"],
        planned or (READ_SIZE_BYTES if unit == "bytes" else READ_BATCH_ENTRIES_5), None, changed=False,
    )  # fmt: skip
    amount, who, read = limit.amount(), limit.who(), ""
    if row["relative"] and limit.rate:
        amount = sentence("limits.in_force.relative", amount=amount)
    if limit.rate is None and row["set_by"] != "none":
        who = sentence("limits.in_force.left_out", set_by=who)
    if row["first_ms"]:
        read = sentence("limits.in_force.first_read", at=fmt.moment(row["first_ms"]))
    return [
        html.Strong(f"{level}.{unit}") if limit.rate else f"{level}.{unit}",
        amount,
        limit.speed() if limit.rate else "",
        who,
        html.Span(fmt.moment(row["answered_ms"]), title=read),
        html.Span(
            limit.proof(),
            className="proof proves-nothing"
            if limit.rate is not None and not limit.events_prove
            else "proof",
        ),
    ]


def ladder(found: Subject) -> html.Section:
    """Every record of the three chains, in the order in which the broker looks."""
    title = sentence("limits.record.title")
    if found.unread:
        unreadable = sentence("limits.record.unreadable")
        return section(title, [panel(unreadable, [fmt.name(found.unread, 400)], tone="orange")])
    if not found.ladder:
        return section(title, [html.P(sentence("limits.record.none_read"), className="quiet")])
    return section(
        title,
        [
            plain_table(
                (
                    sentence("label.level_title"),
                    sentence("label.policy"),
                    sentence("label.value"),
                    sentence("label.result"),
                ),
                [
                    _rung_row(rung, found.ladder[:number], found.ladder[number + 1 :])
                    for number, rung in enumerate(found.ladder)
                ],
            )
        ],
        note=sentence("limits.record.note"),
    )


def _rung_row(rung: Rung, before: list[Rung], after: list[Rung]) -> list:
    mine = [other for other in before if other.level == rung.level]
    winner = next((other for other in mine if other.wins), None)
    gap = next((other for other in mine if not other.is_known), None)
    by = "" if winner is None else set_by_words(winner.set_by)
    if rung.wins:
        effect = html.Strong(sentence("limits.record.wins"))
    elif not rung.is_known and winner is None:
        effect = sentence("limits.record.not_read")
    elif not rung.is_known:
        effect = sentence("limits.record.not_read_not_needed", winner=by)
    elif winner is not None and rung.sets:
        effect = sentence("limits.record.hidden", winner=by)
    elif winner is not None:
        effect = sentence("limits.record.nothing_hidden")
    elif gap is not None and rung.sets:
        effect = sentence("limits.record.undecided", unread=set_by_words(gap.set_by))
    elif gap is not None:
        effect = sentence("limits.record.sets_nothing")
    elif any(other.level == rung.level for other in after):
        effect = sentence("limits.record.sets_nothing_next")
    else:
        effect = sentence("limits.record.sets_nothing_last")
    level = "" if mine else html.Strong(level_words(rung.level))
    return [level, set_by_words(rung.set_by), _says(rung), effect]


def _says(rung: Rung) -> str:
    if not rung.is_known:
        return sentence("limits.record.no_answer")
    if not rung.sets:
        return sentence("limits.record.says_nothing")
    msg, size, period = "", "", rung.period_s
    if rung.rate_msg is not None:
        msg = f"{fmt.exact(rung.rate_msg)} msg"
    if rung.rate_bytes is not None:
        size = f"{fmt.exact(rung.rate_bytes)} B ({fmt.size(rung.rate_bytes)})"
    limited = "both" if msg and size else "msg" if msg else "bytes"
    if rung.relative_to_publish:
        return sentence(f"limits.record.relative.{limited}", msg=msg, bytes=size, period=period)
    return sentence(f"limits.record.absolute.{limited}", msg=msg, bytes=size, period=period)


def raw(found: Subject) -> html.Section:
    """What the admin API said, as text."""
    title = sentence("limits.answers.title")
    if not found.policies:
        return section(title, [html.P(sentence("limits.answers.none"), className="quiet")])
    newest = max(row["observed_ms"] for row in found.policies)
    oldest = min(row["observed_ms"] for row in found.policies)
    return section(
        title,
        [
            html.Details([html.Summary(_answer_summary(row)), *_body(row)], className="answer-body")
            for row in found.policies
        ],
        note=sentence(
            "limits.answers.note",
            number=len(found.policies),
            oldest=fmt.moment(oldest),
            newest=fmt.moment(newest),
        ),
    )


def _answer_summary(row: dict) -> list:
    size = sentence("limits.answers.empty_note")
    if not _is_empty(row):
        size = fmt.size(len(row["body"].encode("utf-8", "replace")))
    read = sentence("limits.answers.read", size=size, at=fmt.moment(row["observed_ms"]))
    return [
        *sentence_parts(
            message(
                "limits.answers.of",
                scope=html.Strong(row["scope"], lang=HTML_CODES[STORED_LANGUAGE]),
                name=html.Bdi(fmt.name(row["key"], 120)),
            )
        ),
        html.Span(f" · {read}", className="quiet"),
    ]


def _is_empty(row: dict) -> bool:
    """In the lake an answer that nothing is set is the JSON text null."""
    return (row["body"] or "null").strip() == "null"


def _body(row: dict) -> list:
    if _is_empty(row):
        return [html.P(sentence("limits.answers.empty"), className="quiet")]
    text = row["body"]
    # What is no JSON is shown as it came.
    with contextlib.suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False)
    cut = len(text) > _LONGEST_BODY
    lines = [fmt.name(line, 2_000) for line in text[:_LONGEST_BODY].splitlines()]
    return [
        html.Pre("\n".join(lines), tabIndex=0),
        *(
            [
                html.P(
                    sentence(
                        "limits.answers.cut", shown=fmt.exact(_LONGEST_BODY), number=fmt.exact(len(text))
                    ),
                    className="quiet",
                )
            ]
            if cut
            else []
        ),
    ]
