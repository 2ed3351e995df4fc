"""A real Pulsar broker: in, a profile of settings; out, one standalone JVM on loopback ports and its addresses."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.lab.parts import BROKER_VERSION, broker_jars, java_binary
from tests.lab.processes import free_port, log_tail, running_process

LOG_CONFIG = Path(__file__).with_name("log4j2.xml")

#: What every lab broker has: one bookie, loopback only, nothing that moves or deletes topics by itself.
_BASE_SETTINGS = {
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "loadBalancerEnabled": "false",
    "topicLevelPoliciesEnabled": "true",
    "systemTopicEnabled": "true",
    "allowAutoTopicCreation": "false",
    # The journal of a laptop's disk is no part of the question.
    "journalSyncData": "false",
    "numIOThreads": "4",
    "webSocketServiceEnabled": "false",
}

#: Metric switches by profile: ``helm`` as the official Helm chart sets them, ``default`` as the broker has them.
PROFILES: dict[str, dict[str, str]] = {
    "helm": {
        "exposeTopicLevelMetricsInPrometheus": "true",
        "exposeConsumerLevelMetricsInPrometheus": "true",
        "exposeProducerLevelMetricsInPrometheus": "true",
        "exposePreciseBacklogInPrometheus": "true",
        "splitTopicAndPartitionLabelInPrometheus": "true",
        "exposeManagedLedgerMetricsInPrometheus": "true",
        "exposeManagedCursorMetricsInPrometheus": "true",
        "exposeBundlesMetricsInPrometheus": "true",
        "aggregatePublisherStatsByProducerName": "true",
    },
    "default": {},
}

_OPENS = [
    "java.base/java.io",
    "java.base/java.util.zip",
    "java.base/java.nio",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.platform",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
]


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
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; one of {', '.join(PROFILES)}")
    jars, java = broker_jars(version), java_binary()
    data_dir = scratch_dir / "pulsar"
    shutil.rmtree(data_dir, ignore_errors=True)
    data_dir.mkdir(parents=True)
    ports = {name: free_port() for name in ("broker", "web", "bookie")}
    settings = {
        **_BASE_SETTINGS,
        **PROFILES[profile],
        "clusterName": cluster,
        "brokerServicePort": str(ports["broker"]),
        "webServicePort": str(ports["web"]),
        **(overrides or {}),
    }
    config_file, log_file = scratch_dir / "standalone.conf", scratch_dir / "broker.log"
    config_file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = [
        str(java),
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        f"-XX:MaxDirectMemorySize={direct_mb}m",
        "-XX:+UseG1GC",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS),
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
        "-Djava.net.preferIPv4Stack=true",
        "-Dlog4j2.is.webapp=false",
        f"-Dlog4j.configurationFile={LOG_CONFIG}",
        "-cp",
        f"{jars[0].parent}/*",
        "org.apache.pulsar.PulsarStandaloneStarter",
        "--config", str(config_file),
        "--no-functions-worker",
        "--no-stream-storage",
        "--metadata-dir", str(data_dir / "metadata"),
        "--bookkeeper-dir", str(data_dir / "bookkeeper"),
        "--bookkeeper-port", str(ports["bookie"]),
        "-a", "127.0.0.1",
    ]  # fmt: skip
    web_address = f"127.0.0.1:{ports['web']}"
    try:
        with running_process(
            command, log_file, max_lifetime_s=max_lifetime_s, priority=priority, cwd=data_dir
        ) as process:
            deadline = time.monotonic() + startup_timeout_s
            while not _healthy(web_address):
                if process.poll() is not None:
                    raise RuntimeError(f"broker ended at start:\n{log_tail(log_file)}")
                if time.monotonic() > deadline:
                    raise RuntimeError(
                        f"broker not healthy after {startup_timeout_s:.0f} s:\n{log_tail(log_file)}"
                    )
                time.sleep(0.5)
            yield Broker(
                cluster,
                f"pulsar://127.0.0.1:{ports['broker']}",
                f"http://{web_address}",
                web_address,
                process.pid,
                log_file,
            )
    finally:
        shutil.rmtree(data_dir, ignore_errors=True)


def _healthy(web_address: str) -> bool:
    try:
        answer = requests.get(f"http://{web_address}/admin/v2/brokers/health", timeout=10)
    except requests.RequestException:
        return False
    return answer.status_code == 200
