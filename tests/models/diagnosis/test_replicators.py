"""Verdicts of replicators. Each case says what differs from one that keeps up: a value, or one per minute."""

from __future__ import annotations

import pytest

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.diagnosis.symptoms import examine, replicators
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import SubscriptionKey, Window

START_MS = 1_795_000_200_000
KEY = SubscriptionKey("east", "acme/shop", "persistent://acme/shop/orders", -1, "pulsar.repl.west")
GROWS = [1000.0, 6000.0, 11_000.0, 16_000.0, 21_000.0]

KEEPS_UP = {
    "backlog": 0.0,  # entries
    "sent": 100.0,  # entries/s
    "written": 100.0,
    "connected": 1.0,
    "delay_s": 0.0,
    "pauses": 0.0,  # of the remote topic; None: nothing was read of it
    "quota": 0.1,  # of the remote topic: backlog / quota
    "limit": None,  # entries/s
    "limits_read": True,
}


def window(**changes) -> Window:
    scene = KEEPS_UP | changes
    minutes = [
        {name: value[i] if isinstance(value, list) else value for name, value in scene.items()}
        for i in range(5)
    ]
    return Window.of_rows(
        KEY, START_MS, START_MS + 5 * MINUTE_MS, [_row(i, minute) for i, minute in enumerate(minutes)]
    )


def _row(i: int, minute: dict) -> dict:
    limits = {}
    if minute["limits_read"]:
        limits = {f"limit_{level}_set_by": "none" for level in ("broker", "topic", "subscription")}
        if minute["limit"]:
            limits["limit_subscription_set_by"] = "namespace_policy"
            limits["limit_subscription_msg"] = minute["limit"]
            limits["limit_subscription_period_s"] = 1
            limits["rho_subscription_msg"] = minute["sent"] / minute["limit"]
        limits["limits_observed_ms"] = START_MS
    return {
        "minute_ms": START_MS + i * MINUTE_MS,
        "backlog_entries": minute["backlog"],
        "backlog_ready_entries": minute["backlog"],
        "coverage_share": 1.0,
        "brokers_serving": 1,
        "counter_resets": 0,
        "broker_changed": False,
        "write_entry_rate": minute["written"],
        "replication_entry_rate": minute["sent"],
        "replication_connected": minute["connected"],
        "replication_delay_s": minute["delay_s"],
        "remote_publish_pauses": minute["pauses"],
        "remote_quota_used_share": minute["quota"],
        "limits_observed": minute["limits_read"],
        "limit_observed_later": False,
        "limits_changed": False,
        "limit_counts": "entries",
        "read_batch_entries": 100,
        **limits,
    }


CASES = {
    "keeps up": ({}, "neither", "healthy", None),
    "keeps up below its limit": ({"limit": 150}, "neither", "healthy", None),
    "limit used up": ({"backlog": GROWS, "sent": 20.0, "limit": 20}, "throttle", "throttled", "subscription.msg"),
    "limit lifted, drains": (
        {"backlog": GROWS[::-1], "sent": 183.0},
        "neither", "healthy", None,
    ),
    "remote pauses publishing": (
        {"backlog": GROWS, "sent": 20.0, "delay_s": [50.0, 110.0, 170.0, 230.0, 290.0], "pauses": 3.0},
        "throttle", "remote_publish_limit", None,
    ),
    "slow network": (
        {"backlog": GROWS, "sent": 20.0, "delay_s": 50.0},
        "consumer_capacity", "remote_slow", None,
    ),
    "sends wait and the remote was not seen": (
        {"backlog": GROWS, "sent": 20.0, "delay_s": 50.0, "pauses": None, "quota": None},
        "unknown", "unknown", None,
    ),
    "remote quota full": (
        {"backlog": GROWS, "sent": 0.0, "connected": 0.0, "quota": 1.2},
        "neither", "remote_quota", None,
    ),
    "remote away": (
        {"backlog": GROWS, "sent": 0.0, "connected": 0.0, "delay_s": [50.0, 110.0, 170.0, 230.0, 290.0], "pauses": None, "quota": None},
        "neither", "remote_disconnected", None,
    ),
    "remote back": (
        {"backlog": GROWS[::-1], "sent": 183.0, "connected": [0.0, 1.0, 1.0, 1.0, 1.0]},
        "neither", "healthy", None,
    ),
    # Before a thousand sends are in flight, more are made.
    "remote answers nothing yet": (
        {"backlog": GROWS, "sent": [20.0, 20.0, 20.0, 12.0, 0.0], "delay_s": [0.0, 44.0, 104.0, 164.0, 224.0]},
        "neither", "schema_refused", None,
    ),
    "answers nothing and was not seen": (
        {"backlog": GROWS, "sent": 0.0, "delay_s": [66.0, 126.0, 186.0, 246.0, 306.0], "pauses": None},
        "unknown", "unknown", None,
    ),
    "answers that cannot be told": (
        {"backlog": GROWS, "sent": 3.0, "delay_s": [40.0, 88.0, 136.0, 184.0, 232.0]},
        "unknown", "unknown", None,
    ),
    "quota full and nothing answered": (
        {"backlog": GROWS, "sent": [20.0, 20.0, 9.0, 0.0, 0.0], "delay_s": [0.0, 21.0, 81.0, 141.0, 201.0], "quota": 1.1},
        "neither", "remote_quota", None,
    ),
    # As a real broker shows it: no more than a thousand sends wait, then nothing is sent.
    "remote answers nothing": (
        {"backlog": GROWS, "sent": 0.0, "delay_s": [66.0, 126.0, 186.0, 246.0, 306.0]},
        "neither", "schema_refused", None,
    ),
    "reads no more": ({"backlog": GROWS, "sent": 0.0}, "neither", "replicator_stuck", None),
    "nothing known of the limit and near nothing sent": (
        {"backlog": GROWS, "sent": 20.0, "limits_read": False},
        "unknown", "unknown", None,
    ),
}  # fmt: skip


SYMPTOMS = [
    ("replicator_disconnected", {"connected": [1.0, 0.0, 0.0, 0.0, 0.0]}, True),
    ("replicator_disconnected", {"connected": [0.0, 0.0, 0.0, 0.0, 1.0]}, False),
    ("replicator_disconnected", {"connected": None}, None),
    ("sends_wait", {"delay_s": 1.5}, True),
    ("sends_wait", {"delay_s": [0.0, 9.0, 0.0, 0.0, 0.0]}, False),
    ("sends_wait", {"delay_s": None}, None),
    ("sends_nothing", {"sent": 0.0}, True),
    ("sends_nothing", {"sent": [0.0, 0.0, 1.0, 0.0, 0.0]}, False),
    ("sends_nothing", {"sent": None}, None),
    ("unanswered", {"delay_s": [0.0, 0.0, 44.0, 104.0, 164.0]}, True),
    ("unanswered", {"delay_s": [0.0, 18.0, 54.0, 63.0, 63.0]}, False),
    ("unanswered", {"delay_s": [0.0, 40.0, 88.0, 136.0, 184.0]}, None),
    ("unanswered", {"delay_s": [None, None, None, 60.0, 120.0]}, None),
    ("remote_pauses", {"pauses": 2.0}, True),
    ("remote_pauses", {"pauses": [2.0, 0.0, 0.0, 0.0, 0.0]}, False),
    ("remote_pauses", {"pauses": None}, None),
    ("remote_quota_full", {"quota": 1.01}, True),
    ("remote_quota_full", {"quota": 0.99}, False),
    ("remote_quota_full", {"quota": None}, None),
]


@pytest.mark.parametrize(("name", "changes", "answer"), SYMPTOMS)
def test_replicator_symptoms(name, changes, answer):
    symptom = examine(window(**changes)).by_name[name]
    assert symptom.holds is answer
    assert symptom.text.endswith(".")


def test_each_answer_of_a_symptom_has_a_case():
    cases = {(name, answer) for name, _, answer in SYMPTOMS}
    assert cases == {(kind.name, answer) for kind in replicators.KINDS for answer in (True, False, None)}


@pytest.mark.parametrize("name", CASES)
def test_replicator_verdicts(name):
    changes, side, cause, limiter = CASES[name]
    verdict = diagnose(window(**changes))
    assert (verdict.side, verdict.cause, verdict.limiter) == (side, cause, limiter), verdict.why


def test_a_delay_of_zero_is_no_evidence_of_health():
    limited = diagnose(window(backlog=GROWS, sent=20.0, limit=20, delay_s=0.0))
    assert not any(row.weight == "against" and row.symptom == "sends_wait" for row in limited.evidence)
    assert limited.side == "throttle"


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] != "healthy"])
def test_evidence_names_series_of_the_replicator(name):
    verdict = diagnose(window(**CASES[name][0]))
    queries = [row.promql for row in verdict.evidence if row.promql]
    assert not any("subscription=" in query for query in queries), queries
