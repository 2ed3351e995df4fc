"""What was true of which replicator: in, what was played and scraped; out, rows of truth, and the checks that they rest on."""

from __future__ import annotations

from functools import partial

from tests.lab.checks import SETTLE_MS, Points, grew, stayed_below
from tests.lab.geo.model import GeoScenario, ReplicatedTopic
from tests.lab.readback import Series
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.truth import Range, StagedTruth, drains, find_staged_truth, metric, truth_row, within

BACKLOG = "pulsar_replication_backlog"


def find_truth(played: StagedPlayed, series: list[Series]) -> StagedTruth:
    """Check every topic and write the truth of those that behaved as the script says."""
    return find_staged_truth(played, partial(_judge, played.scenario, series))


def of_replicator(series: list[Series], name: str, scenario: GeoScenario, topic: ReplicatedTopic) -> Points:
    """One metric of a replicator, per scrape."""
    labels = {
        "cluster": scenario.label(topic.source),
        "namespace": topic.namespace,
        "topic": topic.full_name,
        "remote_cluster": scenario.label(topic.remote),
    }
    return metric(series, name, labels)


def _judge(
    scenario: GeoScenario,
    series: list[Series],
    found: StagedTruth,
    topic: ReplicatedTopic,
    ranges: dict[str, Range],
) -> None:
    backlog = of_replicator(series, BACKLOG, scenario, topic)
    during, after = within(backlog, *ranges["cause"]), within(backlog, *ranges["relieved"])
    if topic.grows_per_s is None:
        cause = stayed_below(during, topic.below_entries)
    else:
        cause = grew(during, topic.grows_per_s)
    relieved = drains(after, ranges["relieved"][0], topic.drains_within_s)
    for state, check in (("cause", cause), ("relieved", relieved)):
        found.confirmed.append({"topic": topic.name, "state": state, **check})
    if not cause["ok"]:
        return
    row = partial(
        truth_row,
        scenario,
        topic,
        subscription=scenario.cursor(topic),
        cluster=scenario.label(topic.source),
    )
    start_ms, end_ms = ranges["cause"]
    found.rows.append(row((start_ms + round(1000 * topic.truth.settle_s), end_ms), topic.truth))
    if relieved["ok"]:
        start_ms, end_ms = ranges["relieved"]
        found.rows.append(row((start_ms + SETTLE_MS, end_ms), None))
