"""What a geo scenario is: in, its parts; out, a checked :class:`GeoScenario` whose references hold.

Two clusters replicate some topics. Steps of the scenario concern whole clusters. The subject of a truth is a replicator: the cursor
``pulsar.repl.<remote cluster>`` of a topic on the cluster that sends.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from tests.lab.staged.model import TOPIC, StagedScenario, StagedTopic
from throttlescope.models.throttling.scenario.load import Producer
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.truth import Side

TENANT = "geo"
ClusterName = Literal["east", "west"]
#: Causes of a replication backlog, and the side of each.
SIDES: dict[str, Side] = {
    "throttled": "throttle",
    "remote_publish_limit": "throttle",
    "remote_slow": "consumer_capacity",
    "remote_quota": "neither",
    "remote_disconnected": "neither",
    "schema_refused": "neither",
    "replicator_stuck": "neither",
    "healthy": "neither",
}
_FIELDS = {
    "set_replicator_limit": {"level"},
    "lift_replicator_limit": {"level"},
    "set_publish_limit": {"level"},
    "lift_publish_limit": {"level"},
    "set_backlog_quota": {"limit_bytes", "policy"},
    "lift_backlog_quota": set(),
    "clear_backlog": set(),
    "unload": set(),
    "refuse_schemas": set(),
    "accept_schemas": set(),
    "change_schema": set(),
    "stop_cluster": set(),
    "start_cluster": set(),
    "shape_network": {"delay_ms"},
}
_LIMITS = ("set_replicator_limit", "set_publish_limit")
_OF_CLUSTERS = ("stop_cluster", "start_cluster", "shape_network")
_NUMBERS = ("msg", "bytes", "level", "limit_bytes", "policy", "delay_ms", "bytes_per_s")


class GeoStep(Model):
    """One change on a cluster.

    ``clear_backlog`` skips all messages of the unread subscription. ``refuse_schemas`` forbids new schema versions in the namespace,
    ``change_schema`` lets the producer write a new one. ``shape_network`` delays and bounds what flows from ``east`` to ``west``.
    """

    action: Literal[tuple(_FIELDS)]  # type: ignore[valid-type]
    cluster: ClusterName
    level: Literal["topic", "namespace", "broker"] | None = None
    msg: int | None = Field(None, gt=0)
    bytes: int | None = Field(None, gt=0)
    limit_bytes: int | None = Field(None, gt=0)
    policy: Literal["producer_request_hold", "producer_exception"] | None = None
    delay_ms: float | None = Field(None, ge=0)
    bytes_per_s: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> GeoStep:
        wanted = set(_FIELDS[self.action])
        given = {name for name in _NUMBERS if getattr(self, name) is not None}
        if self.action in _LIMITS:
            if not given & {"msg", "bytes"}:
                raise ValueError(f"{self.action}: needs msg or bytes")
            given -= {"msg", "bytes"}
        if self.action == "shape_network":
            given.discard("bytes_per_s")
        if given != wanted:
            raise ValueError(f"{self.action}: needs {sorted(wanted)}, got {sorted(given)}")
        if self.level == "broker" and "replicator" not in self.action:
            raise ValueError(f"{self.action}: the lab sets this limit at a topic or a namespace")
        return self


class ReplicatorTruth(Model):
    """What is true of a replicator during ``cause``, from ``settle_s`` after its steps on."""

    side: Side
    cause: Literal[tuple(SIDES)]  # type: ignore[valid-type]
    limiter: Literal["replicator.msg", "replicator.bytes"] | None = None
    settle_s: float = Field(60, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> ReplicatorTruth:
        if SIDES[self.cause] != self.side:
            raise ValueError(f"side: {self.cause} belongs to {SIDES[self.cause]}, not to {self.side}")
        if (self.cause == "throttled") != (self.limiter is not None):
            raise ValueError("limiter: given exactly when the cause is throttled")
        return self


class ReplicatedTopic(StagedTopic):
    """A topic, and what happens to its replicator.

    ``grows_per_s`` is the least growth of its backlog during ``cause`` in entries per second; without it the backlog stays below
    ``below_entries``. ``unread_on_remote`` is a subscription of that name on the remote side without a consumer. ``schema_name`` lets the
    producer write JSON with a schema. ``source`` is the cluster that sends.
    """

    tenant: ClassVar[str] = TENANT

    source: ClusterName = "east"
    producer: Producer
    schema_name: str | None = None
    unread_on_remote: str | None = None
    first: tuple[GeoStep, ...] = ()
    cause: tuple[GeoStep, ...] = ()
    relief: tuple[GeoStep, ...] = ()
    truth: ReplicatorTruth
    grows_per_s: float | None = Field(None, gt=0)
    below_entries: int = Field(200, gt=0)
    drains_within_s: float = Field(150, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> ReplicatedTopic:
        if self.producer.topic != TOPIC:
            raise ValueError(f"producer.topic: the topic is called {TOPIC}")
        if (self.truth.cause == "healthy") != (self.grows_per_s is None):
            raise ValueError("grows_per_s: given exactly when the replicator is not healthy")
        for step in (*self.first, *self.cause, *self.relief):
            if step.action in _OF_CLUSTERS:
                raise ValueError(f"{step.action}: a step of the scenario, not of a topic")
            if step.action == "clear_backlog" and self.unread_on_remote is None:
                raise ValueError("clear_backlog: there is no unread subscription")
        return self

    @property
    def rate_msg(self) -> float:
        """Messages published per second."""
        return self.producer.rate_msg

    @property
    def remote(self) -> str:
        """The cluster that receives."""
        return "west" if self.source == "east" else "east"


class GeoScenario(StagedScenario):
    """Two clusters, the topics that they replicate, and what happens to them."""

    well_s: float = Field(60, gt=0)
    cause_s: float = Field(480, gt=0)
    relieved_s: float = Field(440, gt=0)
    first: tuple[GeoStep, ...] = ()
    cause: tuple[GeoStep, ...] = ()
    relief: tuple[GeoStep, ...] = ()
    topics: tuple[ReplicatedTopic, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _steps_concern_clusters(self) -> GeoScenario:
        for step in (*self.first, *self.cause, *self.relief):
            if step.action not in _OF_CLUSTERS and step.level != "broker":
                raise ValueError(f"{step.action}: a step of a topic, not of the scenario")
        return self

    def label(self, cluster: str) -> str:
        """Pulsar's name of a cluster, which is the label ``cluster`` of its series: recordings never mix in one lake."""
        return f"{self.name}-{cluster}"

    def cursor(self, topic: ReplicatedTopic) -> str:
        """Pulsar's own name of a replicator's cursor, which its truth is stored under."""
        return f"pulsar.repl.{self.label(topic.remote)}"
