"""Alerts. In: options. Out: one alert per cause that PromQL can detect, and alerts on symptoms."""

from __future__ import annotations

from throttlescope.app.rules_export import wording as w
from throttlescope.app.rules_export.labels import KEY, TOPIC, in_our_shape
from throttlescope.app.rules_export.limiter_rules import BINDS, LIMIT, LIMITER, RHO, events_rate
from throttlescope.app.rules_export.options import ExportOptions
from throttlescope.app.rules_export.rule_records import Alerting, ExportedRecording
from throttlescope.app.rules_export.signal_rules import column_rule
from throttlescope.ingest.contracts.vocabulary import LEVELS, UNITS
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis import thresholds as t
from throttlescope.transforms.limits import ANSWER_VALID_MS
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC
from throttlescope.transforms.rules.load import PREFIX

THROTTLED, BOTH = "PulsarSubscriptionThrottled", "PulsarSubscriptionThrottledAndSlow"
NO_CONSUMERS, BLOCKED = "PulsarSubscriptionNoConsumers", "PulsarSubscriptionBlockedOnUnacked"
REDELIVERY, SLOW = "PulsarSubscriptionRedelivering", "PulsarSubscriptionSlowConsumers"
UNEXPLAINED = "PulsarBacklogGrowsUnexplained"
THROTTLING_AND_GROWING = "PulsarThrottlingWhileBacklogGrows"
DISPATCH_THROTTLED = "PulsarDispatchThrottled"
LIMIT_NEARLY_USED, PUBLISH_THROTTLED = "PulsarDispatchLimitNearlyUsed", "PulsarPublishThrottled"
LIMITS_MISSING, LIMITS_OLD = "ThrottlescopeLimitsMissing", "ThrottlescopeLimitsOld"

#: The label of alerts whose first action is to add consumers. Inhibition looks for it.
ADD_CONSUMERS = "add_consumers"

_HELD, _GROWING = f"{PREFIX}backlog_held_entries", f"{PREFIX}backlog_growing_entries"
_FULL = f"{PREFIX}consumers_queue_full"
_SOME_TIME_MS = 15 * MINUTE_MS
# Recorded as filters, so that alerts of one subscription exclude each other in the order of the hypotheses.
_WITHOUT_CONSUMERS = f"{PREFIX}backlog_without_consumers_entries"
_BLOCKED = f"{PREFIX}backlog_blocked_entries"
_REDELIVERED = f"{PREFIX}backlog_redelivered_entries"
_SLOW = f"{PREFIX}backlog_of_slow_consumers_entries"


def cause_rules(options: ExportOptions) -> list[ExportedRecording]:
    """Filters of the backlog by cause; each has series only while its cause applies."""
    dispatched = column_rule("out_msg_rate_5m", options)
    return [
        ExportedRecording(
            _WITHOUT_CONSUMERS,
            f"{PREFIX}undelivered_entries > 0\n  and\n{PREFIX}consumers == 0",
            why="A backlog of any size, and no consumer is connected.",
        ),
        ExportedRecording(
            _BLOCKED, f"{_HELD}\n  and\n{PREFIX}blocked_on_unacked == 1\n  unless\n{_WITHOUT_CONSUMERS}"
        ),
        ExportedRecording(
            _REDELIVERED,
            f"{_HELD}\n  and\n{PREFIX}redeliver_msg_rate >= {t.REDELIVERY_SHARE:g} * ({dispatched} > 0)\n"
            f"  unless on ({KEY})\n({BINDS} or {_WITHOUT_CONSUMERS} or {_BLOCKED})",
        ),
        ExportedRecording(
            _SLOW,
            f"{_HELD}\n  and\n{PREFIX}consumers > 0\n"
            f"  and\n{PREFIX}limiters_known == {len(LEVELS) * len(UNITS)}\n"
            f"  unless on ({KEY})\n({BINDS} or {PREFIX}limiter_open_rho)\n"
            f"  unless\n({_BLOCKED} or {_REDELIVERED} or {PREFIX}consumers_queue_empty)\n"
            f"  unless\n({dispatched} == 0 unless {_FULL})\n"
            f"  unless\n{PREFIX}backlog_gone_in_s <= {t.DRAIN_TARGET_S:g}",
            why="Every limiter is known and excluded, and the backlog does not drain. Counters at zero prove nothing "
            "if the broker did not read.",
        ),
    ]


def alerts(options: ExportOptions) -> list[Alerting]:
    """All alerts, the causes first."""
    return [*_causes(options), *_alarms(options), *_ours(options)]


def _alert(
    options: ExportOptions, name: str, expr: str, labels: dict, notes: dict, for_ms: int | None = None, why=""
):
    return Alerting(
        name, expr, options.for_ms if for_ms is None else for_ms, {**labels, **options.labels}, notes, why
    )


def _causes(options: ExportOptions) -> list[Alerting]:
    link = w.subscription_link(options)
    throttled = f"{BINDS}\n  unless on ({KEY})\n({_WITHOUT_CONSUMERS} or {_BLOCKED})"
    return [
        _alert(
            options, THROTTLED, f"{throttled}\n  unless on ({KEY})\n{_FULL}",
            {"severity": "warning", "cause": "throttled", "action": "raise_limit"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} is throttled by the {w.LIMITER_WORDS}",
                f"A rate limiter of the broker causes the backlog: {w.SHARE} of the {w.LIMITER_WORDS} is used, by all that "
                "share it, and the limiter keeps throttling reads. Adding consumers will not help.",
                "Check whether this limit is intended for this subscription. If not, raise it; if a neighbour uses it up, "
                "give it a limit of its own.",
                link,
            ),
        ),
        _alert(
            options, BOTH, f"{throttled}\n  and on ({KEY})\n{_FULL}",
            {"severity": "warning", "cause": "both", "action": "raise_limit"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} is at the {w.LIMITER_WORDS}, and its consumers are at their capacity too",
                f"{w.SHARE} of the {w.LIMITER_WORDS} is used while the consumers' queues are full. Raising one alone "
                "changes little.",
                "Plan both: a higher limit, and faster or more consumers.",
                link,
            ),
        ),
        _alert(
            options, NO_CONSUMERS, _WITHOUT_CONSUMERS,
            {"severity": "warning", "cause": "no_consumers", "action": ADD_CONSUMERS},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} has no consumers",
                f"{w.COUNT} entries are waiting and no consumer is connected.",
                "Find out why no consumer is connected: logs, deployment, permissions. If the "
                "subscription is no longer needed, delete it.",
                link,
            ),
        ),
        _alert(
            options, BLOCKED, _BLOCKED,
            {"severity": "critical", "cause": "blocked_on_unacked", "action": "acknowledge"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} is blocked on unacknowledged messages",
                f"{w.COUNT} entries are waiting. Pulsar stopped dispatching until consumers acknowledge messages.",
                "Look for consumers that receive messages and do not acknowledge them; restart or fix them.",
                link,
            ),
        ),
        _alert(
            options, REDELIVERY, _REDELIVERED,
            {"severity": "warning", "cause": "redelivery", "action": "mend_consumers"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} mostly redelivers messages",
                f"{w.COUNT} entries are waiting while most of the dispatched messages are redeliveries.",
                "Look for messages that fail repeatedly, and for acknowledgement timeouts that are too short; consider a "
                "dead letter topic.",
                link,
            ),
        ),
        _alert(
            options, SLOW, _SLOW,
            {"severity": "warning", "cause": "slow_consumers", "action": ADD_CONSUMERS},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS}: its consumers cannot keep up",
                f"{w.COUNT} entries are waiting, and no dispatch limit is limiting: the consumers process less than is published.",
                "Add consumers or make them faster. An Exclusive or Failover subscription takes one consumer per partition: "
                "add partitions.",
                link,
            ),
        ),
    ]  # fmt: skip


def _alarms(options: ExportOptions) -> list[Alerting]:
    near = f"{t.RHO_NEAR_LIMIT:g}"
    found = [
        _alert(
            options, UNEXPLAINED,
            f"{_GROWING}\n  unless on ({KEY})\n({BINDS} or {_WITHOUT_CONSUMERS} or {_BLOCKED} or {_REDELIVERED} or {_SLOW})",
            {"severity": "info", "cause": "unknown", "action": "look"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS}: the backlog grows for an unknown reason",
                f"{w.COUNT} entries more than {options.window} ago. Neither a limiter nor the consumers can be identified as the cause from "
                "these metrics.",
                "Open the page: it lists the missing evidence. Do not add consumers before the cause is known.",
                w.subscription_link(options),
            ),
            _SOME_TIME_MS,
        ),
        _alert(
            options, THROTTLING_AND_GROWING,
            f"sum by ({KEY}) ({events_rate(options)})\n  and\n{_GROWING}",
            {"severity": "info", "action": "look"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS}: reads are throttled while the backlog grows",
                f"{w.COUNT} reads per second are throttled by some limiter. This alone proves nothing: a small limit "
                "throttles reads of a healthy subscription too.",
                "Wait for an alert with a cause, and open the page.",
                w.subscription_link(options),
            ),
        ),
        _alert(
            options, DISPATCH_THROTTLED,
            f'{events_rate(options)}\n  and on ({LIMITER})\n{LIMIT}{{events_informative="true"}}',
            {"severity": "info", "action": "look"},
            w.annotations(
                f"{w.SUBSCRIPTION_WORDS} is throttled from time to time by the {w.LIMITER_WORDS}",
                f"{w.COUNT} reads per second are throttled by the {w.LIMITER_WORDS}. The limit is larger than one read, so in some "
                "seconds it was used up, however low the mean of the minute is.",
                "If messages must not wait for the next period, raise the limit or lengthen its period.",
                w.subscription_link(options),
            ),
        ),
    ]  # fmt: skip
    scopes = (("subscription", KEY, w.SUBSCRIPTION_WORDS, w.subscription_link(options)),
              ("topic", TOPIC, w.TOPIC_WORDS, w.topic_link(options)),
              ("broker", "cluster", "A broker of {{ $labels.cluster }}", w.cluster_link(options)))  # fmt: skip
    for scope, by, who, link in scopes:
        found.append(
            _alert(
                options, LIMIT_NEARLY_USED, f'max by ({by}, level, unit) ({RHO}{{level="{scope}"}}) >= {near}',
                {"severity": "info", "scope": scope, "action": "plan"},
                w.annotations(
                    f"{who} uses {w.SHARE} of the {w.LIMITER_WORDS}",
                    f"Consumption is at {w.SHARE} of the {w.LIMITER_WORDS}. No backlog yet because of it.",
                    "Raise the limit before the traffic grows, or accept that it will throttle.",
                    link,
                ),
                _SOME_TIME_MS,
            )
        )  # fmt: skip
    # The broker resets it every 60 s: the largest value is the worst minute; increase() would be meaningless.
    pauses = f"max by (cluster, namespace, topic, partition) (max_over_time(pulsar_publish_rate_limit_times[{options.window}]))"
    found.append(
        _alert(
            options, PUBLISH_THROTTLED, f"{in_our_shape('max', TOPIC, pauses, options)} > 0",
            {"severity": "info", "action": "look"},
            w.annotations(
                f"Producers of {w.TOPIC_WORDS} are throttled by the broker",
                f"The broker paused the connections of its producers up to {w.COUNT} times in a minute of the last {options.window}, as "
                "it does when a publish limit is exceeded. A pause counts for every topic that has a producer on the connection. "
                "Messages that are not published are in no backlog.",
                "Check the publish limits of this topic, its namespace and the broker, and of topics whose producers share a client with it.",
                w.topic_link(options),
            ),
        )
    )  # fmt: skip
    return found


def _ours(options: ExportOptions) -> list[Alerting]:
    labels = {"severity": "info", "action": "read_limits"}
    return [
        _alert(
            options, LIMITS_MISSING,
            f"count by (cluster) ({PREFIX}backlog_ready_entries)\n  unless on (cluster)\n"
            f"count by (cluster) ({LIMIT_METRIC})",
            labels,
            w.annotations(
                "The dispatch limits of {{ $labels.cluster }} are not known",
                f"{{{{ $value }}}} subscription partitions are scraped but their cluster has no {LIMIT_METRIC}: no "
                "alert can distinguish a limiter from slow consumers.",
                "Let this Prometheus scrape throttlescope serve, and let throttlescope run read the admin API.",
                w.cluster_link(options),
            ),
            _SOME_TIME_MS,
        ),
        _alert(
            options, LIMITS_OLD,
            f"time() - throttlescope_limits_observed_timestamp_seconds > {ANSWER_VALID_MS // 1000}",
            labels,
            w.annotations(
                "The dispatch limits of {{ $labels.cluster }} are out of date",
                "They were read {{ $value | humanizeDuration }} ago and may have changed since.",
                "Check why throttlescope run no longer reads the admin API.",
                w.cluster_link(options),
            ),
            _SOME_TIME_MS,
        ),
    ]  # fmt: skip
