"""A real Pulsar broker: in, a profile of settings; out, one standalone JVM on loopback ports and its addresses."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.lab.jvm import pulsar_command
from tests.lab.parts import BROKER_VERSION
from tests.lab.processes import free_port, running_process, wait_until_ready
from tests.lab.settings import BOOKIE_SETTINGS, broker_settings, write_settings

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Broker:
    """A running standalone broker."""

    cluster: str
    service_url: str
    admin_url: str
    web_address: str
    pid: int
    log_file: Path


@contextlib.contextmanager
def running_broker(
    profile: str,
    overrides: Mapping[str, str] | None = None,
    *,
    scratch_dir: Path,
    version: str = BROKER_VERSION,
    cluster: str = "lab",
    heap_mb: int = 1024,
    direct_mb: int = 1536,
    startup_timeout_s: float = 180,
    max_lifetime_s: float = 4 * 3600,
    priority: int = 0,
) -> Iterator[Broker]:
    """Run a standalone Pulsar broker for the length of the context.

    Parameters
    ----------
    profile
        ``helm`` or ``default``: which metric switches are on.
    overrides
        More settings of ``standalone.conf``; they win.
    scratch_dir
        Configuration, log, metadata and ledgers; ledgers of an earlier run are removed first, log and configuration
        stay after the end.
    version
        Pulsar's version; its jars are fetched when they are not there.
    cluster
        Pulsar's cluster name, a label of every series.
    heap_mb, direct_mb
        Memory of the JVM.
    startup_timeout_s, max_lifetime_s
        Bounds of the wait for a healthy broker and of its life.
    priority
        Niceness; 0 keeps the caller's.
    """
    data_dir = scratch_dir / "pulsar"
    ports = {name: free_port() for name in ("broker", "web")}
    settings = {
        **broker_settings(profile, HOST),
        **BOOKIE_SETTINGS,
        "loadBalancerEnabled": "false",
        "clusterName": cluster,
        "brokerServicePort": str(ports["broker"]),
        "webServicePort": str(ports["web"]),
        **(overrides or {}),
    }
    shutil.rmtree(data_dir, ignore_errors=True)
    data_dir.mkdir(parents=True)
    config_file, log_file = scratch_dir / "standalone.conf", scratch_dir / "broker.log"
    write_settings(config_file, settings)
    arguments = [
        "--config", str(config_file),
        "--no-functions-worker",
        "--no-stream-storage",
        "--metadata-dir", str(data_dir / "metadata"),
        "--bookkeeper-dir", str(data_dir / "bookkeeper"),
        "-a", HOST,
    ]  # fmt: skip
    command = pulsar_command(
        "org.apache.pulsar.PulsarStandaloneStarter",
        arguments,
        version=version,
        heap_mb=heap_mb,
        direct_mb=direct_mb,
    )
    web_address = f"{HOST}:{ports['web']}"
    try:
        with running_process(
            command, log_file, max_lifetime_s=max_lifetime_s, priority=priority, cwd=data_dir
        ) as process:
            wait_until_ready(process, lambda: healthy(web_address), "broker", log_file, startup_timeout_s)
            yield Broker(
                cluster,
                f"pulsar://{HOST}:{ports['broker']}",
                f"http://{web_address}",
                web_address,
                process.pid,
                log_file,
            )
    finally:
        shutil.rmtree(data_dir, ignore_errors=True)


def healthy(web_address: str) -> bool:
    """Whether the broker at an address says that it can publish and deliver."""
    try:
        answer = requests.get(f"http://{web_address}/admin/v2/brokers/health", timeout=10)
    except requests.RequestException:
        return False
    return answer.status_code == 200
