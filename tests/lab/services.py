"""What a cluster stands on: in, a folder and a Pulsar version; out, ZooKeeper and a bookie as processes on loopback."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.lab.hosts import BROKER_PORT, WEB_PORT
from tests.lab.jvm import pulsar_command
from tests.lab.processes import end_with_parent, free_port, log_tail, running_process, stop, wait_until_ready
from tests.lab.settings import BOOKIE_SETTINGS, write_settings

_LOOPBACK = "127.0.0.1"
_STOP_S = 10

_ZOOKEEPER_SETTINGS = {
    "tickTime": "2000",
    "clientPortAddress": _LOOPBACK,
    "admin.enableServer": "false",
    "4lw.commands.whitelist": "ruok",
}

_BOOKIE_SETTINGS = {
    **BOOKIE_SETTINGS,
    "advertisedAddress": _LOOPBACK,
    "httpServerEnabled": "false",
    "diskUsageThreshold": "0.99",
    "ledgerStorageClass": "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
    "dbStorage_writeCacheMaxSizeMb": "64",
    "dbStorage_readAheadCacheMaxSizeMb": "64",
}


class StartedProcess:
    """A process that ends on request, in bounded time, and with the lab at the latest."""

    def __init__(self, popen: subprocess.Popen[bytes], context: contextlib.ExitStack) -> None:
        self._popen, self._context = popen, context
        self.pid = popen.pid

    @property
    def alive(self) -> bool:
        """Whether the process has not ended; a paused one is alive."""
        return self._popen.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens when the process has ended."""
        self._popen.send_signal(number)

    def wait_until_ready(
        self, ready: Callable[[], bool], what: str, log_file: Path, timeout_s: float
    ) -> None:
        """Wait until the server answers."""
        wait_until_ready(self._popen, ready, what, log_file, timeout_s)

    def kill(self) -> None:
        """End the process at once."""
        self._popen.kill()
        self._popen.wait(_STOP_S)
        self._context.close()

    def end(self, timeout_s: float = _STOP_S) -> None:
        """End the process by SIGTERM, by SIGKILL after the timeout."""
        stop(self._popen, timeout_s)
        self._context.close()


class Starter:
    """Starts a cluster's processes, all from one thread that lives as long as the cluster.

    The kernel ends a child when the *thread* that started it ends, and a broker may be started again by a thread of
    some pool.
    """

    def __init__(
        self, scratch_dir: Path, version: str, startup_timeout_s: float, max_lifetime_s: float, priority: int
    ) -> None:
        self.scratch_dir, self.data_dir, self.version = scratch_dir, scratch_dir / "cluster", version
        self.startup_timeout_s = startup_timeout_s
        self._ends_at_s, self._priority = time.monotonic() + max_lifetime_s, priority
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cluster-starter")

    def start(self, command: list[str], log_file: Path) -> StartedProcess:
        """Start a command and return at once."""
        context = contextlib.ExitStack()
        process = running_process(
            command,
            log_file,
            max_lifetime_s=max(1.0, self._ends_at_s - time.monotonic()),
            priority=self._priority,
            stop_timeout_s=_STOP_S,
            cwd=self.scratch_dir,
        )
        return StartedProcess(self._thread.submit(context.enter_context, process).result(), context)

    @contextlib.contextmanager
    def running(self, command: list[str], name: str, ready: Callable[[], bool]) -> Iterator[StartedProcess]:
        """Run a server for the length of the context, which opens when it is ready."""
        log_file = self.scratch_dir / f"{name}.log"
        process = self.start(command, log_file)
        try:
            process.wait_until_ready(ready, name, log_file, self.startup_timeout_s)
            yield process
        finally:
            process.end()

    def close(self) -> None:
        """End the thread; every process has to be over."""
        self._thread.shutdown()


@contextlib.contextmanager
def starting(
    scratch_dir: Path, *, version: str, startup_timeout_s: float, max_lifetime_s: float, priority: int
) -> Iterator[Starter]:
    """Prepare a cluster's folder and what starts its processes; data of an earlier cluster is removed, and ours at the end."""
    starter = Starter(scratch_dir, version, startup_timeout_s, max_lifetime_s, priority)
    shutil.rmtree(starter.data_dir, ignore_errors=True)
    starter.data_dir.mkdir(parents=True)
    try:
        yield starter
    finally:
        starter.close()
        shutil.rmtree(starter.data_dir, ignore_errors=True)


@dataclass(frozen=True)
class ZooKeeper:
    """A running ZooKeeper."""

    port: int
    pid: int

    @property
    def store(self) -> str:
        """Address as brokers have it in their configuration."""
        return f"zk:{_LOOPBACK}:{self.port}"

    @property
    def ledgers_uri(self) -> str:
        """Address as bookies have it in their configuration."""
        return f"zk+null://{_LOOPBACK}:{self.port}/ledgers"


@contextlib.contextmanager
def running_zookeeper(starter: Starter) -> Iterator[ZooKeeper]:
    """Run ZooKeeper for the length of the context."""
    port = free_port()
    settings = {
        **_ZOOKEEPER_SETTINGS,
        "dataDir": str(starter.data_dir / "zookeeper"),
        "clientPort": str(port),
    }
    file = write_settings(starter.scratch_dir / "zoo.cfg", settings)
    command = pulsar_command(
        "org.apache.zookeeper.server.ZooKeeperServerMain",
        [str(file)],
        version=starter.version,
        heap_mb=128,
        direct_mb=64,
    )
    with starter.running(command, "zookeeper", lambda: _is_ok(port)) as process:
        yield ZooKeeper(port, process.pid)


def write_metadata(
    starter: Starter, zookeeper: ZooKeeper, cluster: str, *, web_service_url: str, broker_service_url: str
) -> None:
    """Write what a new cluster needs into ZooKeeper, the bookie's part too."""
    arguments = [
        "--cluster", cluster,
        "--metadata-store", zookeeper.store,
        "--configuration-metadata-store", zookeeper.store,
        "--web-service-url", web_service_url,
        "--broker-service-url", broker_service_url,
    ]  # fmt: skip
    command = pulsar_command(
        "org.apache.pulsar.PulsarClusterMetadataSetup",
        arguments,
        version=starter.version,
        heap_mb=128,
        direct_mb=64,
    )
    log_file = starter.scratch_dir / "metadata.log"
    with log_file.open("ab") as log:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=starter.startup_timeout_s,
            cwd=starter.scratch_dir,
            preexec_fn=end_with_parent,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"metadata of the cluster: exit code {done.returncode}:\n{log_tail(log_file)}")


@contextlib.contextmanager
def running_bookie(
    starter: Starter, zookeeper: ZooKeeper, port: int | None = None
) -> Iterator[StartedProcess]:
    """Run a bookie for the length of the context, on a free port or on the one that is given."""
    port = port or free_port()
    settings = {
        **_BOOKIE_SETTINGS,
        "metadataServiceUri": zookeeper.ledgers_uri,
        "bookiePort": str(port),
        "journalDirectories": str(starter.data_dir / "journal"),
        "ledgerDirectories": str(starter.data_dir / "ledgers"),
    }
    file = write_settings(starter.scratch_dir / "bookie.conf", settings)
    command = pulsar_command(
        "org.apache.bookkeeper.server.Main",
        ["--conf", str(file)],
        version=starter.version,
        heap_mb=256,
        direct_mb=512,
    )
    with starter.running(command, "bookie", lambda: _accepts(port)) as process:
        yield process


def _is_ok(port: int) -> bool:
    try:
        with socket.create_connection((_LOOPBACK, port), timeout=2) as connection:
            connection.sendall(b"ruok")
            return connection.recv(16) == b"imok"
    except OSError:
        return False


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection((_LOOPBACK, port), timeout=2):
            return True
    except OSError:
        return False


class FixedAddress:
    """A broker with a host of its own and Pulsar's usual ports, whose process ends and starts again there."""

    host: str
    _process: StartedProcess | None

    @property
    def service_url(self) -> str:
        """Address for clients."""
        return f"pulsar://{self.host}:{BROKER_PORT}"

    @property
    def web_address(self) -> str:
        """Address that Prometheus scrapes, and the label ``instance``."""
        return f"{self.host}:{WEB_PORT}"

    @property
    def admin_url(self) -> str:
        """Address of the admin API."""
        return f"http://{self.web_address}"

    @property
    def pid(self) -> int:
        """Process id, of the last process when none is alive."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process has not ended; a paused one is alive."""
        return self._process is not None and self._process.alive
