"""The guide to what-if. In: its example, simulated. Out: ``docs/guides/what-if.md`` with the example's answer rewritten."""

from __future__ import annotations

import json
from typing import Any

from docs.generate.cli import output_of
from docs.generate.markdown import DOCS, fill_between

PAGE = DOCS / "guides" / "what-if.md"
EXAMPLE = DOCS / "guides" / "what-if-example.yaml"
_BEGIN, _END = "<!-- answer:", "<!-- end of answer -->"


def render(page: str) -> str:
    """The page with its example simulated again."""
    answer = json.loads(output_of(("throttlescope", "simulate", str(EXAMPLE), "--quiet", "--format", "json")))
    (found,) = answer["subscription_partitions"]
    rows = [_state_row(state) for state in found["states"]]
    head = (
        "| state | limit | published | dispatched | throttle events | backlog, start to end | drained after |"
    )
    rule = "|---|---|---|---|---|---|---|"
    return fill_between(page, _BEGIN, _END, "\n".join([head, rule, *rows]))


def _state_row(state: dict[str, Any]) -> str:
    (limit,) = state["limits"]
    events = sum(item["events"] for item in state["events"])
    backlog = state["backlog_entries"]
    drained = f"{state['drained_after_s']:,.0f} s" if state["drained"] else "no"
    cells = (
        state["state"],
        f"{limit['rate']} {limit['unit']}/s",
        f"{state['published_msg_per_s']:.0f} msg/s",
        f"{state['dispatched_msg_per_s']:.0f} msg/s",
        f"{events:,}",
        f"{backlog['start']:,} to {backlog['end']:,}",
        drained,
    )
    return f"| {' | '.join(cells)} |"
