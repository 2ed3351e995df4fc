"""Effective limits of publishing: which record of each chain wins, and what is not known."""

from __future__ import annotations

import json

import pytest

from throttlescope.transforms.limits import publish_limits

AT_MS = 1_795_000_000_000
TOPIC, NAMESPACE, BROKER = "persistent://acme/shop/orders", "acme/shop", "b:8080"
RUNTIME = {
    "clusterName": "east",
    "maxPublishRatePerTopicInMessages": "0",
    "maxPublishRatePerTopicInBytes": "0",
    "brokerPublisherThrottlingMaxMessageRate": "0",
    "brokerPublisherThrottlingMaxByteRate": "0",
}


def rate(msg=-1, size=-1) -> dict:
    return {"publishThrottlingRateInMsg": msg, "publishThrottlingRateInByte": size}


def answers(**changes) -> list[dict]:
    """A topic without any limit, but for what is given; None leaves an answer out."""
    bodies = {
        "broker_configuration_runtime": RUNTIME,
        "broker_dynamic_configuration": {},
        "namespace": {},
        "topic_publish_rate": "null",
        "global_topic_publish_rate": "null",
    } | changes
    keys = {
        "namespace": NAMESPACE,
        "resource_group": "small",
        **dict.fromkeys(("topic_publish_rate", "global_topic_publish_rate"), TOPIC),
    }
    return [
        {
            "cluster": "c",
            "scope": scope,
            "key": keys.get(scope, BROKER),
            "body": body if isinstance(body, str) else json.dumps(body),
            "observed_ms": AT_MS,
        }
        for scope, body in bodies.items()
        if body is not None
    ]


def level(name: str, **changes):
    """Rate in messages, in bytes, and who set it."""
    (found,) = [one for one in publish_limits(answers(**changes)) if one.level == name]
    return found.rate_msg, found.rate_bytes, found.set_by


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({}, (None, None, "none")),
        ({"topic_publish_rate": rate(50)}, (50, None, "topic_policy")),
        ({"global_topic_publish_rate": rate(50, 700)}, (50, 700, "global_topic_policy")),
        (
            {"topic_publish_rate": rate(50), "namespace": {"publishMaxMessageRate": {"east": rate(9, 9)}}},
            (50, None, "topic_policy"),
        ),
        # Both rates <= 0 set nothing, and switch no lower level off.
        (
            {"topic_publish_rate": rate(0, -1), "namespace": {"publishMaxMessageRate": {"east": rate(-1, 9)}}},
            (None, 9, "namespace_policy"),
        ),
        ({"namespace": {"publishMaxMessageRate": {"west": rate(9)}}}, (None, None, "none")),
        (
            {"broker_configuration_runtime": RUNTIME | {"maxPublishRatePerTopicInMessages": "30"}},
            (30, None, "broker_file"),
        ),
    ],
)  # fmt: skip
def test_first_record_that_sets_wins_whole(changes, limit):
    assert level("topic", **changes) == limit


@pytest.mark.parametrize(
    "missing", ["global_topic_publish_rate", "namespace", "broker_configuration_runtime"]
)
def test_missing_answer_makes_limit_unknown(missing):
    more = {"broker_dynamic_configuration": None} if missing.startswith("broker") else {}
    assert level("topic", **{missing: None}, **more) == (None, None, None)


def test_answer_above_missing_one_is_known():
    assert level("topic", topic_publish_rate=rate(50), namespace=None) == (50, None, "topic_policy")


def test_broker_limit_is_its_runtime_setting():
    runtime = RUNTIME | {"brokerPublisherThrottlingMaxByteRate": "900"}
    dynamic = {"brokerPublisherThrottlingMaxByteRate": "900"}
    assert level("broker") == (None, None, "none")
    assert level("broker", broker_configuration_runtime=runtime) == (None, 900, "broker_file")
    changes = {"broker_configuration_runtime": runtime, "broker_dynamic_configuration": dynamic}
    assert level("broker", **changes) == (None, 900, "broker_dynamic")


def test_resource_group_has_limits_and_members():
    group = {
        "publishRateInMsgs": 100,
        "publishRateInBytes": None,
        "dispatchRateInMsgs": 5,
        "dispatchRateInBytes": -1,
    }
    found = publish_limits(answers(namespace={"resource_group_name": "small"}, resource_group=group))
    (of_group,) = [one for one in found if one.level == "resource_group"]
    # What it says of dispatching is not enforced.
    assert (of_group.owner, of_group.rate_msg, of_group.rate_bytes) == ("small", 100, None)
    assert of_group.namespaces == (NAMESPACE,)


def test_unread_resource_group_is_unknown():
    assert level("resource_group", namespace={"resource_group_name": "small"}) == (None, None, None)
