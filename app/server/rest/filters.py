"""Parameters of a request, declared once as pydantic models. In: a query string. Out: checked filters, or the parameter that is wrong and the fix.

The models are the contract too: the OpenAPI document lists their fields.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_origin
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from throttlescope.ingest.contracts.episodes import INCIDENT_KINDS
from throttlescope.ingest.contracts.forecasts import FORECAST_KINDS, FORECAST_METHODS, FORECAST_STATES
from throttlescope.ingest.contracts.vocabulary import CAUSES, LEVELS, LIMITERS, SET_BY, SIDES, UNITS
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.subscription_name import SubscriptionName, topic_parts
from throttlescope.ingest.core.times import check_range
from throttlescope.models.messages.catalogue import sentence

#: Items of one page.
DEFAULT_ITEMS, MOST_ITEMS = 100, 1_000
LONGEST_CURSOR = 1_000
#: Values of a parameter that may be repeated: an address has at most 8,190 characters.
MOST_NAMES = 20
LONGEST_NAME = 1_000
_MOST_PARAMETERS = 200
#: The end of the year 9999: later times are a unit that was mistaken.
_LATEST_MS = 253_402_300_799_999
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
#: More entries than a float can count.
_MOST_NUMBER = 10**15
_PARTITION_MOST = 2**31 - 1


class FilterError(InputError):
    """A parameter that cannot be used; ``parameter`` names it."""

    def __init__(self, parameter: str, what: str, **facts: Any) -> None:
        super().__init__(what, **facts)
        self.parameter = parameter


def _spelled(pattern: re.Pattern[str], expected: str):
    def check(value: Any) -> Any:
        if isinstance(value, str) and not pattern.fullmatch(value):
            raise ValueError(expected)
        return value

    return BeforeValidator(check)


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError("true or false")
        return value == "true"
    return value


# Only one spelling of each value: a mistyped number must not become another one.
_Integer = Annotated[int, _spelled(_INTEGER, "a whole number")]
_Number = Annotated[float, _spelled(_NUMBER, "a number")]
_Flag = Annotated[bool, BeforeValidator(_truth)]
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
_TimeMs = Annotated[_Integer, Field(ge=0, le=_LATEST_MS)]


def _doc(key: str) -> str:
    return sentence(f"rest.parameter.{key}")


def _names(key: str) -> Any:
    return Field(default=(), max_length=MOST_NAMES, description=_doc(key))


class RequestParameters(BaseModel):
    """What a request may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def parse(cls, query: bytes) -> Self:
        """Read a query string.

        Raises
        ------
        FilterError
            A parameter is not known, is there twice, or has a value that it cannot have.
        """
        return cls.of_values(values_of(query))

    @classmethod
    def of_values(cls, values: Mapping[str, list[str]]) -> Self:
        """From the values of each parameter."""
        given: dict[str, Any] = {}
        for name, texts in values.items():
            if name not in cls.model_fields:
                raise _unknown(name, list(cls.model_fields))
            if cls.is_repeatable(name):
                given[name] = tuple(texts)
            elif len(texts) > 1:
                raise FilterError(
                    name,
                    f"The parameter {name} cannot be repeated",
                    got=f"{len(texts)} values",
                    expected="one",
                )
            else:
                given[name] = texts[0]
        try:
            found = cls.model_validate(given)
        except ValidationError as error:
            raise _invalid(cls, error) from None
        found.check()
        return found

    @classmethod
    def is_repeatable(cls, name: str) -> bool:
        """Whether a parameter may be there several times: any of its values is enough."""
        return get_origin(cls.model_fields[name].annotation) is tuple

    def check(self) -> None:
        """Parameters that do not go together are a :class:`FilterError`."""


class PageFilters(RequestParameters):
    """How much of an answer."""

    limit: _Integer = Field(default=DEFAULT_ITEMS, ge=1, le=MOST_ITEMS, description=_doc("limit"))
    cursor: Annotated[str, Field(min_length=1, max_length=LONGEST_CURSOR)] | None = Field(
        default=None, description=_doc("cursor")
    )

    def conditions(self) -> dict[str, Any]:
        """What selects items, as plain values: everything but the page."""
        return self.model_dump(exclude={"limit", "cursor"}, exclude_defaults=True, mode="json")


class ClusterFilters(PageFilters):
    """Of which clusters."""

    cluster: tuple[_Name, ...] = _names("cluster")


class RangeFilters(PageFilters):
    """Of which range [start_ms, end_ms)."""

    start_ms: _TimeMs | None = Field(default=None, description=_doc("start_ms"))
    end_ms: _TimeMs | None = Field(default=None, description=_doc("end_ms"))

    def check(self) -> None:
        super().check()
        if self.start_ms is not None and self.end_ms is not None:
            try:
                check_range(self.start_ms, self.end_ms)
            except InputError as error:
                raise FilterError(
                    "end_ms", error.what, got=error.got, expected=error.expected,
                    fix="make end_ms later than start_ms; a range is [start_ms, end_ms)",
                ) from None  # fmt: skip


class NameFilters(ClusterFilters):
    """Of which subscriptions."""

    tenant: tuple[_Name, ...] = _names("tenant")
    namespace: tuple[_Name, ...] = _names("namespace")
    topic: tuple[_Name, ...] = _names("topic")
    partition: Annotated[_Integer, Field(ge=-1, le=_PARTITION_MOST)] | None = Field(
        default=None, description=_doc("partition")
    )
    subscription: tuple[_Name, ...] = _names("subscription")
    selector: _Name | None = Field(default=None, description=_doc("selector"))

    def check(self) -> None:
        super().check()
        if self.selector is None:
            return
        try:
            _ = self.named
        except InputError as error:
            raise FilterError("selector", error.what, got=error.got, expected=error.expected) from None
        surplus = [name for name in ("topic", "partition", "subscription") if name in self.model_fields_set]
        if surplus:
            raise FilterError(
                "selector", "The selector names the subscription already", got=f"selector with {surplus[0]}",
                fix=f"leave selector or {surplus[0]} out",
            )  # fmt: skip

    @property
    def topics(self) -> list[tuple[str, tuple[str, int | None]]]:
        """Each topic as it was given, and as a topic with a partition, where it can be read so."""
        found = []
        for text in self.topic:
            try:
                found.append((text, topic_parts(text)))
            except InputError:
                found.append((text, (text, None)))
        return found

    @property
    def named(self) -> SubscriptionName | None:
        """The subscription that the selector names; None without one."""
        return None if self.selector is None else SubscriptionName.of(self.selector)


class CauseFilters(NameFilters):
    """With which cause."""

    cause: tuple[Literal[CAUSES], ...] = _names("cause")
    side: tuple[Literal[SIDES], ...] = _names("side")
    limiter: tuple[Literal[LIMITERS], ...] = _names("limiter")
    min_backlog_entries: Annotated[_Number, Field(ge=0, le=_MOST_NUMBER)] | None = Field(
        default=None, description=_doc("min_backlog_entries")
    )


class VerdictFilters(CauseFilters, RangeFilters):
    """Which verdicts."""

    min_confidence: Annotated[_Number, Field(ge=0, le=1)] | None = Field(
        default=None, description=_doc("min_confidence")
    )
    window_end_ms: _TimeMs | None = Field(default=None, description=_doc("window_end_ms"))


class SubscriptionFilters(CauseFilters):
    """Which subscriptions."""

    search: str = Field(default="", max_length=LONGEST_NAME, description=_doc("search"))
    main_cause: tuple[Literal[CAUSES], ...] = _names("main_cause")
    min_confidence: Annotated[_Number, Field(ge=0, le=1)] | None = Field(
        default=None, description=_doc("min_confidence")
    )
    troubled_only: _Flag = Field(default=False, description=_doc("troubled_only"))
    own_topics: _Flag = Field(default=False, description=_doc("own_topics"))
    order: Literal["now", "recent"] = Field(default="now", description=_doc("order"))


class EpisodeFilters(CauseFilters, RangeFilters):
    """Which backlogs."""

    open_only: _Flag = Field(default=False, description=_doc("open_only"))


class IncidentFilters(CauseFilters, RangeFilters):
    """Which incidents."""

    kind: tuple[Literal[INCIDENT_KINDS], ...] = _names("incident_kind")
    open_only: _Flag = Field(default=False, description=_doc("open_only"))


class LimitFilters(ClusterFilters):
    """Which limiters."""

    namespace: tuple[_Name, ...] = _names("namespace")
    topic: tuple[_Name, ...] = _names("topic")
    subscription: tuple[_Name, ...] = _names("limit_subscription")
    broker: tuple[_Name, ...] = _names("broker")
    limiter: tuple[Literal[LIMITERS], ...] = _names("limiter")
    level: tuple[Literal[LEVELS], ...] = _names("level")
    unit: tuple[Literal[UNITS], ...] = _names("unit")
    set_by: tuple[Literal[SET_BY], ...] = _names("set_by")
    min_use_share: Annotated[_Number, Field(ge=0, le=_MOST_NUMBER)] | None = Field(
        default=None, description=_doc("min_use_share")
    )
    include_unset: _Flag = Field(default=False, description=_doc("include_unset"))


class ForecastFilters(NameFilters, RangeFilters):
    """Which forecasts."""

    kind: tuple[Literal[FORECAST_KINDS], ...] = _names("forecast_kind")
    method: tuple[Literal[FORECAST_METHODS], ...] = _names("method")
    state: tuple[Literal[FORECAST_STATES], ...] = _names("state")
    predicted_before_ms: _TimeMs | None = Field(default=None, description=_doc("predicted_before_ms"))


class RecommendationFilters(RequestParameters):
    """For which subscription, at which moment."""

    selector: _Name = Field(description=_doc("selector"))
    cluster: _Name | None = Field(default=None, description=_doc("one_cluster"))
    at_ms: _TimeMs | None = Field(default=None, description=_doc("at_ms"))
    target_s: Annotated[_Integer, Field(ge=60, le=86_400)] = Field(
        default=1_800, description=_doc("target_s")
    )

    def check(self) -> None:
        super().check()
        try:
            SubscriptionName.of(self.selector)
        except InputError as error:
            raise FilterError("selector", error.what, got=error.got, expected=error.expected) from None


def values_of(query: bytes) -> dict[str, list[str]]:
    """The values of each parameter of a query string.

    Raises
    ------
    FilterError
        It is no UTF-8, or has too many parameters.
    """
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeDecodeError:
        raise FilterError(
            "", "The address is not UTF-8", fix="percent-encode the values of parameters as UTF-8"
        ) from None
    except ValueError:
        raise FilterError(
            "", "The address has too many parameters", expected=f"at most {_MOST_PARAMETERS}"
        ) from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def _unknown(name: str, known: list[str]) -> FilterError:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return FilterError(
        name[:100],
        "There is no such parameter",
        got=name[:100] or "an empty name",
        expected=", ".join(known),
        fix=f"did you mean {near[0]}?" if near else None,
    )


def _invalid(model: type[BaseModel], error: ValidationError) -> FilterError:
    """The first fault of a request's values."""
    fault = error.errors(include_url=False)[0]
    name = str(fault["loc"][0]) if fault["loc"] else ""
    if fault["type"] == "missing":
        return FilterError(name, f"The parameter {name} is missing", fix=f"add {name}=...")
    got = str(fault["input"])[:100]
    context = fault.get("ctx", {})
    expected = context.get("expected") if fault["type"] == "literal_error" else None
    fix = None
    if expected is not None:
        words = re.findall(r"'([^']*)'", expected)
        expected = ", ".join(words)
        near = difflib.get_close_matches(got, words, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]}?" if near else None
    elif "error" in context:
        expected = str(context["error"])
    else:
        expected = fault["msg"].removeprefix("Input should be ")
    return FilterError(
        name, f"The parameter {name} has a value that it cannot have", got=got or "nothing",
        expected=expected, fix=fix,
    )  # fmt: skip
