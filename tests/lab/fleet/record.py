"""From a fleet to its recording: in, a fleet; out, a folder of the recordings' format, or why there is none.

One cluster, one Prometheus and a few load processes, alive for the length of the fleet. What is recorded is thinned: of the samples only
metrics that a pull takes, of topic stats only topics with a backlog every minute and the others every ten, of brokers' settings
only those that bear on dispatch and on what is exposed.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.lab.cluster import running_cluster
from tests.lab.fleet.model import Fleet
from tests.lab.fleet.play import Play, Played
from tests.lab.fleet.truth import Found, find_truth
from tests.lab.loadprocess import LoadProcess, running_load
from tests.lab.prometheus import running_prometheus
from tests.lab.readback import Series, read_metrics
from tests.lab.recording import Recording
from tests.lab.soundness import RecordingVoid, cpu_reasons, seen_of, short_of_schedule, waits, write_sound
from tests.lab.targets import ScrapeTargets

#: Niceness of its processes: the caller's.
PRIORITY = 0
LOAD_PROCESSES = 3


def record_fleet(
    fleet: Fleet,
    out_dir: Path,
    scratch_dir: Path,
    *,
    say: Callable[[str], None],
    count_cpu: bool = True,
) -> Path:
    """Play a fleet and write its recording.

    Parameters
    ----------
    fleet
        What runs.
    out_dir, scratch_dir
        Where the recording goes, and where the servers keep their files.
    say
        Called with a line for the log.
    count_cpu
        Whether processes that waited for a CPU make the recording void; a smoke shares the machine with other tests.

    Raises
    ------
    RecordingVoid
        The machinery was not sound.
    """
    scratch_dir.mkdir(parents=True, exist_ok=True)
    with _playing(fleet, scratch_dir, say, count_cpu) as play:
        play.prepare()
        played = play.follow()
        if played.failure:
            raise RecordingVoid(played.failure)
        found = read_metrics(play.prometheus.url, played.start_ms, played.end_ms)
        series = [one for one in found if _kept(one)]
    # What half an hour took is not lost to a fault of what follows: :func:`record_played` takes it from here again.
    (scratch_dir / "played.pickle").write_bytes(pickle.dumps((played, series)))
    return record_played(played, series, out_dir, scratch_dir, count_cpu=count_cpu)


def record_played(
    played: Played, series: list[Series], out_dir: Path, scratch_dir: Path, *, count_cpu: bool = True
) -> Path:
    """Find the truth of a fleet that was played, and write its recording if it is sound."""
    fleet = played.fleet
    found = find_truth(played, series, 1000 * fleet.scrape_interval_s)
    reasons, measured = _soundness(played, count_cpu)
    reasons += seen_of(found.confirmed)
    recording = _recording(played, series, found, measured | {"void": reasons})
    return write_sound(recording, reasons, out_dir, scratch_dir)


@contextlib.contextmanager
def _playing(fleet: Fleet, scratch_dir: Path, say: Callable[[str], None], count_cpu: bool) -> Iterator[Play]:
    lifetime_s = fleet.duration_s + 900
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(
            running_cluster(
                fleet.profile,
                fleet.settings.given,
                scratch_dir=scratch_dir,
                version=fleet.version,
                brokers=fleet.brokers,
                max_lifetime_s=lifetime_s,
                priority=PRIORITY,
            )
        )
        say(f"{fleet.name}: {len(cluster.brokers)} brokers at {cluster.service_url}")
        targets = ScrapeTargets(
            scratch_dir / "targets.json", [broker.web_address for broker in cluster.brokers]
        )
        prometheus = stack.enter_context(
            running_prometheus(
                [targets.scrape_config],
                scratch_dir=scratch_dir,
                scrape_interval_s=fleet.scrape_interval_s,
                max_lifetime_s=lifetime_s,
                priority=PRIORITY,
            )
        )
        say(f"{fleet.name}: prometheus at {prometheus.url}")
        loads: dict[str, LoadProcess] = {}
        for number, part in enumerate(_spread(fleet)):
            load = stack.enter_context(
                running_load(
                    f"load-{number}",
                    part,
                    cluster.service_url,
                    scratch_dir,
                    max_lifetime_s=lifetime_s,
                    priority=PRIORITY,
                )
            )
            loads |= {scenario.name: load for scenario in part}
        yield Play(fleet, cluster, prometheus, targets, loads, scratch_dir, say, count_cpu=count_cpu)


def _spread(fleet: Fleet) -> list[list[Any]]:
    parts: list[list[Any]] = [[] for _ in range(min(LOAD_PROCESSES, len(fleet.namespaces)))]
    for scenario in sorted(fleet.namespaces, key=lambda one: -one.rate_msg):
        min(parts, key=lambda part: sum(one.rate_msg for one in part)).append(scenario)
    return parts


def _kept(series: Series) -> bool:
    """Pulsar's own topics are no part of the fleet; one is left, because a real cluster has them too."""
    topic = series.labels.get("topic", "")
    return "/__" not in topic or topic.endswith("__change_events")


def _soundness(played: Played, count_cpu: bool) -> tuple[list[str], dict[str, Any]]:
    found = waits(played.pressure)
    reasons = cpu_reasons(found) if count_cpu else []
    sent: dict[str, Any] = {}
    for scenario in played.fleet.namespaces:
        report = played.reports.get(scenario.name)
        if report is None:
            reasons.append(f"{scenario.namespace}: its load did not report")
            continue
        sent |= {f"{scenario.namespace}/{topic}": row for topic, row in report["producers"].items()}
    short, producers = short_of_schedule(sent)
    return reasons + short, {"cpu": found, "producers": producers}


def _recording(played: Played, series: list[Series], found: Found, measured: dict[str, Any]) -> Recording:
    fleet = played.fleet
    about = {
        **played.about,
        "profile": fleet.profile,
        "family": "fleet",
        "size": f"seed_{fleet.seed}",
        "kept_aside": fleet.kept_aside,
        "scrape_interval_s": fleet.scrape_interval_s,
        "start_ms": played.start_ms,
        "end_ms": played.end_ms,
        "subscriptions": fleet.subscriptions,
        "operations": sorted(played.operations, key=lambda row: row["at_ms"]),
        "confirmed": found.confirmed,
        "shared": found.shared,
        "voided": _grouped(found.voided),
        "measured": measured,
    }
    interventions = [
        {"fault": row["fault"], "stage": row["stage"], **step}
        for row in played.stages
        for step in row["steps"]
    ]
    return Recording(
        fleet.name,
        about,
        series,
        sorted(played.policies, key=lambda row: row["observed_ms"]),
        sorted(played.topic_stats, key=lambda row: row["observed_ms"]),
        sorted(interventions, key=lambda row: row["at_ms"]),
        found.rows,
        fleet.to_yaml(),
        "fleet.yaml",
    )


def _grouped(voided: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ranges without truth; the settling after a change is known by itself."""
    return [row for row in voided if row["reason"] not in ("a change", "draining")]
