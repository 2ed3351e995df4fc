"""Names of subscriptions and replicators: read and written back the same."""

from __future__ import annotations

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName, remote_cluster

_TOPIC = "persistent://acme/shop/orders"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"{_TOPIC}#billing", (_TOPIC, None, "billing")),
        (f"{_TOPIC}-partition-3#billing", (_TOPIC, 3, "billing")),
        (f"{_TOPIC}@west", (_TOPIC, None, "pulsar.repl.west")),
        (f"{_TOPIC}-partition-3@us.west-2", (_TOPIC, 3, "pulsar.repl.us.west-2")),
        (f"{_TOPIC}#mail@home", (_TOPIC, None, "mail@home")),
        (f"{_TOPIC}#a#b", (_TOPIC, None, "a#b")),
        (f"{_TOPIC}@night@west", (f"{_TOPIC}@night", None, "pulsar.repl.west")),
    ],
)
def test_a_name_is_read_and_written(text, parts):
    name = SubscriptionName.of(text)
    assert (name.topic, name.partition, name.subscription) == parts
    assert str(name) == text


def test_a_replicator_is_found_by_its_cursor_too():
    assert str(SubscriptionName.of(f"{_TOPIC}#pulsar.repl.west")) == f"{_TOPIC}@west"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("acme/shop/orders#billing", f"{_TOPIC}#billing"),
        ("acme/shop/orders-partition-3#billing", f"{_TOPIC}-partition-3#billing"),
        ("acme/shop/orders#a/b#c@d", f"{_TOPIC}#a/b#c@d"),
    ],
)
def test_a_name_may_lack_its_scheme(text, whole):
    assert SubscriptionName.of(text) == SubscriptionName.of(whole)
    assert str(SubscriptionName.of(text)) == whole


@pytest.mark.parametrize(
    "text",
    [
        "", "orders#billing", _TOPIC, f"{_TOPIC}#", f"{_TOPIC}@", "shop/orders#billing", "acme/east/shop/orders#billing",
        "acme/shop/orders", "acme/shop/orders#", "acme//orders#billing", "/shop/orders#billing", "acme/shop/#billing",
        "acme/shop/orders@west", "persistent:/shop/orders#billing", "//acme/shop/orders#billing",
    ],
)  # fmt: skip
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="cannot be read"):
        SubscriptionName.of(text)


@pytest.mark.parametrize("name", ["billing", "pulsar.repl.", "", "my.pulsar.repl.west"])
def test_other_names_are_no_replicator(name):
    assert remote_cluster(name) is None
