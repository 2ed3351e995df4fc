"""Labels normalised on ingest: one shape, one id, one shard; what cannot be placed is refused with its reason."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throttlescope.ingest.core.labels import (
    SHARDS,
    LabelError,
    LabelMapping,
    Labels,
    computed_key,
    normalise,
    series_id,
    shard_of,
    topic_and_partition,
)

BACKLOG = "pulsar_subscription_back_log"


def labels(**pairs: str) -> Labels:
    base = {
        "__name__": BACKLOG,
        "cluster": "c",
        "namespace": "t/n",
        "topic": "persistent://t/n/x",
        "subscription": "s",
    }
    return tuple(sorted((base | pairs).items()))


@pytest.mark.parametrize(
    ("topic", "partition", "expected"),
    [
        ("persistent://t/n/x-partition-3", None, ("persistent://t/n/x", "3")),
        ("persistent://t/n/x", "3", ("persistent://t/n/x", "3")),
        ("persistent://t/n/x", None, ("persistent://t/n/x", "-1")),
        ("persistent://t/n/x", "-1", ("persistent://t/n/x", "-1")),
        # The broker itself says that this is a whole name.
        ("persistent://t/n/x-partition-3", "-1", ("persistent://t/n/x-partition-3", "-1")),
        # Pulsar's rule: the last suffix, a whole number without leading zeros that fits 31 bits.
        ("persistent://t/n/x-partition-1-partition-2", None, ("persistent://t/n/x-partition-1", "2")),
        ("persistent://t/n/x-partition-03", None, ("persistent://t/n/x-partition-03", "-1")),
        ("persistent://t/n/x-partition-", None, ("persistent://t/n/x-partition-", "-1")),
        ("persistent://t/n/x-partition--1", None, ("persistent://t/n/x-partition--1", "-1")),
        ("persistent://t/n/x-partition-2147483648", None, ("persistent://t/n/x-partition-2147483648", "-1")),
        ("persistent://t/n/x-partition-99999999999999999999", None, None),
        ("persistent://t/n/x-partition-٣", None, ("persistent://t/n/x-partition-٣", "-1")),
        ("non-persistent://t/n/x-partition-0", None, ("non-persistent://t/n/x", "0")),
        ("persistent://t/n/../../x", None, ("persistent://t/n/../../x", "-1")),
    ],
)
def test_topic_and_partition(topic: str, partition: str | None, expected: tuple[str, str] | None) -> None:
    assert topic_and_partition(topic, partition) == (expected or (topic, "-1"))


@pytest.mark.parametrize("partition", ["x", "-2", "1.0", "²", "99999999999", "--1", " 1"])
def test_a_partition_that_is_none_is_refused(partition: str) -> None:
    with pytest.raises(LabelError) as caught:
        normalise(labels(partition=partition), LabelMapping())
    assert caught.value.reason == "invalid_partition"


def test_both_shapes_come_out_the_same() -> None:
    joined = normalise(labels(topic="persistent://t/n/x-partition-7"), LabelMapping())
    split = normalise(labels(topic="persistent://t/n/x", partition="7"), LabelMapping())
    assert joined == split
    assert dict(joined.labels)["partition"] == "7"
    assert dict(joined.labels)["topic"] == "persistent://t/n/x"


def test_only_pulsar_series_get_a_partition() -> None:
    other = (("__name__", "kafka_lag"), ("cluster", "c"), ("topic", "x-partition-1"))
    assert normalise(other, LabelMapping()).labels == other
    up = (("__name__", "up"), ("instance", "1:8080"))
    assert "partition" not in dict(normalise(up, LabelMapping(cluster="c")).labels)


def test_computed_series_keeps_its_labels() -> None:
    """It may have no cluster."""
    odd = (("__name__", "pulsar_mine"), ("empty", ""), ("topic", "x-partition-1"))
    key = computed_key(odd)
    assert key.labels == (("__name__", "pulsar_mine"), ("topic", "x-partition-1"))
    assert (key.cluster, key.metric_name) == ("", "pulsar_mine")
    assert computed_key(labels(partition="-1")) == normalise(labels(), LabelMapping())
    with pytest.raises(LabelError, match="missing_metric_name"):
        computed_key((("a", "b"),))


def test_cluster_is_filled_or_replaced() -> None:
    without = tuple(pair for pair in labels() if pair[0] != "cluster")
    assert normalise(without, LabelMapping(cluster="mine")).cluster == "mine"
    assert normalise(labels(), LabelMapping(cluster="mine")).cluster == "c"
    assert normalise(labels(), LabelMapping(cluster="mine", override_cluster=True)).cluster == "mine"
    with pytest.raises(LabelError, match="missing_key_label: cluster"):
        normalise(without, LabelMapping())


def test_renamed_labels_lose_nothing() -> None:
    mapping = LabelMapping({"exported_namespace": "namespace"})
    found = dict(normalise(labels(exported_namespace="t/n", namespace="k8s"), mapping).labels)
    assert (found["namespace"], found["exported_namespace"]) == ("t/n", "k8s")
    # Where the source has only our name, that is it.
    assert dict(normalise(labels(), mapping).labels)["namespace"] == "t/n"


def test_an_empty_label_is_none() -> None:
    assert normalise(labels(consumer_name=""), LabelMapping()) == normalise(labels(), LabelMapping())
    with pytest.raises(LabelError, match="missing_key_label: subscription"):
        normalise(labels(subscription=""), LabelMapping())


def test_levels_need_their_labels() -> None:
    # Namespace mode: a sum over all subscriptions under a subscription's metric name.
    with pytest.raises(LabelError, match="missing_key_label: topic, subscription"):
        normalise((("__name__", BACKLOG), ("cluster", "c"), ("namespace", "t/n")), LabelMapping())
    with pytest.raises(LabelError, match="missing_metric_name"):
        normalise((("cluster", "c"),), LabelMapping())
    # Of a metric that we do not know nothing more is required.
    assert normalise((("__name__", "other"), ("cluster", "c")), LabelMapping()).metric_name == "other"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(LabelError) as caught:
        normalise(labels(subscription=b"\xff".decode(errors="surrogateescape")), LabelMapping())
    assert caught.value.reason == "label_not_utf8"
    assert pickle.loads(pickle.dumps(caught.value)).reason == "label_not_utf8"  # noqa: S301


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
label_sets = st.dictionaries(texts.filter(bool), texts.filter(bool), max_size=4)


@given(label_sets, label_sets)
def test_ids_tell_label_sets_apart(one: dict[str, str], other: dict[str, str]) -> None:
    first, second = (series_id(tuple(sorted(pairs.items()))) for pairs in (one, other))
    assert (first == second) == (one == other)
    assert len(first) == 32


def test_texts_are_preceded_by_their_lengths() -> None:
    assert series_id((("a", "bc"),)) != series_id((("ab", "c"),))
    assert series_id((("a", "b"), ("c", "d"))) != series_id((("a", "b\x00c"), ("d", "")))


def test_ids_and_shards_never_change() -> None:
    """They are stored: another value here means that every lake has to be rewritten."""
    key = normalise(labels(), LabelMapping())
    assert (key.series_id, key.shard) == ("d44a271579605818f3b0df7364688318", 10)


@given(texts, texts, texts)
def test_shards(cluster: str, namespace: str, topic: str) -> None:
    assert 0 <= shard_of(cluster, namespace, topic) < SHARDS


def test_shards_are_used_evenly() -> None:
    found = [shard_of("c", "t/n", f"persistent://t/n/{i}") for i in range(1600)]
    assert all(60 <= found.count(shard) <= 150 for shard in range(SHARDS))
