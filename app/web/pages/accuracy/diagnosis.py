"""How often the shipped rules are right. In: the figures that the package brings. Out: components; no number is written here."""

from __future__ import annotations

from typing import Any

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.address.method import MethodAddress
from throttlescope.app.web.components.parts import plain_table, section, stored_english, view_link
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.accuracy import figure_text
from throttlescope.app.web.pages.accuracy.windows import (
    calibration,
    confusion_matrix,
    less_evidence,
    verdict_times,
)
from throttlescope.ingest.core.errors import InputError
from throttlescope.models.diagnosis.thresholds import NAIVE_BACKLOG_ENTRIES, RHO_AT_LIMIT
from throttlescope.models.diagnosis.verdict import RULES_VERSION
from throttlescope.models.messages.catalogue import message, sentence


def _rules_labels() -> dict:
    return {
        "ours": sentence("label.ours"),
        "naive rule": sentence("label.naive_rule"),
        "rho alone": sentence("accuracy.rho_alone"),
        "Burrow's rules": "Burrow",
        "majority": sentence("label.majority"),
    }


#: Shares of the comparison, and figures with an interval over recordings, in the order of the table.
_SHARES_FIRST = ("side_right_when_answered", "unknown")
_MACRO_F1 = ("cause_macro_f1", "side_macro_f1")
_SHARES_LAST = ("recall", "false_alarms", "healthy_called_throttled")


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
                sentence("accuracy.not_shipped.diagnosis"),
                [sentence("accuracy.made_by.diagnosis")],
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
        _targets(found),
        _choice(address, names, name, part),
        _rules(part),
        confusion_matrix(part),
        calibration(part),
        less_evidence(part),
        verdict_times(part),
        figure_text.page_of(found["page"]),
    ]


def _version(measured: str) -> list:
    if measured == RULES_VERSION:
        installed = html.Strong(sentence("label.rules_version", version=RULES_VERSION))
        return [html.P(sentence_parts(message("accuracy.rules_measured", rules=installed)))]
    return [
        panel(
            sentence("accuracy.other_rules", measured=fmt.name(measured, 40)),
            [sentence("accuracy.other_rules.installed", installed=RULES_VERSION)],
            tone="orange",
        )
    ]


def _targets(found: dict[str, Any]) -> html.Section:
    targets = found.get("targets") or []
    if not targets:
        return section(
            sentence("label.targets"), [html.P(sentence("label.none_were_measured"), className="quiet")]
        )
    judge, *others = found["sets"]
    rows = [
        [
            stored_english(f"{target['what'][:1].upper()}{target['what'][1:]}"),
            target["wanted"],
            html.Strong(target["measured"].get(judge, fmt.missing())),
            figure_text.met(target["met"]),
            *(html.Span(target["measured"].get(name, fmt.missing()), className="quiet") for name in others),
        ]
        for target in targets
    ]
    return section(
        sentence("label.targets"),
        [
            plain_table(
                (
                    sentence("label.figure"),
                    sentence("label.target"),
                    figure_text.set_name(judge).capitalize(),
                    sentence("label.met"),
                    *(figure_text.set_name(name) for name in others),
                ),
                rows,
            )
        ],
        note=sentence("accuracy.targets.note", set=figure_text.set_name(judge)),
    )


def _choice(address: MethodAddress, names: list[str], chosen: str, part: dict[str, Any]) -> html.Div:
    links = [
        view_link(
            figure_text.set_name(name),
            address.of(name).href(),
            chosen=name == chosen,
            title=sentence(f"accuracy.set.{figure_text.set_key(name)}"),
        )
        for name in names
    ]
    facts = sentence(
        "accuracy.set_facts",
        set=message(f"accuracy.set.{figure_text.set_key(chosen)}"),
        windows=fmt.exact(part["windows"]),
        recordings=fmt.exact(part["recordings"]),
        families=fmt.exact(part["families"]),
        states=fmt.exact(part["states"]),
    )
    return html.Div(
        [
            html.Span(sentence("label.figures_below_recordings"), className="quiet"),
            html.Div(links, className="views"),
            html.Span(facts, className="quiet"),
        ],
        className="toolbar set-bar",
    )


def _rules(part: dict[str, Any]) -> html.Section:
    names = [name for name in _rules_labels() if name in part["rules"]]
    rules = [part["rules"][name] for name in names]
    ours = rules[0]

    def shares(figure: str) -> list:
        with_recordings = figure == "side_right_when_answered"
        return [
            sentence(f"accuracy.figure.{figure}"),
            *(figure_text.share(one[figure], recordings=with_recordings and one is ours) for one in rules),
        ]

    def figures(figure: str) -> list:
        return [
            sentence(f"accuracy.figure.{figure}"),
            *(figure_text.figure(one[figure], one[f"{figure}_clustered"]) for one in rules),
        ]

    rows = [
        *(shares(figure) for figure in _SHARES_FIRST),
        *(figures(figure) for figure in _MACRO_F1),
        *(shares(figure) for figure in _SHARES_LAST),
        [
            sentence("accuracy.wrong_side"),
            *(str(one["states_mostly_on_the_wrong_side"]) for one in rules),
        ],
        [
            sentence("accuracy.precision", base=figure_text.percent(ours["base_rate"])),
            *(_precision(one) for one in rules),
        ],
    ]
    return section(
        sentence("accuracy.rules.title"),
        [
            plain_table((sentence("label.figure"), *(_rules_labels()[name] for name in names)), rows),
            html.Ul(_simpler_rules(names), className="rules-say"),
            _naive(part),
        ],
        note=sentence("accuracy.rules.note"),
    )


def _simpler_rules(names: list[str]) -> list[html.Li]:
    """What each of the simpler rules does."""
    name = {rule: html.Strong(title) for rule, title in _rules_labels().items()}
    rules = {
        "naive rule": message("accuracy.rule.naive", name=name["naive rule"], entries=NAIVE_BACKLOG_ENTRIES),
        "rho alone": message(
            "accuracy.rule.rho", name=name["rho alone"], share=RHO_AT_LIMIT, entries=NAIVE_BACKLOG_ENTRIES
        ),
        "Burrow's rules": message("accuracy.rule.burrow", name=name["Burrow's rules"]),
        "majority": message("accuracy.rule.majority", name=name["majority"]),
    }
    return [html.Li(sentence_parts(rule)) for word, rule in rules.items() if word in names]


def _precision(one: dict[str, Any]):
    if one["precision"] is None:
        return html.Span(sentence("accuracy.precision.never"), className="quiet")
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
        return html.P(sentence("accuracy.naive.not_measured"), className="quiet")
    right, recall, false_alarms = (
        naive[figure] for figure in ("side_right_when_answered", "recall", "false_alarms")
    )
    return html.P(
        sentence(
            "accuracy.naive.result",
            wrong=fmt.exact(right["of"] - right["count"]),
            answered=fmt.exact(right["of"]),
            missed=fmt.exact(recall["of"] - recall["count"]),
            throttled=fmt.exact(recall["of"]),
            false_alarms=fmt.exact(false_alarms["count"]),
            others=fmt.exact(false_alarms["of"]),
            states=naive["states_mostly_on_the_wrong_side"],
        )
    )
