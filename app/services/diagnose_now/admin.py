"""What the admin API says of one topic. In: addresses and a deadline. Out: limits, statistics, single consumers, open questions.

The requests are those of a run, for one topic. When the deadline has passed or the diagnosis was cancelled, the rest is not
requested: what it contains is unknown, and verdicts say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from throttlescope.app.services.diagnose_now.deadline import Deadline
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import SourceError
from throttlescope.ingest.core.labels import topic_and_partition
from throttlescope.ingest.sources.consumer_stats import ConsumerStats, consumer_stats
from throttlescope.ingest.sources.policy_answers import MOST_PARTITIONS
from throttlescope.ingest.sources.pulsar_admin import AdminTopic, Failure, PulsarAdmin
from throttlescope.transforms.limits import effective_limits, segment_keys

#: Calls per second where the configuration says nothing: one topic takes 20 to 100 calls, once.
CALLS_PER_S = 50.0
#: Permits swing many times a second: stats of partitions with a backlog are read so often more, within so long.
SAMPLES, PAUSE_S, SAMPLE_CALLS, SAMPLE_S = 4, 0.25, 40, 3.0
#: Up to so many brokers are all read for their configuration, two calls each.
FEW_BROKERS = 4
_BROKERS = "/admin/v2/brokers"
_STATS = "/stats"


@dataclass(frozen=True)
class TopicAdminData:
    """What the admin API returned; empty where nothing was requested.

    Attributes
    ----------
    limits, topic_stats : pyarrow.Table
        Rows as their contracts want them, without a cluster's name yet.
    consumers : tuple of ConsumerStats
        Single consumers at one moment.
    """

    policies: list[dict] = field(default_factory=list)
    topic_stats: pa.Table = field(default_factory=lambda: TABLES["topic_stats"].loose_schema.empty_table())
    consumers: tuple[ConsumerStats, ...] = ()
    failures: tuple[Failure, ...] = ()
    requests: int = 0

    def of_cluster(self, cluster: str, series: Iterable[Mapping[str, str]] = ()) -> tuple[pa.Table, pa.Table]:
        """Rows of ``limits`` and ``topic_stats`` under a cluster's name; the labels of backlogs name a scalable topic's subscriptions."""
        stats = [row | {"cluster": cluster} for row in self.topic_stats.to_pylist()]
        limits = effective_limits(
            [row | {"cluster": cluster} for row in self.policies], stats, segment_keys(series)
        )
        return (
            pa.Table.from_pylist(limits, schema=TABLES["limits"].loose_schema),
            pa.Table.from_pylist(stats, schema=TABLES["topic_stats"].loose_schema),
        )


class DeadlineAdmin(PulsarAdmin):
    """The admin API of a cluster, read for one topic until the deadline."""

    def within(self, deadline: Deadline, share: float) -> DeadlineAdmin:
        """No more requests once this share of the time has passed."""
        self._deadline, self._share = deadline, share
        self._topic: AdminTopic | None = None
        self._answered: dict[str, str] = {}
        #: Answers about single partitions: their consumers are in no table.
        self.stats: list[tuple[str, str]] = []
        return self

    def about(self, topic: AdminTopic) -> DeadlineAdmin:
        """Of many brokers, read the configuration only of those that own a partition of this topic."""
        self._topic = topic
        return self

    def get(self, path: str, base: str | None = None, **params: str) -> str:
        if path in self._answered:
            return self._answered[path]
        self._deadline.check()
        if self._deadline.until(self._share) <= 0:
            raise SourceError(
                "The admin API was not read completely", got="not requested: the deadline had passed"
            )
        text = super().get(path, base, **params)
        if path.endswith(_STATS):
            self.stats.append((path, text))
        return self._owning(text) if path == _BROKERS and self._topic is not None else text

    def _owning(self, text: str) -> str:
        """Of the brokers those that own the topic; all, where they are few or an owner is not among them."""
        try:
            brokers = json.loads(text)
            if len(brokers) <= FEW_BROKERS:
                return text
            topic = self._topic
            count = json.loads(self._once(f"/admin/v2/{topic.path}/partitions")).get("partitions", 0)
            # Each partition takes a request: an unreasonable count is refused where it is stored.
            count = count if 0 <= count <= MOST_PARTITIONS else 0
            physical = [topic.physical(partition) for partition in (range(count) if count else (-1,))]
            found = [json.loads(self._once(f"/lookup/v2/topic/{one.path}")) for one in physical]
            owners = {urlsplit(one.get("httpUrl") or one["httpUrlTls"]).netloc for one in found}
            known = owners <= set(brokers)
        except (SourceError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return text
        return json.dumps(sorted(owners)) if known else text

    def _once(self, path: str) -> str:
        """An answer that is wanted again later in the same walk."""
        text = self.get(path)
        self._answered[path] = text
        return text


def read_topic_admin(admin: DeadlineAdmin, topic: str) -> TopicAdminData:
    """Read everything that decides the limits of a topic's subscriptions, and who consumes them; then stats a few times more.

    Raises
    ------
    SourceError
        No address can be reached, or all of them refuse us.
    """
    path = AdminTopic(topic)
    snapshot = admin.about(path).collect("", [path])
    consumers = tuple(_consumers(admin.stats))
    sampled = admin.sample(
        "",
        _with_backlog(snapshot.topic_stats),
        rounds=SAMPLES,
        pause_s=PAUSE_S,
        max_calls=SAMPLE_CALLS,
        within_s=SAMPLE_S,
    )
    # What is not answered any more, as the time was up, was answered once.
    return TopicAdminData(
        snapshot.policies.to_pylist(),
        pa.concat_tables([snapshot.topic_stats, sampled.topic_stats]),
        consumers,
        tuple(snapshot.failures),
        snapshot.requests + sampled.requests,
    )


def _with_backlog(topic_stats: pa.Table) -> list[AdminTopic]:
    """Partitions of which a subscription has a backlog, the largest first."""
    largest: dict[tuple[str, int], int] = {}
    for row in topic_stats.select(["topic", "partition", "backlog_entries"]).to_pylist():
        place = row["topic"], row["partition"]
        largest[place] = max(row["backlog_entries"], largest.get(place, 0))
    ordered = sorted(
        (place for place, entries in largest.items() if entries > 0), key=lambda place: -largest[place]
    )
    return [AdminTopic(topic, (partition,)) for topic, partition in ordered]


def _consumers(answers: Sequence[tuple[str, str]]) -> list[ConsumerStats]:
    found = []
    for path, body in answers:
        _, partition = topic_and_partition(unquote(path.removesuffix(_STATS).rsplit("/", 1)[-1]), None)
        found += consumer_stats(int(partition), body)
    return found
