"""An expression at many moments. In: a plan and equally spaced moments. Out: the vector of each, or why it has none.

A rule is a query of its own at every moment, and one that fails leaves the others alone. Evaluated is a whole range at
once, which gives the same; where a range fails it is halved, down to the moments that really fail.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import QueryCancelledError, QueryError, QueryTimeoutError
from throttlescope.transforms.promql.evaluate import evaluate
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, merged
from throttlescope.transforms.promql.plan import Plan
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import SampleSource

#: Cells of all step matrices of one evaluation together: 9 bytes each.
MOST_CELLS = 16_000_000
_FIRST_STEPS = 120


@dataclass
class InstantAnswers:
    """Results at rising moments.

    Attributes
    ----------
    labels : list of Labels
        One label set per row, as the evaluator gives them.
    values, present : ndarray
        Series x moments.
    errors : dict
        Column of each moment that failed, and why.
    """

    labels: list[Labels]
    values: np.ndarray
    present: np.ndarray
    errors: dict[int, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> np.ndarray:
        """Which columns have an answer, as a mask."""
        mask = np.ones(self.present.shape[1], bool)
        mask[list(self.errors)] = False
        return mask


def answers_at(
    plan: Plan, source: SampleSource, steps: Steps, lookback_ms: int, budget: Budget | None = None
) -> InstantAnswers:
    """Evaluate at every step, as if each were a query of its own.

    Parameters
    ----------
    budget : Budget, optional
        Of the whole evaluation. A timeout or a cancellation ends all of it; a time that would load too many samples
        fails alone.

    Raises
    ------
    QueryTimeoutError, QueryCancelledError
        Of the budget.
    TooManySamplesError
        The moments together have more cells than the budget allows.
    """
    found = _Pieces(plan, source, lookback_ms, budget)
    times_ms, first, size = steps.times_ms, 0, _FIRST_STEPS
    while first < len(times_ms):
        after = min(first + size, len(times_ms))
        cells = found.evaluate(times_ms[first:after], steps.step_ms, first)
        size = max(1, int(MOST_CELLS / max(1.0, cells / (after - first))))
        first = after
    return found.together(len(times_ms))


class _Pieces:
    def __init__(
        self, plan: Plan, source: SampleSource, lookback_ms: int, budget: Budget | None = None
    ) -> None:
        self.plan, self.source, self.lookback_ms, self.budget = plan, source, lookback_ms, budget
        self.pieces: list[tuple[int, StepMatrix]] = []
        self.errors: dict[int, str] = {}

    def evaluate(self, times_ms: np.ndarray, step_ms: int, column: int) -> int:
        """Evaluate some neighbours, halving what fails; the number of cells that it took."""
        measured = _Measured(self.budget)
        steps = Steps(int(times_ms[0]), int(times_ms[-1]), step_ms)
        try:
            value = evaluate(self.plan, self.source, steps, lookback_ms=self.lookback_ms, budget=measured)
            if isinstance(value, np.ndarray):
                value = StepMatrix(((),), value[np.newaxis], np.ones((1, len(value)), bool))
            value = merged(value)
        except (QueryTimeoutError, QueryCancelledError):
            raise
        except QueryError as error:
            if len(times_ms) == 1:
                self.errors[column] = str(error)
                return measured.cells
            half = len(times_ms) // 2
            return self.evaluate(times_ms[:half], step_ms, column) + self.evaluate(
                times_ms[half:], step_ms, column + half
            )
        self.pieces.append((column, value))
        return measured.cells

    def together(self, columns: int) -> InstantAnswers:
        if len(self.pieces) == 1 and not self.errors:
            only = self.pieces[0][1]
            return InstantAnswers(list(only.labels), only.values, only.present)
        row_of: dict[Labels, int] = {}
        for _, piece in self.pieces:
            for labels in piece.labels:
                row_of.setdefault(labels, len(row_of))
        if self.budget is not None:
            self.budget.hold(len(row_of) * columns)
        values = np.full((len(row_of), columns), np.nan)
        present = np.zeros((len(row_of), columns), bool)
        for column, piece in self.pieces:
            rows = np.fromiter((row_of[labels] for labels in piece.labels), np.int64)
            values[rows, column : column + piece.steps] = piece.values
            present[rows, column : column + piece.steps] = piece.present
        return InstantAnswers(list(row_of), values, present, self.errors)


class _Measured(Budget):
    """Counts the cells of all matrices; allows everything but what another budget refuses."""

    def __init__(self, bounds: Budget | None = None) -> None:
        super().__init__()
        self.cells, self.bounds = 0, bounds

    def load(self, samples: int) -> None:
        pass

    def hold(self, samples: int) -> None:
        self.cells += samples
        if self.bounds is not None:
            self.bounds.hold(samples)

    def check_time(self, cells: int = 0) -> None:
        if self.bounds is not None:
            self.bounds.check_time(cells)
