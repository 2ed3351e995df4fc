"""JSON answers of Pulsar's admin API. In: an answer for each question. Out: what a run makes of them, down to limits and deadlines."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import urlsplit

from tests.fuzz.mutate import mutated_json
from tests.fuzz.target import Target
from tests.fuzz.targets.answers import http_answer
from throttlescope.app.services.diagnose_now.admin import DeadlineAdmin, read_topic_admin
from throttlescope.app.services.diagnose_now.deadline import Deadline
from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.sources.consumer_stats import consumer_stats
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, PulsarAdmin
from throttlescope.ingest.sources.topic_stats import THROTTLE_FIELDS
from throttlescope.transforms.deadlines import TopicAnswers
from throttlescope.transforms.limits import effective_limits

_TOPIC = "persistent://t/n/x"
_RATE = {
    "dispatchThrottlingRateInMsg": 50,
    "dispatchThrottlingRateInByte": -1,
    "ratePeriodInSecond": 1,
    "relativeToPublishRate": False,
}
_QUOTA = {"destination_storage": {"limitSize": 1_000, "limitTime": -1, "policy": "producer_exception"}}
_RUNTIME = {
    "clusterName": "local",
    "topicLevelPoliciesEnabled": "true",
    "dispatchThrottlingRatePerTopicInMsg": "0",
    "dispatchThrottlingRatePerTopicInByte": "0",
    "dispatchThrottlingRatePerSubscriptionInMsg": "10",
    "dispatchThrottlingRatePerSubscriptionInByte": "0",
    "dispatchThrottlingRateInMsg": "0",
    "dispatchThrottlingRateInByte": "0",
    "dispatcherMaxReadBatchSize": "100",
    "dispatcherMaxReadSizeBytes": "5242880",
    "ttlDurationDefaultInSeconds": "0",
    "backlogQuotaDefaultLimitBytes": "-1",
    "backlogQuotaDefaultLimitSecond": "-1",
    "backlogQuotaCheckEnabled": "true",
    "messageExpiryCheckIntervalInMinutes": "5",
    "backlogQuotaCheckIntervalInSeconds": "60",
    "managedLedgerMaxLedgerRolloverTimeMinutes": "240",
    "defaultRetentionTimeInMinutes": "0",
    "defaultRetentionSizeInMB": "0",
    "tokenSecretKey": "x",
}
_CONSUMER = {
    "availablePermits": 900,
    "avgMessagesPerEntry": 3,
    "consumerName": "c1",
    "msgRateOut": 1.5,
    "unackedMessages": 1,
    "address": "/1.2.3.4:5",
}
_STATS = {
    "ownerBroker": "b:8080",
    "subscriptions": {
        "s": {
            "type": "Shared",
            "consumers": [_CONSUMER],
            **dict.fromkeys(THROTTLE_FIELDS.values(), 2),
            "msgBacklog": 10,
            "msgDelayed": 0,
            "unackedMessages": 1,
            "blockedSubscriptionOnUnackedMsgs": False,
            "msgOutCounter": 5,
            "bytesOutCounter": 99,
        }
    },
}
#: The end of a path to the answer.
ANSWERS: dict[str, Any] = {
    "/brokers": ["b:8080"],
    "/runtime": _RUNTIME,
    "/version": "4.2.4",
    "/configuration/values": {"dispatchThrottlingRatePerTopicInMsg": "5"},
    "/namespaces/t/n": {
        "topicDispatchRate": {"local": _RATE},
        "subscriptionDispatchRate": {},
        "replication_clusters": ["local"],
        "message_ttl_in_seconds": 60,
        "backlog_quota_map": _QUOTA,
        "retention_policies": {"retentionTimeInMinutes": 0, "retentionSizeInMB": 0},
    },
    "/dispatchRate": _RATE,
    "/subscriptionDispatchRate": _RATE,
    "/messageTTL": 60,
    "/backlogQuotaMap": _QUOTA,
    "/retention": {"retentionTimeInMinutes": 10, "retentionSizeInMB": -1},
    "/partitions": {"partitions": 0},
    "/topic/persistent/t/n/x": {"httpUrl": "http://b:8080", "nativeUrl": ""},
    "/subscriptions": ["s"],
    "/stats": _STATS,
}


def _make(rng: random.Random) -> dict[str, str]:
    answers = {path: json.dumps(value) for path, value in ANSWERS.items()}
    for path in rng.sample(list(ANSWERS), rng.choice((1, 1, 1, 2, 4))):
        answers[path] = mutated_json(rng, ANSWERS[path])
    if rng.random() < 0.1:
        answers["/brokers"] = '["b:8080", "c:8080", "d", "e", "f"]'
    return {"who": rng.choice(("run", "now"))} | answers


class _Session:
    """Gives to a path the answer of the longest ending that it has."""

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = sorted(answers.items(), key=lambda item: -len(item[0]))

    def request(self, _method: str, url: str, **_: object):
        path = urlsplit(url).path
        body = next((body for ending, body in self._answers if path.endswith(ending)), None)
        if body is None:
            return http_answer(url, b'{"reason":"not found"}', "application/json", 404)
        return http_answer(url, body.encode(errors="surrogatepass"), "application/json")


def _ask(content: dict[str, str]) -> None:
    answers = {path: body for path, body in content.items() if path.startswith("/")}
    if content["who"] == "run":
        admin = PulsarAdmin(["http://b:8080"], calls_per_s=1e12)
        admin._session = _Session(answers)
        snapshot = admin.collect("c", [AdminTopic(_TOPIC)])
        policies, stats = snapshot.policies.to_pylist(), snapshot.topic_stats.to_pylist()
        effective_limits(policies, stats)
        TopicAnswers(policies, policies[0]["observed_ms"]).deadlines(_TOPIC)
        for body in (answers["/stats"], answers["/subscriptions"]):
            consumer_stats(-1, body)
    else:
        admin = DeadlineAdmin(["http://b:8080"], calls_per_s=1e12).within(Deadline(30.0), 1.0)
        admin._session = _Session(answers)
        read_topic_admin(admin, _TOPIC).of_cluster("c")


TARGETS = (
    Target(
        "admin-json",
        "JSON answers of Pulsar's admin API",
        _make,
        _ask,
        (ThrottlescopeError,),
        from_bytes=lambda content: (
            {"who": "run"}
            | {path: json.dumps(value) for path, value in ANSWERS.items()}
            | {list(ANSWERS)[content[0] % len(ANSWERS)] if content else "/brokers": content[1:].decode(errors="replace")}
        ),
        warm=lambda: _ask({"who": "run"} | {path: json.dumps(value) for path, value in ANSWERS.items()}),
        bytes_per_byte=2_048,
    ),
)  # fmt: skip
