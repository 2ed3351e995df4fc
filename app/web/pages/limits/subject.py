"""The limits of one subscription: the limits in force, which record won and what it hides, and what the admin API said. In: what was read. Out: components."""

from __future__ import annotations

import contextlib
import json

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import LEVEL_WORDS, SET_BY_WORDS
from throttlescope.app.presentation.limits import KnownLimit
from throttlescope.app.presentation.links.paths import LIMITS_PATH
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.app.web.components.parts import hostile, plain_table, section
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.data.limit_subject import Subject
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.models.diagnosis.thresholds import READ_BATCH_ENTRIES_5, READ_SIZE_BYTES
from throttlescope.transforms.limits import Rung

_LONGEST_BODY = 20_000


def head(key: SubscriptionPartition) -> html.Div:
    """Whose limits these are, and ways to its other pages."""
    topic = RollupsAddress("topic").opened(key.cluster, key.topic)
    return html.Div(
        [
            html.Div([dcc.Link("← all limits", href=LIMITS_PATH)], className="crumbs"),
            html.H1([html.Span("Limits of ", className="quiet"), hostile(key.subscription)]),
            html.P(
                [
                    html.Span("topic ", className="quiet"),
                    dcc.Link(hostile(key.topic), href=topic.href()),
                    html.Span(
                        " · not partitioned · " if key.partition < 0 else f" · partition {key.partition} · ",
                        className="quiet",
                    ),
                    html.Span("cluster ", className="quiet"),
                    hostile(key.cluster),
                    html.Span(" · ", className="quiet"),
                    dcc.Link("diagnosis", href=SubscriptionAddress(key).href()),
                ],
                className="identity",
            ),
        ],
        className="page-identity",
    )


def in_force(found: Subject) -> html.Section:
    """What each level lets through, and what its events are worth."""
    if not found.levels:
        body = panel(
            "No limit of this subscription was read.",
            [
                "The admin API did not answer for it in the newest day of answers, or was not queried: "
                "throttlescope run --pulsar-admin URL.",
                "An unknown limit is not the absence of one.",
            ],
        )
        return section("In force", [body])
    rows, missing = [], [LEVEL_WORDS[level] for level in LEVELS if level not in found.levels]
    for level in LEVELS:
        for unit in UNITS:
            if level in found.levels:
                rows.append(_level_row(level, unit, found.levels[level]))
    notes = []
    if missing:
        notes.append(
            html.P(
                f"Not known: {', '.join(missing)} limit. An answer that it depends on is missing; the table below says which.",
                className="facts",
            )
        )
    one = next(iter(found.levels.values()))
    if one["exempt_caught_up"]:
        notes.append(
            html.P(
                "This broker exempts subscriptions that have caught up (dispatchThrottlingOnNonBacklogConsumerEnabled is false).",
                className="facts",
            )
        )
    broker = one["broker"]
    return section(
        "In force",
        [
            plain_table(("Limiter", "Limit", "Per second", "Set by", "Read at", "Its throttle events"), rows),
            *notes,
        ],
        note="per topic partition; owner broker " + (fmt.name(broker, 80) if broker else "not known"),
    )


def _level_row(level: str, unit: str, row: dict) -> list:
    planned = row["read_size_bytes"] if unit == "bytes" else row["read_batch_entries"]
    limit = KnownLimit(
        level, unit, row[f"rate_{unit}"], row["period_s"], row["counts"], row["set_by"],
        planned or (READ_SIZE_BYTES if unit == "bytes" else READ_BATCH_ENTRIES_5), None, changed=False,
    )  # fmt: skip
    amount = limit.amount() + (", on top of the publish rate" if row["relative"] and limit.rate else "")
    who = limit.who()
    if limit.rate is None and row["set_by"] != "none":
        who = f"left out by the {who}, which wins whole"
    read = f"also at {fmt.moment(row['first_ms'])}, the first of these answers" if row["first_ms"] else ""
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
    title = "Which record won"
    if found.unread:
        return section(
            title, [panel("The answers cannot be read.", [fmt.name(found.unread, 400)], tone="orange")]
        )
    if not found.ladder:
        return section(title, [html.P("No policies of it were read.", className="quiet")])
    return section(
        title,
        [
            plain_table(
                ("Level", "Record", "Says", "So"),
                [
                    _rung_row(rung, found.ladder[:number], found.ladder[number + 1 :])
                    for number, rung in enumerate(found.ladder)
                ],
            )
        ],
        note="in the order in which the broker looks; the first record that sets anything wins whole, and all three levels hold at once",
    )


def _rung_row(rung: Rung, before: list[Rung], after: list[Rung]) -> list:
    mine = [other for other in before if other.level == rung.level]
    winner = next((other for other in mine if other.wins), None)
    gap = next((other for other in mine if not other.is_known), None)
    if rung.wins:
        so = html.Strong("✓ wins")
    elif not rung.is_known:
        so = "not read" if winner is None else f"not read; the {SET_BY_WORDS[winner.set_by]} wins anyway"
    elif winner is not None:
        so = f"hidden by the {SET_BY_WORDS[winner.set_by]}" if rung.sets else "nothing to hide"
    elif gap is not None:
        so = f"not decided: the {SET_BY_WORDS[gap.set_by]} was not read" if rung.sets else "sets nothing"
    elif any(other.level == rung.level for other in after):
        so = "sets nothing: the next one is looked at"
    else:
        so = "sets nothing: this level has no limit"
    return ["" if mine else html.Strong(LEVEL_WORDS[rung.level]), SET_BY_WORDS[rung.set_by], _says(rung), so]


def _says(rung: Rung) -> str:
    if not rung.is_known:
        return "no answer"
    if not rung.sets:
        return "nothing (both rates 0 or less count as not set)"
    rates = []
    if rung.rate_msg is not None:
        rates.append(f"{fmt.exact(rung.rate_msg)} msg")
    if rung.rate_bytes is not None:
        rates.append(f"{fmt.exact(rung.rate_bytes)} B ({fmt.size(rung.rate_bytes)})")
    left_out = [
        unit for unit, rate in (("messages", rung.rate_msg), ("bytes", rung.rate_bytes)) if rate is None
    ]
    words = f"{' and '.join(rates)} per {rung.period_s} s"
    if rung.relative_to_publish:
        words += ", on top of the publish rate"
    return words + (f"; {left_out[0]} not limited" if left_out else "")


def raw(found: Subject) -> html.Section:
    """What the admin API said, as text."""
    if not found.policies:
        return section(
            "What the admin API said", [html.P("No answers are stored for it.", className="quiet")]
        )
    newest = max(row["observed_ms"] for row in found.policies)
    oldest = min(row["observed_ms"] for row in found.policies)
    return section(
        "What the admin API said",
        [
            html.Details([html.Summary(_asked(row)), *_body(row)], className="answer-body")
            for row in found.policies
        ],
        note=f"{len(found.policies)} answers, read between {fmt.moment(oldest)} and {fmt.moment(newest)}; an answer is gone by for a day",
    )


def _asked(row: dict) -> list:
    says = "nothing is set" if _is_empty(row) else fmt.size(len(row["body"].encode("utf-8", "replace")))
    return [
        html.Strong(row["scope"]),
        " of ",
        html.Bdi(fmt.name(row["key"], 120)),
        html.Span(f" · {says} · read at {fmt.moment(row['observed_ms'])}", className="quiet"),
    ]


def _is_empty(row: dict) -> bool:
    """In the lake an answer that nothing is set is the JSON text null."""
    return (row["body"] or "null").strip() == "null"


def _body(row: dict) -> list:
    if _is_empty(row):
        return [html.P("Nothing is set there.", className="quiet")]
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
                    f"The first {fmt.exact(_LONGEST_BODY)} characters of {fmt.exact(len(text))}.",
                    className="quiet",
                )
            ]
            if cut
            else []
        ),
    ]
