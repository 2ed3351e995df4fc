"""TDMQ scenarios: in, a YAML file; out, a checked scenario, or one line that names file and field.

The words are those of TDMQ's page "Traffic Throttling Mechanism Explanation". What that page leaves open is a field
here, so that every assumption can be read in the file and changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import ConfigDict, Field, ValidationError, model_validator

from throttlescope.models.throttling.scenario.file import ScenarioError, one_line
from throttlescope.models.throttling.scenario.limits import MAX_RATE
from throttlescope.models.throttling.scenario.load import MAX_MESSAGE_BYTES, NAME
from throttlescope.models.throttling.scenario.model import Model
from throttlescope.models.throttling.scenario.yaml_text import read_yaml

#: Both throttles count in windows of one second.
WINDOW_US = 1_000_000
#: Requests, pushed messages and looks at the counters of one run; everything is done one by one.
MAX_STEPS = 10_000_000
#: The scenario files that come with the package.
SHIPPED = Path(__file__).parent / "scenarios"
_DAY_MS = 86_400_000

Rate = Annotated[int, Field(gt=0, le=MAX_RATE)]


class _Part(Model):
    """A part of a TDMQ scenario: numbers are whole numbers, and text is not taken for one."""

    model_config = ConfigDict(strict=True)


class Quota(_Part):
    """What may pass in a second: ``tps`` messages and ``bandwidth_bytes`` bytes; absent means no limit."""

    tps: Rate | None = None
    bandwidth_bytes: Rate | None = None

    @model_validator(mode="after")
    def _limits_something(self) -> Quota:
        if self.tps is None and self.bandwidth_bytes is None:
            raise ValueError("tps, bandwidth_bytes: a quota needs at least one of them")
        return self


class Allocation(_Part):
    """The production/consumption allocation ratio: how many parts of the specification each of them gets."""

    production: int = Field(gt=0, le=1000)
    consumption: int = Field(gt=0, le=1000)

    def split(self, whole: Quota) -> tuple[Quota, Quota]:
        """Production's and consumption's parts; what does not divide goes to consumption.

        Raises
        ------
        ValueError
            One of them would get nothing.
        """
        tps, bandwidth = self._split(whole.tps), self._split(whole.bandwidth_bytes)
        return tuple(Quota(tps=tps[i], bandwidth_bytes=bandwidth[i]) for i in range(2))

    def _split(self, whole: int | None) -> tuple[int | None, int | None]:
        if whole is None:
            return None, None
        production = whole * self.production // (self.production + self.consumption)
        if not 0 < production < whole:
            raise ValueError(
                f"allocation: {self.production}:{self.consumption} of {whole} leaves one side nothing"
            )
        return production, whole - production


class Sends(_Part):
    """Send calls of the application: ``requests`` of them in [``at_ms``, ``at_ms + over_ms``), all at once with 0.

    They are repeated every ``every_ms``, ``times`` times in all. ``spacing: random`` draws the moments from the seed.
    """

    at_ms: int = Field(ge=0, le=_DAY_MS)
    requests: int = Field(gt=0)
    over_ms: int = Field(0, ge=0, le=_DAY_MS)
    every_ms: int | None = Field(None, gt=0, le=_DAY_MS)
    times: int = Field(1, gt=0)
    spacing: Literal["even", "random"] = "even"

    @model_validator(mode="after")
    def _fits(self) -> Sends:
        if (self.every_ms is None) != (self.times == 1):
            raise ValueError("every_ms, times: given together, with times of 2 or more")
        return self

    @property
    def end_ms(self) -> int:
        """The end of the last repetition; its last send call is before it."""
        return self.at_ms + (self.times - 1) * (self.every_ms or 0) + max(1, self.over_ms)


class Producers(_Part):
    """Producers that are alike: ``per_place`` of them on each node (partition) of ``on``.

    ``in_flight_requests`` is how many requests of one producer the server has taken and not yet answered: those are
    processed even when the channel closes. A producer's greatest speed is ``in_flight_requests / processing_us``.
    ``deliver_after_ms`` is the message's delay field: any value, also 0 and the past (negative), makes it a delayed message.
    """

    name: str = Field(pattern=NAME)
    on: Literal["each"] | Annotated[list[int], Field(min_length=1)] = "each"
    per_place: int = Field(1, gt=0, le=10_000)
    in_flight_requests: int = Field(1, gt=0, le=100_000)
    size_bytes: int = Field(1024, gt=0, le=MAX_MESSAGE_BYTES)
    deliver_after_ms: int | None = Field(None, ge=-_DAY_MS, le=_DAY_MS)
    sends: list[Sends] = Field(min_length=1)

    def places(self, places: int) -> list[int]:
        """The nodes (partitions) out of ``places`` that they are connected to."""
        return list(range(places)) if self.on == "each" else list(self.on)


class Backlog(_Part):
    """Messages that each subscription of a node (partition) has to read at the beginning."""

    messages: int = Field(gt=0)
    size_bytes: int = Field(1024, gt=0, le=MAX_MESSAGE_BYTES)


class Consumers(_Part):
    """``subscriptions`` on every node (partition), each with consumers that take whatever is pushed.

    The server looks at the quota before a push, and a push is up to ``push_messages`` messages; a subscription's pushes are
    at least ``push_interval_us`` apart.
    """

    subscriptions: int = Field(1, gt=0, le=1000)
    push_messages: int = Field(1, gt=0, le=100_000)
    push_interval_us: int = Field(1000, gt=0, le=WINDOW_US)
    backlog: Backlog | None = None


class _Scenario(_Part):
    format: Literal[1]
    name: str = Field(pattern=NAME)
    about: str = Field(min_length=1)
    duration_s: int = Field(gt=0, le=86_400)
    processing_us: int = Field(1000, gt=0, le=60 * WINDOW_US)
    producers: list[Producers] = Field([])
    consumers: Consumers | None = None

    @property
    def places(self) -> int:
        """Nodes, or partitions."""
        raise NotImplementedError

    @property
    def looks(self) -> int:
        """How often counters are looked at on a clock in the whole run."""
        raise NotImplementedError

    @property
    def quotas(self) -> dict[str, Quota]:
        """The quotas by name: ``production``, ``delayed``, ``consumption``; those that nothing uses are left out."""
        raise NotImplementedError

    @property
    def requests(self) -> int:
        """How many requests the producers send."""
        return sum(
            sends.requests * sends.times * group.per_place * len(group.places(self.places))
            for group in self.producers
            for sends in group.sends
        )

    @property
    def steps(self) -> int:
        """How many requests, pushed messages and looks a run takes."""
        copies = self.consumers.subscriptions if self.consumers else 0
        backlog = self.consumers.backlog if self.consumers else None
        kept = backlog.messages * copies * self.places if backlog else 0
        return self.requests * (1 + copies) + kept + self.looks

    def _check(self) -> None:
        for i, group in enumerate(self.producers):
            strange = [place for place in group.places(self.places) if not 0 <= place < self.places]
            if strange or len(set(group.places(self.places))) < len(group.places(self.places)):
                raise ValueError(
                    f"producers.{i}.on: {group.on} are not different numbers below {self.places}"
                )
            for j, sends in enumerate(group.sends):
                if sends.end_ms > self.duration_s * 1000:
                    raise ValueError(f"producers.{i}.sends.{j}: it ends at {sends.end_ms} ms, after the run")
        names = [group.name for group in self.producers]
        if len(set(names)) < len(names):
            raise ValueError(f"producers: names must be unique, got {names}")
        if not self.producers and not (self.consumers and self.consumers.backlog):
            raise ValueError("producers, consumers.backlog: without either nothing happens")
        if self.steps > MAX_STEPS:
            raise ValueError(
                f"duration_s, requests, subscriptions: {self.steps} requests, pushes and looks, at most {MAX_STEPS}"
            )


class ClusterScenario(_Scenario):
    """Cluster-level distributed throttling.

    ``usage_known_at_ms`` are the moments of a window at which every node learns what the whole cluster has used in it. The
    page gives the rule for a node's threshold, not those moments. ``delayed`` is the quota of delayed messages.
    """

    throttle: Literal["cluster"]
    nodes: int = Field(gt=0, le=1000)
    specification: Quota
    allocation: Allocation = Allocation(production=1, consumption=1)
    delayed: Quota | None = None
    usage_known_at_ms: list[Annotated[int, Field(ge=0, lt=1000)]] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> ClusterScenario:
        if self.usage_known_at_ms != sorted(set(self.usage_known_at_ms)):
            raise ValueError("usage_known_at_ms: moments are given once each, in rising order")
        self.allocation.split(self.specification)
        set_by = [group.name for group in self.producers if group.deliver_after_ms is not None]
        if bool(set_by) != (self.delayed is not None):
            raise ValueError("delayed: given exactly when a producer has deliver_after_ms")
        self._check()
        return self

    @property
    def places(self) -> int:
        return self.nodes

    @property
    def looks(self) -> int:
        return self.duration_s * self.nodes * (1 + len(self.usage_known_at_ms))

    @property
    def quotas(self) -> dict[str, Quota]:
        production, consumption = self.allocation.split(self.specification)
        used = {
            "production": production if self.producers else None,
            "delayed": self.delayed,
            "consumption": consumption if self.consumers else None,
        }
        return {name: quota for name, quota in used.items() if quota is not None}


class PartitionScenario(_Scenario):
    """Topic-partition throttling: every partition has the quotas ``production`` and ``consumption`` of its own.

    A task looks at production every ``check_ms``. The page does not say at which moment consumption is compared with its
    quota: ``each_push`` looks after every push, ``window_end`` only when the window ends.
    """

    throttle: Literal["partition"]
    partitions: int = Field(1, gt=0, le=1000)
    production: Quota | None = None
    consumption: Quota | None = None
    check_ms: int = Field(50, gt=0, le=1000)
    consumption_checked: Literal["each_push", "window_end"] = "each_push"

    @model_validator(mode="after")
    def _fits(self) -> PartitionScenario:
        for quota, users in (("production", self.producers), ("consumption", self.consumers)):
            if (getattr(self, quota) is not None) != bool(users):
                raise ValueError(f"{quota}: given exactly when there are {_USERS[quota]}")
        for i, group in enumerate(self.producers):
            if group.deliver_after_ms is not None:
                raise ValueError(
                    f"producers.{i}.deliver_after_ms: the page has a rate of delayed messages for clusters only"
                )
        self._check()
        return self

    @property
    def places(self) -> int:
        return self.partitions

    @property
    def looks(self) -> int:
        return self.duration_s * self.partitions * (1 + 1000 // self.check_ms)

    @property
    def quotas(self) -> dict[str, Quota]:
        used = {"production": self.production, "consumption": self.consumption}
        return {name: quota for name, quota in used.items() if quota is not None}


Scenario = ClusterScenario | PartitionScenario

_USERS = {"production": "producers", "consumption": "consumers"}
_KINDS: dict[str, type[Scenario]] = {"cluster": ClusterScenario, "partition": PartitionScenario}


def read_scenario(fields: object) -> Scenario:
    """Check a scenario that was read from a file or put together in code.

    Parameters
    ----------
    fields : mapping
        The fields of :class:`ClusterScenario` or :class:`PartitionScenario`; ``throttle`` says which.

    Raises
    ------
    ScenarioError
        One line with field and reason.
    """
    if not isinstance(fields, dict):
        raise ScenarioError("A scenario is a list of fields", got=type(fields).__name__)
    kind = fields.get("throttle")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ScenarioError("throttle: not a known one", got=repr(kind), expected=" or ".join(_KINDS))
    try:
        return _KINDS[kind].model_validate(fields)
    except ValidationError as error:
        raise ScenarioError(one_line(error)) from error


def load_scenario(path: Path) -> Scenario:
    """Read and check one scenario file, whose name is the scenario's name.

    Raises
    ------
    ScenarioError
        One line with file, field and reason.
    """
    try:
        scenario = read_scenario(read_yaml(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise ScenarioError(f"{path.name}: {one_line(error)}") from error
    except ScenarioError as error:
        raise ScenarioError(f"{path.name}: {str(error).removesuffix('.')}") from error
    if scenario.name != path.stem:
        raise ScenarioError(f"{path.name}: name: {scenario.name} is not the file's name")
    return scenario


def changed(scenario: Scenario, **fields: object) -> Scenario:
    """The scenario with other values in some fields, checked again."""
    return read_scenario(scenario.model_dump() | fields)


def shipped(name: str) -> Scenario:
    """A scenario that comes with the package."""
    return load_scenario(SHIPPED / f"{name}.yaml")
