"""What was true of which subscription: in, what was played and scraped; out, rows of truth, and the checks that they rest on.

A subscription that the budget limits has no truth if it did not drain once the budget was lifted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.lab.checks import SETTLE_MS, Points, grew, stayed_below
from tests.lab.readback import Series
from tests.lab.reads.model import SUBSCRIPTION, ReadsScenario, ReadsTopic
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.truth import (
    Range,
    StagedTruth,
    drained_ms,
    drains,
    find_staged_truth,
    metric,
    truth_row,
    within,
)

BACKLOG = "pulsar_subscription_back_log"
#: A backlog that the budget limited falls to this share of what it was, at least, while storage stays as slow as it was.
_LEFT_SHARE = 0.9


def find_truth(played: StagedPlayed, series: list[Series]) -> StagedTruth:
    """Check every subscription and write the truth of those that behaved as the script says."""
    return find_staged_truth(played, partial(_judge, played.scenario, series))


def backlog(series: list[Series], topic: ReadsTopic) -> Points:
    """Entries that the subscription has yet to acknowledge, per scrape."""
    return metric(series, BACKLOG, {"topic": topic.full_name, "subscription": SUBSCRIPTION})


def _judge(
    scenario: ReadsScenario,
    series: list[Series],
    found: StagedTruth,
    topic: ReadsTopic,
    ranges: dict[str, Range],
) -> None:
    truth, points = topic.truth, backlog(series, topic)
    start_ms, end_ms = ranges["cause"][0] + round(1000 * truth.settle_s), ranges["cause"][1]
    during, after = within(points, start_ms, end_ms), within(points, *ranges["relieved"])
    if topic.grows_per_s is None:
        cause = stayed_below(during, topic.below_entries)
    else:
        cause = grew(during, topic.grows_per_s)
    relieved = _shrinks(after) if truth.cause == "read_limit" else drains(after, ranges["relieved"][0])
    for state, check in (("cause", cause), ("relieved", relieved)):
        found.confirmed.append({"topic": topic.name, "state": state, **check})
    row = partial(truth_row, scenario, topic, subscription=SUBSCRIPTION)
    if cause["ok"] and relieved["ok"]:
        found.rows.append(row((start_ms, end_ms), truth))
    gone_ms = drained_ms(after)
    if relieved["ok"] and gone_ms is not None:
        found.rows.append(row((gone_ms + SETTLE_MS, ranges["relieved"][1]), None))


def _shrinks(points: Points) -> dict[str, Any]:
    most, last = max((value for _, value in points), default=0.0), points[-1][1] if points else None
    seen = {"most_entries": most, "last_entries": last}
    return {
        "check": "shrinks",
        "to_share": _LEFT_SHARE,
        "seen": seen,
        "ok": last is not None and last < _LEFT_SHARE * most,
    }
