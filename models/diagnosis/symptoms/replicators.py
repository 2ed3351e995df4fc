"""What does a replicator do, and what does its remote cluster say? In: a window. Out: symptoms.

Of a subscription none of them is measured.
"""

from __future__ import annotations

from statistics import median

from throttlescope.ingest.core.times import MINUTE_MS, SECOND_MS
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis import thresholds as t
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
UNANSWERED = SymptomKind(
    "unanswered", ("no_replicator", "not_measured", "between", "none", "some"), "share of the time"
)
REMOTE_PAUSES = SymptomKind(
    "remote_pauses", ("no_replicator", "remote_not_seen", "pauses", "none"), "share of minutes"
)
REMOTE_QUOTA_FULL = SymptomKind(
    "remote_quota_full", ("no_replicator", "remote_not_seen", "full", "room"), "used / quota"
)

KINDS = (REPLICATOR_DISCONNECTED, SENDS_WAIT, SENDS_NOTHING, UNANSWERED, REMOTE_PAUSES, REMOTE_QUOTA_FULL)
#: The answers of every window of a subscription.
OF_SUBSCRIPTION = (
    REPLICATOR_DISCONNECTED.unknown("no_replicator"),
    SENDS_WAIT.unknown("no_replicator"),
    SENDS_NOTHING.unknown("no_replicator"),
    UNANSWERED.unknown("no_replicator"),
    REMOTE_PAUSES.unknown("no_replicator"),
    REMOTE_QUOTA_FULL.unknown("no_replicator"),
)


def replicator_symptoms(window: Window) -> tuple[Symptom, ...]:
    """All symptoms of a replicator's window, in the order of :data:`KINDS`."""
    return (
        replicator_disconnected(window),
        sends_wait(window),
        sends_nothing(window),
        unanswered(window),
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


def unanswered(window: Window) -> Symptom:
    """No send is answered at all: the age of the oldest one rises with the clock, for the window's last minutes.

    A remote cluster that is slow, or that limits publishing, answers some: then the age rises more slowly, and stays when the replicator
    has as many sends in flight as it may have.
    """
    query = promql.of_replicator(window.key, "pulsar_replication_delay_in_seconds")
    points = window.points("replication_delay_s")[-t.UNANSWERED_MINUTES - 1 :]
    passed_s = (points[-1].at_ms - points[0].at_ms) / SECOND_MS if points else 0.0
    if passed_s < t.UNANSWERED_MINUTES * MINUTE_MS / SECOND_MS:
        return UNANSWERED.unknown("not_measured", query)
    rise = (points[-1].value - points[0].value) / passed_s
    if t.ANSWERED_SHARE < rise < t.UNANSWERED_SHARE:
        return UNANSWERED.unknown("between", query)
    holds = rise >= t.UNANSWERED_SHARE
    finding = UNANSWERED.says("none", passed_s=passed_s) if holds else UNANSWERED.says("some")
    return UNANSWERED.answer(holds, finding, rise, t.UNANSWERED_SHARE, window.end_ms, query)


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
    """The topic's backlog in the remote cluster has reached its quota there, so publishing to it is refused."""
    query = promql.of_topic_elsewhere(window.key, "pulsar_storage_backlog_size")
    used = window.last("remote_quota_used_share")
    if used is None:
        return REMOTE_QUOTA_FULL.unknown("remote_not_seen", query)
    finding = REMOTE_QUOTA_FULL.says("full" if used >= 1 else "room", used=used)
    return REMOTE_QUOTA_FULL.answer(used >= 1, finding, used, 1.0, window.end_ms, query)
