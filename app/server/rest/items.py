"""What an answer consists of, as pydantic models. In: table contracts, rows of queries. Out: checked items; their JSON Schema is the contract.

An item that is a row of a table has the columns of its contract, declared there once, with two more: the whole name of its
subscription and the path of its page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from throttlescope.app.presentation.links.fields import PageAddress
from throttlescope.app.presentation.links.subscription import SubscriptionAddress, SubscriptionPartition
from throttlescope.app.web.address.limits import LimitsAddress
from throttlescope.app.web.address.rollups import RollupsAddress
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.contracts.keys import SUBSCRIPTION_KEY_NAMES
from throttlescope.ingest.contracts.vocabulary import LEVELS, LIMITERS, SET_BY, UNITS
from throttlescope.ingest.core.subscription_name import subscription_text
from throttlescope.models.messages.catalogue import sentence

#: Levers of a recommendation, in the order of their names.
RECOMMENDED_LEVERS = ("limit", "period", "consumers", "processing", "partitions", "together")
_KEY = set(SUBSCRIPTION_KEY_NAMES)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: such a value is absent."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _doc(key: str) -> str:
    return sentence(f"rest.field.{key}")


#: A measured value; absent where nothing was measured.
OptionalNumber = Annotated[float | None, BeforeValidator(_finite)]


class RestItem(BaseModel):
    """A record of an answer: every field is always there, and null where nothing is known."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class SubscriptionItem(RestItem):
    """A record of one subscription partition."""

    selector: str = Field(description=_doc("selector"))
    page: str = Field(description=_doc("page"))

    @model_validator(mode="before")
    @classmethod
    def _named(cls, row: Any) -> Any:
        if not isinstance(row, Mapping) or "selector" in row or not row.keys() >= _KEY:
            return row
        key = SubscriptionPartition(row["cluster"], row["topic"], row["partition"], row["subscription"])
        return {
            **row,
            "selector": subscription_text(key.topic, key.partition, key.subscription),
            "page": cls._address(key, row).href(),
        }

    @classmethod
    def _address(cls, key: SubscriptionPartition, row: Mapping[str, Any]) -> PageAddress:
        """The page's address; a record of a window or a range leads there."""
        return SubscriptionAddress(key, at_ms=row.get("window_end_ms"))


class EpisodeBase(SubscriptionItem):
    """A record of a backlog, whose page shows its range."""

    @classmethod
    def _address(cls, key: SubscriptionPartition, row: Mapping[str, Any]) -> PageAddress:
        return SubscriptionAddress(key, row["since_ms"], row["end_ms"] or row["judged_until_ms"])


#: By what an incident's members share, the roll-up that shows it.
_SHARED = {
    "broker": "broker",
    "broker_limiter": "broker",
    "namespace_policy": "namespace",
    "topic_limiter": "topic",
}


class IncidentBase(RestItem):
    """A record of an incident, whose page is that of what its members share."""

    page: str = Field(description=_doc("page"))

    @model_validator(mode="before")
    @classmethod
    def _linked(cls, row: Any) -> Any:
        if not isinstance(row, Mapping) or "page" in row:
            return row
        address = RollupsAddress(
            _SHARED[row["kind"]],
            clusters=(row["cluster"],),
            name=row["shared_with"],
            start_ms=row["since_ms"],
            end_ms=row["end_ms"],
        )
        return {**row, "page": address.href()}


def _python_type(type_: pa.DataType, name: str, words: tuple[str, ...] | None) -> Any:
    """The type of a column's values; ``name`` names the model of a struct."""
    if pa.types.is_list(type_):
        return list[_python_type(type_.value_type, name, words)]
    if pa.types.is_struct(type_):
        fields = {
            field.name: _field(field.type, f"{name}{_camel(field.name)}", field.nullable, None)
            for field in type_
        }
        return create_model(name, __base__=RestItem, **fields)
    if pa.types.is_integer(type_):
        return int
    if pa.types.is_floating(type_):
        return float
    if pa.types.is_boolean(type_):
        return bool
    return Literal[words] if words else str


def _field(
    type_: pa.DataType,
    name: str,
    nullable: bool,
    words: tuple[str, ...] | None,
    description: str | None = None,
) -> tuple[Any, Any]:
    found = _python_type(type_, name, words)
    if found is float and nullable:
        return OptionalNumber, Field(description=description)
    return (found | None if nullable else found), Field(description=description)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _of_table(
    name: str, table: str, base: type[RestItem] = SubscriptionItem, **more: tuple[Any, Any]
) -> type[RestItem]:
    """A model with the columns of a table, in their order."""
    contract = TABLES[table]
    fields = {
        column.name: _field(
            column.type, f"{name}{_camel(column.name)}", column.nullable, column.words, column.doc
        )
        for column in contract.columns
        # What renders the sentences in other languages is the project's own affair: answers are in English.
        if column.name != "messages"
    }
    return create_model(name, __base__=base, __doc__=contract.doc, **fields, **more)


VERDICT = _of_table("Verdict", "verdicts")
SUBSCRIPTION = _of_table(
    "Subscription",
    "verdict_latest",
    stale=(bool, Field(description=_doc("stale"))),
    own_topic=(bool, Field(description=_doc("own_topic"))),
)
EPISODE = _of_table("Episode", "episodes", EpisodeBase)
INCIDENT = _of_table("Incident", "incidents", IncidentBase)
FORECAST = _of_table("Forecast", "forecasts")


class LimitItem(RestItem):
    """One limiter that is in force: of a subscription, of a topic partition, or of a broker, with its recent use."""

    model_config = ConfigDict(title="Limit")

    cluster: str = Field(description=_doc("cluster"))
    limiter: Literal[LIMITERS] = Field(description=_doc("limiter"))
    level: Literal[LEVELS] = Field(description=_doc("level"))
    unit: Literal[UNITS] = Field(description=_doc("unit"))
    broker: str | None = Field(description=_doc("limit.broker"))
    topic: str | None = Field(description=_doc("limit.topic"))
    partition: int | None = Field(description=_doc("limit.partition"))
    subscription: str | None = Field(description=_doc("limit.subscription"))
    namespaces: list[str] = Field(description=_doc("limit.namespaces"))
    rate_per_period: int | None = Field(description=_doc("limit.rate_per_period"))
    period_s: int = Field(description=_doc("limit.period_s"))
    rate_per_s: OptionalNumber = Field(description=_doc("limit.rate_per_s"))
    counts: Literal["messages", "entries", "bytes"] = Field(description=_doc("limit.counts"))
    relative_to_publish: bool = Field(description=_doc("limit.relative_to_publish"))
    set_by: Literal[SET_BY] = Field(description=_doc("limit.set_by"))
    observed_ms: int = Field(description=_doc("limit.observed_ms"))
    shared_by_subscriptions: int = Field(description=_doc("limit.shared_by_subscriptions"))
    use_share_max: OptionalNumber = Field(description=_doc("limit.use_share_max"))
    near_limit_minutes: int = Field(description=_doc("limit.near_limit_minutes"))
    known_minutes: int = Field(description=_doc("limit.known_minutes"))
    page: str = Field(description=_doc("limit.page"))

    @model_validator(mode="before")
    @classmethod
    def _of_row(cls, row: Any) -> Any:
        """From a row of :func:`throttlescope.app.web.data.limiters.limiters`."""
        if not isinstance(row, Mapping) or "r" not in row:
            return row
        rate, unit = row["r"], row["limiter"].partition(".")[2]
        member = row["member"]
        key = SubscriptionPartition(
            member["cluster"], member["topic"], member["partition"], member["subscription"]
        )
        return {
            **row,
            "unit": unit,
            "rate_per_period": rate["rate"],
            "period_s": rate["period_s"],
            "rate_per_s": row["per_s"],
            "counts": "bytes" if unit == "bytes" else rate["counts"],
            "relative_to_publish": rate["relative"],
            "set_by": rate["set_by"],
            "shared_by_subscriptions": row["shared_by"],
            "use_share_max": row["share"],
            "near_limit_minutes": row["near_minutes"],
            "known_minutes": row["minutes"],
            "page": LimitsAddress(subject=key).href(),
        }


class RecommendationItem(RestItem):
    """One change that drains the backlog within the target. Nothing was executed."""

    model_config = ConfigDict(title="Recommendation")

    lever: Literal[RECOMMENDED_LEVERS] = Field(description=_doc("recommendation.lever"))
    text: str = Field(description=_doc("recommendation.text"))
    change: str | None = Field(description=_doc("recommendation.change"))
    earliest_drain_s: OptionalNumber = Field(description=_doc("recommendation.earliest_drain_s"))
    likely_drain_s: OptionalNumber = Field(description=_doc("recommendation.likely_drain_s"))
    latest_drain_s: OptionalNumber = Field(description=_doc("recommendation.latest_drain_s"))
    next_limiting_factor: str = Field(description=_doc("recommendation.next_limiting_factor"))
    apply_command: str | None = Field(description=_doc("recommendation.apply_command"))
    roll_back_command: str | None = Field(description=_doc("recommendation.roll_back_command"))
    risks: list[str] = Field(description=_doc("recommendation.risks"))
    checks: list[str] = Field(description=_doc("recommendation.checks"))


class CounterfactualItem(RestItem):
    """What a replay without one lever left of the backlog at the end of the target."""

    model_config = ConfigDict(title="Counterfactual")

    lever: Literal["limiter", "consumers", "together"] = Field(description=_doc("counterfactual.lever"))
    limiter: str | None = Field(description=_doc("limiter"))
    left_low_entries: OptionalNumber = Field(description=_doc("counterfactual.left_low_entries"))
    left_high_entries: OptionalNumber = Field(description=_doc("counterfactual.left_high_entries"))
    earliest_drain_s: OptionalNumber = Field(description=_doc("recommendation.earliest_drain_s"))
    latest_drain_s: OptionalNumber = Field(description=_doc("recommendation.latest_drain_s"))
    limited_by: str = Field(description=_doc("recommendation.next_limiting_factor"))


class ClusterFreshnessItem(RestItem):
    """Up to when one cluster was judged."""

    model_config = ConfigDict(title="ClusterFreshness")

    cluster: str = Field(description=_doc("cluster"))
    verdicts_until_ms: int = Field(description=_doc("freshness.verdicts_until_ms"))


class LakeFreshness(RestItem):
    """How new an answer is: what was judged, and the versions of the tables that it was read from."""

    clusters: list[ClusterFreshnessItem] = Field(description=_doc("freshness.clusters"))
    table_versions: dict[str, int | None] = Field(description=_doc("freshness.table_versions"))


class ProblemDocument(BaseModel):
    """An error, as RFC 9457 defines it."""

    model_config = ConfigDict(title="Problem")

    type: str = Field(description=_doc("problem.type"))
    title: str = Field(description=_doc("problem.title"))
    status: int = Field(ge=400, le=599, description=_doc("problem.status"))
    detail: str = Field(description=_doc("problem.detail"))
    parameter: str | None = Field(default=None, description=_doc("problem.parameter"))


def page_model(item: type[BaseModel], name: str) -> type[BaseModel]:
    """The envelope of one page of items."""
    return create_model(
        f"{name}Page",
        __base__=RestItem,
        __doc__=sentence("rest.page", name=name),
        items=(list[item], Field(description=_doc("items"))),
        next_cursor=(str | None, Field(description=_doc("next_cursor"))),
        freshness=(LakeFreshness, Field(description=_doc("freshness"))),
    )


class RecommendationsPage(RestItem):
    """The recommendations for one subscription, best first, with what they were computed from."""

    items: list[RecommendationItem] = Field(description=_doc("items"))
    next_cursor: None = Field(description=_doc("recommendation.next_cursor"))
    freshness: LakeFreshness = Field(description=_doc("freshness"))
    cluster: str = Field(description=_doc("cluster"))
    selector: str = Field(description=_doc("selector"))
    at_ms: int = Field(description=_doc("recommendation.at_ms"))
    target_s: int = Field(description=_doc("recommendation.target_s"))
    backlog_entries: float = Field(description=_doc("recommendation.backlog_entries"))
    primary_lever: Literal["limiter", "consumers", "both"] | None = Field(
        description=_doc("recommendation.primary_lever")
    )
    replay_error_share: OptionalNumber = Field(description=_doc("recommendation.replay_error_share"))
    counterfactuals: list[CounterfactualItem] = Field(description=_doc("recommendation.counterfactuals"))
    not_helping: list[str] = Field(description=_doc("recommendation.not_helping"))
    notes: list[str] = Field(description=_doc("recommendation.notes"))
