"""Alerts. In: options. Out: one alert per cause that PromQL can detect, and alerts on symptoms.

Each alert is one :class:`AlertDefinition`; its sentences are in ``models/messages/en/exported_rules.py``.
"""

from __future__ import annotations

from throttlescope.app.rules_export.labels import KEY, TOPIC, normalized
from throttlescope.app.rules_export.limiter_rules import BINDS, LIMIT, LIMITER, RHO, events_rate
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import AlertDefinition, Alerting, ExportedRecording
from throttlescope.app.rules_export.signal_rules import NOT_PULSARS_OWN, column_rule
from throttlescope.app.rules_export.wording import alerting
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.subscription_name import RE2_REPLICATOR
from throttlescope.ingest.core.system_names import SYSTEM_TOPIC
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.models.messages.catalogue import sentence
from throttlescope.transforms.limits import ANSWER_VALID_MS
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.rules.load import PREFIX

THROTTLED, BOTH = "PulsarSubscriptionThrottled", "PulsarSubscriptionThrottledAndSlow"
NO_CONSUMERS, BLOCKED = "PulsarSubscriptionNoConsumers", "PulsarSubscriptionBlockedOnUnacked"
REDELIVERY, SLOW = "PulsarSubscriptionRedelivering", "PulsarSubscriptionSlowConsumers"
DISCONNECTED, REPLICATION_GROWS = "PulsarReplicatorDisconnected", "PulsarReplicationBacklogGrows"
UNEXPLAINED = "PulsarBacklogGrowsUnexplained"
BACKLOG_OLD, TOPIC_BACKLOG_OLD = "PulsarBacklogOld", "PulsarTopicBacklogOld"
THROTTLING_AND_GROWING = "PulsarThrottlingWhileBacklogGrows"
DISPATCH_THROTTLED = "PulsarDispatchThrottled"
LIMIT_NEARLY_USED, PUBLISH_THROTTLED = "PulsarDispatchLimitNearlyUsed", "PulsarPublishThrottled"
QUOTA_STOPS = "PulsarBacklogQuotaStopsProducers"
LIMITS_MISSING, LIMITS_OLD = "ThrottlescopeLimitsMissing", "ThrottlescopeLimitsOld"

#: The label of alerts whose first action is to add consumers. Inhibition looks for it.
ADD_CONSUMERS = "add_consumers"

_BACKLOG, _GROWING = f"{PREFIX}backlog_held_entries", f"{PREFIX}backlog_growing_entries"
_FULL = f"{PREFIX}consumers_queue_full"
_SOME_TIME_MS = 15 * MINUTE_MS
# Recorded as filters, so that alerts of one subscription exclude each other in the order of the hypotheses.
_WITHOUT_CONSUMERS = f"{PREFIX}backlog_without_consumers_entries"
_BLOCKED = f"{PREFIX}backlog_blocked_entries"
_REDELIVERED = f"{PREFIX}backlog_redelivered_entries"
_SLOW = f"{PREFIX}backlog_of_slow_consumers_entries"
_DISCONNECTED = f"{PREFIX}backlog_disconnected_entries"
#: By cause the series that exist only while it applies. One subscription partition may have several of a limiter.
CAUSE_SERIES = {
    "throttled": BINDS,
    "slow_consumers": _SLOW,
    "no_consumers": _WITHOUT_CONSUMERS,
    "blocked_on_unacked": _BLOCKED,
    "redelivery": _REDELIVERED,
    "remote_disconnected": _DISCONNECTED,
}
_REPLICATORS = f'{{subscription=~"{RE2_REPLICATOR}"}}'


def cause_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Filters of the backlog by cause; each has series only while its cause applies."""
    dispatched = column_rule("out_msg_rate_5m", options)
    return [
        ExportedRecording(
            _WITHOUT_CONSUMERS,
            f"{PREFIX}undelivered_entries > 0\n  and\n{PREFIX}consumers == 0",
            why=sentence("exported_rules.rule.no_consumers"),
        ),
        ExportedRecording(
            _BLOCKED, f"{_BACKLOG}\n  and\n{PREFIX}blocked_on_unacked == 1\n  unless\n{_WITHOUT_CONSUMERS}"
        ),
        ExportedRecording(
            _REDELIVERED,
            f"{_BACKLOG}\n  and\n{PREFIX}redeliver_msg_rate >= {t.REDELIVERY_SHARE:g} * ({dispatched} > 0)\n"
            f"  unless on ({KEY})\n({BINDS} or {_WITHOUT_CONSUMERS} or {_BLOCKED})",
        ),
        ExportedRecording(
            _SLOW,
            f"{_BACKLOG}\n  and\n{PREFIX}consumers > 0\n"
            f"  and\n{PREFIX}limiters_known == {len(LEVELS) * len(UNITS)}\n"
            f"  unless on ({KEY})\n({BINDS} or {PREFIX}limiter_open_rho)\n"
            f"  unless\n({_BLOCKED} or {_REDELIVERED} or {PREFIX}consumers_queue_empty)\n"
            f"  unless\n({dispatched} == 0 unless {_FULL})\n"
            f"  unless\n{PREFIX}backlog_gone_in_s <= {t.DRAIN_TARGET_S:g}",
            why=sentence("exported_rules.rule.slow_consumers"),
        ),
        ExportedRecording(_DISCONNECTED, f"{_BACKLOG}\n  and\n{PREFIX}replication_connected == 0"),
    ]


def _throttled(options: ExportOptions) -> str:
    return f"{BINDS}\n  unless on ({KEY})\n({_WITHOUT_CONSUMERS} or {_BLOCKED})"


def _throttling_and_growing(options: ExportOptions) -> str:
    return f"sum by ({KEY}) ({events_rate(options)})\n  and\n{_GROWING}"


def _age(options: ExportOptions) -> str:
    own = f"pulsar_subscription_storage_backlog_age_seconds{{{NOT_PULSARS_OWN}}}"
    return normalized("max", KEY, f"max by ({KEY}) ({own})", options)


def _backlog_old(options: ExportOptions) -> str:
    return f"{_age(options)} > {options.backlog_age_s:g}"


def _topic_backlog_old(options: ExportOptions) -> str:
    # The age of its slowest subscription, which brokers give that do not give that subscription's own.
    topic = f'max by ({TOPIC}) (pulsar_storage_backlog_age_seconds{{topic!~"{SYSTEM_TOPIC}"}})'
    old = f"{normalized('max', TOPIC, topic, options)} > {options.backlog_age_s:g}"
    return f"{old}\n  unless on ({TOPIC})\n({_backlog_old(options)})"


def _dispatch_throttled(options: ExportOptions) -> str:
    return f'{events_rate(options)}\n  and on ({LIMITER})\n{LIMIT}{{events_informative="true"}}'


def _publish_throttled(options: ExportOptions) -> str:
    # The broker resets it every 60 s: the largest value is the worst minute; increase() would be meaningless.
    pauses = f"max by ({TOPIC}) (max_over_time(pulsar_publish_rate_limit_times[{options.window}]))"
    return f"{normalized('max', TOPIC, pauses, options)} > 0"


def _quota_stops(options: ExportOptions) -> str:
    # A quota that evicts keeps its topic published: nothing published is what the two that stop producers show.
    full = (
        f"max by ({TOPIC}) (pulsar_storage_backlog_size)\n"
        f"  >= (max by ({TOPIC}) (pulsar_storage_backlog_quota_limit) > 0)\n"
        f"  unless max by ({TOPIC}) (pulsar_rate_in) > 0"
    )
    return normalized("max", TOPIC, full, options)


_CAUSES = (
    AlertDefinition(
        THROTTLED,
        "warning",
        {"cause": "throttled", "action": "raise_limit"},
        lambda options: f"{_throttled(options)}\n  unless on ({KEY})\n{_FULL}",
    ),
    AlertDefinition(
        BOTH,
        "warning",
        {"cause": "both", "action": "raise_limit"},
        lambda options: f"{_throttled(options)}\n  and on ({KEY})\n{_FULL}",
    ),
    AlertDefinition(
        NO_CONSUMERS,
        "warning",
        {"cause": "no_consumers", "action": ADD_CONSUMERS},
        lambda _: _WITHOUT_CONSUMERS,
    ),
    AlertDefinition(
        BLOCKED, "critical", {"cause": "blocked_on_unacked", "action": "acknowledge"}, lambda _: _BLOCKED
    ),
    AlertDefinition(
        REDELIVERY, "warning", {"cause": "redelivery", "action": "mend_consumers"}, lambda _: _REDELIVERED
    ),
    AlertDefinition(SLOW, "warning", {"cause": "slow_consumers", "action": ADD_CONSUMERS}, lambda _: _SLOW),
    AlertDefinition(
        DISCONNECTED, "warning", {"cause": "remote_disconnected", "action": "look"}, lambda _: _DISCONNECTED
    ),
)
_SYMPTOMS = (
    AlertDefinition(
        REPLICATION_GROWS,
        "warning",
        {"action": "look"},
        lambda _: f"{_GROWING}{_REPLICATORS}\n  unless on ({KEY})\n{_DISCONNECTED}",
        for_ms=_SOME_TIME_MS,
        real_if=None,
    ),
    AlertDefinition(BACKLOG_OLD, "warning", {"action": "look"}, _backlog_old),
    AlertDefinition(TOPIC_BACKLOG_OLD, "warning", {"action": "look"}, _topic_backlog_old, subject="topic"),
    AlertDefinition(
        UNEXPLAINED,
        "info",
        {"cause": "unknown", "action": "look"},
        lambda _: (
            f"{_GROWING}\n  unless on ({KEY})\n"
            f"({BINDS} or {_WITHOUT_CONSUMERS} or {_BLOCKED} or {_REDELIVERED} or {_SLOW} or {_GROWING}{_REPLICATORS})"
        ),
        for_ms=_SOME_TIME_MS,
    ),
    AlertDefinition(
        THROTTLING_AND_GROWING, "info", {"action": "look"}, _throttling_and_growing, real_if="limit"
    ),
    AlertDefinition(DISPATCH_THROTTLED, "info", {"action": "look"}, _dispatch_throttled, real_if="limit"),
    *(
        AlertDefinition(
            LIMIT_NEARLY_USED,
            "info",
            {"scope": level, "action": "plan"},
            lambda _, level=level, by=by: (
                f'max by ({by}, level, unit) ({RHO}{{level="{level}"}}) >= {t.RHO_NEAR_LIMIT:g}'
            ),
            subject=level,
            for_ms=_SOME_TIME_MS,
            real_if="limit",
        )
        for level, by in (("subscription", KEY), ("topic", TOPIC), ("broker", "cluster"))
    ),
    AlertDefinition(
        PUBLISH_THROTTLED, "info", {"action": "look"}, _publish_throttled, subject="topic", real_if=None
    ),
    AlertDefinition(QUOTA_STOPS, "warning", {"action": "look"}, _quota_stops, subject="topic", real_if=None),
)
_LIMITS_READ = (
    AlertDefinition(
        LIMITS_MISSING,
        "info",
        {"action": "read_limits"},
        lambda _: (
            f"count by (cluster) ({PREFIX}backlog_ready_entries)\n  unless on (cluster)\n"
            f"count by (cluster) ({LIMIT_METRIC})"
        ),
        subject="cluster",
        for_ms=_SOME_TIME_MS,
        real_if=None,
    ),
    AlertDefinition(
        LIMITS_OLD,
        "info",
        {"action": "read_limits"},
        lambda _: f"time() - throttlescope_limits_observed_timestamp_seconds > {ANSWER_VALID_MS // 1000}",
        subject="cluster",
        for_ms=_SOME_TIME_MS,
        real_if=None,
    ),
)
#: All alerts, the causes first.
ALERTS = (*_CAUSES, *_SYMPTOMS, *_LIMITS_READ)


def alerts(options: ExportOptions) -> list[Alerting]:
    """All alerts as rules."""
    return [alerting(alert, options) for alert in ALERTS]
