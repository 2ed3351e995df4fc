"""Effective limits. In: raw answers of the admin API. Out: rows of ``limits``: the limit in force per subscription partition and level.

This is the only resolver. A level is the first record of its chain that sets anything, taken whole: a topic policy with a
message rate alone switches the namespace's byte rate off. A record whose two rates are both <= 0 sets nothing, at
every level (``PolicyHierarchyValue`` and ``DispatchRate`` in Pulsar). Where a request of the chain was not answered
before a record was found, the level is not known and has no row; a row without rates means: read, and no limit.

======================  =================================================================================
level                   chain
======================  =================================================================================
subscription            the subscription's own policy, the topic's (local, then global), the namespace's
                        for the local cluster, the broker's setting per subscription
topic                   the topic's policy (local, then global), the namespace's for the local cluster (else
                        its legacy ``clusterDispatchRate``), the broker's setting per topic
broker                  the owner broker's own setting
a replicator            the topic's policy (local, then global), the namespace's for the local cluster, the
                        broker's setting per replicator
======================  =================================================================================

A replicator has one limiter of its own, in the place of a subscription's; those of topic and broker do not count what it reads. It
counts entries. System topics ignore the namespace's records. Limits of topic and subscription hold per partition. A scalable topic has no
policies of its own: only the namespace and the broker limit it, and limits of topic and subscription hold per segment, so that a split doubles
what two halves may take. Broker settings are per second, and their relative flag has no effect.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.vocabulary import LEVELS
from throttlescope.ingest.core.labels import topic_and_partition
from throttlescope.ingest.core.metrics import BACKLOG
from throttlescope.ingest.core.subscription_name import REPLICATOR_PREFIX, remote_cluster
from throttlescope.ingest.core.system_names import is_system_topic
from throttlescope.ingest.core.times import BLOCK_MS, DAY_MS, SECOND_MS, date_of
from throttlescope.ingest.core.topic_name import SCALABLE, is_scalable, namespace_of, part_text
from throttlescope.ingest.lake import Lake
from throttlescope.transforms.as_of import KNOWN_FOR_MS

#: How long an answer is valid for later snapshots that did not repeat the request.
ANSWER_VALID_MS = DAY_MS

#: Answers of one walk are closer together; a later request for a few topics is a separate snapshot.
PAUSE_MS = 10 * SECOND_MS

#: Pulsar's own default, for a broker whose configuration was not readable. That of the read batch is 100 or 500, by version.
_DEFAULT_READ_SIZE_BYTES = 5 * 1024 * 1024

_MSG, _BYTES = "dispatchThrottlingRateInMsg", "dispatchThrottlingRateInByte"
_BROKER_SETTINGS = {
    "broker": (_MSG, _BYTES),
    "topic": ("dispatchThrottlingRatePerTopicInMsg", "dispatchThrottlingRatePerTopicInByte"),
    "subscription": (
        "dispatchThrottlingRatePerSubscriptionInMsg",
        "dispatchThrottlingRatePerSubscriptionInByte",
    ),
}
#: Where a namespace keeps the records of a level, by Pulsar cluster; the first that sets anything counts.
_NAMESPACE_RATES = {
    "topic": ("topicDispatchRate", "clusterDispatchRate"),
    "subscription": ("subscriptionDispatchRate",),
}
#: The limiter of a replicator.
_REPLICATOR_SETTINGS = (
    "dispatchThrottlingRatePerReplicatorInMsg",
    "dispatchThrottlingRatePerReplicatorInByte",
)
_PER_BROKER = ("broker_configuration_runtime", "broker_dynamic_configuration", "broker_version")


def resolve_limits(lake: Lake, clusters: Iterable[str], start_ms: int, end_ms: int, *, run_id: str) -> int:
    """Resolve what the lake's ``policies`` say about a range and write it to ``limits``.

    Parameters
    ----------
    start_ms, end_ms : int
        Snapshots of the range, of the day before it and the first one after it are resolved: those that any minute of
        the range is joined to.

    Returns
    -------
    int
        Rows written. Repeating it writes the same rows.
    """
    clusters = sorted(set(clusters))
    # What no minute of the range can be joined to is not read, however long the lake's history is. Later by an hour: a snapshot is whole.
    first_ms, until_ms = start_ms - 2 * DAY_MS, end_ms + KNOWN_FOR_MS + BLOCK_MS
    near = {
        "where": pc.field("cluster").isin(clusters)
        & (pc.field("observed_ms") >= first_ms)
        & (pc.field("observed_ms") <= until_ms),
        "between": {"observed_ms": (first_ms, until_ms)},
    }
    policies = lake.read("policies", **near).to_pylist()
    columns = ["cluster", "namespace", "topic", "partition", "subscription", "observed_ms", "owner_broker"]
    stats = lake.read("topic_stats", columns=columns, **near).to_pylist()
    # The catalogue is read only where a layout of a scalable topic was requested.
    scalable = sorted({row["cluster"] for row in policies if row["scope"] == "scalable_layout"})
    segments = _segments_in(lake, scalable) if scalable else set()
    rows = []
    for cluster in clusters:
        found = effective_limits(
            [row for row in policies if row["cluster"] == cluster],
            [row for row in stats if row["cluster"] == cluster],
            [key for key in segments if key[0] == cluster],
        )
        later = [row["observed_ms"] for row in found if row["observed_ms"] > end_ms]
        last_ms = min(later, default=end_ms)
        rows += [row for row in found if start_ms - DAY_MS <= row["observed_ms"] <= last_ms]
    if rows:
        lake.upsert("limits", pa.Table.from_pylist(rows, schema=TABLES["limits"].loose_schema), run_id=run_id)
    return len(rows)


def effective_limits(
    policies: Sequence[Mapping], topic_stats: Sequence[Mapping] = (), segments: Iterable[tuple] = ()
) -> list[dict[str, Any]]:
    """Rows of ``limits`` for every snapshot of one cluster.

    Parameters
    ----------
    policies : sequence of mappings
        Rows of ``policies`` of one cluster.
    topic_stats : sequence of mappings
        Rows of ``topic_stats`` (the key, ``observed_ms``, ``owner_broker``): more subscriptions, and who owns them.
    segments : iterable of tuple
        Keys of subscriptions on segments, as their metrics name them (:func:`segment_keys`): the admin API of 5.0.0-M1 lists none.

    Returns
    -------
    list of dict
        In the order of snapshot, key and level. ``observed_ms`` is the time of a snapshot's last answer, ``answered_ms``
        that of the oldest answer that the level rests on.

    Notes
    -----
    A snapshot is a run of answers in which no request is repeated; the second answer to a request, or :data:`PAUSE_MS` without
    any, starts the next one. An answer is valid for the snapshots of the following day, until the next answer.
    """
    known = _Known(_Owners(topic_stats), segments=frozenset(_Key(*key) for key in segments))
    rows: list[dict[str, Any]] = []
    for snapshot in _snapshots(policies):
        known.observed_ms = snapshot[-1]["observed_ms"]
        for answer in snapshot:
            known.take(answer)
        for key in sorted(known.subscription_partitions()):
            if known.is_news(snapshot, key):
                rows += known.rows_of(key)
    return rows


def segment_keys(series: Iterable[Mapping[str, str]]) -> set[tuple]:
    """Keys of subscriptions on segments of scalable topics, of the labels of their backlogs."""
    return {
        (
            labels["cluster"],
            labels["namespace"],
            labels["topic"],
            int(labels["partition"]),
            labels["subscription"],
        )
        for labels in series
        if is_scalable(labels.get("topic", ""))
    }


def _segments_in(lake: Lake, clusters: Sequence[str]) -> set[tuple]:
    where = (pc.field("metric_name") == BACKLOG) & pc.field("cluster").isin(clusters)
    rows = lake.read("series", columns=["labels"], where=where)["labels"].combine_chunks()
    topics = pc.fill_null(pc.map_lookup(rows, "topic", "first"), "")
    return segment_keys(map(dict, rows.filter(pc.starts_with(topics, SCALABLE)).to_pylist()))


@dataclass(frozen=True)
class Rung:
    """One record of a level's chain, whether it won or not.

    Attributes
    ----------
    set_by : str
        Which record: one of ``contracts.words.SET_BY``.
    is_known : bool
        It was requested and answered; without an answer the levels below it cannot win.
    rate_msg, rate_bytes : int or None
        Per period; None: none, which counts as not set.
    wins : bool
        It is what the broker goes by. It wins whole: what it leaves out is no limit.
    """

    level: str
    set_by: str
    is_known: bool
    rate_msg: int | None
    rate_bytes: int | None
    period_s: int
    relative_to_publish: bool
    wins: bool

    @property
    def sets(self) -> bool:
        return self.rate_msg is not None or self.rate_bytes is not None


def limit_ladder(
    policies: Sequence[Mapping],
    topic_stats: Sequence[Mapping] = (),
    *,
    cluster: str,
    namespace: str,
    topic: str,
    partition: int,
    subscription: str,
) -> list[Rung]:
    """Every record of the three chains of one subscription partition, by the newest answers.

    Parameters
    ----------
    policies, topic_stats
        As for :func:`effective_limits`; those of this subscription, its topic, its namespace and the brokers are enough.

    Returns
    -------
    list of Rung
        By level, in the order in which the broker looks; the winner is the one that :func:`effective_limits` writes.
    """
    known = _Known(_Owners(topic_stats), cluster=cluster)
    for answer in sorted(policies, key=lambda row: (row["observed_ms"], row["scope"], row["key"])):
        known.observed_ms = answer["observed_ms"]
        known.take(answer)
    key = _Key(cluster, namespace, topic, partition, subscription)
    owner = known.owner(key)
    runtime = known._runtime(owner)
    rungs = []
    for level in LEVELS:
        is_open = True
        for set_by, record in known._chain(level, key, owner, runtime):
            wins = is_open and record is not None and record.sets
            # An answer that is missing hides all below it.
            is_open = is_open and record is not None and not wins
            record_or_none = record or _Record()
            rungs.append(
                Rung(
                    level,
                    set_by,
                    record is not None,
                    record_or_none.msg if record_or_none.msg > 0 else None,
                    record_or_none.bytes if record_or_none.bytes > 0 else None,
                    record_or_none.period_s,
                    record_or_none.relative,
                    wins,
                )
            )
    return rungs


# -- snapshots --------------------------------------------------------------------------------


def _snapshots(policies: Sequence[Mapping]) -> Iterable[list[Mapping]]:
    snapshot: list[Mapping] = []
    answered: set[tuple] = set()
    for answer in sorted(policies, key=lambda row: (row["observed_ms"], row["scope"], row["key"])):
        question = (answer["scope"], answer["key"])
        paused = bool(snapshot) and answer["observed_ms"] - snapshot[-1]["observed_ms"] > PAUSE_MS
        if question in answered or paused:
            yield snapshot
            snapshot, answered = [], set()
        snapshot.append(answer)
        answered.add(question)
    if snapshot:
        yield snapshot


@dataclass(frozen=True, order=True)
class _Key:
    cluster: str
    namespace: str
    topic: str
    partition: int
    subscription: str

    @property
    def physical_topic(self) -> str:
        return part_text(self.topic, self.partition)

    @property
    def is_replicator(self) -> bool:
        return remote_cluster(self.subscription) is not None


@dataclass(frozen=True)
class _Record:
    """One dispatch rate as configured. ``sets`` is False where it counts as not set."""

    msg: int = -1
    bytes: int = -1
    period_s: int = 1
    relative: bool = False

    @property
    def sets(self) -> bool:
        return self.msg > 0 or self.bytes > 0

    @classmethod
    def of(cls, body: Mapping | None) -> _Record:
        if not body:
            return cls()
        return cls(
            int(body.get(_MSG, -1)),
            int(body.get(_BYTES, -1)),
            # A period below a second is treated as one second.
            max(1, int(body.get("ratePeriodInSecond", 1))),
            bool(body.get("relativeToPublishRate", False)),
        )


class _Owners:
    """The owner broker of each subscription's partition when its stats were read."""

    def __init__(self, topic_stats: Sequence[Mapping]) -> None:
        self._seen: dict[_Key, list[tuple[int, str | None]]] = {}
        for row in sorted(topic_stats, key=lambda row: row["observed_ms"]):
            key = _Key(row["cluster"], row["namespace"], row["topic"], row["partition"], row["subscription"])
            self._seen.setdefault(key, []).append((row["observed_ms"], row["owner_broker"]))

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._seen)

    def nearest(self, key: _Key, time_ms: int) -> tuple[int, str | None] | None:
        """Time and owner of the stats nearest to a time; None beyond :data:`ANSWER_VALID_MS`."""
        seen = self._seen.get(key, [])
        at = bisect_left(seen, (time_ms, ""), key=lambda row: (row[0], row[1] or ""))
        near = [row for row in seen[max(0, at - 1) : at + 1] if abs(row[0] - time_ms) <= ANSWER_VALID_MS]
        return min(near, key=lambda row: abs(row[0] - time_ms), default=None)


@dataclass
class _Known:
    """The newest answer to every question so far."""

    owners: _Owners
    observed_ms: int = 0
    cluster: str = ""
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    segments: frozenset[_Key] = frozenset()
    #: Time of the oldest answer that was looked at since it was last set.
    oldest_ms: int = 0

    def take(self, answer: Mapping) -> None:
        body = answer["body"]
        parsed = json.loads(body) if body else None
        self.answers[(answer["scope"], answer["key"])] = (answer["observed_ms"], parsed)
        self.cluster = answer["cluster"]

    def has_answer(self, scope: str, key: str) -> bool:
        if not self._holds(scope, key):
            return False
        self.oldest_ms = min(self.oldest_ms, self.answers[(scope, key)][0])
        return True

    def answer(self, scope: str, key: str) -> Any:
        return self.answers[(scope, key)][1] if self.has_answer(scope, key) else None

    def keys(self, scope: str) -> list[str]:
        return sorted(key for answered, key in self.answers if answered == scope and self._holds(scope, key))

    def _holds(self, scope: str, key: str) -> bool:
        found = self.answers.get((scope, key))
        return found is not None and found[0] >= self.observed_ms - ANSWER_VALID_MS

    # -- whom it concerns -----------------------------------------------------------------

    def subscription_partitions(self) -> set[_Key]:
        """Subscription partitions that were listed, or whose stats were read within a day."""
        found = {key for key in self.owners if self.owners.nearest(key, self.observed_ms)}
        found |= {key for key in self.segments if self._holds("namespace", key.namespace)}
        for topic in self.keys("topic_subscriptions"):
            namespace = namespace_of(topic)
            count = int((self.answer("partition_count", topic) or {}).get("partitions", 0))
            for name in self.answer("topic_subscriptions", topic) or ():
                for partition in range(count) if count else (-1,):
                    found.add(_Key(self.cluster, namespace, topic, partition, name))
        return found | set(self._replicators())

    def _replicators(self) -> Iterator[_Key]:
        """One for each topic partition that was requested, and each cluster that its namespace is replicated to."""
        for physical in self.keys("topic_owner"):
            topic, partition = topic_and_partition(physical, None)
            namespace = namespace_of(topic)
            for remote in self._remote_clusters(namespace):
                yield _Key(self.cluster, namespace, topic, int(partition), REPLICATOR_PREFIX + remote)

    def _remote_clusters(self, namespace: str) -> set[str]:
        """Where a namespace's topics are replicated to; none where it is not known which of its clusters is this one."""
        clusters = (self.answer("namespace", namespace) or {}).get("replication_clusters") or ()
        local = self._cluster_names()
        return set(clusters) - local if len(local) == 1 else set()

    def is_news(self, snapshot: Sequence[Mapping], key: _Key) -> bool:
        """Whether a snapshot answered anything that this subscription's limits rest on."""
        concerns = {key.topic, key.namespace, key.physical_topic, f"{key.topic}#{key.subscription}"}
        return any(answer["scope"] in _PER_BROKER or answer["key"] in concerns for answer in snapshot)

    def owner(self, key: _Key) -> str | None:
        """host:port of the owner's web address, which is what a scrape's ``instance`` says where it names hosts."""
        found = self.answer("topic_owner", key.physical_topic)
        if isinstance(found, Mapping):
            for name in ("httpUrl", "httpUrlTls"):
                if found.get(name):
                    return urlsplit(found[name]).netloc
        elif isinstance(found, str) and found:
            return urlsplit(found).netloc or found
        nearest = self.owners.nearest(key, self.observed_ms)
        if nearest is not None and nearest[1]:
            return nearest[1]
        # With one broker there is nothing to look up.
        return self._only_broker()

    def _only_broker(self) -> str | None:
        """The broker whose configuration was read where the cluster has no other; several may be there of which one answered."""
        read = self.keys("broker_configuration_runtime")
        named = {name for key in self.keys("brokers") for name in self.answers[("brokers", key)][1] or ()}
        return read[0] if len(read) == 1 and len(named) <= 1 else None

    # -- levels -----------------------------------------------------------------------------

    def rows_of(self, key: _Key) -> list[dict[str, Any]]:
        self.oldest_ms = self.observed_ms
        owner = self.owner(key)
        runtime = self._runtime(owner)
        facts = runtime or {}
        of_all_levels_ms = self.oldest_ms
        batch = facts.get("dispatcherMaxReadBatchSize")
        rows = []
        for level in LEVELS:
            self.oldest_ms = of_all_levels_ms
            found = self._level(level, key, owner, runtime)
            if found is None:
                continue
            set_by, record = found
            rows.append(
                {
                    "cluster": key.cluster,
                    "namespace": key.namespace,
                    "topic": key.topic,
                    "partition": key.partition,
                    "subscription": key.subscription,
                    "level": level,
                    "rate_msg": record.msg if record.msg > 0 else None,
                    "rate_bytes": record.bytes if record.bytes > 0 else None,
                    "period_s": record.period_s,
                    "counts": "entries"
                    if key.is_replicator or _true(facts.get("dispatchThrottlingOnBatchMessageEnabled"))
                    else "messages",
                    "relative_to_publish": record.relative,
                    "exempt_caught_up": not key.is_replicator
                    and _false(facts.get("dispatchThrottlingOnNonBacklogConsumerEnabled")),
                    "read_batch_entries": None if batch is None else int(batch),
                    "read_size_bytes": int(facts.get("dispatcherMaxReadSizeBytes", _DEFAULT_READ_SIZE_BYTES)),
                    "broker": owner,
                    "set_by": set_by,
                    "observed_ms": self.observed_ms,
                    "answered_ms": self.oldest_ms,
                    "date": date_of(self.observed_ms),
                }
            )
        return rows

    def _level(
        self, level: str, key: _Key, owner: str | None, runtime: Mapping | None
    ) -> tuple[str, _Record] | None:
        """The record that wins, and who set it; None where the chain meets an answer that is missing."""
        for set_by, record in self._chain(level, key, owner, runtime):
            if record is None:
                return None
            if record.sets:
                return set_by, record
        return "none", _Record()

    def _chain(
        self, level: str, key: _Key, owner: str | None, runtime: Mapping | None
    ) -> Iterable[tuple[str, _Record | None]]:
        if key.is_replicator:
            if level == "subscription":
                yield from self._replicator_chain(key, runtime)
            return
        if level != "broker":
            scope = "topic_dispatch_rate" if level == "topic" else "topic_subscription_dispatch_rate"
            # A scalable topic has no policies of its own. Without topic level policies a broker keeps none and refuses to answer for them.
            if not is_scalable(key.topic) and not _false((runtime or {}).get("topicLevelPoliciesEnabled")):
                if level == "subscription":
                    own = f"{key.topic}#{key.subscription}"
                    yield "subscription_policy", self._policy("subscription_dispatch_rate", own)
                yield "topic_policy", self._policy(scope, key.topic)
                yield "global_topic_policy", self._policy(f"global_{scope}", key.topic)
            if not is_system_topic(key.topic):
                yield "namespace_policy", self._namespace(_NAMESPACE_RATES[level], key.namespace, runtime)
        yield self._broker(_BROKER_SETTINGS[level], runtime)

    def _replicator_chain(self, key: _Key, runtime: Mapping | None) -> Iterable[tuple[str, _Record | None]]:
        if not _false((runtime or {}).get("topicLevelPoliciesEnabled")):
            yield "topic_policy", self._policy("topic_replicator_dispatch_rate", key.topic)
            yield "global_topic_policy", self._policy("global_topic_replicator_dispatch_rate", key.topic)
        if not is_system_topic(key.topic):
            yield "namespace_policy", self._namespace(("replicatorDispatchRate",), key.namespace, runtime)
        yield self._broker(_REPLICATOR_SETTINGS, runtime)

    def _policy(self, scope: str, key: str) -> _Record | None:
        return _Record.of(self.answer(scope, key)) if self.has_answer(scope, key) else None

    def _namespace(self, names: Sequence[str], namespace: str, runtime: Mapping | None) -> _Record | None:
        if not self.has_answer("namespace", namespace):
            return None
        policies = self.answer("namespace", namespace) or {}
        maps = [policies[name] for name in names if policies.get(name)]
        if not maps:
            return _Record()
        # Records are per Pulsar cluster, whose name is the broker's and may differ from the scrape's label.
        local = (runtime or {}).get("clusterName")
        if local is None and len(names := self._cluster_names()) == 1:
            (local,) = names
        if local is None:
            clusters = policies.get("replication_clusters") or []
            if len(clusters) != 1:
                return None
            local = clusters[0]
        found = (_Record.of(by_cluster.get(local)) for by_cluster in maps)
        return next((record for record in found if record.sets), _Record())

    def _broker(self, settings: tuple[str, str], runtime: Mapping | None) -> tuple[str, _Record | None]:
        msg, size = settings
        dynamic = {}
        for broker in self.keys("broker_dynamic_configuration"):
            dynamic.update(self.answer("broker_dynamic_configuration", broker) or {})
        # What runs is the truth: an override that was deleted stays in force until the broker restarts.
        values = runtime if runtime is not None else dynamic
        if msg not in values or size not in values:
            return "broker_file", None
        record = _Record(int(values[msg] or 0), int(values[size] or 0))
        overridden = any(int(dynamic.get(name) or 0) > 0 and name in dynamic for name in (msg, size))
        return ("broker_dynamic" if overridden else "broker_file"), record

    def _runtime(self, owner: str | None) -> Mapping | None:
        brokers = self.keys("broker_configuration_runtime")
        if owner in brokers:
            return self.answer("broker_configuration_runtime", owner)
        # The owner may have another address than the one that was queried; with one broker it is that one.
        only = self._only_broker()
        return None if only is None else self.answer("broker_configuration_runtime", only)

    def _cluster_names(self) -> set[str]:
        """What the brokers that answered call their cluster: one name, unless the admin API is of several clusters."""
        scope = "broker_configuration_runtime"
        found = {(self.answers[(scope, key)][1] or {}).get("clusterName") for key in self.keys(scope)}
        return found - {None, ""}


def _true(value: object) -> bool:
    return str(value).lower() == "true"


def _false(value: object) -> bool:
    return str(value).lower() == "false"
