"""Combination of the shards' results. In: the results of all shards, span by span. Out: the value of the whole query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from throttlescope.transforms.promql.annotations import Annotations
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import PlanEvaluation, Value, read_samples
from throttlescope.transforms.promql.lake_source import LakeSampleSource
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, empty
from throttlescope.transforms.promql.open_checks import OpenChecks, SpanChecks, refuse_repeated
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.shards.cut import find_cuts
from throttlescope.transforms.promql.shards.parts import PieceResult, part_of, value_of
from throttlescope.transforms.promql.shards.work import Piece, Work, needed
from throttlescope.transforms.promql.source import join


def result_of_piece(piece: Piece, text: str, source: LakeSampleSource, budget: Budget) -> PieceResult:
    """What one piece gives for each cut of its span; ``text`` is the query's."""
    annotations = Annotations(text)
    selectors = needed(piece.plan, piece.steps, piece.lookback_ms)
    samples = read_samples(selectors, source, budget)
    distinct = frozenset() if piece.only_span else frozenset(filter(source.has_distinct, selectors))
    checks = OpenChecks(some_series=True, some_steps=not piece.only_span, distinct=distinct)
    evaluation = PlanEvaluation(samples, piece.lookback_ms, annotations, budget, checks=checks)
    parts = [part_of(cut, evaluation) for cut in find_cuts(piece.plan, piece.steps)]
    return PieceResult(parts, checks.by_number(piece.plan, piece.steps), annotations.records)


class Gathering:
    """Puts the results of a query's pieces together, span by span in the order of time.

    Parameters
    ----------
    work : Work
    annotations : Annotations
        Collects the annotations of the pieces and of what is computed here.
    budget : Budget
    """

    def __init__(self, work: Work, annotations: Annotations, budget: Budget) -> None:
        self._work, self._annotations, self._budget = work, annotations, budget
        self._spans = SpanChecks()
        self._values: list[Value] = []

    def add(self, results: Sequence[PieceResult]) -> None:
        """Take the next span's results, in the order of shards.

        Raises
        ------
        QueryError
            All shards together have no answer, as one evaluation over all series would find.
        """
        work, steps = self._work, self._work.spans[len(self._values)]
        for result in results:
            self._annotations.extend(result.annotations)
            self._spans.add(result.left_open)
        refuse_repeated(result.left_open for result in results)
        checks = OpenChecks(some_series=False, some_steps=len(work.spans) > 1)
        # Where no shard has a series, the plan is evaluated over none: its annotations do not depend on data.
        nothing = {} if results else {one: join([]) for one in needed(work.plan, steps, work.lookback_ms)}
        evaluation = PlanEvaluation(nothing, work.lookback_ms, self._annotations, self._budget, checks=checks)
        given = {}
        if results:
            given = {
                (cut.plan, cut.steps): value_of(cut, [result.parts[number] for result in results], evaluation)
                for number, cut in enumerate(find_cuts(work.plan, steps))
            }
        self._values.append(evaluation.given(given).value(work.plan, steps))
        self._spans.add(checks.by_number(work.plan, steps))

    @property
    def value(self) -> Value:
        """The value of the whole query, after all spans; adds the annotations that needed all of them."""
        self._spans.annotate(self._annotations)
        return joined(self._values, self._work.spans)


def joined(values: Sequence[Value], spans: Sequence[Steps]) -> Value:
    """Values of neighbouring spans as one."""
    if len(values) == 1:
        return values[0]
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    starts = np.concatenate([[0], np.cumsum([span.count for span in spans])])
    row_of: dict[Labels, int] = {}
    for value in values:
        for labels in value.labels:
            row_of.setdefault(labels, len(row_of))
    if not row_of:
        return empty(int(starts[-1]))
    out = np.full((len(row_of), int(starts[-1])), np.nan)
    present = np.zeros(out.shape, np.bool_)
    for value, start, after in zip(values, starts[:-1], starts[1:], strict=True):
        rows = [row_of[labels] for labels in value.labels]
        out[rows, start:after] = value.values
        present[rows, start:after] = value.present
    return StepMatrix(tuple(row_of), out, present)
