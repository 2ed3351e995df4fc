"""Step matrices, the values of operators. In: steps, label sets and numbers. Out: a :class:`StepMatrix`, a row per series, a column per step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from throttlescope.ingest.core.errors import InputError
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.semantics import Labels, group_key


@dataclass(frozen=True)
class Steps:
    """The evaluation times of a range query: ``start_ms``, and on by ``step_ms``, up to and including ``end_ms``.

    ``end_ms`` need not be a step; a subquery is computed as far as this.
    """

    start_ms: int
    end_ms: int
    step_ms: int

    def __post_init__(self) -> None:
        if self.step_ms <= 0 or self.end_ms < self.start_ms:
            raise InputError(
                "The steps of a query run backwards",
                got=f"from {self.start_ms} to {self.end_ms} by {self.step_ms} ms",
                expected="start <= end and a step above 0",
            )

    @classmethod
    def at(cls, time_ms: int) -> Steps:
        """The one step of an instant query."""
        return cls(time_ms, time_ms, 1)

    @property
    def count(self) -> int:
        return (self.end_ms - self.start_ms) // self.step_ms + 1

    @property
    def last_ms(self) -> int:
        """The last of the steps."""
        return self.start_ms + (self.count - 1) * self.step_ms

    @property
    def times_ms(self) -> np.ndarray:
        return np.arange(self.start_ms, self.end_ms + 1, self.step_ms, dtype=np.int64)


#: A scalar: one float64 per step.
StepScalar = np.ndarray


@dataclass(frozen=True, eq=False)
class StepMatrix:
    """An instant vector at every step.

    Attributes
    ----------
    labels : tuple of Labels
        One label set per row.
    values : ndarray, float64, series x steps
        NaN where ``present`` is False; NaN may also be a value.
    present : ndarray, bool, series x steps
    """

    labels: tuple[Labels, ...]
    values: np.ndarray
    present: np.ndarray

    @property
    def steps(self) -> int:
        return self.values.shape[1]

    def take(self, rows: Sequence[int] | np.ndarray) -> StepMatrix:
        """Some rows, in the given order."""
        rows = np.asarray(rows, np.int64)
        return StepMatrix(tuple(self.labels[i] for i in rows), self.values[rows], self.present[rows])

    def with_labels(self, labels: tuple[Labels, ...]) -> StepMatrix:
        return StepMatrix(labels, self.values, self.present)


def empty(steps: int) -> StepMatrix:
    """No series."""
    return StepMatrix((), np.empty((0, steps)), np.empty((0, steps), np.bool_))


def in_order(matrix: StepMatrix) -> StepMatrix:
    """The rows in the order of their labels."""
    order = sorted(range(len(matrix.labels)), key=matrix.labels.__getitem__)
    return matrix if order == list(range(len(order))) else matrix.take(order)


def grouped(matrix: StepMatrix, names: Sequence[str], without: bool) -> tuple[tuple[Labels, ...], np.ndarray]:
    """The groups that an aggregation makes of a matrix's rows, as they first come, and the group of each row."""
    chosen = frozenset(names)
    groups: dict[Labels, int] = {}
    group_of = np.empty(len(matrix.labels), np.int64)
    for row, labels in enumerate(matrix.labels):
        group_of[row] = groups.setdefault(group_key(labels, chosen, without), len(groups))
    return tuple(groups), group_of


def masked(labels: tuple[Labels, ...], values: np.ndarray, present: np.ndarray) -> StepMatrix:
    """A matrix whose absent values are NaN and whose rows are each present at some step."""
    seen = present.any(axis=1)
    if not seen.all():
        labels = tuple(label for label, here in zip(labels, seen, strict=True) if here)
        values, present = values[seen], present[seen]
    return StepMatrix(labels, np.where(present, values, np.nan), present)


def merged(matrix: StepMatrix, *, may_meet: bool = True) -> StepMatrix:
    """Join rows of equal labels that are never present at the same step (``rangeEval`` in engine.go).

    Parameters
    ----------
    may_meet : bool
        False: equal labels are an error at whatever steps they are present, as after range functions.

    Raises
    ------
    QueryError
        Two series have the same labels at one step.
    """
    if len(set(matrix.labels)) == len(matrix.labels):
        return matrix
    row_of: dict[Labels, int] = {}
    values, present = [], []
    for labels, row_values, row_present in zip(matrix.labels, matrix.values, matrix.present, strict=True):
        row = row_of.setdefault(labels, len(values))
        if row == len(values):
            values.append(row_values)
            present.append(row_present)
            continue
        if not may_meet or (present[row] & row_present).any():
            raise equal_labels(labels)
        values[row] = np.where(row_present, row_values, values[row])
        present[row] = present[row] | row_present
    return StepMatrix(tuple(row_of), np.array(values), np.array(present))


def equal_labels(labels: Labels) -> QueryError:
    """The error that two series of a result have the same labels."""
    return QueryError(
        "Several series of the result have the same labels",
        got=show(labels),
        expected="one series per label set",
        fix="keep a label that tells them apart, or aggregate them first",
    )


def show(labels: Labels) -> str:
    """A label set as PromQL writes it."""
    return "{" + ", ".join(f'{name}="{value}"' for name, value in labels) + "}"
