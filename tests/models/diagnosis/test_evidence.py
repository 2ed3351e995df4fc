"""Evidence: the weighing table, what a reader sees, and queries that Prometheus can read."""

from __future__ import annotations

import promql_parser
import pytest

from tests.models.diagnosis.scenes import scene
from tests.models.diagnosis.test_cases import CASES, NO_QUEUES, UP, sub
from throttlescope.ingest.contracts.vocabulary import CAUSES
from throttlescope.models.diagnosis import promql
from throttlescope.models.diagnosis.bearing import BEARING
from throttlescope.models.diagnosis.causes import CAUSE_OF
from throttlescope.models.diagnosis.evidence import WEIGHTS
from throttlescope.models.diagnosis.symptoms import SYMPTOMS
from throttlescope.models.diagnosis.verdict import diagnose
from throttlescope.models.diagnosis.window import SubscriptionKey


def verdict_of(**changes):
    return diagnose(scene(**changes))


def by_symptom(verdict):
    return {evidence.symptom: evidence for evidence in verdict.evidence}


def test_the_weighing_table_uses_closed_words_once():
    seen = set()
    for bearing in BEARING:
        assert bearing.symptom in SYMPTOMS
        assert (bearing.symptom, bearing.holds) not in seen
        seen.add((bearing.symptom, bearing.holds))
        words = [word for cell in bearing[2:] for word in cell.split() if word != "*"]
        assert set(words) <= set(CAUSES)
        assert len(words) == len(set(words)), f"{bearing.symptom} weighs a cause twice"


def test_every_nameable_cause_has_evidence():
    for cause in CAUSE_OF:
        assert any(cause in bearing.speaks_for.split() for bearing in BEARING), cause


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story)
def test_evidence_is_sorted_and_supports_cause(case):
    weights = [evidence.weight for evidence in verdict_of(**case.scene).evidence]
    assert weights == sorted(weights, key=WEIGHTS.index)
    assert weights[0] == "for"


def test_throttled_verdict_shows_its_limiter():
    verdict = verdict_of(
        **UP,
        limits={
            "topic.msg": {"limit": 100, "rho": 0.99, "events": 1.0},
            "subscription.msg": {"limit": 100, "rho": 0.995, "events": 0.0},
        },
    )
    assert verdict.limiter == "topic.msg"
    assert by_symptom(verdict)["limiter_at_limit"].text.startswith("The topic's message limit (100 msg/s)")


def test_uninformative_events_are_shown_not_counted():
    verdict = verdict_of(in_rate=20.0, out_rate=20.0, limits=sub(50, 0.4, 20.0))
    events = by_symptom(verdict)["throttle_events"]
    assert events.weight == "neutral"
    assert "proves nothing" in events.text


def test_what_speaks_against_is_listed_too():
    verdict = verdict_of(**UP, redeliver_rate=60.0, limits=sub(100, 0.95, 1.0))
    assert verdict.cause == "throttled"
    slow = verdict_of(
        **UP, permits=0.0, starved=1.0, unacked=2000.0, limits=sub(1000, 0.95, 0.01), out_rate=950.0
    )
    assert slow.cause == "slow_consumers"
    assert by_symptom(slow)["limiter_at_limit"].weight == "against"


def test_unknown_says_why_first():
    verdict = verdict_of(**UP, **NO_QUEUES, limits_observed=False, limits={"topic.bytes": {"events": 11.0}})
    assert verdict.cause == "unknown"
    assert verdict.evidence[0].symptom == "rule"
    assert verdict.evidence[0].text == f"No cause is named: {verdict.why}."


@pytest.mark.parametrize(
    ("changes", "what", "fix"),
    [
        ({"limits_observed": False}, "limits: no metric carries them", "--pulsar-admin"),
        ({"observed_later": True, "limits": sub(100, 0.99, 1.0)}, "first read after it", "every hour"),
        ({"permits": None, "starved": None}, "permits", "exposeConsumerLevelMetricsInPrometheus=true"),
        (NO_QUEUES, "Exclusive and Failover", "consumer metrics"),
        ({"kind": None}, "type", "--pulsar-admin"),
        ({"counters": False}, "throttle counters", "4.0.4"),
        ({"coverage": 0.6}, "60 % of the samples", "scrape"),
        ({"limits": sub(100, 2.0, 1.0)}, "really enforces", "--pulsar-admin"),
    ],
)
def test_missing_evidence_names_the_switch(changes, what, fix):
    verdict = verdict_of(**UP, **changes)
    assert any(what in missing.what and fix in missing.fix for missing in verdict.missing_evidence)


def test_healthy_subscription_misses_no_evidence():
    assert (
        verdict_of(limits_observed=False, permits=None, starved=None, counters=False).missing_evidence == ()
    )


KEYS = [
    SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/orders", -1, "billing"),
    SubscriptionKey("prod", "acme/shop", "persistent://acme/shop/or.ders+1", 3, "billing"),
    SubscriptionKey("prod", "acme/shop", 'persistent://acme/shop/quo"te\\d', 0, 'line\nbreak "x" ../'),
]


@pytest.mark.parametrize("key", KEYS)
def test_all_queries_are_promql(key):
    queries = [
        promql.gauge(key, "pulsar_subscription_back_log"),
        promql.events(key, "topic", "bytes", 300_000),
        promql.all_events(key, 300_000),
        promql.flow(key, 300_000),
        promql.permits(key),
        promql.age(key, "pulsar_subscription_last_acked_timestamp"),
        *(
            promql.use(key, level, unit, "broker-0:8080", 300_000)
            for level in ("broker", "topic", "subscription")
            for unit in ("msg", "bytes")
        ),
    ]
    for query in queries:
        promql_parser.parse(query)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.story)
def test_queries_of_verdicts_are_promql(case):
    for evidence in verdict_of(**case.scene).evidence:
        if evidence.promql is not None:
            promql_parser.parse(evidence.promql)


def test_a_selector_finds_both_label_shapes():
    plain = promql.of_subscription(KEYS[0])
    assert plain == '{topic="persistent://acme/shop/orders",partition=~"|-1",subscription="billing"}'
    split = promql.of_subscription(KEYS[1])
    assert split == (
        r'{topic=~"persistent://acme/shop/or\\.ders\\+1(-partition-3)?",partition=~"|3",subscription="billing"}'
    )
