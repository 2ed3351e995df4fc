"""The evidence of the verdict, and the limits. In: an incident. Out: blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from throttlescope.app.incident.load import Incident
from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.blocks import (
    Block,
    Bullets,
    Code,
    Grid,
    Heading,
    Paragraph,
    TextBlock,
    text,
)
from throttlescope.app.presentation.causes import CAUSES, SIDES, limiter_words
from throttlescope.app.presentation.limits import KnownLimit, known_limits

_WEIGHTS = {
    "for": "Evidence for it",
    "against": "Evidence against it",
    "neutral": "Seen, but neither for nor against",
}


def told_limits(incident: Incident) -> list[KnownLimit]:
    """Limits at the end of the verdict's window; one that was removed within the window has its last value."""
    verdict = incident.told
    end_ms = incident.at_ms if verdict is None else verdict["window_end_ms"]
    minutes = incident.minutes[incident.minutes["minute_ms"] < end_ms].reset_index(drop=True)
    return known_limits(minutes, since_ms=None if verdict is None else verdict["window_start_ms"])


def are_observed(limits: Sequence[KnownLimit]) -> bool:
    """Whether the admin API returned any of them."""
    return any(limit.set_by is not None for limit in limits)


def limiter(incident: Incident) -> list[TextBlock]:
    """The limiting limiter, or that none is limiting and which limits are set."""
    known = told_limits(incident)
    observed = are_observed(known)
    named = None if incident.told is None else incident.told["limiter"]
    if named:
        limit = next((one for one in known if f"{one.level}.{one.unit}" == named), None)
        words = limiter_words(named)
        name = f"{words[:1].upper()}{words[1:]} ({named})"
        if limit is None or limit.rate is None:
            return [text(f"{name}; how large it is was not observed.")]
        lifted = f" It was lifted at {fmt.clock(limit.lifted_ms)}." if limit.lifted_ms is not None else ""
        return [text(f"{name}: {limit.amount()}, set by {limit.who()}{_used(limit)}.{lifted}")]
    if not observed:
        return [text("No limiter is named; limits were not read.")]
    rated = [one for one in known if one.rate is not None]
    names = ", ".join(f"{one.name} {one.amount()}{_used(one)}" for one in rated)
    head = (
        "No limiter is named."
        if incident.told is None or incident.told["cause"] == "unknown"
        else "No limiter is limiting."
    )
    return [text(f"{head} Set: {names or 'none'}.")]


def _used(limit: KnownLimit) -> str:
    share = limit.use_share_max
    return "" if share is None else f", used to {fmt.percent(share)} at most"


def evidence(incident: Incident) -> list[Block]:
    """The evidence for and against the cause, with its PromQL."""
    verdict = incident.told
    if verdict is None:
        return [
            Heading(2, text("Evidence")),
            Paragraph(text("There is no verdict, so there is no evidence.")),
        ]
    blocks: list[Block] = [
        Heading(2, text("Evidence")),
        Paragraph(
            text(
                f"Window {fmt.moment(verdict['window_start_ms'])} to {fmt.moment(verdict['window_end_ms'])}, "
                f"rules {fmt.name(verdict['rules_version'], 40)}. Strongest first."
            )
        ),
    ]
    rows = verdict["evidence"] or ()
    for weight, title in _WEIGHTS.items():
        mine = [row for row in rows if row["weight"] == weight]
        if not mine and weight == "neutral":
            continue
        blocks.append(Heading(3, text(title)))
        blocks.append(_grid(mine) if mine else Paragraph(text("None was found.")))
    queries = evidence_queries(rows)
    if queries:
        blocks += [
            Heading(3, text("The same in Prometheus")),
            Paragraph(text("Each query shows one of the values above at the given time.")),
            Code(queries, "promql"),
        ]
    return blocks


def _grid(rows: Sequence[Mapping[str, Any]]) -> Grid:
    return Grid(
        ("What was seen", "Value", "Threshold", "Time (UTC)", "Symptom"),
        [
            [
                text(row["text"]),
                text(fmt.quantity(row["value"], row["unit"])),
                text(
                    "none"
                    if fmt.is_missing(row["threshold"])
                    else fmt.quantity(row["threshold"], row["unit"])
                ),
                text("-" if row["at_ms"] is None else fmt.moment(row["at_ms"]).removesuffix(" UTC")),
                text(row["symptom"]),
            ]
            for row in rows
        ],
    )


def evidence_queries(rows: Sequence[Mapping[str, Any]]) -> str:
    """PromQL of some evidence, each query once, with a comment that names its symptoms."""
    symptoms: dict[str, list[str]] = {}
    for row in rows:
        if row["promql"]:
            symptoms.setdefault(row["promql"], []).append(
                f"{row['symptom']}" + ("" if row["at_ms"] is None else f" at {fmt.moment(row['at_ms'])}")
            )
    return "\n\n".join(f"# {', '.join(names)}\n{query}" for query, names in symptoms.items())


def limits(incident: Incident) -> list[Block]:
    """Every known limit, who set it, its use, and whether its throttle events prove throttling."""
    heading = Heading(2, text("Limits"))
    known = told_limits(incident)
    if not are_observed(known):
        words = "Not read: the lake has no limit of this subscription from the admin API."
        return [heading, Paragraph(text(words + " Fix: give --pulsar-admin URL to throttlescope run."))]
    blocks: list[Block] = [heading]
    rated = [limit for limit in known if limit.rate is not None]
    if rated:
        blocks.append(
            Grid(
                (
                    "Limit",
                    "Rate per period",
                    "Per second",
                    "Set by",
                    "Most use / limit in the range",
                    "Throttle events",
                ),
                [_limit(limit) for limit in rated],
            )
        )
    without = [limit.name for limit in known if limit.rate is None and limit.set_by is not None]
    unseen = [limit.name for limit in known if limit.rate is None and limit.set_by is None]
    notes = []
    if without:
        notes.append(text(f"No limit set: {', '.join(without)}."))
    if unseen:
        notes.append(text(f"Not observed: {', '.join(unseen)}."))
    minutes = incident.minutes
    if not minutes.empty and minutes["limit_observed_later"].fillna(False).astype(bool).any():
        notes.append(
            text(
                "Limits were first read after some of these minutes; the first reading is assumed for those."
            )
        )
    return [*blocks, *([Bullets(notes)] if notes else [])]


def _limit(limit: KnownLimit) -> list[TextBlock]:
    lifted = f"; lifted at {fmt.clock(limit.lifted_ms)}" if limit.lifted_ms is not None else ""
    changed = "; changed in this range" if limit.changed and limit.lifted_ms is None else ""
    return [
        text(limit.name),
        text(limit.amount() + lifted + changed),
        text(limit.speed()),
        text(limit.who()),
        text(fmt.percent(limit.use_share_max)),
        text(limit.proof()),
    ]


def other_findings(incident: Incident) -> list[Block]:
    """Contributing causes, and the answer of the naive rule."""
    verdict = incident.told
    if verdict is None:
        return []
    side = SIDES[verdict["naive_side"]]
    agrees = "the same" if verdict["naive_side"] == verdict["side"] else "something different"
    rows = [
        text(
            f"The naive rule (a ready backlog above 1000 entries: a limit if any throttle event was counted, otherwise the "
            f"consumers) says {agrees}: {side.label}."
        )
    ]
    for one in verdict["contributing"] or ():
        limiter = f", {limiter_words(one['limiter'])}" if one["limiter"] else ""
        rows.append(
            text(
                f"Contributing cause: {CAUSES[one['cause']].label}{limiter} "
                f"({fmt.percent(one['confidence'])} confidence): {one['why']}."
            )
        )
    return [Heading(3, text("Other findings")), Bullets(rows)]
