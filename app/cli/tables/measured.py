"""The package's own figures. In: what :func:`throttlescope.models.evaluation.measured.measured` gives. Out: one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.app.presentation.output import print_table
from throttlescope.models.messages.catalogue import sentence
from throttlescope.models.messages.units import percent

_FIGURES = (
    "windows",
    "recordings",
    "families",
    "cause_macro_f1",
    "cause_macro_f1_naive_rule",
    "cause_right_when_answered",
    "side_right_when_answered",
    "side_right_when_answered_naive_rule",
    "states_mostly_on_the_wrong_side",
    "unknown",
    "limiter_right",
    "healthy_called_throttled",
    "healthy_answered",
    "brier",
    "expected_calibration_error",
    "after_change_median_s",
    "after_change_p90_s",
    "flips_per_hour",
    "steady_flips_per_hour",
)


def print_measured(found: Mapping[str, Any]) -> None:
    """Print the figures of every set side by side."""
    sets = found["sets"]
    print_table(
        [(sentence("label.figure_heading"), "left"), *((name, "left") for name in sets)],
        [
            [sentence(f"evaluation.figure.{name}"), *(_cell(figures[name]) for figures in sets.values())]
            for name in _FIGURES
        ],
        title=sentence("evaluation.measured.title", rules=found["rules_version"]),
        notes=[sentence("evaluation.measured.note", page=found["page"])],
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return (
            "-" if value["value"] is None else f"{percent(value['value'])} ({value['count']}/{value['of']})"
        )
    return f"{value:.3f}" if isinstance(value, float) else str(value)
