"""What the twin works on. In: nothing. Out: series as lists, vectors as dicts, and the error that a query without an answer ends in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

LOOKBACK_MS = 300_000
SUBQUERY_STEP_MS = 60_000
NAME = "__name__"
#: What says how a metric is called and measured; it goes where the name goes.
SCHEMA = (NAME, "__type__", "__unit__")

Item = TypeVar("Item")
Labels = frozenset[tuple[str, str]]
#: An instant vector at one moment, in its order.
Vector = dict[Labels, float]


class NaiveError(Exception):
    """The query has no answer."""


@dataclass
class NaiveSeries:
    """``samples`` are (ms, value) pairs, ``stale_ms`` the times of staleness markers."""

    labels: dict[str, str]
    samples: list[tuple[int, float]]
    stale_ms: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Query:
    """The data, the query's first and last moment, and what a server's flags set.

    ``backwards`` turns the order around in which aggregations take series: an answer that stays the same does not hang
    on that order, which no rule gives. ``faults`` are three of Prometheus with subqueries and pins, see
    :func:`~tests.naive.promql.moments.subquery_grid` and :func:`~tests.naive.promql.evaluate.ranges`.
    """

    series: list[NaiveSeries]
    start_ms: int
    end_ms: int
    lookback_ms: int = LOOKBACK_MS
    subquery_step_ms: int = SUBQUERY_STEP_MS
    backwards: bool = False
    faults: bool = True


def in_order(labels: Labels) -> list[tuple[str, str]]:
    """The key by which label sets are sorted."""
    return sorted(labels)


def inserted(items: Iterable[Item], goes_before: Callable[[Item, Item], bool]) -> list[Item]:
    """Sorted by insertion, as Go sorts what is short: it decides where the order is no order, as with NaN."""
    out: list[Item] = []
    for item in items:
        place = len(out)
        while place > 0 and goes_before(item, out[place - 1]):
            place -= 1
        out.insert(place, item)
    return out


def value_of(labels: Labels, name: str) -> str:
    """The value of a label, empty where the label is missing."""
    return dict(labels).get(name, "")


def with_label(labels: Labels, name: str, value: str) -> Labels:
    """A label set with one label set anew; an empty value takes it away."""
    others = frozenset(pair for pair in labels if pair[0] != name)
    return others | {(name, value)} if value else others


def nameless_labels(labels: Labels) -> Labels:
    """A label set without the name and what goes with it."""
    return frozenset(pair for pair in labels if pair[0] not in SCHEMA)


def nameless(vector: Vector) -> Vector:
    """A vector whose labels lose the name."""
    return unique((nameless_labels(labels), value) for labels, value in vector.items())


def unique(pairs: Iterable[tuple[Labels, float]]) -> Vector:
    """A vector of pairs, which must not be the same series twice at the same moment."""
    vector: Vector = {}
    for labels, value in pairs:
        if labels in vector:
            raise NaiveError("same labels")
        vector[labels] = value
    return vector


def refuse_equal(label_sets: Iterable[Labels]) -> None:
    """Series that must differ in labels at whatever moments they have values."""
    seen = list(label_sets)
    if len(set(seen)) < len(seen):
        raise NaiveError("same labels")
