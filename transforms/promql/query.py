"""A query, from text to answer. In: a text, a sample source, the times. Out: an :class:`Answer`.

This is the whole way in one process over one source; :mod:`engine` decides where a query of a lake runs and uses the
same evaluator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from throttlescope.ingest.errors import InputError
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.matrix import StepMatrix, Steps, StepScalar
from throttlescope.transforms.promql.semantics import LOOKBACK_MS
from throttlescope.transforms.promql.source import SampleSource, Series


@dataclass(frozen=True)
class Options:
    """What a server's flags and a request's parameters set.

    Attributes
    ----------
    lookback_ms : int
        How long a sample is current (``query.lookback-delta``, ``lookback_delta``).
    subquery_step_ms : int
        Step of a subquery that names none (``evaluation_interval``).
    max_samples : int
        Samples that a query may hold at once (``query.max-samples``).
    max_points : int
        Points per series that a range query may ask for.
    timeout_s : float
        ``query.timeout``.
    """

    lookback_ms: int = LOOKBACK_MS
    subquery_step_ms: int = 60_000
    max_samples: int = 50_000_000
    max_points: int = 11_000
    timeout_s: float = 120.0


@dataclass(frozen=True, eq=False)
class Answer:
    """What a query gave.

    Attributes
    ----------
    kind : "scalar", "string", "vector" or "matrix"
        As Prometheus' ``resultType``; a range query gives a matrix always.
    steps : Steps
    value : StepMatrix, ndarray, str or list of Series
        A scalar is one float64 per step, a string itself, the samples of a range selector (instant queries only) are
        series; all else is a step matrix.
    warnings, infos : tuple of str
        In Prometheus' words.
    """

    kind: str
    steps: Steps
    value: StepMatrix | StepScalar | str | list[Series]
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()
    stats: dict = field(default_factory=dict)


def instant_query(text: str, source: SampleSource, time_ms: int, options: Options = Options()) -> Answer:
    """Evaluate a text at one moment.

    Raises
    ------
    PromQLSyntaxError, PromQLTypeError, UnsupportedPromQLError
        The text cannot be evaluated; nothing was read.
    QueryError
        The data has no answer for it, or a limit was met.
    """
    steps = Steps.at(time_ms)
    value = evaluate(plan_query(text), source, steps, lookback_ms=options.lookback_ms)
    return Answer("scalar" if isinstance(value, np.ndarray) else "vector", steps, value)


def range_query(
    text: str, source: SampleSource, start_ms: int, end_ms: int, step_ms: int, options: Options = Options()
) -> Answer:
    """Evaluate a text at every step of a range; raises as :func:`instant_query` does, and for a range without sense."""
    steps = Steps(start_ms, end_ms, step_ms)
    if (end_ms - start_ms) // step_ms > options.max_points:
        raise InputError(
            "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)"
        )
    value = evaluate(plan_query(text), source, steps, lookback_ms=options.lookback_ms)
    return Answer("matrix", steps, value)
