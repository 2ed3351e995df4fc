"""Range functions. In: samples, the windows' ends and length, scalars per step. Out: step matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.transforms.promql import kernels
from throttlescope.transforms.promql.annotations import Annotations, TextPlace
from throttlescope.transforms.promql.budget import Budget
from throttlescope.transforms.promql.errors import QueryError
from throttlescope.transforms.promql.functions import FUNCTIONS
from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, empty
from throttlescope.transforms.promql.operators.select import seen_rows
from throttlescope.transforms.promql.operators.wording import quoted, warn_of_quantiles
from throttlescope.transforms.promql.semantics import Labels
from throttlescope.transforms.promql.source import Samples

_OVER_WINDOW = {
    "count_over_time": kernels.COUNT,
    "present_over_time": kernels.PRESENT,
    "any_over_time": kernels.PRESENT,
    "last_over_time": kernels.LAST,
    "ts_of_last_over_time": kernels.TIME_OF_LAST,
    "irate": kernels.IRATE,
    "idelta": kernels.IDELTA,
    "changes": kernels.CHANGES,
    "resets": kernels.RESETS,
}
_ADDED = {
    "sum_over_time": kernels.SUM,
    "avg_over_time": kernels.AVG,
    "stddev_over_time": kernels.STDDEV,
    "stdvar_over_time": kernels.STDVAR,
}
#: Whether the function returns the largest (else the smallest), and whether its time.
_EXTREME = {
    "min_over_time": (False, False),
    "max_over_time": (True, False),
    "ts_of_min_over_time": (False, True),
    "ts_of_max_over_time": (True, True),
}
#: Whether it is a counter, and whether a rate.
_EXTRAPOLATED = {"rate": (True, True), "increase": (True, False), "delta": (False, False)}

#: Samples that are read (once per window that contains them) before the deadline is checked again; a window counts as ten.
_LOOKS_AT_ONCE = 30_000_000
#: Relative costs: functions that sort or fit a line cost more.
_WEIGHTS = {"deriv": 3, "predict_linear": 3, "quantile_over_time": 30, "mad_over_time": 60}

_COUNTER_NAMES = ("_total", "_sum", "_count", "_bucket")


def window(
    function: str,
    samples: Samples,
    ends_ms: np.ndarray,
    range_ms: int,
    scalars: Sequence[StepScalar],
    steps_ms: np.ndarray,
    annotations: Annotations,
    budget: Budget,
    place: TextPlace | None = None,
) -> StepMatrix:
    """A range function of each series over (end - range, end], under the series' own labels; staleness markers are not seen.

    Parameters
    ----------
    scalars : sequence of StepScalar
        The function's other arguments.
    steps_ms : ndarray
        The steps themselves, which ``predict_linear`` counts from whatever offset and ``@`` say.
    place : TextPlace, optional
        The place of the argument that an annotation may be about.

    Raises
    ------
    QueryError
        A smoothing factor is out of its range.
    """
    if not samples.labels:
        return empty(len(ends_ms))
    parts = []
    for some in _slices(samples, len(ends_ms), range_ms, _WEIGHTS.get(function, 1)):
        budget.check_time()
        scalars_there = [scalar[some] for scalar in scalars]
        parts.append(_computed(function, samples, ends_ms[some], range_ms, scalars_there, steps_ms[some]))
    values, present = parts[0] if len(parts) == 1 else map(np.hstack, zip(*parts, strict=True))
    if function == "quantile_over_time":
        warn_of_quantiles(annotations, scalars[0][present.any(axis=0)], place)
    elif function in ("rate", "increase"):
        _annotate_gauges(samples.labels, present, annotations, place)
    return seen_rows(samples.labels, values, present)


def keeps_name(function: str) -> bool:
    """Whether a range function leaves the name of its series."""
    return function == "any_over_time" or FUNCTIONS[function].keeps_name


def _slices(samples: Samples, steps: int, range_ms: int, weight: int) -> Iterator[slice]:
    """Steps in parts of a second or less: a kernel cannot be interrupted, so the deadline is checked between parts."""
    times_ms = samples.times_ms
    if not len(times_ms) or not steps:
        yield slice(0, steps)
        return
    covered = min(1.0, range_ms / max(1, int(times_ms.max()) - int(times_ms.min())))
    looks = weight * len(times_ms) * covered * steps + 10 * len(samples.labels) * steps
    shares = min(steps, 1 + int(looks / _LOOKS_AT_ONCE))
    # Lazily: there may be millions, and the deadline may allow only a few.
    for share in range(shares):
        yield slice(steps * share // shares, steps * (share + 1) // shares)


def _computed(
    function: str,
    samples: Samples,
    ends_ms: np.ndarray,
    range_ms: int,
    scalars: Sequence[StepScalar],
    steps_ms: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    arrays = (samples.times_ms, samples.values, samples.bounds, ends_ms, range_ms)
    if function in _EXTRAPOLATED:
        return kernels.extrapolated(*arrays, *_EXTRAPOLATED[function])
    if function in _OVER_WINDOW:
        return kernels.over_window(_OVER_WINDOW[function], *arrays)
    if function in _ADDED:
        return kernels.added_over_window(_ADDED[function], *arrays)
    if function in _EXTREME:
        return kernels.extreme_over_window(*arrays, *_EXTREME[function])
    if function == "deriv":
        return kernels.regression(*arrays, steps_ms, np.zeros(len(ends_ms)), False)
    if function == "predict_linear":
        return kernels.regression(*arrays, steps_ms, scalars[0], True)
    if function == "quantile_over_time":
        return kernels.quantile_over_window(*arrays, scalars[0], False)
    if function == "mad_over_time":
        return kernels.quantile_over_window(*arrays, np.full(len(ends_ms), 0.5), True)
    smoothing, trend = scalars
    values, present, seen = kernels.smoothed(*arrays, smoothing, trend)
    for factor, name in ((smoothing, "smoothing"), (trend, "trend")):
        wrong = seen & ((factor <= 0) | (factor >= 1))
        if wrong.any():
            raise QueryError(
                f"invalid {name} factor. Expected: 0 < {name[0]}f < 1, got: {factor[wrong][0]:f}"
            )
    return values, present


def _annotate_gauges(
    labels: tuple[Labels, ...], present: np.ndarray, annotations: Annotations, place: TextPlace | None
) -> None:
    names = {dict(one).get(NAME_LABEL, "") for one, row in zip(labels, present, strict=True) if row.any()}
    for name in sorted(names):
        if name and not name.endswith(_COUNTER_NAMES):
            annotations.info(
                "metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "
                + quoted(name),
                place,
            )
