"""From pieces to an answer. In: the results of all shards, span by span. Out: the value of the whole query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.evaluate import Evaluation, Value, read_samples
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, empty
from throttlescope.transforms.promql.notes import Notes
from throttlescope.transforms.promql.plan import Plan
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.shards.cut import cuts
from throttlescope.transforms.promql.shards.parts import Part, part_of, value_of
from throttlescope.transforms.promql.shards.work import Piece, needed
from throttlescope.transforms.promql.source import SampleSource, join


def parts_of(piece: Piece, source: SampleSource, notes: Notes, budget: Budget) -> list[Part]:
    """What one piece gives for each cut of its span."""
    samples = read_samples(needed(piece.plan, piece.steps, piece.lookback_ms), source, budget)
    evaluation = Evaluation(samples, piece.lookback_ms, notes, budget)
    return [part_of(cut, evaluation) for cut in cuts(piece.plan, piece.steps)]


def value_of_span(
    plan: Plan,
    steps: Steps,
    parts: Sequence[Sequence[Part]],
    lookback_ms: int,
    notes: Notes,
    budget: Budget,
) -> Value:
    """The value of a plan over one span.

    Parameters
    ----------
    parts : sequence of sequence of Part
        One list per piece of the span, in the order of shards.
    """
    if not parts:
        # Where no shard has a series, the plan is evaluated over none: what it notes does not depend on data.
        nothing = {selector: join([]) for selector in needed(plan, steps, lookback_ms)}
        return Evaluation(nothing, lookback_ms, notes, budget).value(plan, steps)
    evaluation = Evaluation({}, lookback_ms, notes, budget)
    given = {
        (cut.plan, cut.steps): value_of(cut, [piece[number] for piece in parts], evaluation)
        for number, cut in enumerate(cuts(plan, steps))
    }
    return evaluation.given(given).value(plan, steps)


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
