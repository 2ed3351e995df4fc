"""How scenarios of scalable topics are recorded: in, their servers and series; out, the family that the commands record.

One broker of Pulsar 5, one Prometheus and one Java process with all clients, alive for the length of the scenario. Of the samples only metrics
that a pull takes are kept.
"""

from __future__ import annotations

from tests.lab.broker import running_broker
from tests.lab.parts import SCALABLE_VERSION
from tests.lab.readback import Series, read_metrics
from tests.lab.scalable.client import running_scalable_load
from tests.lab.scalable.play import ScalablePlay
from tests.lab.scalable.truth import find_truth
from tests.lab.staged.play import StagedPlayed
from tests.lab.staged.record import Stage, StagedFamily

#: Only the script splits and merges. At its end this version waits for topics that it no longer serves.
SETTINGS = {"scalableTopicAutoScaleEnabled": "false", "namespaceBundleUnloadingTimeoutMs": "3000"}


def _start(stage: Stage) -> ScalablePlay:
    scenario = stage.scenario
    broker = stage.stack.enter_context(
        running_broker(
            scenario.profile,
            SETTINGS,
            scratch_dir=stage.scratch_dir,
            version=SCALABLE_VERSION,
            cluster=scenario.name,
            heap_mb=512,
            direct_mb=768,
            max_lifetime_s=stage.lifetime_s,
        )
    )
    stage.say(f"{scenario.name}: broker at {broker.admin_url}")
    prometheus = stage.prometheus(broker.web_address)
    load = stage.stack.enter_context(
        running_scalable_load(
            [topic.load for topic in scenario.topics],
            broker.service_url,
            stage.scratch_dir,
            max_lifetime_s=stage.lifetime_s,
        )
    )
    loads = dict.fromkeys((topic.name for topic in scenario.topics), load)
    return ScalablePlay(scenario, broker, prometheus, loads, stage.say)


def _series(url: str, played: StagedPlayed) -> list[Series]:
    namespaces = {topic.namespace for topic in played.scenario.topics}
    found = read_metrics(url, played.start_ms, played.end_ms)
    return [one for one in found if _kept(one, namespaces)]


def _kept(series: Series, namespaces: set[str]) -> bool:
    """Pulsar's own topics and sums over a namespace are left out."""
    topic = series.labels.get("topic")
    if topic is None:
        return "namespace" not in series.labels
    return topic.startswith("segment://") and series.labels.get("namespace") in namespaces


SCALABLE = StagedFamily("scalable", _start, _series, find_truth)
