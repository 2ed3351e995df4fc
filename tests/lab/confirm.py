"""Was the truth seen? In, a scenario, what was scraped and when things were changed; out, an outcome with its truth rows.

The truth comes from the script; here only its confirmation is decided: a check that fails drops the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.lab.checks import SETTLE_MS, Span, evaluate
from tests.lab.readback import Series
from throttlescope.models.throttling.scenario import Drains, Loses, Scenario, Truth


@dataclass
class Confirmation:
    """What the checks saw; by state, when its backlog had drained and when the first messages were lost."""

    failures: list[str] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)
    drained_ms: dict[str, int] = field(default_factory=dict)
    first_loss_ms: dict[str, int] = field(default_factory=dict)


def confirm(scenario: Scenario, spans: list[Span], series: list[Series]) -> Confirmation:
    """Evaluate every check of a scenario on its recorded series."""
    by_name = {span.name: span for span in spans}
    result = Confirmation()
    for check in scenario.confirm:
        span = by_name[check.state]
        ok, seen = evaluate(check, scenario, span, series)
        asked = check.model_dump(exclude_none=True)
        result.seen.append({**asked, "seen": seen, "ok": ok})
        if not ok:
            wanted = {k: v for k, v in asked.items() if k not in ("check", "state", "subscription")}
            result.failures.append(f"{check.state}: {check.subscription} {check.check} {wanted}: seen {seen}")
        elif isinstance(check, Drains):
            drained_ms = span.start_ms + round(seen["drained_s"] * 1000)
            result.drained_ms[span.name] = max(result.drained_ms.get(span.name, 0), drained_ms)
        elif isinstance(check, Loses):
            first_ms = result.first_loss_ms.get(span.name, seen["first_loss_ms"])
            result.first_loss_ms[span.name] = min(first_ms, seen["first_loss_ms"])
    return result


def truth_rows(
    scenario: Scenario,
    spans: list[Span],
    drained_ms: Mapping[str, int],
    first_loss_ms: Mapping[str, int] | None = None,
) -> list[dict[str, Any]]:
    """Build the rows of ``truth.json``: one per subscription partition and state that carries truth."""
    rows = []
    by_name = {span.name: span for span in spans}
    for state in scenario.timeline:
        span = by_name[state.name]
        drained, lost = drained_ms.get(state.name), (first_loss_ms or {}).get(state.name)
        for truth in state.truth:
            start_ms, end_ms = _range(truth, span, drained, lost, scenario.scrape_interval_s * 1000)
            if start_ms >= end_ms:
                continue
            topic = scenario.subscription(truth.subscription).topic
            for partition in truth.partitions or scenario.partitions_of(topic):
                rows.append(
                    {
                        "cluster": scenario.name,
                        "namespace": scenario.namespace,
                        "topic": f"persistent://{scenario.namespace}/{topic}",
                        "partition": partition,
                        "subscription": truth.subscription,
                        "start_ms": start_ms,
                        "end_ms": end_ms,
                        "side": truth.side,
                        "cause": truth.cause,
                        "limiter": truth.limiter,
                        "family": scenario.family,
                        "recording": scenario.name,
                        "kept_aside": scenario.kept_aside,
                    }
                )
    return rows


def _range(
    truth: Truth, span: Span, drained_ms: int | None, lost_ms: int | None, scrape_ms: int
) -> tuple[int, int]:
    """When a truth holds; without the drain or loss that bounds it, never."""
    never = (span.end_ms, span.end_ms)
    if truth.part == "until_drained":
        return (span.start_ms + SETTLE_MS, drained_ms) if drained_ms is not None else never
    if truth.part == "until_loss":
        # The loss was between the scrape that shows it and the one before.
        return (span.start_ms + SETTLE_MS, lost_ms - scrape_ms) if lost_ms is not None else never
    if truth.part == "since_loss":
        return (lost_ms + SETTLE_MS, span.end_ms) if lost_ms is not None else never
    # The end of a drain is a change too.
    return max(span.start_ms, drained_ms or 0) + SETTLE_MS, span.end_ms
