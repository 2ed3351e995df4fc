"""Reviews of a range: figures of ``throttlescope review``, and the lists behind them."""

from __future__ import annotations

SENTENCES = {
    "review.title": "Review of {start} to {end} UTC",
    "review.basis": "Clusters: {clusters}. Rules {rules}. Intervals are 95 % (Wilson), as if cases were independent.",
    "review.no_clusters": "none with verdicts in this range",
    "review.note": (
        "Flips are changes of the named cause from one window to the next; some are real. After hysteresis: as episodes show them. A "
        "limit binds where a verdict names it or a minute used at least 90 % of it."
    ),
    "review.flips": "verdict flips per hour",
    "review.flips.of": "{windows} windows of {partitions} subscription partitions, {hours:,.1f} h",
    "review.flips.steady": "the same after hysteresis",
    "review.flips.most": "Verdicts that changed most",
    "review.flips.between": "Most frequent: {changes}",
    "review.drains": "drains inside their 90 % interval",
    "review.drains.of": "{made} forecasts, {expected} with a time, {decided} of them decided",
    "review.drains.error": "median error of drained ones",
    "review.drains.error.of": "of the time that it took",
    "review.drains.never": "drained although the forecast was never",
    "review.drains.never.of": "{never} forecasts that said never at this rate",
    "review.losses": "losses by TTL inside their interval",
    "review.losses.of": "{forecasts} forecasts",
    "review.agreement": "verdict and counterfactual agree",
    "review.agreement.of": "{episodes} episodes, {replays} with both sides blamed and a replay requested",
    "review.agreement.of_failed": (
        "{episodes} episodes, {replays} with both sides blamed and a replay requested, {failed} could not be replayed"
    ),
    "review.agreement.disagreements": "Episodes whose verdicts and replay disagree",
    "review.limits.bound": "limits that bind",
    "review.limits.never": "limits that never bind",
    "review.limits.unknown": "limits whose use is not known",
    "review.limits.of": "{limiters} limiters in force",
    "review.limits.most": "Limits that bind most ({limits})",
    "review.limits.least": "Limits that never bind, the emptiest first ({limits})",
}
