"""Evaluations: the figures of ``throttlescope evaluate``, and what they mean."""

from __future__ import annotations

SENTENCES = {
    "evaluation.note": (
        "Intervals are 95 %: over windows as if independent (Wilson), then over whole recordings (bootstrap). Windows slide by 1 minute; "
        "only those whole inside one range of truth are counted: {not_settled} are not, and {empty} of {ranges} ranges of truth hold "
        "none. Times to a right verdict are median and 90th percentile, and how many changes of how many never had a right verdict."
    ),
    "evaluation.measured.title": "Measured on recordings of a real broker, rules {rules}",
    "evaluation.measured.note": "{page} has all figures, their intervals, and says what they are not.",
    "evaluation.confusion": "Confusion: {what} (windows; a row is true, a column is named)",
    "evaluation.calibration": "Calibration (windows with an answer)",
    "evaluation.mostly_wrong": "Mostly wrong: {state}: true {true}, named {named}",
    # Names of figures.
    "evaluation.figure.windows": "settled windows",
    "evaluation.figure.recordings": "recordings",
    "evaluation.figure.families": "families",
    "evaluation.figure.recordings_and_families": "recordings / families",
    "evaluation.figure.cause_right": "cause right, ours",
    "evaluation.figure.cause_right_when_answered": "cause right when answered, ours",
    "evaluation.figure.cause_macro_f1": "cause macro F1, ours",
    "evaluation.figure.cause_macro_f1_naive_rule": "cause macro F1, naive rule",
    "evaluation.figure.side_right": "side right, ours",
    "evaluation.figure.side_right_when_answered": "side right when answered, ours",
    "evaluation.figure.side_right_when_answered_naive_rule": "side right when answered, naive rule",
    "evaluation.figure.states_mostly_on_the_wrong_side": "states mostly on the wrong side",
    "evaluation.figure.unknown": "unknown, ours",
    "evaluation.figure.limiter_right": "limiter right where throttled, ours",
    "evaluation.figure.healthy_called_throttled": "healthy called throttled, ours",
    "evaluation.figure.healthy_answered": "healthy and answered, ours",
    "evaluation.figure.brier": "Brier score of the confidence",
    "evaluation.figure.expected_calibration_error": "expected calibration error",
    "evaluation.figure.after_change": "time to a right verdict after a cause began, s",
    "evaluation.figure.after_relief": "time to a right verdict after it ended, s",
    "evaluation.figure.new": "time to a right verdict of a new subscription, s",
    "evaluation.figure.after_change_median_s": "time to a right verdict, median, s",
    "evaluation.figure.after_change_p90_s": "time to a right verdict, 90th percentile, s",
    "evaluation.figure.flips_per_hour": "flips per hour in one state",
    "evaluation.figure.steady_flips_per_hour": "flips per hour after hysteresis",
    "evaluation.throttled_precision": "precision of throttled where {share} are",
    # Figures of the simpler rules.
    "evaluation.baseline.side_right": "side right, {rule}",
    "evaluation.baseline.side_macro_f1": "side macro F1, {rule}",
    "evaluation.baseline.healthy_called_throttled": "healthy called throttled, {rule}",
}
