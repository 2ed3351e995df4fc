"""Forecasts, counterfactuals and recommendations. In: an incident and what was computed for it. Out: blocks; nothing in them was executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.incident.computed import ComputedResults
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import (
    drain_within,
    lever_text,
    no_command,
    no_roll_back,
    none_found,
    primary_text,
    recommendations_of,
    replay_error,
    texts_of,
)
from throttlescope.app.presentation.blocks import (
    Block,
    Bullets,
    Code,
    Facts,
    Grid,
    Heading,
    Name,
    Paragraph,
    TextBlock,
    text,
)
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.catalogue import Message, message, sentence
from throttlescope.models.messages.limiting import limiting_factor
from throttlescope.models.messages.stored import forecast_in_language
from throttlescope.models.messages.units import duration
from throttlescope.models.recommendation import Recommendation

if TYPE_CHECKING:
    from throttlescope.transforms.deadlines import Deadlines

_KINDS = ("drain", "ttl", "quota_size", "quota_age")


def _kind_words(kind: str) -> str:
    return sentence(f"incident.forecasts.kind.{kind}")


# -- forecasts ----------------------------------------------------------------------------------


def forecast_text(row: Mapping[str, Any]) -> str:
    """One forecast: when it happens, or that it does not."""
    kind = row["kind"]
    if row["state"] == "unknown":
        return Message(f"forecast.unknown.{kind}").text
    if row["state"] == "never":
        never = Message(f"forecast.never.{kind}").text
        if row["low_ms"] is None:
            return never
        return f"{never} {message('forecast.not_before', at=fmt.moment(row['low_ms'])).text}"
    return Message(
        f"forecast.when.{kind}",
        {
            "length_s": (row["predicted_ms"] - row["made_at_ms"]) / SECOND_MS,
            "at": fmt.moment(row["predicted_ms"]),
            "interval": _interval(row),
        },
    ).text


def nearest_loss(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first deadline that is expected."""
    losses = [row for row in rows if row["kind"] != "drain" and row["state"] == "expected"]
    return min(losses, key=lambda row: (row["predicted_ms"], row["kind"]), default=None)


def deadline_text(found: Deadlines | None) -> str:
    """What may drop messages or stop producers, each with its threshold, or that it is not known."""
    if found is None:
        return sentence("incident.deadlines.not_read")
    parts = []
    for kind, limit, unit in (
        ("ttl", found.ttl, "s"),
        ("quota_size", found.quota_size, "bytes"),
        ("quota_age", found.quota_age, "s"),
    ):
        name = _kind_words(kind)
        if limit is None:
            parts.append(sentence("incident.deadlines.unknown", name=name))
        elif limit.value is None:
            parts.append(sentence("incident.deadlines.not_set", name=name))
        else:
            value, set_by = _value(limit.value, unit), limit.set_by.replace("_", " ")
            parts.append(sentence("incident.deadlines.set", name=name, value=value, set_by=set_by))
    return sentence("incident.deadlines.list", deadlines=parts)


def forecasts(computed: ComputedResults) -> list[Block]:
    """When the backlog is gone, which deadline comes before, and the basis of both."""
    heading = Heading(2, text(sentence("label.forecasts")))
    if computed.forecasts is None:
        return [heading, Paragraph(_not_computed("forecasts", computed.why_not["forecasts"]))]
    if not computed.forecasts:
        return [heading, Paragraph(text(sentence("incident.forecasts.none")))]
    rows = sorted(
        map(forecast_in_language, computed.forecasts),
        key=lambda row: (_KINDS.index(row["kind"]), row["method"]),
    )
    grid = Grid(
        (
            sentence("label.what"),
            sentence("label.when_utc"),
            "90 % interval (UTC)",
            sentence("label.probability_title"),
            sentence("label.now_title"),
            sentence("label.threshold"),
            sentence("label.set_by"),
        ),
        [
            [
                text(_kind_words(row["kind"])),
                text(_when(row)),
                text(_interval(row) if row["low_ms"] is not None else "-"),
                text("-" if row["probability"] is None else fmt.percent(row["probability"])),
                text(_value(row["now"], row["unit"])),
                text(_value(row["threshold"], row["unit"]) if row["kind"] != "drain" else "0 entries"),
                text((row["set_by"] or "-").replace("_", " ")),
            ]
            for row in rows
        ],
    )
    notes = [
        text(f"{_capital(_kind_words(row['kind']))}: {row['consequence']} {row['basis']}") for row in rows
    ]
    made = text(sentence("incident.forecasts.made", at=fmt.moment(rows[0]["made_at_ms"])))
    return [heading, Paragraph(made), grid, Bullets(notes)]


def _when(row: Mapping[str, Any]) -> str:
    if row["state"] != "expected":
        state = row["state"]
        return sentence(f"incident.forecasts.state.{state}")
    length = duration((row["predicted_ms"] - row["made_at_ms"]) / SECOND_MS)
    return f"{fmt.moment(row['predicted_ms']).removesuffix(' UTC')}, in {length}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["low_ms"] is None:
        return "not known"
    low = fmt.moment(row["low_ms"]).removesuffix(" UTC")
    if row["state"] != "expected":
        return sentence("label.not_before", time=low)
    return f"{low} to {'open' if row['high_ms'] is None else fmt.moment(row['high_ms']).removesuffix(' UTC')}"


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    if unit == "s":
        return duration(value)
    return fmt.size(value) if unit == "bytes" else f"{fmt.exact(round(value))} {unit}"


# -- counterfactuals ----------------------------------------------------------------------------


def counterfactuals(computed: ComputedResults) -> list[Block]:
    """Replays without each cause, and the backlog that is left then."""
    heading = Heading(2, text(sentence("incident.counterfactuals.heading")))
    advice = computed.advice
    if advice is None:
        return [heading, Paragraph(_not_computed("counterfactuals", computed.why_not["advice"]))]
    rows = [
        [text("nothing"), text(_span(advice["as_is_entries"])), text("-"), text("-"), text("-")],
        *(
            [
                text(lever_text(row["lever"], row["limiter"])),
                text(_span(row["entries"])),
                text(_span(row["gain_entries"])),
                text(drain_within(row["earliest_drain_s"], row["latest_drain_s"])),
                text(limiting_factor(row["held_by"])),
            ]
            for row in advice["counterfactuals"]
        ),
    ]
    heads = (
        sentence("label.without"),
        sentence("incident.counterfactuals.backlog", length=advice["target_s"]),
        sentence("incident.counterfactuals.gain"),
        sentence("label.gone_in"),
        sentence("label.then_limited_by"),
    )
    replay = sentence(
        "incident.counterfactuals.replay",
        at=fmt.moment(advice["at_ms"]),
        window_s=(advice["at_ms"] - advice["window_start_ms"]) / SECOND_MS,
        length=advice["target_s"],
        entries=fmt.exact(advice["backlog_entries"]),
        primary=primary_text(advice),
    )
    error = replay_error(advice)
    return [
        heading,
        Paragraph(text(replay)),
        Grid(heads, rows),
        Bullets([text(error), *map(text, texts_of(advice["notes"]))]),
    ]


def _span(span: Mapping[str, Any]) -> str:
    low, high = fmt.exact(round(span["low"])), fmt.exact(round(span["high"]))
    return low if low == high else sentence("label.range_words", low=low, high=high)


# -- what to change -----------------------------------------------------------------------------


def what_to_change(computed: ComputedResults) -> list[Block]:
    """Recommendations with command, rollback, risk and check; and what will not help."""
    heading = Heading(2, text(sentence("label.what_to_change")))
    advice = computed.advice
    if advice is None:
        return [heading, Paragraph(_not_computed("recommendations", computed.why_not["advice"]))]
    hint = sentence("incident.changes.hint", target=advice["target_s"])
    blocks: list[Block] = [heading, Paragraph(text(hint))]
    if not advice["recommendations"]:
        blocks.append(Paragraph(text(none_found(advice))))
    for number, one in enumerate(recommendations_of(advice), 1):
        blocks += _recommendation(number, one)
    if advice["not_helping"]:
        blocks += [
            Heading(3, text(sentence("incident.changes.not_helping"))),
            Bullets([text(one) for one in texts_of(advice["not_helping"])]),
        ]
    return blocks


def _recommendation(number: int, one: Recommendation) -> list[Block]:
    facts: list[tuple[str, list[TextBlock]]] = []
    if one.gone_in is not None:
        facts.append((sentence("label.gone_in"), [text(one.gone_in.text)]))
    facts.append((sentence("label.then_limited_by"), [text(limiting_factor(one.next_limiting_factor))]))
    if one.risks:
        facts.append((sentence("label.risk"), [text(risk.text) for risk in one.risks]))
    if one.checks:
        rows = [text(Name(check.query), f" {check.expected.text}.") for check in one.checks]
        facts.append((sentence("label.how_to_verify"), rows))
    blocks: list[Block] = [Heading(3, text(f"{number}. {one.text}")), Facts(facts)]
    for label, command in (
        (sentence("label.command_not_executed"), one.apply),
        (sentence("label.rollback_not_executed"), one.roll_back),
    ):
        if command:
            blocks += [Paragraph(text(f"{label}:")), Code(command, "sh")]
    if not one.roll_back:
        blocks.append(Paragraph(text(no_roll_back() if one.apply else no_command())))
    return blocks


def verifying(computed: ComputedResults) -> list[str]:
    """PromQL that shows whether a change works, each query once."""
    if computed.advice is None:
        return []
    checks = [check for one in recommendations_of(computed.advice) for check in one.checks]
    return list(dict.fromkeys(check.query for check in checks))


def _not_computed(what: str, why: str) -> TextBlock:
    return text(sentence(f"incident.not_computed.{what}", why=why))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
