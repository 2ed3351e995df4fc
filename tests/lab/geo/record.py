"""How geo scenarios are recorded: in, their servers and series; out, the family that the commands record.

One pair of clusters, one Prometheus that scrapes both and a load process per cluster that sends, alive for the length of the scenario. The
folder holds both clusters: they are called ``<recording>-east`` and ``<recording>-west`` by Pulsar itself, and rows of the admin API's answers name
theirs. Of the samples only metrics that a pull takes, and those of replication, are kept.
"""

from __future__ import annotations

import pulsar

from tests.lab.geo.pair import EAST, WEST, running_pair
from tests.lab.geo.play import GeoPlay, load_of
from tests.lab.geo.truth import find_truth
from tests.lab.readback import Series, read_metrics, without_sums
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.record import Stage, StagedFamily

#: A remote publish limit pauses a whole connection: with so many, topics hardly ever share one.
SETTINGS = {"replicationConnectionsPerBroker": "256"}
_REPLICATION_METRICS = (
    "pulsar_replication_.*",
    "pulsar_msg_backlog",
    "pulsar_producers_count",
    "pulsar_broker_throttled_connections.*",
)


def _start(stage: Stage) -> GeoPlay:
    scenario = stage.scenario
    pair = stage.stack.enter_context(
        running_pair(
            scenario.profile,
            SETTINGS,
            scratch_dir=stage.scratch_dir,
            names=(scenario.label(EAST), scenario.label(WEST)),
            max_lifetime_s=stage.lifetime_s,
        )
    )
    stage.say(f"{scenario.name}: clusters at {pair.east.admin_url} and {pair.west.admin_url}")
    prometheus = stage.prometheus(*(cluster.web_address for cluster in pair.clusters))
    loads = {}
    for cluster in pair.clusters:
        plans = [load_of(scenario, topic) for topic in scenario.topics if topic.source == cluster.name]
        if plans:
            loads |= stage.load(f"load-{cluster.name}", plans, cluster.service_url)
    logger = pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(stage.scratch_dir / "schema-client.log"))
    return GeoPlay(scenario, pair, prometheus, loads, logger, stage.say)


def _series(url: str, played: StagedPlayed) -> list[Series]:
    wanted = (None, *(topic.full_name for topic in played.scenario.topics))
    found = read_metrics(url, played.start_ms, played.end_ms, *_REPLICATION_METRICS)
    kept = [one for one in found if one.labels.get("topic") in wanted and without_sums(one)]
    labels = {instance: label for label, instance in played.about["instances"].items()}
    for one in kept:
        one.labels["cluster"] = labels[one.labels["instance"]]
    return kept


GEO = StagedFamily("geo", _start, _series, find_truth)
