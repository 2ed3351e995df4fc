"""Brokers of other versions start as a cluster and alone, listen on loopback only, and count what a limit throttles."""

from __future__ import annotations

import ipaddress
import re
import time
from pathlib import Path

import pytest
import requests

from tests.lab.admin import Admin
from tests.lab.broker import running_broker
from tests.lab.cluster import Cluster, running_cluster
from tests.lab.listening import listening_addresses
from tests.lab.loadprocess import running_load
from tests.lab.parts import BROKER_VERSION, BROKER_VERSIONS, PartMissing, broker_jars, java_binary
from throttlescope.models.throttling.scenario import load_scenario

pytestmark = [pytest.mark.study, pytest.mark.broker, pytest.mark.timeout(900)]

#: Has no throttle counters.
WITHOUT_COUNTERS = "4.0.1"
#: As 5.0.0 has it; earlier versions and 5.0.0-M1 read 100 entries.
READ_BATCH = {"dispatcherMaxReadBatchSize": "500"}
OTHERS = [version for version in BROKER_VERSIONS if version != BROKER_VERSION]
SCENARIO_FILE = Path(__file__).parent / "lab" / "smoke" / "smoke-throttled.yaml"
EVENTS = re.compile(
    r'^pulsar_subscription_dispatch_throttled_msg_events(?:_total)?\{.*subscription="billing".*'
    r'reason="subscription".*\} (\S+)',
    re.MULTILINE,
)


def needs(version: str) -> None:
    try:
        java_binary(), broker_jars(version)
    except PartMissing as missing:
        pytest.skip(f"no Pulsar {version} here: {missing}")


def assert_loopback(pid: int) -> None:
    found = listening_addresses(pid)
    assert found
    assert all(ipaddress.ip_address(host).is_loopback for host, _ in found), found


@pytest.mark.parametrize("version", OTHERS)
def test_standalone_starts_on_loopback(version: str, tmp_path: Path) -> None:
    needs(version)
    started_s = time.monotonic()
    with running_broker(
        "default", scratch_dir=tmp_path, version=version, heap_mb=512, direct_mb=768, max_lifetime_s=600
    ) as broker:
        print(f"standalone {version}: {time.monotonic() - started_s:.0f} s, {memory_mb(broker.pid)} MB")
        answer = requests.get(f"{broker.admin_url}/admin/v2/brokers/version", timeout=10)
        assert answer.text.strip('"') == version
        assert_loopback(broker.pid)


@pytest.mark.parametrize("version", [version for version in OTHERS if version != WITHOUT_COUNTERS])
def test_cluster_counts_what_a_limit_throttles(version: str, tmp_path: Path) -> None:
    needs(version)
    scenario = load_scenario(SCENARIO_FILE)
    (topic,) = scenario.topics
    started_s = time.monotonic()
    with (
        running_cluster(
            "default", READ_BATCH, scratch_dir=tmp_path, version=version, max_lifetime_s=840
        ) as cluster,
        running_load("load", [scenario], cluster.service_url, tmp_path, max_lifetime_s=840) as load,
    ):
        memory = {name: memory_mb(pid) for name, pid in cluster.pids.items()}
        print(f"cluster {version}: {time.monotonic() - started_s:.0f} s, {memory} MB")
        for pid in cluster.pids.values():
            assert_loopback(pid)
        for broker in cluster.brokers:
            path = f"{broker.admin_url}/admin/v2/brokers/configuration/runtime"
            assert requests.get(path, timeout=30).json().items() >= READ_BATCH.items()
        admin = Admin(cluster.admin_url, cluster.name)
        admin.create_tenant()
        admin.create_topics(scenario)
        for limit in scenario.limits:
            admin.set_limit(scenario, limit)
        load.command(scenario.name, "connect")
        load.command(scenario.name, "start", at_s=time.time() + 1)
        time.sleep(20)
        owner = cluster.owner(f"{scenario.namespace}/{topic.name}")
        assert throttle_events(cluster) > 10
        (other,) = [broker for broker in cluster.brokers if broker is not owner]
        cluster.unload_bundle(scenario.namespace, topic.name, other)
        time.sleep(20)
        assert EVENTS.search(metrics(owner.admin_url)) is None
        assert throttle_events(cluster) > 10
        stopping_s = time.monotonic()
        cluster.stop(other)
        print(f"cluster {version}: SIGTERM took {time.monotonic() - stopping_s:.1f} s")
        assert cluster.owner(f"{scenario.namespace}/{topic.name}") is owner


def throttle_events(cluster: Cluster) -> float:
    """What all brokers count for the subscription."""
    return sum(
        float(value) for broker in cluster.brokers for value in EVENTS.findall(metrics(broker.admin_url))
    )


def metrics(admin_url: str) -> str:
    return requests.get(f"{admin_url}/metrics/", timeout=30).text


def memory_mb(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) // 1024
