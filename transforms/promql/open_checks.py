"""Checks that a part of the series, or of the steps, cannot decide. In: what evaluations leave open. Out: the error, if any.

Prometheus raises an error for a match whose one side is repeated while its other side has any series at all, and equal labels wherever
they are in the range; an annotation depends on whether a histogram is seen for the first time. A shard has some of the series and a span some of the steps, so each says what it saw, and the
check is made where all of it meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core.selector import Selector
from throttlescope.transforms.promql.annotations import Annotations, TextPlace
from throttlescope.transforms.promql.matrix import Steps, equal_labels
from throttlescope.transforms.promql.operators.binary import OneSide
from throttlescope.transforms.promql.operators.functions import Forced, annotate_forced
from throttlescope.transforms.promql.plan import Plan, ScalarFirst, SubqueryPlan, inputs
from throttlescope.transforms.promql.semantics import Labels

#: Per number of a node (:func:`numbered`) what was left open there; of a rename, new labels to the labels before.
Left = dict[int, "OneSide | ForcedAt | Mapping[Labels, Labels]"]


@dataclass(frozen=True)
class ForcedAt:
    """Histograms whose buckets were not monotonic and were fixed.

    Attributes
    ----------
    place : TextPlace or None
        What an annotation is about.
    histograms : dict
        Per histogram the time of its first step, whether it was forced there, and whether it was later.
    """

    place: TextPlace | None
    histograms: Forced

    def add(self, other: ForcedAt) -> None:
        """Take over what another span saw; spans may have steps in common."""
        for labels, found in other.histograms.items():
            before = self.histograms.get(labels, found)
            first_ms = min(before[0], found[0])
            at_first = any(one[1] for one in (before, found) if one[0] == first_ms)
            later = any(one[2] or (one[1] and one[0] > first_ms) for one in (before, found))
            self.histograms[labels] = first_ms, at_first, later


class OpenChecks:
    """Takes what one evaluation leaves open.

    Parameters
    ----------
    some_series, some_steps : bool
        Whether the evaluation has but some of the series, or of the steps, of the query.
    distinct : set of Selector
        Selectors whose series, at whatever time, differ by more than what functions drop.
    """

    def __init__(
        self, *, some_series: bool, some_steps: bool, distinct: frozenset[Selector] = frozenset()
    ) -> None:
        self.some_series, self.some_steps, self.distinct = some_series, some_steps, distinct
        self._left: dict[tuple[Plan, Steps], OneSide | ForcedAt | Mapping[Labels, Labels]] = {}

    def leave_open(
        self, plan: Plan, steps: Steps, left: OneSide | ForcedAt | Mapping[Labels, Labels]
    ) -> None:
        """Record what a node cannot decide alone."""
        self._left[plan, steps] = left

    def by_number(self, plan: Plan, steps: Steps) -> Left:
        """What was left open, by the numbers of the query's nodes."""
        if not self._left:
            return {}
        return {
            number: self._left[place]
            for number, place in enumerate(numbered(plan, steps))
            if place in self._left
        }


class SpanChecks:
    """What only all spans decide, over those so far: labels that nodes gave to series, and annotations about first steps."""

    def __init__(self) -> None:
        self._before: dict[int, dict[Labels, Labels]] = {}
        self._forced: dict[int, ForcedAt] = {}

    def add(self, left: Left) -> None:
        """Take over those of a shard, or of a span.

        Raises
        ------
        QueryError
            Two series were given the same labels.
        """
        for number, found in left.items():
            if isinstance(found, ForcedAt):
                before = self._forced.setdefault(number, ForcedAt(found.place, {}))
                before.add(found)
            elif not isinstance(found, OneSide):
                self._add_renamed(number, found)

    def _add_renamed(self, number: int, renamed: Mapping[Labels, Labels]) -> None:
        before = self._before.setdefault(number, {})
        for labels, series in renamed.items():
            if before.setdefault(labels, series) != series:
                raise equal_labels(labels)

    def annotate(self, annotations: Annotations) -> None:
        """Add the annotations that needed all spans."""
        for _, found in sorted(self._forced.items(), key=lambda item: item[0]):
            annotate_forced(found.histograms, annotations, found.place)


def refuse_repeated(lefts: Iterable[Left]) -> None:
    """Judge the matches of one span by what all its shards left open.

    Raises
    ------
    QueryError
        Some shard has the one side repeated at a step at which some shard has the many side.
    """
    sides: dict[int, list[OneSide]] = {}
    for left in lefts:
        for number, side in left.items():
            if isinstance(side, OneSide):
                sides.setdefault(number, []).append(side)
    for _, found in sorted(sides.items()):
        _refuse(found)


def _refuse(sides: Sequence[OneSide]) -> None:
    if all(side.error is None for side in sides):
        return
    many_present = np.logical_or.reduce([side.many_present for side in sides])
    for side in sides:
        if side.error is not None and (side.repeated & many_present).any():
            raise side.error


def numbered(plan: Plan, steps: Steps | None) -> Iterator[tuple[Plan, Steps | None]]:
    """Every node and the steps at which it is evaluated, in an order that is the same for every span; None: at none."""
    yield plan, steps
    if isinstance(plan, ScalarFirst) and steps is not None:
        steps = Steps.at(steps.start_ms)
    read = getattr(plan, "read", None)
    for part in inputs(plan):
        inside = steps
        if isinstance(read, SubqueryPlan) and part is read.plan and steps is not None:
            inside = read.steps(*read.ends_ms(steps.start_ms, steps.end_ms), plan.range_ms)
        yield from numbered(part, inside)
