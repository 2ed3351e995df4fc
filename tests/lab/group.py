"""Runs scenarios that share a broker: in, a group; out, one outcome per scenario, its recording written when it counts.

One broker, one Prometheus and a few load processes, alive for the length of the longest scenario.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pulsar

from tests.lab.broker import running_broker
from tests.lab.judge import Outcome
from tests.lab.loadprocess import running_load
from tests.lab.prometheus import running_prometheus
from tests.lab.run import Run
from tests.lab.warmup import warm_up
from throttlescope.models.throttling.scenario import Scenario

PRIORITY = -10
MAX_LOAD_PROCESSES = 4
RATE_PER_LOAD_PROCESS = 900


@dataclass(frozen=True)
class Group:
    """Scenarios that run on one broker at the same time; profile, scrape interval and broker are the same for all."""

    name: str
    scenarios: tuple[Scenario, ...]

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return sum(scenario.rate_msg for scenario in self.scenarios)

    @property
    def duration_s(self) -> float:
        """Length of the longest timeline."""
        return max(scenario.duration_s for scenario in self.scenarios)


def run_group(
    group: Group,
    scenario_files: dict[str, Path],
    out_dir: Path,
    scratch_dir: Path,
    *,
    say: Callable[[str], None],
    tick: Callable[[float], None],
    done: Callable[[Outcome], None],
    hold_s: float = 0,
    warm_up_s: float = 0,
    count_cpu: bool = True,
    with_ages: bool = False,
    priority: int = PRIORITY,
) -> None:
    """Run one group to its end.

    Parameters
    ----------
    group, scenario_files
        What runs, and the file of every scenario by name.
    out_dir, scratch_dir
        Where recordings go, and where the servers keep their files.
    say, tick, done
        Called with a line for the log, with the seconds since the start, and with every outcome.
    hold_s
        Keep broker and Prometheus alive this long after the last recording.
    warm_up_s
        Let the broker work this long before anything is recorded.
    count_cpu
        Whether processes that waited for a CPU make a recording void.
    with_ages
        Request the stats at the end of each minute, with the age of every backlog.
    priority
        Niceness of servers and clients; 0 keeps the caller's.
    """
    scratch_dir.mkdir(parents=True, exist_ok=True)
    lifetime_s = group.duration_s + hold_s + warm_up_s + 900
    first = group.scenarios[0]
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(
            running_broker(
                first.profile,
                first.broker.settings.given,
                version=first.broker.version,
                scratch_dir=scratch_dir,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        say(f"{group.name}: broker at {broker.admin_url}")
        if warm_up_s:
            log = pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(scratch_dir / "warmup-client.log"))
            warm_up(broker, warm_up_s, log)
        target = {
            "job_name": "pulsar",
            "metrics_path": "/metrics/",
            "static_configs": [{"targets": [broker.web_address]}],
        }
        prometheus = stack.enter_context(
            running_prometheus(
                [target],
                scratch_dir=scratch_dir,
                scrape_interval_s=first.scrape_interval_s,
                max_lifetime_s=lifetime_s,
                priority=priority,
            )
        )
        say(f"{group.name}: prometheus at {prometheus.url}")
        loads = _spread(group)
        processes = [
            stack.enter_context(
                running_load(
                    f"load-{number}",
                    part,
                    broker.service_url,
                    scratch_dir,
                    max_lifetime_s=lifetime_s,
                    priority=priority,
                )
            )
            for number, part in enumerate(loads)
        ]
        run = Run(
            group.name, broker, prometheus, out_dir, scratch_dir, say, done, count_cpu=count_cpu, with_ages=with_ages,
        )  # fmt: skip
        for process, part in zip(processes, loads, strict=True):
            for scenario in part:
                run.add(scenario, process, scenario_files[scenario.name].read_text())
        run.prepare()
        run.follow(tick)
        if hold_s:
            say(f"{group.name}: kept running for {hold_s:.0f} s: {prometheus.url} {broker.admin_url}")
            time.sleep(hold_s)


def _spread(group: Group) -> list[list[Scenario]]:
    count = max(1, min(MAX_LOAD_PROCESSES, round(group.rate_msg / RATE_PER_LOAD_PROCESS + 0.5)))
    parts: list[list[Scenario]] = [[] for _ in range(count)]
    for scenario in sorted(group.scenarios, key=lambda item: -item.rate_msg):
        min(parts, key=lambda part: sum(item.rate_msg for item in part)).append(scenario)
    return [part for part in parts if part]
