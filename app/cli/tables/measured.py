"""The package's own figures for eyes. In: what :func:`throttlescope.models.evaluation.measured.measured` gives. Out: one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from throttlescope.app.presentation.output import print_table
from throttlescope.models.messages.units import share

_FIGURES = {
    "windows": "settled windows",
    "recordings": "recordings",
    "families": "families",
    "cause_macro_f1": "cause macro F1, ours",
    "cause_macro_f1_naive_rule": "cause macro F1, naive rule",
    "cause_right_when_answered": "cause right when answered, ours",
    "side_right_when_answered": "side right when answered, ours",
    "side_right_when_answered_naive_rule": "side right when answered, naive rule",
    "states_mostly_on_the_wrong_side": "states mostly on the wrong side",
    "unknown": "unknown, ours",
    "limiter_right": "limiter right where throttled, ours",
    "healthy_called_throttled": "healthy called throttled, ours",
    "healthy_answered": "healthy and answered, ours",
    "brier": "Brier score of the confidence",
    "expected_calibration_error": "expected calibration error",
    "after_change_median_s": "time to a right verdict, median, s",
    "after_change_p90_s": "time to a right verdict, 90th percentile, s",
    "flips_per_hour": "flips per hour in one state",
    "steady_flips_per_hour": "flips per hour after hysteresis",
}


def print_measured(found: Mapping[str, Any]) -> None:
    """Print the figures of every set side by side."""
    sets = found["sets"]
    print_table(
        [("figure", "left"), *((name, "left") for name in sets)],
        [[what, *(_cell(figures[name]) for figures in sets.values())] for name, what in _FIGURES.items()],
        title=f"Measured on recordings of a real broker, rules {found['rules_version']}",
        notes=[f"{found['page']} has all figures, their intervals, and says what they are not."],
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return "-" if value["value"] is None else f"{share(value['value'])} ({value['count']}/{value['of']})"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
