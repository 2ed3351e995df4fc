"""How scenarios of the read budget are recorded: in, their servers and series; out, the family that the commands record.

One cluster of one broker whose bookie is behind a network, one Prometheus and one load process, alive for the length of the scenario. Of the
samples only metrics that a pull takes are kept.
"""

from __future__ import annotations

from tests.lab.cluster import running_cluster
from tests.lab.parts import BROKER_VERSION
from tests.lab.readback import Series, read_metrics, without_sums
from tests.lab.reads.play import BUDGET, ReadsPlay
from tests.lab.reads.truth import find_truth
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.record import Stage, StagedFamily


def _start(stage: Stage) -> ReadsPlay:
    scenario = stage.scenario
    cluster = stage.stack.enter_context(
        running_cluster(
            scenario.profile,
            # A cache as small as the budget: a backlog is read from storage.
            {BUDGET: str(scenario.budget_mb), "managedLedgerCacheSizeMB": "1"},
            scratch_dir=stage.scratch_dir,
            version=BROKER_VERSION,
            cluster=scenario.name,
            brokers=1,
            with_network=True,
            max_lifetime_s=stage.lifetime_s,
        )
    )
    broker = cluster.brokers[0]
    stage.say(f"{scenario.name}: broker at {broker.admin_url}")
    prometheus = stage.prometheus(broker.web_address)
    loads = stage.load("load", [scenario.load(topic) for topic in scenario.topics], cluster.service_url)
    return ReadsPlay(scenario, cluster, prometheus, loads, stage.say)


def _series(url: str, played: StagedPlayed) -> list[Series]:
    wanted = (None, *(topic.full_name for topic in played.scenario.topics))
    found = read_metrics(url, played.start_ms, played.end_ms)
    return [one for one in found if one.labels.get("topic") in wanted and without_sums(one)]


READS = StagedFamily("reads", _start, _series, find_truth)
