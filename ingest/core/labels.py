"""Normalised labels. In: a series' labels as a source has them. Out: the same labels in one form, the series' id and its shard.

A broker puts the partition into the topic (``persistent://t/n/name-partition-3``) or, in split mode, into a label of its own
(``topic="persistent://t/n/name", partition="3"``). Both become the second form here, so that no later step needs to know the first. A segment of a scalable
topic (``segment://t/n/name/0000-7fff-3``) becomes ``topic="topic://t/n/name", partition="3", hash_range="0000-7fff"``. No label value is ever used as a path, a pattern or a piece of a query.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import xxhash

from throttlescope.ingest.core.metrics import needs_labels
from throttlescope.ingest.core.topic_name import MAX_PART, SEGMENT, SegmentName, SegmentNameError

#: Label pairs sorted by name, ``__name__`` among them: hashable, so that it can be looked up.
Labels = tuple[tuple[str, str], ...]

SHARDS = 16

_SUFFIX = "-partition-"
#: The hash range of a segment.
HASH_RANGE = "hash_range"
#: More are not even read: Python refuses thousands with an error of its own.
_MOST_DIGITS = 10


class LabelError(ValueError):
    """A series that cannot be placed; ``reason`` is the quarantine's reason code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail

    def __reduce__(self):
        return (LabelError, (self.reason, self.detail))


@dataclass(frozen=True)
class LabelMapping:
    """How a source's labels become ours.

    Attributes
    ----------
    renames : mapping
        Source label to our label, such as ``{"exported_namespace": "namespace"}``. A label that already has our
        name and would be overwritten takes the source's name instead, so that nothing is lost.
    cluster : str, optional
        Fills a missing label ``cluster``.
    override_cluster : bool
        ``cluster`` replaces the label even where there is one.
    external : mapping
        The server's ``external_labels``. Remote read adds them to every series that lacks them, the JSON API does not;
        here they are always added.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    override_cluster: bool = False
    external: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeriesKey:
    """A normalised series: what the catalogue and the blocks know it by."""

    series_id: str
    metric_name: str
    cluster: str
    shard: int
    labels: Labels


def normalise(labels: Labels, mapping: LabelMapping) -> SeriesKey:
    """Bring the labels of one series into our shape.

    Raises
    ------
    LabelError
        ``missing_key_label``, ``invalid_partition``, ``invalid_segment``, ``missing_metric_name`` or ``label_not_utf8``.
    """
    # An empty value is the same as no label, in Prometheus and here.
    found = {name: value for name, value in (*mapping.external.items(), *labels) if value}
    for theirs, ours in mapping.renames.items():
        if theirs in found:
            moved = found.pop(theirs)
            if ours in found:
                found[theirs] = found[ours]
            found[ours] = moved
    if mapping.cluster and (mapping.override_cluster or "cluster" not in found):
        found["cluster"] = mapping.cluster
    metric_name = found.get("__name__")
    if not metric_name:
        raise LabelError("missing_metric_name", "a series without __name__")
    if "topic" in found and metric_name.startswith("pulsar_"):
        if found["topic"].startswith(SEGMENT):
            segment = _segment(found["topic"])
            found["topic"], found["partition"] = segment.topic, str(segment.number)
            found[HASH_RANGE] = segment.hash_range
        else:
            found["topic"], found["partition"] = topic_and_partition(found["topic"], found.get("partition"))
    missing = [name for name in ("cluster", *needs_labels(metric_name)) if name not in found]
    if missing:
        raise LabelError("missing_key_label", ", ".join(missing))
    return _key(found)


def computed_key(labels: Labels) -> SeriesKey:
    """Key of a series that was computed from others, such as a rule's: its labels stay as they are.

    ``cluster`` may be missing; the key's is then empty, which is what a missing label is in Prometheus.

    Raises
    ------
    LabelError
        ``missing_metric_name`` or ``label_not_utf8``.
    """
    found = {name: value for name, value in labels if value}
    if "__name__" not in found:
        raise LabelError("missing_metric_name", "a series without __name__")
    return _key(found)


def _key(labels: dict[str, str]) -> SeriesKey:
    ordered = tuple(sorted(labels.items()))
    try:
        identity = series_id(ordered)
    except UnicodeEncodeError:
        raise LabelError("label_not_utf8", "a label holds bytes that are no text") from None
    cluster = labels.get("cluster", "")
    shard = shard_of(cluster, labels.get("namespace", ""), labels.get("topic", ""))
    return SeriesKey(identity, labels["__name__"], cluster, shard, ordered)


def _segment(topic: str) -> SegmentName:
    try:
        return SegmentName.of(topic)
    except SegmentNameError as error:
        raise LabelError("invalid_segment", str(error)) from None


def topic_and_partition(topic: str, partition: str | None) -> tuple[str, str]:
    """Topic without its partition suffix, and the partition as text; ``-1`` where the topic has none.

    A segment's name gives its scalable topic and its id, and one that is none is a topic like any other.

    Where the broker named the partition itself (split mode) it has already judged the topic's name: ``-1`` with a
    name that ends like a partition means that this is the whole name, and it is left alone. In the joined shape the
    rule is Pulsar's own (``TopicName.getPartitionIndex``): a whole number without leading zeros ends the name.
    """
    if partition:
        digits = partition.removeprefix("-")
        whole = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
        if not whole or not -1 <= int(partition) <= MAX_PART:
            raise LabelError("invalid_partition", f"partition {partition[:80]!r}")
        return topic, str(int(partition))
    if topic.startswith(SEGMENT):
        with contextlib.suppress(SegmentNameError):
            segment = SegmentName.of(topic)
            return segment.topic, str(segment.number)
    base, found, number = topic.rpartition(_SUFFIX)
    whole = number.isascii() and number.isdigit() and str(int(number[:11])) == number
    if found and base and whole and int(number) <= MAX_PART:
        return base, number
    return topic, "-1"


def series_id(labels: Labels) -> str:
    """128-bit hash of sorted labels as 32 hex digits. Each text is preceded by its length, so no two label sets have the same bytes."""
    return xxhash.xxh3_128_hexdigest(_canonical(text for pair in labels for text in pair))


def shard_of(cluster: str, namespace: str, topic: str) -> int:
    """Shard of a topic: all partitions and subscriptions of a topic share it, so that most joins stay inside one."""
    return xxhash.xxh3_64_intdigest(_canonical((cluster, namespace, topic))) % SHARDS


def _canonical(texts) -> bytes:
    out = bytearray()
    for text in texts:
        encoded = text.encode()
        out += len(encoded).to_bytes(4, "little")
        out += encoded
    return bytes(out)
