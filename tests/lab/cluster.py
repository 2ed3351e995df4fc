"""A real Pulsar cluster: in, a profile and the number of brokers; out, ZooKeeper, a bookie and brokers on loopback.

Every server is a process of its own. Brokers have addresses of their own with Pulsar's usual ports, so that the label
``instance`` reads as on a real cluster; they can be stopped, killed, paused and started again on the same address.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.lab.broker import healthy
from tests.lab.hosts import BROKER_PORT, WEB_PORT, claimed_hosts
from tests.lab.jvm import pulsar_command
from tests.lab.network import Network
from tests.lab.parts import BROKER_VERSION
from tests.lab.services import (
    FixedAddress,
    StartedProcess,
    Starter,
    running_bookie,
    running_zookeeper,
    starting,
    write_metadata,
)
from tests.lab.settings import broker_settings, write_settings
from tests.lab.storage_network import running_bookie_behind_network

#: A broker leaves within 3 s; 5.0.0-M1 first waits for its bundles, see :func:`_of_version`.
_GRACEFUL_STOP_S = 30
_UNLOAD_TIMEOUT_S, _UNLOAD_TRIES = 20, 3

#: Bundles stay where they are until a scenario moves them.
_CLUSTER_SETTINGS = {
    "loadBalancerEnabled": "true",
    "loadBalancerSheddingEnabled": "false",
    "loadBalancerAutoBundleSplitEnabled": "false",
}


@dataclass
class ClusterBroker(FixedAddress):
    """One broker of a cluster; it keeps its name and addresses while its process ends and starts again."""

    name: str
    host: str
    log_file: Path
    _command: list[str] = field(repr=False)
    _process: StartedProcess | None = field(default=None, repr=False)


class Cluster:
    """A running cluster. Everything that changes it returns when the change has taken effect."""

    def __init__(
        self,
        name: str,
        brokers: Sequence[ClusterBroker],
        starter: Starter,
        zookeeper_pid: int,
        bookie_pid: int,
        network: Network | None = None,
    ) -> None:
        self.name, self.brokers, self._starter = name, tuple(brokers), starter
        self.zookeeper_pid, self.bookie_pid = zookeeper_pid, bookie_pid
        #: Between the brokers and the bookie, where there is one.
        self.network = network

    @property
    def service_url(self) -> str:
        """Addresses of all brokers in one URL; a client takes whichever answers."""
        return "pulsar://" + ",".join(f"{broker.host}:{BROKER_PORT}" for broker in self.brokers)

    @property
    def admin_url(self) -> str:
        """Address of the admin API of the first broker that is alive."""
        return next(broker.admin_url for broker in self.brokers if broker.alive)

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of everything that is alive, by name."""
        brokers = {broker.name: broker.pid for broker in self.brokers if broker.alive}
        return {"zookeeper": self.zookeeper_pid, "bookie": self.bookie_pid, **brokers}

    def broker(self, name: str) -> ClusterBroker:
        """Return the broker of a name, such as ``broker-0``."""
        return next(broker for broker in self.brokers if broker.name == name)

    def stop(self, broker: ClusterBroker, *, graceful: bool = True) -> None:
        """End a broker by SIGTERM, or at once by SIGKILL."""
        process = _process_of(broker)
        if graceful:
            process.end(_GRACEFUL_STOP_S)
        else:
            process.kill()

    def start(self, broker: ClusterBroker) -> None:
        """Start a broker that was stopped, on the same address, and wait until it is healthy."""
        if broker.alive:
            raise RuntimeError(f"{broker.name} is running")
        self._spawn(broker)
        self._wait(broker)

    def reconfigure(self, broker: ClusterBroker, changes: Mapping[str, str]) -> None:
        """End a broker, change settings of its ``broker.conf``, and start it again."""
        self.stop(broker)
        file = self._starter.scratch_dir / f"{broker.name}.conf"
        settings = dict(line.split("=", 1) for line in file.read_text().splitlines())
        write_settings(file, settings | dict(changes))
        self.start(broker)

    def pause(self, broker: ClusterBroker) -> None:
        """Let a broker hang: SIGSTOP."""
        _process_of(broker).send_signal(signal.SIGSTOP)

    def resume(self, broker: ClusterBroker) -> None:
        """Let a paused broker go on: SIGCONT."""
        _process_of(broker).send_signal(signal.SIGCONT)

    def owner(self, topic: str) -> ClusterBroker:
        """Return the broker that owns a topic (``[persistent://]tenant/ns/topic[-partition-N]``).

        The lookup gives a topic without an owner to a broker.
        """
        path = topic.removeprefix("persistent://")
        answer = requests.get(f"{self.admin_url}/lookup/v2/topic/persistent/{path}", timeout=30)
        answer.raise_for_status()
        url = answer.json()["brokerUrl"]
        return next(broker for broker in self.brokers if broker.service_url == url)

    def unload_bundle(self, namespace: str, topic: str, destination: ClusterBroker) -> str:
        """Move the bundle that holds a topic to another broker and return the bundle's range.

        Parameters
        ----------
        namespace, topic
            ``tenant/ns`` and a topic of it, with ``-partition-N`` where it has partitions.
        destination
            A broker that is alive and does not own the bundle yet.
        """
        name = topic.rsplit("/", 1)[-1]
        lookup = f"{self.admin_url}/lookup/v2/topic/persistent/{namespace}/{name}/bundle"
        bundle = requests.get(lookup, timeout=30)
        bundle.raise_for_status()
        path = f"/admin/v2/namespaces/{namespace}/{bundle.text}/unload"
        # A lookup of a client in between can bring the bundle back to where it was: then it is unloaded again.
        for _ in range(_UNLOAD_TRIES):
            done = requests.put(
                f"{self.admin_url}{path}", params={"destinationBroker": destination.web_address}, timeout=60
            )
            if done.status_code >= 300:
                raise RuntimeError(f"PUT {path}: {done.status_code} {done.text.strip()[:300]}")
            deadline = time.monotonic() + _UNLOAD_TIMEOUT_S
            while time.monotonic() < deadline:
                if self._owns(destination, f"{namespace}/{name}"):
                    return bundle.text
                time.sleep(0.2)
        raise RuntimeError(f"{namespace}/{bundle.text} did not move to {destination.name}")

    def _owns(self, broker: ClusterBroker, topic: str) -> bool:
        # A lookup can fail while a bundle is on its way.
        with contextlib.suppress(requests.RequestException):
            return self.owner(topic) is broker
        return False

    def _spawn(self, broker: ClusterBroker) -> None:
        broker._process = self._starter.start(broker._command, broker.log_file)

    def _wait(self, broker: ClusterBroker) -> None:
        _process_of(broker).wait_until_ready(
            lambda: healthy(broker.web_address),
            broker.name,
            broker.log_file,
            self._starter.startup_timeout_s,
        )

    def _start_brokers(self) -> None:
        for broker in self.brokers:
            self._spawn(broker)
        for broker in self.brokers:
            self._wait(broker)

    def _end_brokers(self) -> None:
        # All are asked before any is waited for.
        for broker in self.brokers:
            if broker.alive:
                _process_of(broker).send_signal(signal.SIGTERM)
                self.resume(broker)
        for broker in self.brokers:
            if broker._process is not None:
                broker._process.end()


def _process_of(broker: ClusterBroker) -> StartedProcess:
    if broker._process is None:
        raise RuntimeError(f"{broker.name} was never started")
    return broker._process


@contextlib.contextmanager
def running_cluster(
    profile: str,
    overrides: Mapping[str, str] | None = None,
    *,
    scratch_dir: Path,
    version: str = BROKER_VERSION,
    cluster: str = "lab",
    brokers: int = 2,
    heap_mb: int = 512,
    direct_mb: int = 512,
    hosts: Sequence[str] | None = None,
    with_network: bool = False,
    startup_timeout_s: float = 180,
    max_lifetime_s: float = 4 * 3600,
    priority: int = 0,
) -> Iterator[Cluster]:
    """Run ZooKeeper, a bookie and some brokers for the length of the context.

    Parameters
    ----------
    profile
        ``helm`` or ``default``: which metric switches are on.
    overrides
        More settings of ``broker.conf``, the same for every broker; they win.
    scratch_dir
        Configuration, logs, metadata and ledgers; metadata and ledgers go with the end, logs and configuration stay.
    version
        Pulsar's version; its jars are fetched when they are not there.
    cluster
        Pulsar's cluster name, a label of every series.
    brokers, hosts
        Number of brokers and their addresses of 127/8; without ``hosts`` a free block, usually 127.0.0.2 and so on.
    heap_mb, direct_mb
        Memory of each broker's JVM.
    with_network
        Whether brokers reach the bookie through :attr:`Cluster.network`, which can slow it down.
    startup_timeout_s, max_lifetime_s
        Bounds of the wait for each server and of every server's life, from the start of the context.
    priority
        Niceness; 0 keeps the caller's.
    """
    with contextlib.ExitStack() as stack:
        addresses = stack.enter_context(claimed_hosts(brokers, hosts))
        starter = stack.enter_context(
            starting(
                scratch_dir,
                version=version,
                startup_timeout_s=startup_timeout_s,
                max_lifetime_s=max_lifetime_s,
                priority=priority,
            )
        )
        zookeeper = stack.enter_context(running_zookeeper(starter))
        write_metadata(
            starter,
            zookeeper,
            cluster,
            web_service_url="http://" + ",".join(f"{host}:{WEB_PORT}" for host in addresses),
            broker_service_url="pulsar://" + ",".join(f"{host}:{BROKER_PORT}" for host in addresses),
        )
        network = None
        if with_network:
            behind = running_bookie_behind_network(starter, zookeeper, max_lifetime_s, priority)
            bookie, network = stack.enter_context(behind)
        else:
            bookie = stack.enter_context(running_bookie(starter, zookeeper))
        settings = {
            **_CLUSTER_SETTINGS,
            **_of_version(version),
            "metadataStoreUrl": zookeeper.store,
            "configurationMetadataStoreUrl": zookeeper.store,
            "clusterName": cluster,
            "brokerServicePort": str(BROKER_PORT),
            "webServicePort": str(WEB_PORT),
            **(overrides or {}),
        }
        members = []
        for number, host in enumerate(addresses):
            name = f"broker-{number}"
            file = write_settings(
                scratch_dir / f"{name}.conf", {**broker_settings(profile, host), **settings}
            )
            command = pulsar_command(
                "org.apache.pulsar.PulsarBrokerStarter",
                ["--broker-conf", str(file)],
                version=version,
                heap_mb=heap_mb,
                direct_mb=direct_mb,
            )
            members.append(ClusterBroker(name, host, scratch_dir / f"{name}.log", command))
        running = Cluster(cluster, members, starter, zookeeper.pid, bookie.pid, network)
        stack.callback(running._end_brokers)
        running._start_brokers()
        yield running


def _of_version(version: str) -> dict[str, str]:
    """Return settings that one version needs and others do not."""
    if version.startswith("5."):
        # A broker that gets SIGTERM waits in vain for its bundles, a minute by default, and serves no client meanwhile.
        return {"namespaceBundleUnloadingTimeoutMs": "3000"}
    return {}
