"""Two real Pulsar clusters that replicate to each other: in, a profile; out, two standalones on loopback, ``east`` and ``west``.

Each cluster is one process with an address of its own and Pulsar's usual ports. It can be stopped and started again with the data that it had.
``east`` reaches ``west`` through a :class:`~tests.lab.network.Network`, which can slow it down.
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.admin import Admin
from tests.lab.broker import healthy
from tests.lab.hosts import BROKER_PORT, WEB_PORT, claimed_hosts
from tests.lab.jvm import pulsar_command
from tests.lab.network import Network, running_network
from tests.lab.parts import BROKER_VERSION
from tests.lab.services import FixedAddress, StartedProcess, Starter, starting
from tests.lab.settings import BOOKIE_SETTINGS, broker_settings, write_settings

EAST, WEST = "east", "west"
TENANT = "geo"
_GRACEFUL_STOP_S = 30
_BLOCKS = 40
_REGISTER_S = 30
#: The name of the address by which another cluster reaches this one.
_LISTENER = "network"


@dataclass
class GeoCluster(FixedAddress):
    """One cluster of a pair: a standalone that keeps its name, address and data while its process ends and starts again.

    ``name`` is its part, ``east`` or ``west``; ``cluster`` is the name that Pulsar has for it.
    """

    name: str
    cluster: str
    host: str
    log_file: Path
    _command: list[str] = field(repr=False)
    _starter: Starter = field(repr=False)
    _process: StartedProcess | None = field(default=None, repr=False)

    @property
    def admin(self) -> Admin:
        """A client of the admin API."""
        return Admin(self.admin_url, self.cluster)

    def spawn(self) -> None:
        """Start the process; :meth:`wait` returns when it is healthy."""
        if self.alive:
            raise RuntimeError(f"{self.name} is running")
        self._process = self._starter.start(self._command, self.log_file)

    def wait(self) -> None:
        """Wait until the cluster can publish and deliver."""
        assert self._process is not None
        timeout_s = self._starter.startup_timeout_s
        self._process.wait_until_ready(lambda: healthy(self.web_address), self.name, self.log_file, timeout_s)

    def stop(self) -> None:
        """End the process by SIGTERM; its data stays."""
        assert self._process is not None
        self._process.end(_GRACEFUL_STOP_S)

    def ask_to_end(self) -> None:
        """Send SIGTERM and return at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)


@dataclass
class Pair:
    """Two running clusters that know each other, and the network from ``east`` to ``west``."""

    east: GeoCluster
    west: GeoCluster
    network: Network

    @property
    def clusters(self) -> tuple[GeoCluster, GeoCluster]:
        """Both, in the order of their names."""
        return self.east, self.west

    @property
    def names(self) -> tuple[str, str]:
        """Pulsar's names of both."""
        return self.east.cluster, self.west.cluster

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of everything that is alive, by name."""
        alive = {cluster.name: cluster.pid for cluster in self.clusters if cluster.alive}
        return {**alive, "network": self.network.pid}

    def cluster(self, name: str) -> GeoCluster:
        """The cluster of a name."""
        return next(cluster for cluster in self.clusters if cluster.name == name)


@contextlib.contextmanager
def running_pair(
    profile: str,
    overrides: Mapping[str, str] | None = None,
    *,
    scratch_dir: Path,
    names: tuple[str, str] = (EAST, WEST),
    version: str = BROKER_VERSION,
    heap_mb: int = 384,
    direct_mb: int = 512,
    startup_timeout_s: float = 180,
    max_lifetime_s: float = 3600,
    priority: int = 0,
) -> Iterator[Pair]:
    """Run two clusters for the length of the context, registered with each other and with the tenant ``geo``.

    Parameters
    ----------
    profile
        ``helm`` or ``default``: which metric switches are on.
    overrides
        More settings of ``standalone.conf``, the same for both; they win.
    scratch_dir
        Configuration, logs, metadata and ledgers; metadata and ledgers go with the end, logs and configuration stay.
    names
        Pulsar's names of the two clusters, labels of every series.
    version
        Pulsar's version; its jars are fetched when they are not there.
    heap_mb, direct_mb
        Memory of each JVM.
    startup_timeout_s, max_lifetime_s
        Bounds of the wait for each cluster and of every process' life, from the start of the context.
    priority
        Niceness; 0 keeps the caller's.
    """
    scratch_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        hosts = stack.enter_context(_claimed())
        starter = stack.enter_context(
            starting(
                scratch_dir,
                version=version,
                startup_timeout_s=startup_timeout_s,
                max_lifetime_s=max_lifetime_s,
                priority=priority,
            )
        )
        network = stack.enter_context(
            running_network(
                hosts[1], BROKER_PORT, scratch_dir, max_lifetime_s=max_lifetime_s, priority=priority
            )
        )
        own: list[dict[str, str]] = [{}, _listeners(hosts[1], network)]
        clusters = [
            _member(
                name,
                host,
                profile,
                {"clusterName": cluster, **addresses, **(overrides or {})},
                starter,
                heap_mb,
                direct_mb,
            )
            for name, cluster, host, addresses in zip((EAST, WEST), names, hosts, own, strict=True)
        ]
        pair = Pair(clusters[0], clusters[1], network)
        stack.callback(_end, pair)
        for cluster in clusters:
            cluster.spawn()
        for cluster in clusters:
            cluster.wait()
        _introduce(pair)
        yield pair


@contextlib.contextmanager
def _claimed() -> Iterator[tuple[str, ...]]:
    """Addresses of a pair: 127.0.0.4 and 127.0.0.5, or the next that are free."""
    for number in range(_BLOCKS):
        with contextlib.ExitStack() as stack:
            try:
                hosts = stack.enter_context(claimed_hosts(2, (f"127.0.{number}.4", f"127.0.{number}.5")))
            except RuntimeError:
                continue
            yield hosts
            return
    raise RuntimeError(f"no free pair of addresses from 127.0.0.4 to 127.0.{_BLOCKS - 1}.5")


def _member(
    name: str,
    host: str,
    profile: str,
    overrides: Mapping[str, str],
    starter: Starter,
    heap_mb: int,
    direct_mb: int,
) -> GeoCluster:
    settings = {
        **broker_settings(profile, host),
        **BOOKIE_SETTINGS,
        "loadBalancerEnabled": "false",
        "brokerServicePort": str(BROKER_PORT),
        "webServicePort": str(WEB_PORT),
        **overrides,
    }
    config = write_settings(starter.scratch_dir / f"{name}.conf", settings)
    data_dir = starter.data_dir / name
    data_dir.mkdir()
    arguments = [
        "--config", str(config),
        "--no-functions-worker",
        "--no-stream-storage",
        "--metadata-dir", str(data_dir / "metadata"),
        "--bookkeeper-dir", str(data_dir / "bookkeeper"),
    ]  # fmt: skip
    command = pulsar_command(
        "org.apache.pulsar.PulsarStandaloneStarter",
        arguments,
        version=starter.version,
        heap_mb=heap_mb,
        direct_mb=direct_mb,
    )
    return GeoCluster(
        name, settings["clusterName"], host, starter.scratch_dir / f"{name}.log", command, starter
    )


def _listeners(host: str, network: Network) -> dict[str, str]:
    """Two addresses of one broker: a lookup through the network has to answer with the network's address again."""
    return {
        "advertisedListeners": f"direct:pulsar://{host}:{BROKER_PORT},direct:http://{host}:{WEB_PORT},{_LISTENER}:{network.service_url}",
        "internalListenerName": "direct",
    }


def _introduce(pair: Pair) -> None:
    """Register each cluster with the other one; the metadata of both is separate, so every call goes to both."""
    east, west = pair.clusters
    to_west = {
        "serviceUrl": west.admin_url,
        "brokerServiceUrl": pair.network.service_url,
        "listenerName": _LISTENER,
    }
    east.admin.call("PUT", f"/clusters/{west.cluster}", to_west)
    to_east = {"serviceUrl": east.admin_url, "brokerServiceUrl": east.service_url}
    west.admin.call("PUT", f"/clusters/{east.cluster}", to_east)
    for cluster in pair.clusters:
        _wait_for_clusters(cluster, pair.names)
        cluster.admin.call(
            "PUT", f"/tenants/{TENANT}", {"allowedClusters": list(pair.names), "adminRoles": []}
        )


def _wait_for_clusters(cluster: GeoCluster, names: tuple[str, ...]) -> None:
    """Wait until a cluster lists both: it keeps its list for a moment, and registers itself after it is healthy."""
    deadline = time.monotonic() + _REGISTER_S
    while not set(names) <= (seen := set(json.loads(cluster.admin.get_text("/admin/v2/clusters") or "[]"))):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{cluster.name} lists the clusters {sorted(seen)} after {_REGISTER_S} s")
        time.sleep(0.3)


def _end(pair: Pair) -> None:
    # Both are asked before either is waited for.
    for cluster in pair.clusters:
        if cluster.alive:
            cluster.ask_to_end()
    for cluster in pair.clusters:
        if cluster.alive:
            cluster.stop()
