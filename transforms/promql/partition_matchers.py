"""Matchers that look for the partition inside ``topic``. In: selectors, the topics of a lake. Out: warnings.

A broker prints the partition inside ``topic`` (its default) or as a label of its own; in a lake it is always the label
``partition`` (:mod:`throttlescope.ingest.core.labels`). A matcher on ``topic`` that means a partition therefore finds nothing,
or with ``!=`` leaves nothing out, and its author would not notice.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.core.labels import topic_and_partition
from throttlescope.ingest.core.selector import EQUAL, NOT_EQUAL, Matcher, Selector
from throttlescope.ingest.core.topic_name import part_text
from throttlescope.transforms.promql.limit_series import LIMIT_METRIC

_NO_PARTITION = "-1"


class PartitionedTopics:
    """The partitions of a lake's topics.

    Parameters
    ----------
    labels : pyarrow.ChunkedArray
        Labels of the lake's series, as maps.
    """

    def __init__(self, labels: pa.ChunkedArray) -> None:
        self._labels = labels
        self._found: dict[Matcher, tuple[str, str] | None] = {}

    @cached_property
    def partitions(self) -> dict[str, list[str]]:
        """Per topic its partitions."""
        columns = {name: pc.map_lookup(self._labels, name, "first") for name in ("topic", "partition")}
        pairs = pa.table(columns).group_by(list(columns)).aggregate([])
        found: dict[str, list[str]] = {}
        for pair in pairs.to_pylist():
            if pair["topic"] and pair["partition"] not in (None, _NO_PARTITION):
                found.setdefault(pair["topic"], []).append(pair["partition"])
        return found

    def warnings(self, selectors: Iterable[Selector]) -> list[str]:
        """One text per matcher that means a partition of a topic that this lake has."""
        found = []
        for selector in dict.fromkeys(selectors):
            if not _may_be_pulsar(selector):
                continue
            for matcher in selector.matchers:
                if matcher.name == "topic" and (missed := self._missed(matcher)):
                    topic, partition = (
                        Matcher("topic", EQUAL, missed[0]),
                        Matcher("partition", EQUAL, missed[1]),
                    )
                    found.append(
                        f"{matcher} looks for the partition inside the label topic, and this lake keeps it in the label "
                        f"partition: write {topic},{partition} for {part_text(missed[0], int(missed[1]))}"
                    )
        return list(dict.fromkeys(found))

    def _missed(self, matcher: Matcher) -> tuple[str, str] | None:
        """A topic and partition that the matcher means by the name that a broker gives it, and not by ours."""
        if matcher not in self._found:
            self._found[matcher] = self._search(matcher)
        return self._found[matcher]

    def _search(self, matcher: Matcher) -> tuple[str, str] | None:
        if matcher.op in (EQUAL, NOT_EQUAL):
            topic, partition = topic_and_partition(matcher.value, None)
            return (topic, partition) if partition in self.partitions.get(topic, ()) else None
        # Whether it keeps or leaves out: what its pattern means.
        means = Matcher(matcher.name, "=~", matcher.value).matches
        for topic, partitions in self.partitions.items():
            if means(topic):
                continue
            for partition in partitions:
                if means(part_text(topic, int(partition))):
                    return topic, partition
        return None


def _may_be_pulsar(selector: Selector) -> bool:
    """Of other metrics the label ``topic`` is left as it was."""
    name = selector.metric_name
    return name is None or name.startswith("pulsar_") or name == LIMIT_METRIC
