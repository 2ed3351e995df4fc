"""A real cluster of two brokers: it listens on loopback only, and its brokers move topics, end and start again."""

from __future__ import annotations

import ipaddress
import time

import pytest
import requests

from tests.lab.admin import Admin
from tests.lab.cluster import Cluster, running_cluster
from tests.lab.hosts import claimed_hosts
from tests.lab.listening import listening_addresses
from tests.lab.parts import PartMissing, broker_jars, java_binary

# The short case of a cluster in `make test` is test_lab_cluster_case.py.
pytestmark = [pytest.mark.study, pytest.mark.broker, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    try:
        java_binary(), broker_jars()
    except PartMissing as missing:
        pytest.skip(f"no real broker here: {missing}")
    with running_cluster(
        "default",
        scratch_dir=tmp_path_factory.mktemp("cluster"),
        heap_mb=256,
        direct_mb=256,
        max_lifetime_s=900,
    ) as running:
        admin = Admin(running.admin_url, running.name)
        admin.create_tenant()
        admin.call("PUT", "/namespaces/lab/shop", {"bundles": {"numBundles": 4}})
        admin.call("PUT", "/persistent/lab/shop/orders")
        yield running


def test_every_process_listens_on_loopback(cluster: Cluster) -> None:
    addresses = {name: listening_addresses(pid) for name, pid in cluster.pids.items()}
    assert addresses["broker-0"] == {(cluster.brokers[0].host, 6650), (cluster.brokers[0].host, 8080)}
    for name, found in addresses.items():
        assert found, name
        assert all(ipaddress.ip_address(host).is_loopback for host, _ in found), (name, found)


def test_bundle_moves_to_the_other_broker(cluster: Cluster) -> None:
    before = cluster.owner("lab/shop/orders")
    (other,) = [broker for broker in cluster.brokers if broker is not before]
    cluster.unload_bundle("lab/shop", "orders", other)
    assert cluster.owner("persistent://lab/shop/orders") is other


@pytest.mark.parametrize("graceful", [True, False])
def test_stopped_broker_starts_on_its_address(cluster: Cluster, graceful: bool) -> None:
    broker, other = cluster.brokers
    before = broker.pid
    cluster.stop(broker, graceful=graceful)
    assert (broker.alive, other.alive) == (False, True)
    assert cluster.admin_url == other.admin_url
    cluster.start(broker)
    assert broker.alive
    assert broker.pid != before
    assert requests.get(f"{broker.admin_url}/admin/v2/brokers/version", timeout=10).status_code == 200


def test_paused_broker_answers_after_resume(cluster: Cluster) -> None:
    broker = cluster.brokers[1]
    cluster.pause(broker)
    with pytest.raises(requests.Timeout):
        requests.get(f"{broker.admin_url}/admin/v2/brokers/version", timeout=1)
    assert broker.alive
    cluster.resume(broker)
    assert requests.get(f"{broker.admin_url}/admin/v2/brokers/version", timeout=10).status_code == 200


def test_two_clusters_get_different_addresses(cluster: Cluster) -> None:
    with claimed_hosts(2) as first, claimed_hosts(2) as second:
        assert not {*first, *second} & {broker.host for broker in cluster.brokers}
        assert not {*first} & {*second}


def test_all_processes_end_with_the_context(tmp_path) -> None:
    with running_cluster("default", scratch_dir=tmp_path, brokers=1, max_lifetime_s=300) as short:
        pids = short.pids
        short.pause(short.brokers[0])
    until = time.monotonic() + 5
    while (alive := [name for name, pid in pids.items() if _exists(pid)]) and time.monotonic() < until:
        time.sleep(0.1)
    assert alive == []


def _exists(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
