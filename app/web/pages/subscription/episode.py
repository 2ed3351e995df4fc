"""The open backlog: when it started, how large it got, its causes over time, and what would have drained it according to a replay. In: an episode. Out: components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dash import dcc, html

from throttlescope.app.incident.timeline import since_words
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import PRIMARY, lever_text
from throttlescope.app.presentation.episodes import gain_text
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.components.parts import cause_badge, hostile_sentence, section
from throttlescope.app.web.data.outlook import StoredOutlook
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.episodes.steady import joined
from throttlescope.models.messages.catalogue import sentence

#: Stretches of one cause that are listed; a restless backlog has more.
_MOST_CAUSES = 8


def this_backlog(found: StoredOutlook, address: SubscriptionAddress) -> list[html.Section]:
    """The episode around the selected window; nothing where there is no backlog."""
    row = found.episode
    if row is None:
        if found.episodes_are_stored:
            return []
        return [
            section(
                sentence("label.this_backlog"),
                [html.P(sentence("subscription.backlog.not_followed"), className="quiet")],
            )
        ]
    facts = [
        html.P(
            [
                html.Strong(f"{_duration(row)} "),
                html.Span(f"{_capital(since_words(row['since_method']))}.", className="quiet"),
            ]
        ),
        html.P(
            sentence(
                f"subscription.backlog.size.{row['state']}",
                peak=fmt.count(row["peak_entries"], "entries"),
                peak_at=fmt.moment(row["peak_ms"]),
                last=fmt.count(row["last_entries"], "entries"),
                last_at=fmt.clock(row["known_until_ms"]),
            )
        ),
    ]
    if row["worst_age_s"] is not None:
        facts.append(
            html.P(
                sentence(
                    "subscription.backlog.age",
                    age=fmt.duration(row["worst_age_s"] * SECOND_MS),
                    at=fmt.clock(row["worst_ms"]),
                )
            )
        )
    return [
        section(
            sentence("label.this_backlog"),
            [*facts, *_causes(row, address), *counterfactual(row["counterfactual"])],
        )
    ]


def _duration(row: Mapping[str, Any]) -> str:
    since = fmt.moment(row["since_ms"])
    if row["end_ms"] is None:
        length = fmt.duration(row["known_until_ms"] - row["since_ms"])
        return sentence("subscription.backlog.so_far", since=since, length=length)
    length = fmt.duration(row["end_ms"] - row["since_ms"])
    return sentence("subscription.backlog.drained", since=since, end=fmt.moment(row["end_ms"]), length=length)


def _causes(row: Mapping[str, Any], address: SubscriptionAddress) -> list:
    stretches = joined(row["causes"] or ())
    if not stretches:
        return []
    shown = stretches[-_MOST_CAUSES:]
    left_out = len(stretches) - len(shown)
    return [
        html.Ol(
            [
                html.Li(
                    dcc.Link(
                        [
                            html.Span(
                                f"{fmt.between(one['start_ms'], one['end_ms'], day=False)} ", className="when"
                            ),
                            cause_badge(one["cause"], one["limiter"]),
                            html.Span(
                                f" {fmt.duration(one['end_ms'] - one['start_ms'])}, {fmt.percent(one['confidence'])}",
                                className="quiet",
                            ),
                        ],
                        href=replace(address, at_ms=one["end_ms"], zoom_ms=None).href(),
                    )
                )
                for one in shown
            ],
            className="stretches",
        ),
        *(
            [html.P(sentence("subscription.backlog.earlier_causes", number=left_out), className="facts")]
            if left_out
            else []
        ),
    ]


def counterfactual(found: Mapping[str, Any] | None) -> list:
    """What was replayed when the run found both a limiter and the consumers at fault; nothing where no replay was made."""
    if found is None:
        return []
    head = html.H3(sentence("label.counterfactual"))
    if found["failed"] is not None:
        failed = hostile_sentence(found["failed"])
        return [
            head,
            html.P([sentence("subscription.backlog.no_counterfactual"), " ", failed], className="quiet"),
        ]
    later = fmt.duration((found["horizon_s"] or 0) * SECOND_MS)
    primary = PRIMARY.get(found["primary"], PRIMARY[None]).text
    rows = [html.Li(_without(one, later)) for one in found["tried"] or ()]
    differs = [" ", sentence("subscription.backlog.verdict_differs")] if found["agrees"] is False else []
    parts = [
        head,
        html.P([html.Strong(primary), *differs]),
        html.Ul(rows),
    ]
    window, at = fmt.duration((found["window_s"] or 0) * SECOND_MS), fmt.moment(found["at_ms"])
    if found["error_share"] is None:
        basis = sentence("subscription.backlog.replay", window=window, at=at)
    else:
        share = fmt.percent(found["error_share"])
        basis = sentence("subscription.backlog.replay_error", window=window, at=at, share=share)
    return [*parts, html.P(basis, className="facts")]


def _without(one: Mapping[str, Any], later: str) -> str:
    """What the backlog would be without one limit, or with more consumers."""
    lever = lever_text(one["lever"], one["limiter"])
    if one["gain_high_entries"] is None:
        return sentence("subscription.backlog.without.unknown", lever=lever, later=later)
    if round(one["gain_low_entries"]) == round(one["gain_high_entries"]) == 0:
        return sentence("subscription.backlog.without.no_less", lever=lever, later=later)
    gain = gain_text(one, lambda value: fmt.short(round(value)))
    return sentence("subscription.backlog.without.less", lever=lever, later=later, gain=gain)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
