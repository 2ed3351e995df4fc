"""How often the shipped rules are right. In: the figures that the package brings. Out: components; no number is written here."""

from __future__ import annotations

from typing import Any

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.components.parts import plain_table, section, view_link
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.accuracy import figure_text
from throttlescope.app.web.pages.accuracy.windows import calibration, less, matrix, times
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.diagnosis.thresholds import NAIVE_BACKLOG_ENTRIES, RHO_AT_LIMIT
from throttlescope.models.diagnosis.verdict import RULES_VERSION

_SETS = {
    "kept aside": "recorded after the rules were frozen; only these can meet a target",
    "development": "some of them mended the rules",
    "shipped": "the first that were recorded, a few of which come with the package; the rules before were judged by some of these",
}
_RULES = {
    "ours": "Ours",
    "naive rule": "Naive rule",
    "rho alone": "rho alone",
    "Burrow's rules": "Burrow",
    "majority": "Majority",
}
_RULES_SAY = {
    "naive rule": f"a backlog above {NAIVE_BACKLOG_ENTRIES:,} entries with any throttle event is throttled, without one the consumers are slow",
    "rho alone": f"a limit that is used to {RHO_AT_LIMIT:.0%} means throttled, else a backlog above {NAIVE_BACKLOG_ENTRIES:,} entries means slow consumers",
    "Burrow's rules": "LinkedIn's Burrow on committed offsets; it knows no limiter",
    "majority": "always the most frequent true cause of the set",
}


def accuracy(found: dict[str, Any] | None, address: MethodAddress) -> list:
    """Targets, simpler rules, the matrix, calibration, less evidence, times.

    Raises
    ------
    InputError
        The address names a set that was not measured.
    """
    if not found or not found.get("sets"):
        return [
            panel(
                "No figures of the diagnosis came with this package.",
                ["They are made by python -m tests.accuracy --write from recordings of a real broker."],
                tone="orange",
            )
        ]
    names = list(found["sets"])
    name = address.recordings or names[0]
    if name not in found["sets"]:
        raise InputError("The address names a set that was not measured", got=name, expected=", ".join(names))
    part = found["sets"][name]
    return [
        *_version(found["rules_version"]),
        _targets(found, name),
        _choice(address, names, name, part),
        _rules(part),
        matrix(part),
        calibration(part),
        less(part),
        times(part),
        figure_text.page_of(found["page"]),
    ]


def _version(measured: str) -> list:
    if measured == RULES_VERSION:
        return [
            html.P(
                [
                    html.Strong(f"Rules {RULES_VERSION}"),
                    ", measured on recordings of a real broker whose causes were made on purpose.",
                ]
            )
        ]
    return [
        panel(
            f"These figures are of rules {fmt.name(measured, 40)}.",
            [f"The installed rules are {RULES_VERSION}; how often they are right was not measured yet."],
            tone="orange",
        )
    ]


def _targets(found: dict[str, Any], shown: str) -> html.Section:
    targets = found.get("targets") or []
    if not targets:
        return section("Targets", [html.P("None were measured.", className="quiet")])
    judge, *others = found["sets"]
    rows = [
        [
            _what(target["what"]),
            target["wanted"],
            html.Strong(target["measured"].get(judge, figure_text.NOT)),
            figure_text.met(target["met"]),
            *(html.Span(target["measured"].get(name, figure_text.NOT), className="quiet") for name in others),
        ]
        for target in targets
    ]
    return section(
        "Targets",
        [plain_table(("Target", "Wanted", judge.capitalize(), "Met?", *(name for name in others)), rows)],
        note=f"only the set {judge} can meet one; met is judged by the figure itself, its interval stands below",
    )


def _what(text: str) -> str:
    return text[:1].upper() + text[1:]


def _choice(address: MethodAddress, names: list[str], chosen: str, part: dict[str, Any]) -> html.Div:
    return html.Div(
        [
            html.Span("Below: the recordings", className="quiet"),
            html.Div(
                [
                    view_link(name, address.of(name).href(), chosen=name == chosen, title=_SETS.get(name))
                    for name in names
                ],
                className="views",
            ),
            html.Span(
                f"{_SETS.get(chosen, '')}; {fmt.exact(part['windows'])} settled windows, {fmt.exact(part['recordings'])} recordings, "
                f"{fmt.exact(part['families'])} families, {fmt.exact(part['states'])} states".lstrip("; "),
                className="quiet",
            ),
        ],
        className="toolbar set-bar",
    )


def _rules(part: dict[str, Any]) -> html.Section:
    names = [name for name in _RULES if name in part["rules"]]
    rules = [part["rules"][name] for name in names]
    base = rules[0]["base_rate"]
    rows = [
        [
            "Side right when answered",
            *(
                figure_text.share(one["side_right_when_answered"], recordings=one is rules[0])
                for one in rules
            ),
        ],
        ["Not answered (unknown)", *(figure_text.share(one["unknown"]) for one in rules)],
        [
            "Macro-F1 over causes",
            *(figure_text.figure(one["cause_macro_f1"], one["cause_macro_f1_clustered"]) for one in rules),
        ],
        [
            "Macro-F1 over sides",
            *(figure_text.figure(one["side_macro_f1"], one["side_macro_f1_clustered"]) for one in rules),
        ],
        ["Throttled and called so", *(figure_text.share(one["recall"]) for one in rules)],
        ["Not throttled and called so", *(figure_text.share(one["false_alarms"]) for one in rules)],
        ["Healthy called throttled", *(figure_text.share(one["healthy_called_throttled"]) for one in rules)],
        ["States mostly on the wrong side", *(str(one["states_mostly_on_the_wrong_side"]) for one in rules)],
        [
            f"Precision of throttled where {figure_text.percent(base)} are",
            *(_precision(one) for one in rules),
        ],
    ]
    said = [
        html.Li([html.Strong(_RULES[name]), f": {text}."])
        for name, text in _RULES_SAY.items()
        if name in names
    ]
    return section(
        "Compared with simpler rules",
        [
            plain_table(("Figure", *(_RULES[name] for name in names)), rows),
            html.Ul(said, className="rules-say"),
            _naive(part),
        ],
        note="below each share: what it is of, and its 95 % Wilson interval, as if windows were independent",
    )


def _precision(one: dict[str, Any]):
    if one["precision"] is None:
        return html.Span("it never says so", className="quiet")
    return html.Span(
        [
            html.Strong(figure_text.percent(one["precision"])),
            html.Span(figure_text.span(one["precision_between"]), className="interval"),
        ],
        className="share",
    )


def _naive(part: dict[str, Any]) -> html.P:
    """How the naive rule fares, from its figures."""
    naive = part["rules"].get("naive rule")
    if naive is None:
        return html.P("The naive rule was not measured here.", className="quiet")
    wrong = naive["side_right_when_answered"]["of"] - naive["side_right_when_answered"]["count"]
    missed = naive["recall"]["of"] - naive["recall"]["count"]
    return html.P(
        f"The naive rule is shown next to every verdict. Here it named the wrong side in {fmt.exact(wrong)} of "
        f"{fmt.exact(naive['side_right_when_answered']['of'])} windows, missed {fmt.exact(missed)} of {fmt.exact(naive['recall']['of'])} "
        f"throttled ones and cried throttled in {fmt.exact(naive['false_alarms']['count'])} of {fmt.exact(naive['false_alarms']['of'])} others; "
        f"{naive['states_mostly_on_the_wrong_side']} states were mostly on the wrong side. Between causes of one side it cannot tell at all."
    )
