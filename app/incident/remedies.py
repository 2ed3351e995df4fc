"""What would happen and what would change it. In: an incident and what was worked out. Out: blocks; nothing in them was executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from throttlescope.app.incident.computed import Worked
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.advice import drain_within, gone_in
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
from throttlescope.app.presentation.causes import limiter_words
from throttlescope.ingest.core.times import SECOND_MS
from throttlescope.models.messages.rounded import duration

if TYPE_CHECKING:
    from throttlescope.transforms.deadlines import Deadlines

_KINDS = {
    "drain": "backlog drained",
    "ttl": "message TTL",
    "quota_size": "backlog quota by size",
    "quota_age": "backlog quota by age",
}
_PRIMARY = {
    "limiter": "A limiter holds the backlog: lifting it drains most.",
    "consumers": "The consumers hold the backlog: faster ones drain most.",
    "both": "Both hold the backlog: neither alone drains it, both together do.",
    None: "No lever that was tried changes anything that could be told.",
}
NO_COMMAND = "No pulsar-admin command does that: it is done, and taken back, where the consumers run."
NO_WAY_BACK = "No command takes it back."
#: Between the query of a check and what it should show.
_SHOULD = " should "
_LEVERS = {"consumers": "the consumers' own time", "together": "all limits and the consumers' own time"}


# -- forecasts ----------------------------------------------------------------------------------


def forecast_words(row: Mapping[str, Any]) -> str:
    """One forecast in a sentence."""
    drain = row["kind"] == "drain"
    what = "The backlog" if drain else _capital(_KINDS[row["kind"]])
    if row["state"] == "unknown":
        return f"{what}: when {'it is gone' if drain else 'it acts'} cannot be told yet, there is no trend to go by."
    if row["state"] == "never":
        reach = "" if row["low_ms"] is None else f", not before {fmt.moment(row['low_ms'])} in 9 of 10 cases"
        return f"{what} {'does not drain' if drain else 'does not act'} at this rate{reach}."
    length = duration((row["predicted_ms"] - row["made_at_ms"]) / SECOND_MS)
    does = "is gone" if drain else "acts"
    return (
        f"{what} {does} in {length}, at {fmt.moment(row['predicted_ms'])} (90 % interval: {_interval(row)})."
    )


def nearest_loss(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first deadline that is expected."""
    losses = [row for row in rows if row["kind"] != "drain" and row["state"] == "expected"]
    return min(losses, key=lambda row: (row["predicted_ms"], row["kind"]), default=None)


def deadline_words(found: Deadlines | None) -> str:
    """What may take messages, each with its threshold, or that nobody knows."""
    if found is None:
        return "Whether message TTL or a backlog quota takes messages is not known: their policies were not read."
    parts = []
    for name, limit, unit in (
        ("message TTL", found.ttl, "s"),
        ("backlog quota by size", found.quota_size, "bytes"),
        ("backlog quota by age", found.quota_age, "s"),
    ):
        if limit is None:
            parts.append(f"{name} is not known")
        elif limit.value is None:
            parts.append(f"{name} is not set")
        else:
            parts.append(f"{name} is {_value(limit.value, unit)} ({limit.set_by.replace('_', ' ')})")
    return f"What may take messages: {', '.join(parts)}."


def forecasts(worked: Worked) -> list[Block]:
    """When the backlog is gone, what takes messages before, and what that rests on."""
    heading = Heading(2, text("Forecasts"))
    if worked.forecasts is None:
        return [heading, Paragraph(_not_computed("Forecasts", worked.why_not["forecasts"]))]
    if not worked.forecasts:
        return [heading, Paragraph(text("None: no backlog was there to forecast."))]
    rows = sorted(worked.forecasts, key=lambda row: (list(_KINDS).index(row["kind"]), row["method"]))
    grid = Grid(
        ("What", "When (UTC)", "90 % interval (UTC)", "How sure", "Now", "Happens at", "Set by"),
        [
            [
                text(_KINDS[row["kind"]]),
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
    notes = [text(f"{_capital(_KINDS[row['kind']])}: {row['consequence']} {row['basis']}") for row in rows]
    made = text(
        f"Made with what was known at {fmt.moment(rows[0]['made_at_ms'])}. How sure: of a drain, the share of such forecasts that "
        "drained at all; of a deadline, that it comes before the drain."
    )
    return [heading, Paragraph(made), grid, Bullets(notes)]


def _when(row: Mapping[str, Any]) -> str:
    if row["state"] != "expected":
        return {"never": "never at this rate", "unknown": "no trend yet"}[row["state"]]
    length = duration((row["predicted_ms"] - row["made_at_ms"]) / SECOND_MS)
    return f"{fmt.moment(row['predicted_ms']).removesuffix(' UTC')}, in {length}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["low_ms"] is None:
        return "not known"
    low = fmt.moment(row["low_ms"]).removesuffix(" UTC")
    if row["state"] != "expected":
        return f"not before {low}"
    return f"{low} to {'open' if row['high_ms'] is None else fmt.moment(row['high_ms']).removesuffix(' UTC')}"


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    if unit == "s":
        return duration(value)
    return fmt.size(value) if unit == "bytes" else f"{fmt.exact(round(value))} {unit}"


# -- counterfactuals ----------------------------------------------------------------------------


def counterfactuals(worked: Worked) -> list[Block]:
    """Each cause taken away in a replay, and what is left of the backlog then."""
    heading = Heading(2, text("What if a cause were away"))
    advice = worked.advice
    if advice is None:
        return [heading, Paragraph(_not_computed("Counterfactuals", worked.why_not["advice"]))]
    later = duration(advice["target_s"])
    rows = [
        [text("nothing"), text(_span(advice["as_is_entries"])), text("-"), text("-"), text("-")],
        *(
            [
                text(_lever(row)),
                text(_span(row["entries"])),
                text(_span(row["gain_entries"])),
                text(drain_within(row["earliest_drain_s"], row["latest_drain_s"])),
                text(held_words(row["held_by"])),
            ]
            for row in advice["counterfactuals"]
        ),
    ]
    notes = [text(f"{note[:1].upper()}{note[1:]}.") for note in advice["notes"]]
    return [
        heading,
        Paragraph(
            text(
                f"The half hour before {fmt.moment(advice['at_ms'])} was replayed in a simulator of Pulsar's limiters, and "
                f"looked {later} ahead from {fmt.exact(advice['backlog_entries'])} entries with one cause taken away at a time. "
                f"{_PRIMARY[advice['primary']]}"
            )
        ),
        Grid(
            ("Taken away", f"Backlog {later} later (entries)", "Less than with nothing taken away (entries)", "Gone in", "Then holds it"),
            rows,
        ),
        Bullets(
            [
                text(f"The replay of the half hour itself is off by {100 * advice['replay_error_share']:.1f} % of its largest backlog."),
                *notes,
            ]
        ),
    ]  # fmt: skip


def _lever(row: Mapping[str, Any]) -> str:
    return limiter_words(row["limiter"]) if row["lever"] == "limiter" else _LEVERS[row["lever"]]


def held_words(held_by: str) -> str:
    """What holds a drain, in words."""
    known = {"consumers": "the consumers", "reads": "the broker's reading", "arrivals": "what is published"}
    if held_by in known:
        return known[held_by]
    return f"the {limiter_words(held_by)}" if "." in held_by else held_by


def _span(span: Mapping[str, Any]) -> str:
    low, high = fmt.exact(round(span["low"])), fmt.exact(round(span["high"]))
    return low if low == high else f"{low} to {high}"


# -- what to change -----------------------------------------------------------------------------


def when_gone(one: Mapping[str, Any]) -> str:
    """When the backlog is gone with a change; empty where it cannot be told."""
    return gone_in(*(one[f"{name}_drain_s"] for name in ("earliest", "likely", "latest")))


def what_to_change(worked: Worked) -> list[Block]:
    """Recommendations with command, rollback, risk and check; and what will not help."""
    heading = Heading(2, text("What to change"))
    advice = worked.advice
    if advice is None:
        return [heading, Paragraph(_not_computed("Recommendations", worked.why_not["advice"]))]
    target = duration(advice["target_s"])
    blocks: list[Block] = [
        heading,
        Paragraph(
            text(
                f"The smallest changes after which the backlog would be gone within {target}, best first. "
                "Not executed: nothing on this page was run, and throttlescope never changes a cluster."
            )
        ),
    ]
    if not advice["recommendations"]:
        blocks.append(Paragraph(text(f"Nothing that was tried drains it within {target}.")))
    for number, one in enumerate(advice["recommendations"], 1):
        blocks += _recommendation(number, one)
    if advice["not_helping"]:
        blocks += [
            Heading(3, text("What will not help")),
            Bullets([text(one) for one in advice["not_helping"]]),
        ]
    return blocks


def _recommendation(number: int, one: Mapping[str, Any]) -> list[Block]:
    facts: list[tuple[str, list[TextBlock]]] = []
    if when_gone(one):
        facts.append(("Gone in", [text(when_gone(one))]))
    facts.append(("Then holds the drain", [text(held_words(one["next_brake"]))]))
    if one["risks"]:
        facts.append(("Risk", [text(risk) for risk in one["risks"]]))
    if one["verify"]:
        facts.append(("How to verify", [_check(check) for check in one["verify"]]))
    blocks: list[Block] = [Heading(3, text(f"{number}. {one['words']}")), Facts(facts)]
    for label, command in (("Command, not executed", one["do"]), ("Rollback, not executed", one["undo"])):
        if command:
            blocks += [Paragraph(text(f"{label}:")), Code(command, "sh")]
    if not one["undo"]:
        blocks.append(Paragraph(text(NO_WAY_BACK if one["do"] else NO_COMMAND)))
    return blocks


def verifying(worked: Worked) -> list[str]:
    """PromQL that shows whether a change works, each query once."""
    advice = worked.advice or {"recommendations": ()}
    checks = [check for one in advice["recommendations"] for check in one["verify"]]
    return list(dict.fromkeys(check.rpartition(_SHOULD)[0] for check in checks))


def _check(words: str) -> TextBlock:
    """The query apart from what it should show."""
    query, should, rest = words.rpartition(_SHOULD)
    return text(Name(query), should, rest, ".") if query else text(words)


def _not_computed(what: str, why: str) -> TextBlock:
    return text(f"{what} could not be computed: {why}.")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
