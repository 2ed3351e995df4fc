"""Commands: every flag restated, at the narrowest place, with a way back."""

from __future__ import annotations

import shlex

import pytest

from tests.transforms.lakes import limit_row
from throttlescope.models.recommendation.commands import set_limit

TOPIC = "persistent://acme/shop/orders"


def command(level="subscription", set_by="topic_policy", **more):
    row = limit_row(level, at_ms=0, set_by=set_by, **{"msg": 500, "size": 1_000_000, "period_s": 10} | more)
    return set_limit(row, TOPIC, "billing", msg=800, size=row["rate_bytes"], period_s=row["period_s"])


@pytest.mark.parametrize(
    ("level", "set_by", "do", "undo"),
    [
        ("subscription", "subscription_policy",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -s billing -md 800 -bd 1000000 -dt 10",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -s billing -md 500 -bd 1000000 -dt 10"),
        ("subscription", "topic_policy",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -md 800 -bd 1000000 -dt 10",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -md 500 -bd 1000000 -dt 10"),
        ("subscription", "global_topic_policy",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -g -md 800 -bd 1000000 -dt 10",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -g -md 500 -bd 1000000 -dt 10"),
        # What others share is left alone: a policy of this subscription goes before it.
        ("subscription", "namespace_policy",
         f"topicPolicies set-subscription-dispatch-rate {TOPIC} -s billing -md 800 -bd 1000000 -dt 10",
         f"topicPolicies remove-subscription-dispatch-rate {TOPIC} -s billing"),
        ("topic", "topic_policy", f"topicPolicies set-dispatch-rate {TOPIC} -md 800 -bd 1000000 -dt 10",
         f"topicPolicies set-dispatch-rate {TOPIC} -md 500 -bd 1000000 -dt 10"),
        ("topic", "broker_file", f"topicPolicies set-dispatch-rate {TOPIC} -md 800 -bd 1000000 -dt 10",
         f"topicPolicies remove-dispatch-rate {TOPIC}"),
        ("broker", "broker_dynamic", "brokers update-dynamic-config --config dispatchThrottlingRateInMsg --value 800",
         "brokers update-dynamic-config --config dispatchThrottlingRateInMsg --value 500"),
        ("broker", "broker_file", "brokers update-dynamic-config --config dispatchThrottlingRateInMsg --value 800",
         "brokers delete-dynamic-config --config dispatchThrottlingRateInMsg"),
    ],
)  # fmt: skip
def test_the_command_and_the_way_back(level, set_by, do, undo):
    found = command(level, set_by)
    assert (found.do, found.undo) == (f"pulsar-admin {do}", f"pulsar-admin {undo}")


def test_unlimited_rate_is_restated():
    assert "-md 800 -bd -1 -dt 10" in command(size=None).do
    assert "-md 500 -bd -1 -dt 10" in command(size=None).undo


def test_a_relative_limit_stays_relative():
    assert command(relative_to_publish=True).do.endswith("-rp")


def test_names_are_quoted_for_a_shell():
    row = limit_row("subscription", at_ms=0, msg=5, set_by="subscription_policy")
    found = set_limit(row, TOPIC + ";rm -rf $HOME", "it's", msg=9, size=None, period_s=1)
    words = shlex.split(found.do)
    assert words[3] == TOPIC + ";rm -rf $HOME"
    assert words[5] == "it's"
    assert found.do.count(";") == 1
