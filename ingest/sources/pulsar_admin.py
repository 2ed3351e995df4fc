"""Pulsar's admin API. In: addresses and the topics of interest. Out: rows of ``policies`` and ``topic_stats``.

Only GET requests, no more than so many per second; the one exception is :meth:`PulsarAdmin.post`, which a person requests. Answers are kept as they came, but for secrets in a broker's own
configuration. What one endpoint refuses is recorded and the rest goes on: an unanswered request is
unknown to readers of the rows, never "nothing set".
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

import pyarrow as pa

from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.core.times import date_of
from throttlescope.ingest.core.topic_name import SCALABLE, is_scalable, part_text
from throttlescope.ingest.sources.access import (
    TRANSPORT_ERRORS,
    Access,
    check_answer,
    clean_url,
    explain,
    public_url,
    refuse_html,
)
from throttlescope.ingest.sources.connections import (
    APART_MS,
    TopicConnections,
    add_pauses,
    connections_of,
)
from throttlescope.ingest.sources.policy_answers import answer_fault
from throttlescope.ingest.sources.topic_stats import stats_rows, stats_table

_WHAT = "Pulsar's admin API"
_SCALABLE_DOMAIN = SCALABLE.removesuffix("://")
_SECRET = re.compile(r"password|secret|credential|token$|AuthenticationParameters$|privateKey", re.IGNORECASE)
_NO_SECRET = re.compile(r"(Path|File|Name|Claim|Audience)$")
_HIDDEN = "(hidden)"
_BROKER = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_MOST_BROKERS = 10_000
#: Topics with paused producers: of so many partitions the publishers are read, and of as many the consumers.
MOST_PUBLISHERS = 50
#: How long answers may be waited for in all: so long, and so much for each question.
_WAIT_S, _WAIT_PER_REQUEST_S = 600.0, 0.1


@dataclass(frozen=True)
class Failure:
    """A question that was not answered."""

    scope: str
    key: str
    reason: str


@dataclass
class AdminSnapshot:
    """What the admin API said.

    Attributes
    ----------
    policies, topic_stats : pyarrow.Table
        Rows as their contracts want them.
    requests, bytes : int
        What the brokers had to serve.
    failures : list of Failure
        Requests without an answer; the rows lack them.
    refused : list of Refusal
        Answers that do not fit their request; they are among the failures, too.
    """

    policies: pa.Table
    topic_stats: pa.Table
    requests: int
    bytes: int
    failures: list[Failure]
    refused: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True)
class Refusal:
    """An answer that ingest validation refuses: the table that it was meant for, the reason code, and the row."""

    table: str
    reason: str
    row: dict[str, Any]


@dataclass(frozen=True, order=True)
class AdminTopic:
    """A topic without its partition suffix, and the partitions whose stats are wanted."""

    name: str
    partitions: tuple[int, ...] = ()

    @property
    def namespace(self) -> str:
        return "/".join(self.name.split("://", 1)[-1].split("/")[:2])

    @property
    def path(self) -> str:
        """``persistent/tenant/namespace/name``, safe in a URL."""
        scheme, _, rest = self.name.partition("://")
        return "/".join(quote(part, safe="") for part in (scheme, *rest.split("/", 2)))

    def physical(self, partition: int) -> AdminTopic:
        """The topic that a broker knows one partition by."""
        return AdminTopic(part_text(self.name, partition)) if partition >= 0 else self


@dataclass
class PulsarAdmin:
    """The admin API of one cluster.

    Attributes
    ----------
    urls : sequence of str
        One address for all brokers, or one per broker; without ``/admin/v2``.
    calls_per_s : float
        No more calls than this.
    """

    urls: list[str]
    access: Access = field(default_factory=Access)
    calls_per_s: float = 10.0

    def __post_init__(self) -> None:
        self.urls = [clean_url(url) for url in self.urls]
        if not self.urls:
            raise InputError("The admin API has no address", fix="give --pulsar-admin URL")
        self.requests = self.bytes = 0
        self.waited_s = 0.0
        self._session = self.access.session(retries=1, redirects_inside=True)
        self._not_before_s = 0.0
        # Limits and samples of stats are requested in threads of their own; together they keep the rate.
        self._pace = threading.Lock()

    @property
    def address(self) -> str:
        return public_url(self.urls[0])

    def collect(
        self,
        cluster: str,
        topics: Iterable[AdminTopic],
        *,
        publishers: Iterable[AdminTopic] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> AdminSnapshot:
        """Request everything that decides the limits and deadlines of the topics' subscriptions, and the stats of their partitions.

        Parameters
        ----------
        cluster : str
            Value of the column ``cluster``.
        topics : iterable of AdminTopic
            Those that have a backlog.
        publishers : iterable of AdminTopic, optional
            All whose producers are paused: their stats say which connections, and consumers on these have theirs read again. Where
            they are not given, which consumers are on a paused connection is known only of what is found.

        Raises
        ------
        SourceError
            No address can be reached, or all of them refuse us.
        """
        collection = _Collection(self, cluster, list(dict.fromkeys(topics)), progress)
        if publishers is not None:
            collection.publishers = list(dict.fromkeys(publishers))
        return collection.run()

    def sample(
        self,
        cluster: str,
        topics: Iterable[AdminTopic],
        *,
        rounds: int,
        pause_s: float,
        max_calls: int,
        within_s: float,
        publishers: Iterable[AdminTopic] | None = None,
    ) -> AdminSnapshot:
        """Request the stats of some partitions several times: what changes many times a second shows only in shares.

        Parameters
        ----------
        topics : iterable of AdminTopic
            With the partitions that are wanted, the most wanted first.
        rounds : int
            Requests per partition.
        pause_s : float
            Between two rounds.
        max_calls : int
            Partitions that would take more calls in all are left out.
        within_s : float
            No request starts later than this.
        publishers : iterable of AdminTopic, optional
            As in :meth:`collect`; each is one call.
        """
        collection = _Collection(self, cluster, list(dict.fromkeys(topics)), None)
        if publishers is not None:
            collection.publishers = list(dict.fromkeys(publishers))
        return collection.sample(rounds, pause_s, max_calls, time.monotonic() + within_s)

    def get(self, path: str, base: str | None = None, **params: str) -> str:
        """The text of an answer; empty where nothing is set.

        Parameters
        ----------
        path : str
            Behind the address, such as ``/admin/v2/clusters``.
        base : str, optional
            The address; the first one that answers by default.

        Raises
        ------
        SourceError
            Unreachable, or any other status than 200 and 204.
        """
        return self._first_of([base] if base else self.urls, lambda one: self._send(one, path, params))

    def post(self, path: str, timeout_s: float, fixes: Mapping[int, str]) -> str:
        """The text of the answer to a POST request without a body.

        Parameters
        ----------
        timeout_s : float
            How long the answer is waited for.
        fixes : mapping
            What to do about some statuses.

        Raises
        ------
        SourceError
            As :meth:`get`.
        """
        return self._first_of(
            self.urls, lambda one: self._send(one, path, {}, method="POST", timeout_s=timeout_s, fixes=fixes)
        )

    def partition_count(self, topic: AdminTopic, fixes: Mapping[int, str] = MappingProxyType({})) -> int:
        """Partitions of a topic; 0 for one without.

        Parameters
        ----------
        fixes : mapping
            As of :meth:`post`.

        Raises
        ------
        SourceError
            As :meth:`get`, or the answer is no number of partitions.
        """
        path = f"/admin/v2/{topic.path}/partitions"
        text = self._first_of(self.urls, lambda one: self._send(one, path, {}, fixes=fixes))
        try:
            return int(json.loads(text)["partitions"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise SourceError(
                f"The answer to {path} is no number of partitions",
                got=text[:80],
                fix="see that the address is a broker's web service (port 8080)",
            ) from None

    def _first_of(self, bases: Sequence[str], send: Callable[[str], str]) -> str:
        """The answer of the first address that answers at all."""
        for i, one in enumerate(bases):
            try:
                with self.access.hiding():
                    return send(one)
            except _UnreachableError:
                if i == len(bases) - 1:
                    raise
        raise AssertionError("no address")  # pragma: no cover

    def _send(
        self,
        base: str,
        path: str,
        params: dict[str, str],
        *,
        method: str = "GET",
        timeout_s: float | None = None,
        fixes: Mapping[int, str] = MappingProxyType({}),
    ) -> str:
        with self._pace:
            now_s = time.monotonic()
            wait_s = self._not_before_s - now_s
            self._not_before_s = max(now_s, self._not_before_s) + 1 / self.calls_per_s
            self.requests += 1
        if wait_s > 0:
            time.sleep(wait_s)
        started_s = time.monotonic()
        try:
            connect_s, read_s = self.access.timeout
            answer = self._session.request(
                method, base + path, params=params, timeout=(connect_s, timeout_s or read_s)
            )
        except TRANSPORT_ERRORS as error:
            fault = explain(error, _WHAT, base, self.access)
            raise _UnreachableError(
                fault.what, got=fault.got, expected=fault.expected, fix=fault.fix
            ) from error
        finally:
            self.waited_s += time.monotonic() - started_s
        self.bytes += len(answer.content)
        if answer.status_code not in fixes:
            check_answer(answer, _WHAT)
            refuse_html(answer, _WHAT)
        if answer.status_code in (200, 204):
            return self.access.without_secrets(answer.text.strip())
        raise SourceError(
            f"{_WHAT} has no answer to {path}",
            got=f"{answer.status_code} {_reason(answer.text) or answer.reason}",
            fix=fixes.get(answer.status_code, "see that the address is a broker's web service (port 8080)"),
        )


class _UnreachableError(SourceError):
    """The address does not answer at all."""


class _Collection:
    """One walk through all requests."""

    def __init__(
        self,
        admin: PulsarAdmin,
        cluster: str,
        topics: list[AdminTopic],
        progress: Callable[[str], None] | None,
    ) -> None:
        self.admin, self.cluster, self.topics, self.progress = admin, cluster, topics, progress
        self.policies: list[dict[str, Any]] = []
        self.stats: list[dict[str, Any]] = []
        self.failures: list[Failure] = []
        self.refused: list[Refusal] = []
        self.web_address = urlsplit(admin.urls[0]).netloc
        # Namespaces of more than one cluster: their topics have replicators.
        self.replicated: set[str] = set()
        self.publishers: list[AdminTopic] | None = None
        self.connections: list[TopicConnections] = []
        self._all_paused_seen = False

    def run(self) -> AdminSnapshot:
        requests, size = self.admin.requests, self.admin.bytes
        brokers = self._brokers()
        for i, (broker, base) in enumerate(brokers):
            if self._is_too_slow("broker", [name for name, _ in brokers[i:]]):
                break
            self._broker(broker, base)
        # One broker speaks for all: overrides are kept in the cluster's metadata.
        self._ask(
            "broker_dynamic_configuration",
            brokers[0][0],
            "/admin/v2/brokers/configuration/values",
            without_secrets=True,
        )
        if self.failures and not self.policies:
            self._give_up()
        groups: dict[str, None] = {}
        for namespace in dict.fromkeys(topic.namespace for topic in (*self.topics, *(self.publishers or ()))):
            path = "/".join(quote(part, safe="") for part in namespace.split("/"))
            policies = self._ask("namespace", namespace, f"/admin/v2/namespaces/{path}")
            if isinstance(policies, dict) and len(policies.get("replication_clusters") or ()) > 1:
                self.replicated.add(namespace)
            if isinstance(policies, dict) and policies.get("resource_group_name"):
                groups[policies["resource_group_name"]] = None
        for group in groups:
            self._ask("resource_group", group, f"/admin/v2/resourcegroups/{quote(group, safe='')}")
        for i, topic in enumerate(self.topics):
            if self._is_too_slow("topic", [topic.name for topic in self.topics[i:]]):
                break
            if self.progress:
                self.progress(
                    f"{i} of {len(self.topics)} topics, {self.admin.requests - requests} admin calls"
                )
            self._topic(topic)
        else:
            self._read_connections()
        return self._snapshot(requests, size)

    def sample(self, rounds: int, pause_s: float, max_calls: int, until_s: float) -> AdminSnapshot:
        """Request only stats, several times; a partition that does not answer is left out from then on."""
        requests, size = self.admin.requests, self.admin.bytes
        wanted = [
            (topic, partition)
            for topic in self.topics
            if not is_scalable(topic.name)
            for partition in topic.partitions or (-1,)
        ]
        wanted = wanted[: max_calls // max(1, rounds)]
        for number in range(rounds):
            if number and wanted:
                time.sleep(max(0.0, min(pause_s, until_s - time.monotonic())))
            answered = []
            for topic, partition in wanted:
                if time.monotonic() >= until_s:
                    return self._snapshot(requests, size)
                failed = len(self.failures)
                self._stats(topic, partition)
                if len(self.failures) == failed:
                    answered.append((topic, partition))
            wanted = answered
        self._all_paused_seen = self._read_publishers(until_s)
        return self._snapshot(requests, size)

    def _snapshot(self, requests: int, size: int) -> AdminSnapshot:
        add_pauses(self.stats, self.connections, all_paused_seen=self._all_paused_seen)
        contract = TABLES["policies"]
        schema = pa.schema([(column.name, column.type) for column in contract.columns])
        return AdminSnapshot(
            contract.conform(pa.Table.from_pylist(self.policies, schema=schema)),
            stats_table(self.stats),
            self.admin.requests - requests,
            self.admin.bytes - size,
            self.failures,
            self.refused,
        )

    # -- brokers ---------------------------------------------------------------------------

    def _brokers(self) -> list[tuple[str, str | None]]:
        """Name (host:port of the web service) and address of every active broker."""
        given = {urlsplit(url).netloc: url for url in self.admin.urls}
        observed_ms = round(time.time() * 1000)
        try:
            names = _broker_names(self.admin.get("/admin/v2/brokers"))
            self._keep("brokers", self.web_address, json.dumps(sorted(names)), self.web_address, observed_ms)
        except _UnreachableError:
            raise
        except (SourceError, ValueError, RecursionError) as error:
            self._failed("brokers", self.web_address, error)
            names = list(given)
        scheme = urlsplit(self.admin.urls[0]).scheme
        if len(names) == 1:
            # However it is reached, there is only this one.
            return [(names[0], given.get(names[0]))]
        return [(name, given.get(name, f"{scheme}://{name}")) for name in sorted(names)]

    def _broker(self, broker: str, base: str | None) -> None:
        reached = self._ask(
            "broker_configuration_runtime",
            broker,
            "/admin/v2/brokers/configuration/runtime",
            base=base,
            broker=broker,
            without_secrets=True,
        )
        if reached is not _UNREACHED:
            self._ask("broker_version", broker, "/admin/v2/brokers/version", base=base, broker=broker)

    def _give_up(self) -> None:
        first = self.failures[0]
        raise SourceError(
            f"{_WHAT} at {self.admin.address} answers no request",
            got=f"{first.scope}: {first.reason}",
            fix="give the address of a broker's web service (port 8080) and credentials that may read it",
        )

    def _is_too_slow(self, scope: str, left: list[str]) -> bool:
        """Whether answers were waited for too long already; then what is left is noted."""
        waited_s, requests = self.admin.waited_s, self.admin.requests
        if waited_s <= _WAIT_S + _WAIT_PER_REQUEST_S * requests:
            return False
        reason = f"waited {waited_s:.0f} s for {requests} answers: too slow to continue"
        self.failures += [Failure(scope, key, reason) for key in left]
        return True

    # -- topics ----------------------------------------------------------------------------

    def _scalable_topic(self, topic: AdminTopic) -> None:
        """Request the layout of a scalable topic and its stats: it has no policies of its own, its segments neither."""
        path = f"/admin/v2/scalable/{topic.path.removeprefix(f'{_SCALABLE_DOMAIN}/')}"
        self._ask("scalable_layout", topic.name, path)
        stats = self._ask("scalable_stats", topic.name, f"{path}/stats")
        without_owner = segments_without_owner(stats) if isinstance(stats, dict) else []
        if without_owner:
            self.failures.append(
                Failure(
                    "scalable_stats",
                    topic.name,
                    f"no owner of {', '.join(map(str, without_owner))}: totals over the segments are incomplete",
                )
            )

    def _topic(self, topic: AdminTopic) -> None:
        if is_scalable(topic.name):
            self._scalable_topic(topic)
            return
        path = f"/admin/v2/{topic.path}"
        of_replicators = (("topic_replicator_dispatch_rate", "replicatorDispatchRate"),)
        for scope, name in (
            *(of_replicators if topic.namespace in self.replicated else ()),
            ("topic_dispatch_rate", "dispatchRate"),
            ("topic_subscription_dispatch_rate", "subscriptionDispatchRate"),
            ("topic_publish_rate", "publishRate"),
            # What takes messages away, and what keeps them: transforms/deadlines resolves these.
            ("topic_message_ttl", "messageTTL"),
            ("topic_backlog_quotas", "backlogQuotaMap"),
            ("topic_retention", "retention"),
        ):
            self._ask(scope, topic.name, f"{path}/{name}")
            self._ask(f"global_{scope}", topic.name, f"{path}/{name}", isGlobal="true")
        counted = self._ask("partition_count", topic.name, f"{path}/partitions")
        count = counted.get("partitions", 0) if isinstance(counted, dict) else 0
        partitions = list(range(count)) if count else [-1]
        for partition in partitions:
            physical = topic.physical(partition)
            self._ask("topic_owner", physical.name, f"/lookup/v2/topic/{physical.path}")
        subscriptions = self._ask("topic_subscriptions", topic.name, f"{path}/subscriptions")
        for name in subscriptions if isinstance(subscriptions, list) else ():
            key = f"{topic.name}#{name}"
            self._ask("subscription_dispatch_rate", key, f"{path}/{quote(name, safe='')}/dispatchRate")
        for partition in topic.partitions or partitions:
            # The age of a backlog costs the broker one read of a subscription: once in a walk.
            self._stats(topic, partition, getEarliestTimeInBacklog="true")

    def _read_connections(self) -> None:
        """Find the consumers on connections that are paused; their stats have to be of the same minute as those of the producers."""
        for topic in self.publishers or ():
            if topic.name not in {one.name for one in self.topics}:
                path = f"/admin/v2/{topic.path}/publishRate"
                self._ask("topic_publish_rate", topic.name, path)
                self._ask("global_topic_publish_rate", topic.name, path, isGlobal="true")
        seen = list(self.connections)
        self._all_paused_seen = self._read_publishers()
        if not self.publishers or not self.connections:
            return
        newest_ms = max(one.observed_ms for one in self.connections)
        addresses = {address for one in self.connections[len(seen) :] for address in one.publishers}
        again = {
            one.place
            for one in seen
            if newest_ms - one.observed_ms > APART_MS
            and addresses.intersection(address for names in one.consumers.values() for address in names)
        }
        for name, partition in sorted(again)[:MOST_PUBLISHERS]:
            self._stats(AdminTopic(name), partition)

    def _read_publishers(self, until_s: float | None = None) -> bool:
        """Read who publishes to the topics whose producers are paused; whether all of them answered."""
        if self.publishers is None:
            return False
        wanted = [(topic, n) for topic in self.publishers for n in topic.partitions or (-1,)]
        failed = len(self.failures)
        for topic, partition in wanted[:MOST_PUBLISHERS]:
            if until_s is not None and time.monotonic() >= until_s:
                return False
            self._stats(topic, partition, keep=False)
        return len(wanted) <= MOST_PUBLISHERS and len(self.failures) == failed

    def _stats(self, topic: AdminTopic, partition: int, *, keep: bool = True, **params: str) -> None:
        """Read stats: who is connected, and, if they are to be kept, their rows."""
        physical = topic.physical(partition)
        observed_ms = round(time.time() * 1000)
        try:
            body = self.admin.get(f"/admin/v2/{physical.path}/stats", getPreciseBacklog="true", **params)
        except SourceError as error:
            self._failed("topic_stats", physical.name, error)
            return
        connections = connections_of(self.cluster, topic.name, partition, observed_ms, body)
        if connections is not None:
            self.connections.append(connections)
        if not keep:
            return
        row = {
            "cluster": self.cluster,
            "namespace": topic.namespace,
            "topic": topic.name,
            "partition": partition,
            "observed_ms": observed_ms,
            "body": body,
        }
        try:
            self.stats += stats_rows(**row)
        except InputError as error:
            self._failed("topic_stats", physical.name, error)
            self.refused.append(Refusal("topic_stats", "stats_unreadable", row))

    # -- one question ----------------------------------------------------------------------

    def _ask(
        self,
        scope: str,
        key: str,
        path: str,
        *,
        base: str | None = None,
        broker: str | None = None,
        without_secrets: bool = False,
        **params: str,
    ) -> Any:
        """Send a request, keep the raw answer, and return it parsed; what is refused is recorded."""
        observed_ms = round(time.time() * 1000)
        try:
            text = self.admin.get(path, base, **params)
        except SourceError as error:
            self._failed(scope, key, error)
            return _UNREACHED if isinstance(error, _UnreachableError) else None
        body, answer = _as_json(text)
        if without_secrets and isinstance(answer, dict):
            answer = {name: _hidden(name, value) for name, value in answer.items()}
            body = json.dumps(answer)
        row = {
            "cluster": self.cluster,
            "scope": scope,
            "key": key,
            "body": body,
            "broker": broker or self.web_address,
            "observed_ms": observed_ms,
        }
        if fault := answer_fault(scope, body):
            # Read as it is, it would pass for "nothing set".
            self.failures.append(Failure(scope, key, fault))
            self.refused.append(Refusal("policies", "policy_unreadable", row))
            return None
        self._keep(scope, key, body, row["broker"], observed_ms)
        return answer

    def _keep(self, scope: str, key: str, body: str, broker: str, observed_ms: int) -> None:
        self.policies.append(
            {
                "cluster": self.cluster,
                "scope": scope,
                "key": key,
                "body": body,
                "broker": broker,
                "observed_ms": observed_ms,
                "date": date_of(observed_ms),
            }
        )

    def _failed(self, scope: str, key: str, error: Exception) -> None:
        got = getattr(error, "got", None)
        self.failures.append(Failure(scope, key, str(got or error)))


def segments_without_owner(stats: dict[str, Any]) -> list[str]:
    """Segments of the stats of a scalable topic whose broker is not known (``ownerBroker`` null); 5.0.0-M1 does not say."""
    segments = stats.get("segments")
    found = segments.items() if isinstance(segments, dict) else ()
    return [number for number, one in found if isinstance(one, dict) and one.get("ownerBroker", "") is None]


_UNREACHED = object()


def _as_json(text: str) -> tuple[str, Any]:
    """The answer as JSON text, and parsed: nothing becomes null, and bare words (a version) a string."""
    if not text:
        return "null", None
    try:
        return text, json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(text), text


def _broker_names(text: str) -> list[str]:
    """Names of brokers, host and port: they become addresses that our credentials are sent to, so nothing else may be in them.

    Raises
    ------
    ValueError
        It is no list of such names.
    """
    names = json.loads(text)
    if not isinstance(names, list) or not names or len(names) > _MOST_BROKERS:
        raise ValueError("no list of brokers")
    for name in names:
        if not isinstance(name, str) or not _BROKER.fullmatch(name):
            raise ValueError(f"a broker named {str(name)[:80]!r}")
    return names


def _hidden(name: str, value: Any) -> Any:
    return _HIDDEN if value and _SECRET.search(name) and not _NO_SECRET.search(name) else value


def _reason(text: str) -> str:
    """What a broker gives as reason."""
    try:
        return str(json.loads(text)["reason"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return " ".join(text[:200].split())
