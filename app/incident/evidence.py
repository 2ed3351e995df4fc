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
from throttlescope.models.messages.catalogue import sentence

_WEIGHTS = ("for", "against", "neutral")


def limits_at_verdict(incident: Incident) -> list[KnownLimit]:
    """Limits at the end of the verdict's window; one that was removed within the window has its last value."""
    verdict = incident.verdict
    end_ms = incident.at_ms if verdict is None else verdict["window_end_ms"]
    minutes = incident.minutes[incident.minutes["minute_ms"] < end_ms].reset_index(drop=True)
    return known_limits(
        minutes, incident.key.subscription, since_ms=None if verdict is None else verdict["window_start_ms"]
    )


def are_observed(limits: Sequence[KnownLimit]) -> bool:
    """Whether the admin API returned any of them."""
    return any(limit.set_by is not None for limit in limits)


def limiter(incident: Incident) -> list[TextBlock]:
    """The limiting limiter, or that none is limiting and which limits are set."""
    known, verdict = limits_at_verdict(incident), incident.verdict
    named = None if verdict is None else verdict["limiter"]
    if named:
        limit = next((one for one in known if f"{one.level}.{one.unit}" == named), None)
        return [text(_limiting(limiter_words(named, incident.key.subscription), named, limit))]
    if not are_observed(known):
        return [text(sentence("incident.limiter.not_read"))]
    amounts = [_with_use(f"{one.name} {one.amount()}", one) for one in known if one.rate is not None]
    rated = ", ".join(amounts) or "none"
    if verdict is None or verdict["cause"] == "unknown":
        return [text(sentence("incident.limiter.none_named", limits=rated))]
    return [text(sentence("incident.limiter.none_limiting", limits=rated))]


def _limiting(words: str, name: str, limit: KnownLimit | None) -> str:
    shown = f"{words[:1].upper()}{words[1:]} ({name})"
    if limit is None or limit.rate is None:
        return sentence("incident.limiter.not_observed", limiter=shown)
    amount = sentence("incident.limiter.set_by", amount=limit.amount(), who=limit.who())
    found = sentence("incident.limiter.set", limiter=shown, limit=_with_use(amount, limit))
    if limit.lifted_ms is None:
        return found
    return f"{found} {sentence('incident.limiter.lifted', at=fmt.clock(limit.lifted_ms))}"


def _with_use(words: str, limit: KnownLimit) -> str:
    share = limit.use_share_max
    return (
        words if share is None else sentence("incident.limiter.used", limit=words, share=fmt.percent(share))
    )


def evidence(incident: Incident) -> list[Block]:
    """The evidence for and against the cause, with its PromQL."""
    verdict = incident.worded
    if verdict is None:
        return [
            Heading(2, text(sentence("label.evidence"))),
            Paragraph(text(sentence("incident.evidence.none"))),
        ]
    window = sentence(
        "incident.evidence.window",
        start=fmt.moment(verdict["window_start_ms"]),
        end=fmt.moment(verdict["window_end_ms"]),
        rules=fmt.name(verdict["rules_version"], 40),
    )
    blocks: list[Block] = [Heading(2, text(sentence("label.evidence"))), Paragraph(text(window))]
    rows = verdict["evidence"] or ()
    for weight in _WEIGHTS:
        mine = [row for row in rows if row["weight"] == weight]
        if not mine and weight == "neutral":
            continue
        blocks.append(Heading(3, text(sentence(f"incident.evidence.weight.{weight}"))))
        blocks.append(_grid(mine) if mine else Paragraph(text(sentence("label.none_was_found"))))
    queries = evidence_queries(rows)
    if queries:
        blocks += [
            Heading(3, text(sentence("incident.evidence.promql"))),
            Paragraph(text(sentence("incident.evidence.promql_hint"))),
            Code(queries, "promql"),
        ]
    return blocks


def _grid(rows: Sequence[Mapping[str, Any]]) -> Grid:
    return Grid(
        (
            sentence("label.what_was_seen"),
            sentence("label.value"),
            sentence("label.threshold"),
            sentence("label.time_utc"),
            sentence("label.symptom"),
        ),
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
    heading = Heading(2, text(sentence("label.limits")))
    known = limits_at_verdict(incident)
    if not are_observed(known):
        return [heading, Paragraph(text(sentence("incident.limits.not_read")))]
    blocks: list[Block] = [heading]
    rated = [limit for limit in known if limit.rate is not None]
    if rated:
        blocks.append(
            Grid(
                (
                    sentence("label.limit"),
                    sentence("label.rate_per_period"),
                    sentence("label.per_second"),
                    sentence("label.set_by"),
                    sentence("incident.limits.most_use"),
                    sentence("label.throttle_events_title"),
                ),
                [_limit(limit) for limit in rated],
            )
        )
    without = [limit.name for limit in known if limit.rate is None and limit.set_by is not None]
    unseen = [limit.name for limit in known if limit.rate is None and limit.set_by is None]
    notes = []
    if without:
        notes.append(text(sentence("incident.limits.none_set", limits=without)))
    if unseen:
        notes.append(text(sentence("incident.limits.unobserved", limits=unseen)))
    minutes = incident.minutes
    if not minutes.empty and minutes["limit_observed_later"].fillna(False).astype(bool).any():
        notes.append(text(sentence("incident.limits.observed_later")))
    return [*blocks, *([Bullets(notes)] if notes else [])]


def _limit(limit: KnownLimit) -> list[TextBlock]:
    amount = limit.amount()
    if limit.lifted_ms is not None:
        amount = sentence("incident.limits.lifted", amount=amount, at=fmt.clock(limit.lifted_ms))
    elif limit.changed:
        amount = sentence("incident.limits.changed", amount=amount)
    return [
        text(limit.name),
        text(amount),
        text(limit.speed()),
        text(limit.who()),
        text(fmt.percent(limit.use_share_max)),
        text(limit.proof()),
    ]


def other_findings(incident: Incident) -> list[Block]:
    """Contributing causes, and the answer of the naive rule."""
    verdict = incident.worded
    if verdict is None:
        return []
    side = SIDES[verdict["naive_side"]].label
    if verdict["naive_side"] == verdict["side"]:
        rows = [sentence("incident.evidence.naive_agrees", side=side)]
    else:
        rows = [sentence("incident.evidence.naive_differs", side=side)]
    for one in verdict["contributing"] or ():
        cause = CAUSES[one["cause"]].label
        if one["limiter"]:
            cause = f"{cause}, {limiter_words(one['limiter'], incident.key.subscription)}"
        confidence = fmt.percent(one["confidence"])
        rows.append(
            sentence("incident.evidence.contributing", cause=cause, confidence=confidence, why=one["why"])
        )
    return [Heading(3, text(sentence("label.other_findings"))), Bullets([text(row) for row in rows])]
