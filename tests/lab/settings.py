"""Settings of the lab's brokers: in, a profile of metric switches and overrides; out, a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

#: What every lab broker has: one bookie, loopback only, nothing that moves or deletes topics by itself.
_BASE_SETTINGS = {
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "topicLevelPoliciesEnabled": "true",
    "systemTopicEnabled": "true",
    "allowAutoTopicCreation": "false",
    "numIOThreads": "4",
    "webSocketServiceEnabled": "false",
}

#: What a bookie of the lab has, in a process of its own or inside a standalone.
BOOKIE_SETTINGS = {
    # Without these two a bookie listens on all interfaces, or refuses to start on loopback.
    "listeningInterface": "lo",
    "allowLoopback": "true",
    # The journal of a laptop's disk is no part of the question.
    "journalSyncData": "false",
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


def broker_settings(profile: str, host: str) -> dict[str, str]:
    """Return what every lab broker of a profile has, on the address ``host``."""
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; one of {', '.join(PROFILES)}")
    return {"bindAddress": host, "advertisedAddress": host, **_BASE_SETTINGS, **PROFILES[profile]}


def write_settings(file: Path, settings: Mapping[str, str]) -> Path:
    """Write a configuration file of ``key=value`` lines and return its path."""
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return file
