"""How often verdicts like this one were right. In: a verdict, and what the package measured. Out: one line that leads to the method."""

from __future__ import annotations

from functools import cache
from typing import Any

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import METHOD_PATH
from throttlescope.models.evaluation.measured import measured

#: Name of the set that the figures are of: rules 2 were not developed with it. For rules 3 it is no held-out set any more.
HELD_OUT = "kept aside"


@cache
def _known() -> dict[str, Any]:
    return measured()


def accuracy_line(verdict: dict) -> html.P:
    """What was measured of the rules that gave this verdict, or that nothing was."""
    return html.P(
        [_words(verdict, _known()), " ", dcc.Link("How that was measured", href=METHOD_PATH)],
        className="accuracy quiet",
    )


def _words(verdict: dict, known: dict[str, Any]) -> str:
    version = fmt.name(verdict["rules_version"], 40)
    found = known["sets"].get(HELD_OUT)
    if verdict["rules_version"] != known["rules_version"] or found is None:
        return f"How often rules {version} are right was not measured."
    right = found["cause_right_when_answered"]
    low, high = right["clustered"]
    words = (
        f"On {found['recordings']} recordings of a real broker, rules {version} named the right cause in "
        f"{fmt.percent(right['value'])} of {fmt.exact(right['of'])} windows (95\N{NO-BREAK SPACE}%: {fmt.percent(low)} to {fmt.percent(high)})"
    )
    cause, label = found["causes"].get(verdict["cause"]), CAUSES[verdict["cause"]].label
    if verdict["cause"] == "unknown":
        return f"{words}; they left {fmt.exact(found['unknown']['count'])} of {fmt.exact(found['unknown']['of'])} open."
    if cause is None:
        return f"{words}; none of them was {label}."
    return f"{words}; {label}: F1 {cause['f1']:.2f} in {fmt.exact(cause['windows'])} windows."
