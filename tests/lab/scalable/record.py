"""From a scenario of scalable topics to its recording: in, a scenario; out, a folder of the recordings' format, or why there is none.

One broker of Pulsar 5, one Prometheus and one Java process with all clients, alive for the length of the scenario. Of the samples only metrics
that a pull takes are kept.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.lab.broker import running_broker
from tests.lab.parts import SCALABLE_VERSION
from tests.lab.prometheus import running_prometheus
from tests.lab.readback import REGEX, Series, read_series
from tests.lab.recording import Recording, write_recording
from tests.lab.run import STATS_EVERY_S
from tests.lab.scalable.client import running_scalable_load
from tests.lab.scalable.model import ScalableScenario
from tests.lab.scalable.play import ScalablePlay, ScalablePlayed
from tests.lab.scalable.truth import find_truth
from tests.lab.soundness import RecordingVoid, in_truth, seen_of, short_of_schedule
from tests.lab.targets import ScrapeTargets
from throttlescope.ingest.core.metrics import METRICS

#: Only the script splits and merges. At its end this version waits for topics that it no longer serves.
SETTINGS = {"scalableTopicAutoScaleEnabled": "false", "namespaceBundleUnloadingTimeoutMs": "3000"}


def record_scalable(
    scenario: ScalableScenario,
    out_dir: Path,
    scratch_dir: Path,
    *,
    say: Callable[[str], None],
    count_cpu: bool = True,
    priority: int = 0,
) -> Path:
    """Play a scenario and write its recording.

    Parameters
    ----------
    scenario
        What runs.
    out_dir, scratch_dir
        Where the recording goes, and where the servers keep their files.
    say
        Called with a line for the log.
    count_cpu
        Whether processes that waited for a CPU make the recording void. What they waited is in ``recording.json`` in any case.
    priority
        Niceness of all processes; 0 keeps the caller's.

    Raises
    ------
    RecordingVoid
        The machinery was not sound, or too few causes were seen.
    """
    scratch_dir.mkdir(parents=True, exist_ok=True)
    with _playing(scenario, scratch_dir, say, priority) as play:
        play.prepare()
        played = play.follow()
        series = _read_back(play.prometheus.url, played)
    # What a quarter of an hour took is not lost to a fault of what follows: :func:`record_played` takes it from here again.
    (scratch_dir / "played.pickle").write_bytes(pickle.dumps((played, series)))
    return record_played(played, series, out_dir, scratch_dir, count_cpu=count_cpu)


def record_played(
    played: ScalablePlayed, series: list[Series], out_dir: Path, scratch_dir: Path, *, count_cpu: bool = True
) -> Path:
    """Find the truth of what was played, and write its recording if it is sound."""
    scenario = played.scenario
    found = find_truth(played, series)
    reasons, measured = _soundness(played, found.rows, count_cpu)
    reasons += seen_of(found.confirmed)
    about = {
        **played.about,
        "profile": scenario.profile,
        "family": "scalable",
        "size": f"seed_{scenario.seed}",
        "kept_aside": scenario.kept_aside,
        "scrape_interval_s": scenario.scrape_interval_s,
        "start_ms": played.start_ms,
        "end_ms": played.end_ms,
        "segments": played.segments,
        "states": found.states,
        "confirmed": found.confirmed,
        "measured": measured | {"void": reasons},
    }
    recording = Recording(
        scenario.name,
        about,
        series,
        sorted(played.policies, key=lambda row: row["observed_ms"]),
        # This version has no stats of segments.
        [],
        sorted(played.interventions, key=lambda row: row["at_ms"]),
        found.rows,
        scenario.to_yaml(),
        "scalable.yaml",
    )
    if reasons:
        write_recording(recording, scratch_dir / "void")
        raise RecordingVoid("; ".join(reasons))
    return write_recording(recording, out_dir)


@contextlib.contextmanager
def _playing(
    scenario: ScalableScenario, scratch_dir: Path, say: Callable[[str], None], priority: int
) -> Iterator[ScalablePlay]:
    lifetime_s = scenario.duration_s + 600
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(
            running_broker(
                scenario.profile,
                SETTINGS,
                scratch_dir=scratch_dir,
                version=SCALABLE_VERSION,
                cluster=scenario.name,
                heap_mb=512,
                direct_mb=768,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        say(f"{scenario.name}: broker at {broker.admin_url}")
        targets = ScrapeTargets(scratch_dir / "targets.json", [broker.web_address])
        prometheus = stack.enter_context(
            running_prometheus(
                [targets.scrape_config],
                scratch_dir=scratch_dir,
                scrape_interval_s=scenario.scrape_interval_s,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        load = stack.enter_context(
            running_scalable_load(
                [topic.load for topic in scenario.topics],
                broker.service_url,
                scratch_dir,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        yield ScalablePlay(scenario, broker, prometheus, load, say)


def _read_back(url: str, played: ScalablePlayed) -> list[Series]:
    names = "|".join(re.escape(name) for name in METRICS)
    time.sleep(1)
    found = read_series(url, [(REGEX, "__name__", names)], played.start_ms, played.end_ms)
    wanted = {topic.namespace for topic in played.scenario.topics}
    return [one for one in found if _kept(one, wanted)]


def _kept(series: Series, namespaces: set[str]) -> bool:
    """Pulsar's own topics and sums over a namespace are left out."""
    topic = series.labels.get("topic")
    if topic is None:
        return "namespace" not in series.labels
    return topic.startswith("segment://") and series.labels.get("namespace") in namespaces


def _soundness(
    played: ScalablePlayed, truth: list[dict[str, Any]], count_cpu: bool
) -> tuple[list[str], dict[str, Any]]:
    waited, measured = in_truth(played.pressure, truth, STATS_EVERY_S, count_cpu=count_cpu)
    topics = played.scenario.topics
    short, producers = short_of_schedule(
        {topic.name: played.reports[topic.name]["producers"][topic.full_name] for topic in topics}
    )
    consumers = {topic.name: played.reports[topic.name]["subscriptions"] for topic in topics}
    measured |= {"load_average": played.load_average, "producers": producers, "consumers": consumers}
    return waited + short, measured
