"""Names of topics and their parts: segments of scalable topics read, refused and written back."""

from __future__ import annotations

import re

import pytest

from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.labels import LabelError, LabelMapping, normalise
from throttlescope.ingest.core.subscription_name import SubscriptionName, subscription_text, topic_parts
from throttlescope.ingest.core.topic_name import (
    SegmentName,
    SegmentNameError,
    namespace_of,
    part_text,
    topic_pattern,
)

SEGMENT = "segment://acme/shop/orders/0000-7fff-3"
LABELS = {
    "__name__": "pulsar_subscription_back_log",
    "cluster": "c",
    "namespace": "acme/shop",
    "subscription": "billing",
}
WRONG = [
    ("0000-7fff", "instead of a hash range"),
    ("0000-7fff-", "instead of a hash range"),
    ("000-7fff-3", "instead of a hash range"),
    ("0000-7FFF-3", "instead of a hash range"),
    ("0000-7ffg-3", "instead of a hash range"),
    ("0000-7fff-03", "instead of a hash range"),
    ("0000-7fff-a", "instead of a hash range"),
    ("8000-7fff-3", "ends before it begins"),
    ("0000-7fff-2147483648", "more than 31 bits"),
]


@pytest.mark.parametrize(
    ("text", "topic", "number", "hash_range"),
    [
        (SEGMENT, "topic://acme/shop/orders", 3, "0000-7fff"),
        ("segment://acme/shop/eu/orders/8000-8000-0", "topic://acme/shop/eu/orders", 0, "8000-8000"),
        (
            "segment://acme/shop/a-partition-1/0000-ffff-12",
            "topic://acme/shop/a-partition-1",
            12,
            "0000-ffff",
        ),
    ],
)
def test_segment_name_is_read_and_written(text: str, topic: str, number: int, hash_range: str) -> None:
    found = SegmentName.of(text)
    assert found == SegmentName(topic, number, hash_range)
    assert str(found) == text


@pytest.mark.parametrize(("descriptor", "words"), WRONG)
def test_wrong_descriptor_is_no_segment(descriptor: str, words: str) -> None:
    with pytest.raises(SegmentNameError, match=words):
        SegmentName.of(f"segment://acme/shop/orders/{descriptor}")


@pytest.mark.parametrize("extra", [{}, {"partition": "-1"}], ids=["joined", "split labels"])
def test_segment_series_has_topic_and_number(extra: dict[str, str]) -> None:
    key = normalise(tuple({**LABELS, **extra, "topic": SEGMENT}.items()), LabelMapping())
    labels = dict(key.labels)
    assert (labels["topic"], labels["partition"]) == ("topic://acme/shop/orders", "3")
    assert labels["hash_range"] == "0000-7fff"


def test_segments_of_a_topic_share_a_shard() -> None:
    names = [SEGMENT, "segment://acme/shop/orders/8000-ffff-4"]
    shards = {normalise(tuple({**LABELS, "topic": name}.items()), LabelMapping()).shard for name in names}
    assert len(shards) == 1


@pytest.mark.parametrize(("descriptor", "words"), WRONG)
def test_series_of_wrong_segment_is_refused(descriptor: str, words: str) -> None:
    labels = tuple({**LABELS, "topic": f"segment://acme/shop/orders/{descriptor}"}.items())
    with pytest.raises(LabelError, match=words) as refused:
        normalise(labels, LabelMapping())
    assert refused.value.reason == "invalid_segment"


@pytest.mark.parametrize(
    ("text", "topic", "partition"),
    [
        ("topic://acme/shop/orders#billing", "topic://acme/shop/orders", None),
        ("topic://acme/shop/orders-segment-3#billing", "topic://acme/shop/orders", 3),
        (f"{SEGMENT}#billing", "topic://acme/shop/orders", 3),
        ("topic://acme/shop/eu/orders-segment-0#billing", "topic://acme/shop/eu/orders", 0),
        ("topic://acme/shop/orders-partition-3#billing", "topic://acme/shop/orders-partition-3", None),
        ("persistent://acme/shop/orders-segment-3#billing", "persistent://acme/shop/orders-segment-3", None),
        ("persistent://acme/shop/orders-partition-3#billing", "persistent://acme/shop/orders", 3),
    ],
)
def test_subscription_of_scalable_topic(text: str, topic: str, partition: int | None) -> None:
    found = SubscriptionName.of(text)
    assert found == SubscriptionName(topic, partition, "billing")
    assert SubscriptionName.of(str(found)) == found
    assert topic_parts(text.removesuffix("#billing")) == (topic, partition)


def test_subscription_of_wrong_segment_is_refused() -> None:
    with pytest.raises(InputError, match="A segment cannot be read") as refused:
        SubscriptionName.of("segment://acme/shop/orders/8000-7fff-3#billing")
    assert "ends before it begins" in str(refused.value)


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("topic://acme/shop/orders", "topic://acme/shop/orders-segment-2"),
        ("persistent://a/b/c", "persistent://a/b/c-partition-2"),
    ],
)
def test_part_of_a_topic_is_named(topic: str, text: str) -> None:
    assert part_text(topic, 2) == text
    assert part_text(topic, -1) == part_text(topic, None) == topic
    assert subscription_text(topic, 2, "s") == f"{text}#s"


def test_namespace_of_a_name_with_slashes() -> None:
    assert namespace_of("topic://acme/shop/eu/orders") == "acme/shop"
    assert namespace_of("persistent://acme/lab/shop/orders") == "acme/lab/shop"


@pytest.mark.parametrize(
    ("topic", "partition", "theirs", "matches"),
    [
        ("topic://acme/shop/orders", 3, SEGMENT, True),
        ("topic://acme/shop/orders", None, SEGMENT, True),
        ("topic://acme/shop/orders", 4, SEGMENT, False),
        ("topic://acme/shop/orders", 3, "topic://acme/shop/orders", True),
        ("topic://acme/shop/order", None, SEGMENT, False),
        ("topic://acme/shop/eu", None, "segment://acme/shop/eu/orders/0000-7fff-3", False),
        ("persistent://acme/shop/orders", 3, "persistent://acme/shop/orders-partition-3", True),
        ("persistent://acme/shop/orders", 3, "persistent://acme/shop/orders-partition-33", False),
    ],
)
def test_pattern_finds_the_series_of_a_part(
    topic: str, partition: int | None, theirs: str, matches: bool
) -> None:
    assert (re.fullmatch(topic_pattern(topic, partition), theirs) is not None) == matches
