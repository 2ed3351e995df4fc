"""What does a replicator do, and what does its remote cluster say? In: a window. Out: symptoms.

Of a subscription none of them is measured.
"""

from __future__ import annotations

from statistics import median

from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.diagnosis.symptoms.backlog import backlog_growth_entries, read_entries
from throttlescope.models.diagnosis.symptoms.symptom import Symptom, SymptomKind
from throttlescope.models.diagnosis.window import Window

REPLICATOR_DISCONNECTED = SymptomKind(
    "replicator_disconnected",
    ("no_replicator", "not_measured", "connected", "disconnected"),
    "share of minutes",
)
SENDS_WAIT = SymptomKind("sends_wait", ("no_replicator", "not_measured", "answered", "waiting"), "s")
SENDS_NOTHING = SymptomKind(
    "sends_nothing", ("no_replicator", "not_measured", "nothing", "sends"), "entries/s"
)
RESENDING = SymptomKind("resending", ("no_replicator", "not_measured", "resends", "once"), "entries/s")
REMOTE_PAUSES = SymptomKind(
    "remote_pauses", ("no_replicator", "remote_not_seen", "pauses", "none"), "share of minutes"
)
REMOTE_QUOTA_FULL = SymptomKind(
    "remote_quota_full", ("no_replicator", "remote_not_seen", "full", "room"), "used / quota"
)

KINDS = (REPLICATOR_DISCONNECTED, SENDS_WAIT, SENDS_NOTHING, RESENDING, REMOTE_PAUSES, REMOTE_QUOTA_FULL)
#: The answers of every window of a subscription.
OF_SUBSCRIPTION = (
    REPLICATOR_DISCONNECTED.unknown("no_replicator"),
    SENDS_WAIT.unknown("no_replicator"),
    SENDS_NOTHING.unknown("no_replicator"),
    RESENDING.unknown("no_replicator"),
    REMOTE_PAUSES.unknown("no_replicator"),
    REMOTE_QUOTA_FULL.unknown("no_replicator"),
)


def replicator_symptoms(window: Window) -> tuple[Symptom, ...]:
    """All symptoms of a replicator's window, in the order of :data:`KINDS`."""
    return (
        replicator_disconnected(window),
        sends_wait(window),
        sends_nothing(window),
        resending(window),
        remote_pauses(window),
        remote_quota_full(window),
    )


def replicator_disconnected(window: Window) -> Symptom:
    """The producer of the remote cluster is not connected, at the end and most of the time."""
    query = promql.of_replicator(window.key, "pulsar_replication_connected_count")
    away = window.share("replication_connected", lambda connected: connected < 1)
    if away is None:
        return REPLICATOR_DISCONNECTED.unknown("not_measured", query)
    holds = away >= t.MAJORITY_SHARE and window.last("replication_connected") < 1
    finding = (
        REPLICATOR_DISCONNECTED.says("disconnected", away=away)
        if away
        else REPLICATOR_DISCONNECTED.says("connected")
    )
    return REPLICATOR_DISCONNECTED.answer(holds, finding, away, t.MAJORITY_SHARE, window.end_ms, query)


def sends_wait(window: Window) -> Symptom:
    """What was sent waits for the remote cluster's answer. A delay of 0 says nothing: a replicator that sends nothing has none."""
    query = promql.of_replicator(window.key, "pulsar_replication_delay_in_seconds")
    delays = window.known("replication_delay_s")
    if not delays:
        return SENDS_WAIT.unknown("not_measured", query)
    delay_s = median(delays)
    finding = SENDS_WAIT.says("waiting" if delay_s >= t.SENDS_WAIT_S else "answered", delay_s=delay_s)
    return SENDS_WAIT.answer(
        delay_s >= t.SENDS_WAIT_S, finding, delay_s, t.SENDS_WAIT_S, window.end_ms, query
    )


def sends_nothing(window: Window) -> Symptom:
    """Nothing was handed to the producer of the remote cluster."""
    query = promql.of_replicator(window.key, "pulsar_replication_rate_out")
    most = window.highest("replication_entry_rate")
    if most is None:
        return SENDS_NOTHING.unknown("not_measured", query)
    finding = (
        SENDS_NOTHING.says("sends", rate=most.value) if most.value > 0 else SENDS_NOTHING.says("nothing")
    )
    return SENDS_NOTHING.answer(most.value <= 0, finding, most.value, 0.0, most.at_ms, query)


def resending(window: Window) -> Symptom:
    """More is sent than was published, and the backlog does not fall: the same entries are sent again and again."""
    query = promql.of_replicator(window.key, "pulsar_replication_rate_out")
    sent, written = window.mean("replication_entry_rate"), window.mean("write_entry_rate")
    growth = backlog_growth_entries(window)
    if sent is None or written is None or growth is None:
        return RESENDING.unknown("not_measured", query)
    # What was sent once is gone from the backlog; the rest was sent before.
    again = sent - written + growth / window.length_s
    noise = max(read_entries(window) / window.length_s, t.RESENT_SHARE * sent)
    holds = again > noise
    finding = (
        RESENDING.says("resends", again=again, sent=sent) if holds else RESENDING.says("once", sent=sent)
    )
    return RESENDING.answer(holds, finding, again, noise, window.end_ms, query)


def remote_pauses(window: Window) -> Symptom:
    """The remote cluster pauses connections that publish to the topic."""
    query = promql.of_topic_elsewhere(window.key, "pulsar_publish_rate_limit_times")
    paused = window.share("remote_publish_pauses", lambda pauses: pauses > 0)
    if paused is None:
        return REMOTE_PAUSES.unknown("remote_not_seen", query)
    finding = REMOTE_PAUSES.says("pauses", paused=paused) if paused else REMOTE_PAUSES.says("none")
    return REMOTE_PAUSES.answer(
        paused >= t.MAJORITY_SHARE, finding, paused, t.MAJORITY_SHARE, window.end_ms, query
    )


def remote_quota_full(window: Window) -> Symptom:
    """The topic's backlog in the remote cluster has reached its quota there, so nobody may publish to it."""
    query = promql.of_topic_elsewhere(window.key, "pulsar_storage_backlog_size")
    used = window.last("remote_quota_used_share")
    if used is None:
        return REMOTE_QUOTA_FULL.unknown("remote_not_seen", query)
    finding = REMOTE_QUOTA_FULL.says("full" if used >= 1 else "room", used=used)
    return REMOTE_QUOTA_FULL.answer(used >= 1, finding, used, 1.0, window.end_ms, query)
