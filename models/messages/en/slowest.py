"""Slow consumers in English. In: nothing. Out: which consumers of a subscription are slow, one sentence for each situation."""

from __future__ import annotations

SENTENCES = {
    "slowest.not_measured": (
        "Of {subscription} single consumers are not measured: set exposeConsumerLevelMetricsInPrometheus=true on the brokers, "
        "or use throttlescope now --pulsar-admin URL."
    ),
    "slowest.only.not_waited_for": "The broker does not wait for the only active consumer: it has spare capacity.",
    "slowest.only.not_known": "Whether the only active consumer is slow is not known: it was not measured.",
    "slowest.only.slow": "The broker waits for the only active consumer, and nothing gets done.",
    "slowest.only.at_capacity": "The only active consumer is at its capacity ({pace}).",
    "slowest.none_waited_for": "None of {count} consumers keeps the broker waiting: they have spare capacity.",
    "slowest.none_waited_for_nothing_acked": (
        "None of {count} consumers keeps the broker waiting, but they acknowledge nothing and hold {unacked:number} unacknowledged messages."
    ),
    "slowest.not_known": "Which of {count} consumers is slow is not known: not all of them were measured.",
    "slowest.all_slow": "The broker waits for each of {count} consumers, and nothing gets done.",
    "slowest.one_slow": "1 of {count} consumers is slow: {named}; the fastest does {fastest:number} msg/s.",
    "slowest.some_slow": (
        "{slow} of {count} consumers are slow: {named}; the fastest does {fastest:number} msg/s."
    ),
    "slowest.many_slow": (
        "{slow} of {count} consumers are slow: {named} and {more} more; the fastest does {fastest:number} msg/s."
    ),
    "slowest.all_alike": (
        "None of {count} consumers is slower than the others: the broker waits for all of them ({pace} each)."
    ),
    "slowest.none_slow_one_waited_for": (
        "None of {count} consumers is slow; the broker waits for 1 of them, which works as fast as the others ({pace})."
    ),
    "slowest.none_slow": (
        "None of {count} consumers is slow; the broker waits for {waited_for} of them, which work as fast as the others "
        "({pace})."
    ),
    # One of them
    "slowest.consumer.at_address": "{name} at {address}",
    "slowest.consumer.pace.slow": "{name} does {pace:number} msg/s",
    "slowest.consumer.pace.blocked": "{name} does {pace:number} msg/s, blocked on its unacked limit",
    "slowest.consumer.unacked.slow": "{name} does {pace:number} msg/s, holds {unacked:number} unacked",
    "slowest.consumer.unacked.blocked": (
        "{name} does {pace:number} msg/s, holds {unacked:number} unacked, blocked on its unacked limit"
    ),
    "slowest.pace.not_measured": "pace not measured",
    "slowest.pace.one": "{pace:number} msg/s",
    "slowest.pace.range": "{low:number} to {high:number} msg/s",
}
