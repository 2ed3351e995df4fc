"""From a scenario of three states to its recording: in, a family and a scenario; out, a folder of the recordings' format, or why there is none."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.loadprocess import LoadProcess, running_load
from tests.lab.prometheus import Prometheus, running_prometheus
from tests.lab.readback import Series
from tests.lab.recording import Recording
from tests.lab.run import STATS_EVERY_S
from tests.lab.soundness import in_truth, seen_of, short_of_schedule, write_sound
from tests.lab.staged.play import StagedPlay, StagedPlayed
from tests.lab.staged.truth import StagedTruth
from tests.lab.targets import ScrapeTargets
from throttlescope.models.throttling.scenario import Scenario


@dataclass(frozen=True)
class Stage:
    """What servers of a scenario need: they are stopped when ``stack`` closes, and end by themselves after ``lifetime_s``."""

    scenario: Any
    scratch_dir: Path
    say: Callable[[str], None]
    stack: contextlib.ExitStack

    @property
    def lifetime_s(self) -> float:
        """Seconds after which a process has no business any more."""
        return self.scenario.duration_s + 600

    def prometheus(self, *addresses: str) -> Prometheus:
        """Start a Prometheus that scrapes these."""
        targets = ScrapeTargets(self.scratch_dir / "targets.json", list(addresses))
        return self.stack.enter_context(
            running_prometheus(
                [targets.scrape_config],
                scratch_dir=self.scratch_dir,
                scrape_interval_s=self.scenario.scrape_interval_s,
                max_lifetime_s=self.lifetime_s,
            )
        )

    def load(self, name: str, plans: list[Scenario], service_url: str) -> dict[str, LoadProcess]:
        """Start one load process for some topics, and return it by the name of each."""
        process = running_load(name, plans, service_url, self.scratch_dir, max_lifetime_s=self.lifetime_s)
        return dict.fromkeys((plan.name for plan in plans), self.stack.enter_context(process))


@dataclass(frozen=True)
class StagedFamily:
    """How scenarios of a family are recorded.

    Attributes
    ----------
    name
        Of the family; the scenario's file in the recording is ``<name>.yaml``.
    start
        Starts the servers and the clients of a scenario.
    series
        Reads back, from a Prometheus by its URL, what is kept.
    find_truth
        Says what was true, of what was played and what is kept.
    """

    name: str
    start: Callable[[Stage], StagedPlay]
    series: Callable[[str, StagedPlayed], list[Series]]
    find_truth: Callable[[StagedPlayed, list[Series]], StagedTruth]

    def record(
        self,
        scenario: Any,
        out_dir: Path,
        scratch_dir: Path,
        *,
        say: Callable[[str], None],
        count_cpu: bool = True,
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

        Raises
        ------
        RecordingVoid
            The machinery was not sound, or too few causes were seen.
        """
        scratch_dir.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            play = self.start(Stage(scenario, scratch_dir, say, stack))
            play.prepare()
            played = play.follow()
            series = self.series(play.prometheus.url, played)
        # What a quarter of an hour took is not lost to a fault of what follows: :meth:`write` takes it from here again.
        (scratch_dir / "played.pickle").write_bytes(pickle.dumps((played, series)))
        return self.write(played, series, out_dir, scratch_dir, count_cpu=count_cpu)

    def write(
        self,
        played: StagedPlayed,
        series: list[Series],
        out_dir: Path,
        scratch_dir: Path,
        *,
        count_cpu: bool = True,
    ) -> Path:
        """Find the truth of what was played, and write its recording if it is sound."""
        scenario, found = played.scenario, self.find_truth(played, series)
        reasons, measured = _soundness(played, found.rows, count_cpu)
        reasons += seen_of(found.confirmed)
        about = {
            **played.about,
            "profile": scenario.profile,
            "family": self.name,
            "size": f"seed_{scenario.seed}",
            "kept_aside": scenario.kept_aside,
            "scrape_interval_s": scenario.scrape_interval_s,
            "start_ms": played.start_ms,
            "end_ms": played.end_ms,
            "states": found.states,
            "confirmed": found.confirmed,
            "measured": measured | {"void": reasons},
        }
        recording = Recording(
            scenario.name,
            about,
            series,
            _by_time(played.policies, "observed_ms"),
            _by_time(played.topic_stats, "observed_ms"),
            _by_time(played.interventions, "at_ms"),
            found.rows,
            scenario.to_yaml(),
            f"{self.name}.yaml",
            {name: _by_time(rows, "observed_ms") for name, rows in played.more.items()},
            several_clusters="clusters" in about,
        )
        return write_sound(recording, reasons, out_dir, scratch_dir)


def _by_time(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row[name])


def _soundness(
    played: StagedPlayed, truth: list[dict[str, Any]], count_cpu: bool
) -> tuple[list[str], dict[str, Any]]:
    waited, measured = in_truth(played.pressure, truth, STATS_EVERY_S, count_cpu=count_cpu)
    short, producers = short_of_schedule(
        {topic: row for topic, report in played.reports.items() for row in report["producers"].values()}
    )
    consumers = {topic: report["subscriptions"] for topic, report in played.reports.items()}
    more = {"load_average": played.load_average, "producers": producers, "consumers": consumers}
    return waited + short, measured | more
