"""The short real case of a cluster: a limit binds, with the broker's default metrics, and its bundle moves to the other broker.

`throttlescope run` reads the real Prometheus, which scrapes both brokers, and the admin API of one of them.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab.admin import Admin
from tests.lab.cluster import running_cluster
from tests.lab.loadprocess import REPOSITORY, running_load
from tests.lab.parts import PartMissing, broker_jars, java_binary, prometheus_binary
from tests.lab.prometheus import running_prometheus
from tests.lab.targets import ScrapeTargets
from throttlescope.ingest.lake import Lake
from throttlescope.models.throttling.scenario import Scenario, load_scenario

pytestmark = [
    pytest.mark.broker,
    pytest.mark.prometheus,
    pytest.mark.spark,
    pytest.mark.timeout(600),
]

#: 80 msg/s are published, one fast consumer may have 40.
SCENARIO_FILE = Path(__file__).parent / "lab" / "smoke" / "smoke-throttled.yaml"
SCRAPE_INTERVAL_S = 5
#: A minute holds as much here as five minutes do with scrapes every 15 to 30 s.
WINDOW_S = 60
WINDOWS = ("--window", "1m", "--every", "1m")
#: From the start of the load until a window may start that must name the limiter.
SETTLED_S = 20
LIFETIME_S = 540


@dataclass
class Case:
    """What was found, and when the bundle moved."""

    scenario: Scenario
    verdicts: list[dict]
    signals: list[dict]
    brokers: list[str]
    settled_ms: int
    moved_ms: int

    def of_subscription(self, rows: list[dict]) -> list[dict]:
        """Rows of the limited subscription in the two whole windows, by time."""
        own = [row for row in rows if row["subscription"] == self.scenario.subscriptions[0].name]
        end_ms = self.settled_ms + 2000 * WINDOW_S
        whole = [row for row in own if self.settled_ms <= _start_ms(row) < end_ms]
        return sorted(whole, key=_start_ms)


def _start_ms(row: dict) -> int:
    return row["window_start_ms"] if "window_start_ms" in row else row["minute_ms"]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    try:
        java_binary(), broker_jars(), prometheus_binary()
    except PartMissing as missing:
        pytest.skip(f"no real cluster here: {missing}")
    folder = tmp_path_factory.mktemp("case")
    scenario = load_scenario(SCENARIO_FILE)
    (topic,) = scenario.topics
    with (
        running_cluster(
            "default", scratch_dir=folder, heap_mb=256, direct_mb=256, max_lifetime_s=LIFETIME_S
        ) as cluster,
        running_load("load", [scenario], cluster.service_url, folder, max_lifetime_s=LIFETIME_S) as load,
    ):
        addresses = [broker.web_address for broker in cluster.brokers]
        targets = ScrapeTargets(folder / "targets.json", addresses)
        with running_prometheus(
            [targets.scrape_config],
            scratch_dir=folder,
            scrape_interval_s=SCRAPE_INTERVAL_S,
            max_lifetime_s=LIFETIME_S,
        ) as prometheus:
            admin = Admin(cluster.admin_url, cluster.name)
            admin.create_tenant()
            admin.create_topics(scenario)
            for limit in scenario.limits:
                admin.set_limit(scenario, limit)
            load.command(scenario.name, "connect")
            start_s = time.time() + 1
            load.command(scenario.name, "start", at_s=start_s)

            settled_s = math.ceil((start_s + SETTLED_S) / WINDOW_S) * WINDOW_S
            wait_until(settled_s + WINDOW_S / 2)
            owner = cluster.owner(f"{scenario.namespace}/{topic.name}")
            (other,) = [broker for broker in cluster.brokers if broker is not owner]
            moved_s = time.time()
            cluster.unload_bundle(scenario.namespace, topic.name, other)
            wait_until(settled_s + 2 * WINDOW_S + SCRAPE_INTERVAL_S)
            run(prometheus.url, cluster.admin_url, scenario, start_s, folder / "lake")
    lake = Lake(folder / "lake")
    return Case(
        scenario,
        lake.read("verdicts").to_pylist(),
        lake.read("signals").to_pylist(),
        [owner.web_address, other.web_address],
        settled_s * 1000,
        round(moved_s * 1000),
    )


def wait_until(epoch_s: float) -> None:
    time.sleep(max(0.0, epoch_s - time.time()))


def run(prometheus_url: str, admin_url: str, scenario: Scenario, start_s: float, lake: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "throttlescope.app.cli", "run", "--prometheus", prometheus_url,
            "--pulsar-admin", admin_url, "--lake", str(lake), "--start", str(int(start_s)),
            "--match", f'{{namespace="{scenario.namespace}"}}', *WINDOWS,
        ],
        capture_output=True, text=True, timeout=200, check=False, cwd=REPOSITORY,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_brokers_are_in_the_signals(case: Case) -> None:
    rows = case.of_subscription(case.signals)
    assert {row["broker"] for row in rows} <= set(case.brokers)
    assert rows[-1]["broker"] == case.brokers[1]
    assert any(row["broker_changed"] for row in rows)


def test_window_after_the_move_names_the_limiter(case: Case) -> None:
    after = [row for row in case.of_subscription(case.verdicts) if row["window_start_ms"] >= case.moved_ms]
    assert after
    found = {(row["side"], row["cause"], row["limiter"]) for row in after}
    assert found == {("throttle", "throttled", "subscription.msg")}


def test_move_window_names_limiter_or_none(case: Case) -> None:
    (moved,) = [
        row
        for row in case.of_subscription(case.verdicts)
        if row["window_start_ms"] <= case.moved_ms < row["window_end_ms"]
    ]
    assert (moved["cause"], moved["limiter"]) in {("throttled", "subscription.msg"), ("unknown", None)}


def test_no_window_blames_the_consumers(case: Case) -> None:
    assert len(case.verdicts) >= 2
    assert {row["side"] for row in case.verdicts} <= {"throttle", "neither", "unknown"}
