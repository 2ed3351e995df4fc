"""The open backlog: when it started, how large it got, its causes over time, and what would have drained it according to a replay. In: an episode. Out: components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dash import dcc, html

from throttlescope.app.incident.timeline import SINCE_WORDS
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import PRIMARY, lever_text
from throttlescope.app.presentation.episodes import gain_text
from throttlescope.app.presentation.links.subscription import SubscriptionAddress
from throttlescope.app.web.components.parts import cause_badge, hostile_sentence, section
from throttlescope.app.web.data.outlook import StoredOutlook
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.episodes.steady import joined

#: Stretches of one cause that are listed; a restless backlog has more.
_MOST_CAUSES = 8
_STATES = {
    "open": "not drained",
    "silent": "not drained when it was last seen",
    "drained": "drained",
}


def this_backlog(found: StoredOutlook, address: SubscriptionAddress) -> list[html.Section]:
    """The episode around the selected window; nothing where there is no backlog."""
    row = found.episode
    if row is None:
        if found.episodes_are_stored:
            return []
        note = "Not followed yet: it comes with the next run, or: throttlescope episodes --store."
        return [section("This backlog", [html.P(note, className="quiet")])]
    facts = [
        html.P(
            [
                html.Strong(f"Since {fmt.moment(row['since_ms'])}, {_length(row)}. "),
                html.Span(f"{_capital(SINCE_WORDS[row['since_method']])}.", className="quiet"),
            ]
        ),
        html.P(
            f"Largest: {fmt.count(row['peak_entries'], 'entries')} ready at {fmt.moment(row['peak_ms'])}; "
            f"{fmt.count(row['last_entries'], 'entries')} at {fmt.clock(row['known_until_ms'])}, {_STATES[row['state']]}."
        ),
    ]
    if row["worst_age_s"] is not None:
        facts.append(
            html.P(
                f"Its oldest message was {fmt.duration(row['worst_age_s'] * SECOND_MS)} old at {fmt.clock(row['worst_ms'])}."
            )
        )
    return [section("This backlog", [*facts, *_causes(row, address), *counterfactual(row["counterfactual"])])]


def _length(row: Mapping[str, Any]) -> str:
    if row["end_ms"] is not None:
        return (
            f"drained at {fmt.moment(row['end_ms'])}, after {fmt.duration(row['end_ms'] - row['since_ms'])}"
        )
    return f"for {fmt.duration(row['known_until_ms'] - row['since_ms'])} so far"


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
        *([html.P(f"{left_out} earlier ones are left out.", className="facts")] if left_out else []),
    ]


def counterfactual(found: Mapping[str, Any] | None) -> list:
    """What was replayed when the run found both a limiter and the consumers at fault; nothing where no replay was made."""
    if found is None:
        return []
    head = html.H3("Counterfactual")
    if found["failed"] is not None:
        return [head, html.P(["No answer: ", hostile_sentence(found["failed"])], className="quiet")]
    ahead = fmt.duration((found["horizon_s"] or 0) * SECOND_MS)
    primary = PRIMARY.get(found["primary"], PRIMARY[None])
    rows = [
        html.Li(f"Without {lever_text(one['lever'], one['limiter'])}: {_less(one)} {ahead} later.")
        for one in found["tried"] or ()
    ]
    parts = [
        head,
        html.P([html.Strong(primary), *([" The verdict says another."] if found["agrees"] is False else [])]),
        html.Ul(rows),
    ]
    basis = [
        f"A replay of the {fmt.duration((found['window_s'] or 0) * SECOND_MS)} up to {fmt.moment(found['at_ms'])}"
    ]
    if found["error_share"] is not None:
        basis.append(f"off by {fmt.percent(found['error_share'])} of its largest backlog")
    parts.append(html.P(f"{', '.join(basis)}.", className="facts"))
    return parts


def _less(one: Mapping[str, Any]) -> str:
    if one["gain_high_entries"] is None:
        return "effect unknown"
    if round(one["gain_low_entries"]) == round(one["gain_high_entries"]) == 0:
        return "no entry less"
    return f"{gain_text(one, lambda value: fmt.short(round(value)))} entries less"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
