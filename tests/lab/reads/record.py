"""From a scenario of the read budget to its recording: in, a scenario; out, a folder of the recordings' format, or why there is none.

One cluster of one broker whose bookie is behind a network, one Prometheus and one load process, alive for the length of the scenario. Of the
samples only metrics that a pull takes are kept.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.lab.cluster import running_cluster
from tests.lab.loadprocess import running_load
from tests.lab.parts import BROKER_VERSION
from tests.lab.prometheus import running_prometheus
from tests.lab.readback import REGEX, Series, read_series
from tests.lab.reads.model import ReadsScenario
from tests.lab.reads.play import BUDGET, ReadsPlay, ReadsPlayed
from tests.lab.reads.truth import find_truth
from tests.lab.recording import Recording, write_recording
from tests.lab.run import STATS_EVERY_S
from tests.lab.soundness import RecordingVoid, in_truth, seen_of, short_of_schedule
from tests.lab.targets import ScrapeTargets
from throttlescope.ingest.core.metrics import METRICS


def record_reads(
    scenario: ReadsScenario,
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
    played: ReadsPlayed, series: list[Series], out_dir: Path, scratch_dir: Path, *, count_cpu: bool = True
) -> Path:
    """Find the truth of what was played, and write its recording if it is sound."""
    scenario = played.scenario
    found = find_truth(played, series)
    reasons, measured = _soundness(played, found.rows, count_cpu)
    reasons += seen_of(found.confirmed)
    about = {
        **played.about,
        "profile": scenario.profile,
        "family": "reads",
        "size": f"seed_{scenario.seed}",
        "kept_aside": scenario.kept_aside,
        "scrape_interval_s": scenario.scrape_interval_s,
        "start_ms": played.start_ms,
        "end_ms": played.end_ms,
        "states": found.states,
        "confirmed": found.confirmed,
        "measured": measured | {"void": reasons},
    }
    by_time = lambda rows, name: sorted(rows, key=lambda row: row[name])  # noqa: E731
    recording = Recording(
        scenario.name,
        about,
        series,
        by_time(played.policies, "observed_ms"),
        by_time(played.topic_stats, "observed_ms"),
        by_time(played.interventions, "at_ms"),
        found.rows,
        scenario.to_yaml(),
        "reads.yaml",
    )
    if reasons:
        write_recording(recording, scratch_dir / "void")
        raise RecordingVoid("; ".join(reasons))
    return write_recording(recording, out_dir)


@contextlib.contextmanager
def _playing(
    scenario: ReadsScenario, scratch_dir: Path, say: Callable[[str], None], priority: int
) -> Iterator[ReadsPlay]:
    lifetime_s = scenario.duration_s + 600
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(
            running_cluster(
                scenario.profile,
                # A cache as small as the budget: a backlog is read from storage.
                {BUDGET: str(scenario.budget_mb), "managedLedgerCacheSizeMB": "1"},
                scratch_dir=scratch_dir,
                version=BROKER_VERSION,
                cluster=scenario.name,
                brokers=1,
                with_network=True,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        broker = cluster.brokers[0]
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
            running_load(
                "load",
                [scenario.load(topic) for topic in scenario.topics],
                cluster.service_url,
                scratch_dir,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        yield ReadsPlay(scenario, cluster, prometheus, load, say)


def _read_back(url: str, played: ReadsPlayed) -> list[Series]:
    names = "|".join(re.escape(name) for name in METRICS)
    time.sleep(1)
    found = read_series(url, [(REGEX, "__name__", names)], played.start_ms, played.end_ms)
    wanted = {topic.full_name for topic in played.scenario.topics}
    return [one for one in found if one.labels.get("topic") in (None, *wanted) and _kept(one)]


def _kept(series: Series) -> bool:
    """Sums over a namespace are left out: a recording of the same broker without topic metrics would have them."""
    return "topic" in series.labels or "namespace" not in series.labels


def _soundness(
    played: ReadsPlayed, truth: list[dict[str, Any]], count_cpu: bool
) -> tuple[list[str], dict[str, Any]]:
    waited, measured = in_truth(played.pressure, truth, STATS_EVERY_S, count_cpu=count_cpu)
    rows = {
        topic.name: row
        for topic in played.scenario.topics
        for row in played.reports[topic.name]["producers"].values()
    }
    short, producers = short_of_schedule(rows)
    return waited + short, measured | {"load_average": played.load_average, "producers": producers}
