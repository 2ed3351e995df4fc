"""How well the simulator, forecasts and anomalies do. In: the figures that the package brings. Out: components; no number is written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.web.components.parts import plain_table, section, stored_english
from throttlescope.app.web.components.sentence_parts import sentence_parts
from throttlescope.app.web.components.shell import panel
from throttlescope.app.web.pages.accuracy import figure_text
from throttlescope.models.messages.catalogue import message, sentence

#: What the simulator is judged by, in the order of the columns.
_ERRORS = ("dispatched", "backlog", "drain", "events")


def simulator(found: dict[str, Any] | None) -> list:
    """The simulator compared with recordings of a real broker, and with a model of one line."""
    if not found:
        return [_not_shipped("simulator")]
    return [
        _simulator_errors(found),
        _far_families(found),
        _families(found["families"]),
        figure_text.page_of(found["page"]),
    ]


def _simulator_errors(found: dict[str, Any]) -> html.Section:
    """Errors over all scenarios: allowed, reached, and those of the one-line model."""
    parts = found["parts"]
    judge, *others = parts
    rows = []
    for name in _ERRORS:
        wanted = found["targets"][name]["wanted"]
        reached = parts[judge]["ours"][name]
        rows.append(
            [
                sentence(f"accuracy.error.{name}"),
                _error(name, wanted),
                html.Strong(_error(name, reached)),
                figure_text.met(_within(reached, wanted)),
                _error(name, parts[judge]["line"][name]),
                *(_error(name, parts[other]["ours"][name]) for other in others),
            ]
        )
    right = [
        sentence(
            "accuracy.simulator.right_reason",
            set=figure_text.set_name(name),
            right=part["right_reason"],
            of=part["with_events"],
        )
        for name, part in parts.items()
    ]
    head = (
        sentence("accuracy.simulator.median"),
        sentence("label.allowed"),
        _recordings(figure_text.set_name(judge).capitalize(), parts[judge]),
        sentence("label.met"),
        sentence("accuracy.simulator.line"),
        *(f"{figure_text.set_name(name)} ({parts[name]['recordings']})" for name in others),
    )
    return section(
        sentence("accuracy.simulator.title"),
        [plain_table(head, rows), html.P(sentence("accuracy.simulator.events", sets="; ".join(right)))],
        note=sentence("accuracy.simulator.note"),
    )


def _recordings(name: str, part: dict[str, Any]) -> str:
    return sentence("accuracy.simulator.recordings", set=name, recordings=part["recordings"])


def _far_families(found: dict[str, Any]) -> html.Section:
    """Families whose error is far above what is allowed."""
    far = [
        html.Li(
            [
                html.Strong(f"{_recordings(figure_text.set_name(name), part)}: "),
                stored_english(", ".join(part["families_too_far"]).replace("_", " "))
                if part["families_too_far"]
                else sentence("label.none"),
            ]
        )
        for name, part in found["parts"].items()
    ]
    return section(
        sentence("accuracy.simulator.far.title", times=found["within"]),
        [html.Ul(far, className="rules-say")],
        note=sentence("accuracy.simulator.far.note"),
    )


def _families(families: list[dict[str, Any]]) -> html.Section:
    errors = [sentence(f"accuracy.error.{name}") for name in _ERRORS]
    head = (
        sentence("label.family"),
        sentence("label.engine"),
        sentence("label.part"),
        sentence("label.recordings"),
        *errors,
        sentence("label.backlog_one_line"),
    )
    rows = [
        [
            stored_english(family["family"].replace("_", " ")),
            stored_english(", ".join(family["engines"])),
            figure_text.set_name(family["part"]),
            str(family["recordings"]),
            *(_error(name, family["ours"][name]) for name in _ERRORS),
            _error("backlog", family["line"]["backlog"]),
        ]
        for family in families
    ]
    return section(sentence("label.by_family"), [plain_table(head, rows)])


def _within(value: float | str | None, wanted: float) -> bool | None:
    return None if value is None else value != "never" and value <= wanted


def _error(name: str, value: float | str | None) -> str:
    if value is None:
        return sentence("accuracy.nothing_to_compare")
    if isinstance(value, str):
        return value
    return figure_text.number(value, 2) if name == "events" else figure_text.percent(value)


def forecasts(found: dict[str, Any] | None) -> list:
    """How often what was measured lay inside the interval that was forecast."""
    if not found:
        return [_not_shipped("forecasts")]
    target = found["target"]
    judged = found["parts"].get(target["judges"])
    never = found["never"]
    return [
        section(
            sentence("accuracy.forecasts.title"),
            [
                *([_forecast_target(judged, target)] if judged else []),
                _coverage(sentence("label.recordings"), found["parts"], figure_text.set_name),
                html.P(
                    sentence(
                        "accuracy.forecasts.never",
                        never=fmt.exact(never["forecasts"]),
                        drained=fmt.exact(never["drained"]),
                        soon=fmt.exact(never["drained_within_a_minute_of_a_change"]),
                    )
                ),
            ],
            note=sentence("accuracy.forecasts.note"),
        ),
        section(
            sentence("accuracy.forecasts.reach.title"),
            [_coverage(sentence("accuracy.forecasts.reach"), found["reaches"])],
        ),
        section(
            sentence("accuracy.forecasts.cause.title"), [_coverage(sentence("label.cause"), found["causes"])]
        ),
        _losses(found["losses"]),
        figure_text.page_of(found["page"]),
    ]


def _losses(losses: dict[str, Any]) -> html.Section:
    head = (
        sentence("label.deadline"),
        sentence("label.recordings"),
        sentence("label.forecasts"),
        sentence("accuracy.losses.check"),
        sentence("label.inside_the_interval"),
    )
    rows = [
        [
            _named(kind),
            str(one["recordings"]),
            fmt.exact(one["forecasts"]),
            _of(one["within_one_check"], one["forecasts"]),
            _of(one["inside"], one["forecasts"]),
        ]
        for kind, one in losses.items()
    ]
    return section(
        sentence("label.first_losses"), [plain_table(head, rows)], note=sentence("accuracy.losses.note")
    )


def _forecast_target(judged: dict[str, Any], target: dict[str, Any]) -> html.P:
    """The target, judged by what no calibration had seen: a cross-validated figure cannot meet it."""
    unseen = target["unseen"]
    low, high = unseen["wilson"]
    is_met = low <= target["wanted"] <= high and unseen["decided"] >= target["least_forecasts"]
    return html.P(
        sentence_parts(
            message(
                "accuracy.forecasts.target",
                met=figure_text.met(is_met),
                wanted=figure_text.percent(target["wanted"]),
                least=target["least_forecasts"],
                set=figure_text.set_name(target["judges"]),
                unseen=_of(unseen["inside"], unseen["decided"]),
                unseen_interval=figure_text.span(unseen["wilson"]),
                interval=figure_text.span(judged["wilson"]),
                forecasts=fmt.exact(judged["forecasts"]),
            )
        )
    )


def _named(name: str) -> html.Span:
    return stored_english(name.replace("_", " "))


def _coverage(title: str, parts: dict[str, Any], named: Callable[[str], object] = _named) -> html.Div:
    return plain_table(
        (
            title,
            sentence("label.forecasts"),
            sentence("label.recordings"),
            sentence("label.inside"),
            "Wilson",
            sentence("label.over_recordings"),
            sentence("accuracy.forecasts.error"),
        ),
        [
            [
                named(name),
                fmt.exact(one["forecasts"]),
                str(one["recordings"]),
                _of(one["inside"], one["decided"]),
                figure_text.span(one["wilson"]),
                figure_text.span(one["clustered"]),
                figure_text.percent(one["median_error_share"]),
            ]
            for name, one in parts.items()
            if one["forecasts"]
        ],
    )


def _of(count: int, of: int) -> str:
    if not of:
        return sentence("accuracy.nothing_to_count")
    return f"{sentence('label.part_of', part=count, whole=of)} = {figure_text.percent(count / of)}"


def anomalies(found: dict[str, Any] | None) -> list:
    """The scores on generated traffic, compared with simpler detectors."""
    if not found:
        return [_not_shipped("anomalies")]
    kinds = [
        [
            stored_english(kind),
            sentence("label.part_of", part=one["found"], whole=one["events"]),
            _minutes(one["median_delay_min"]),
        ]
        for kind, one in found["kinds"].items()
    ]
    return [
        _anomaly_targets(found),
        section(
            sentence("accuracy.anomalies.detectors.title"),
            [_scores(sentence("label.detector"), found["detectors"])],
            note=sentence("accuracy.anomalies.detectors.note"),
        ),
        section(
            sentence("label.what_is_found"),
            [
                plain_table(
                    (sentence("label.injected"), sentence("label.found"), sentence("label.median_delay")),
                    kinds,
                )
            ],
        ),
        section(
            sentence("accuracy.anomalies.shapes.title"), [_scores(sentence("label.traffic"), found["shapes"])]
        ),
        section(
            sentence("accuracy.anomalies.without.title"),
            [_scores(sentence("accuracy.anomalies.without"), found["without"])],
            note=sentence("accuracy.anomalies.without.note"),
        ),
        html.P(sentence("accuracy.anomalies.limits"), className="quiet"),
        figure_text.page_of(found["page"]),
    ]


def _anomaly_targets(found: dict[str, Any]) -> html.Section:
    ours, wanted, met = found["detectors"][found["ours"]], found["targets"], found["met"]
    best = max(one["f1"] for name, one in found["detectors"].items() if name != found["ours"])
    false_alarms = sentence(
        "accuracy.anomalies.false_alarms.measured",
        rate=figure_text.number(ours["false_per_week"]),
        alarms=ours["false"],
        weeks=ours["weeks"],
    )
    better = sentence("accuracy.anomalies.better.measured", best=figure_text.number(best))
    rows = [
        [
            sentence("label.event_wise_f1"),
            sentence("accuracy.at_least", value=f"{wanted['f1']:g}"),
            figure_text.number(ours["f1"]),
            figure_text.met(met["f1"]),
        ],
        [
            sentence("accuracy.anomalies.false_alarms"),
            sentence("accuracy.at_most", value=f"{wanted['false_per_week']:g}"),
            false_alarms,
            figure_text.met(met["false_per_week"]),
        ],
        [
            sentence("label.median_delay"),
            sentence("accuracy.at_most", value=_minutes(wanted["delay_min"])),
            _minutes(ours["median_delay_min"]),
            figure_text.met(met["delay"]),
        ],
        [
            sentence("accuracy.anomalies.better"),
            sentence("accuracy.anomalies.better.wanted"),
            better,
            figure_text.met(met["beats"]),
        ],
    ]
    return section(
        sentence("label.targets"),
        [
            plain_table(
                (
                    sentence("label.figure"),
                    sentence("label.target"),
                    sentence("label.measured"),
                    sentence("label.met"),
                ),
                rows,
            )
        ],
        note=sentence(
            "accuracy.anomalies.note",
            subscriptions=found["subscriptions"],
            days=found["days"],
            events=ours["events"],
            version=found["method_version"],
        ),
    )


def _scores(title: str, rows: dict[str, Any]) -> html.Div:
    return plain_table(
        (title, sentence("label.precision"), sentence("label.recall"), "F1", sentence("accuracy.anomalies.weekly"), sentence("label.median_delay")),
        [
            [
                stored_english(name), figure_text.number(one["precision"]), figure_text.number(one["recall"]), html.Strong(figure_text.number(one["f1"])),
                figure_text.number(one["false_per_week"]), _minutes(one["median_delay_min"]),
            ]
            for name, one in rows.items()
        ],
    )  # fmt: skip


def _minutes(value: float | None) -> str:
    return sentence("accuracy.none_found") if value is None else sentence("accuracy.minutes", minutes=value)


def _not_shipped(model: str):
    return panel(
        sentence(f"accuracy.not_shipped.{model}"), [sentence(f"accuracy.made_by.{model}")], tone="orange"
    )
