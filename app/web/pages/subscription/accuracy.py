"""How often verdicts like this one were right. In: a verdict, and what the package measured. Out: one line with a link to the Accuracy page."""

from __future__ import annotations

from functools import cache
from typing import Any

from dash import dcc, html

from throttlescope.app.presentation import format as fmt
from throttlescope.app.presentation.causes import CAUSES
from throttlescope.app.presentation.links.paths import METHOD_PATH
from throttlescope.models.evaluation.measured import measured
from throttlescope.models.messages.catalogue import sentence

#: Name of the set that the figures are of: rules 2 were not developed with it. For rules 3 it is no held-out set any more.
HELD_OUT = "kept aside"


@cache
def _known() -> dict[str, Any]:
    return measured()


def accuracy_line(verdict: dict) -> html.P:
    """What was measured of the rules that gave this verdict, or that nothing was."""
    return html.P(
        [
            _text(verdict, _known()),
            " ",
            dcc.Link(sentence("subscription.accuracy.link"), href=METHOD_PATH),
        ],
        className="accuracy quiet",
    )


def _text(verdict: dict, known: dict[str, Any]) -> str:
    version = fmt.name(verdict["rules_version"], 40)
    found = known["sets"].get(HELD_OUT)
    if verdict["rules_version"] != known["rules_version"] or found is None:
        return sentence("subscription.accuracy.not_measured", version=version)
    right = found["cause_right_when_answered"]
    low, high = right["clustered"]
    cause = found["causes"].get(verdict["cause"])
    situation = "cause" if cause else "cause_not_seen"
    if verdict["cause"] == "unknown":
        situation = "unknown"
    return sentence(
        f"subscription.accuracy.measured.{situation}",
        recordings=found["recordings"],
        version=version,
        right=fmt.percent(right["value"]),
        of=fmt.exact(right["of"]),
        low=fmt.percent(low),
        high=fmt.percent(high),
        open=fmt.exact(found["unknown"]["count"]),
        all_windows=fmt.exact(found["unknown"]["of"]),
        cause=CAUSES[verdict["cause"]].label,
        f1=cause and cause["f1"],
        windows=cause and fmt.exact(cause["windows"]),
    )
