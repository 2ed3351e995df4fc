"""Classic histograms. In: a step matrix of buckets, scalars per step. Out: a quantile or a share per histogram."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from throttlescope.ingest.core.compilation import compiled
from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.transforms.promql.annotations import Annotations, TextPlace
from throttlescope.transforms.promql.matrix import StepMatrix, StepScalar, empty
from throttlescope.transforms.promql.operators.functions.numbers import without_names
from throttlescope.transforms.promql.operators.wording import quoted, warn_of_quantiles
from throttlescope.transforms.promql.semantics import Labels

BUCKET_LABEL = "le"

#: Per histogram its first step, whether its buckets had to be made to rise there, and whether they had to later.
Forced = dict[Labels, tuple[int, bool, bool]]

_FLOAT = re.compile(
    r"[+-]?(?:inf(?:inity)?|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:e[+-]?\d(?:_?\d)*)?"
    r"|0x_?(?:[0-9a-f](?:_?[0-9a-f])*\.?(?:[0-9a-f](?:_?[0-9a-f])*)?|\.[0-9a-f](?:_?[0-9a-f])*)p[+-]?\d(?:_?\d)*)|nan",
    re.IGNORECASE | re.ASCII,
)

# IEEE division: by zero there is Inf or NaN, and no error.
_compiled = compiled(error_model="numpy")


def of_buckets(
    function: str,
    vector: StepMatrix,
    scalars: Sequence[StepScalar],
    annotations: Annotations,
    place: TextPlace | None = None,
    vector_place: TextPlace | None = None,
    *,
    once: bool = False,
    leave_open: Callable[[Forced], None] | None = None,
) -> StepMatrix:
    """``histogram_quantile`` or ``histogram_fraction``.

    Series whose ``le`` is no number are left out, with a warning. The others form a histogram where all other labels are
    equal, the name included; then the name goes.

    Parameters
    ----------
    scalars : sequence of StepScalar
        The quantile; or the bounds between which observations count.
    place, vector_place : TextPlace, optional
        The places of the quantile and of the buckets in the text.
    once : bool
        All that is read is pinned: Prometheus computes the first step only.
    leave_open : callable, optional
        Given where these are not all steps: takes what an annotation needs to know of the others.
    """
    if function == "histogram_quantile":
        warn_of_quantiles(annotations, scalars[0], place)
    histograms: dict[Labels, list[tuple[float, int]]] = {}
    for row, labels in enumerate(vector.labels):
        upper = parse_float(_value(labels, BUCKET_LABEL))
        if upper is not None:
            rest = tuple(pair for pair in labels if pair[0] != BUCKET_LABEL)
            histograms.setdefault(rest, []).append((upper, row))
        elif vector.present[row].any():
            annotations.warn(
                f"bucket label {quoted(BUCKET_LABEL)} is missing or has a malformed value of "
                f"{quoted(_value(labels, BUCKET_LABEL))} for metric name {quoted(_value(labels, NAME_LABEL))}",
                vector_place,
            )
    if not histograms:
        return empty(vector.steps)
    for buckets in histograms.values():
        buckets.sort(key=lambda bucket: bucket[0])
    flat = [bucket for buckets in histograms.values() for bucket in buckets]
    uppers = np.array([upper for upper, _ in flat])
    rows = np.array([row for _, row in flat], np.int64)
    bounds = np.cumsum([0, *map(len, histograms.values())], dtype=np.int64)
    arrays = (vector.values, vector.present, uppers, rows, bounds)
    if function == "histogram_quantile":
        values, present, forced = bucket_quantiles(*arrays, scalars[0])
        if once:
            forced, leave_open = forced[:, :1], None
        _annotate_or_leave_forced(tuple(histograms), present, forced, annotations, vector_place, leave_open)
    else:
        values, present = bucket_fractions(*arrays, *scalars)
    return without_names(StepMatrix(tuple(histograms), values, present))


def parse_float(text: str) -> float | None:
    """A number as Go's ``ParseFloat`` reads it, None where it does not or where the number is too large."""
    if not _FLOAT.fullmatch(text):
        return None
    plain = text.replace("_", "")
    number = float.fromhex(plain) if "x" in plain.lower() else float(plain)
    return None if math.isinf(number) and "inf" not in plain.lower() else number


def _value(labels: Labels, name: str) -> str:
    for own, value in labels:
        if own == name:
            return value
    return ""


def _annotate_or_leave_forced(
    labels: tuple[Labels, ...],
    present: np.ndarray,
    forced: np.ndarray,
    annotations: Annotations,
    place: TextPlace | None,
    leave_open: Callable[[Forced], None] | None,
) -> None:
    """Annotate histograms whose buckets were not monotonic.

    Prometheus names the metric at the first step at which a histogram has buckets, and forgets the name for later ones.
    """
    found: Forced = {}
    for row in np.flatnonzero(present.any(axis=1)):
        first = int(present[row].argmax())
        found[labels[row]] = first, bool(forced[row, first]), bool(forced[row, first + 1 :].any())
    if leave_open is not None and any(_value(one, NAME_LABEL) for one in found):
        leave_open(found)
    else:
        annotate_forced(found, annotations, place)


def annotate_forced(found: Forced, annotations: Annotations, place: TextPlace | None) -> None:
    """Annotate histograms whose buckets were not monotonic, after all their steps are known."""
    for labels, (_, at_first, later) in found.items():
        for name in ([_value(labels, NAME_LABEL)] if at_first else []) + ([""] if later else []):
            annotations.info(
                "input to histogram_quantile needed to be fixed for monotonicity (see "
                "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile) for metric name "
                + quoted(name),
                place,
            )


# -- kernels: each is self-contained in this file, so that Numba's cache sees every change ---------------


@_compiled
def _gathered(values, present, uppers, rows, first, after, step, out_uppers, out_counts):
    """The buckets that a histogram has at a step, equal bounds added up; their number, 0 where the last is not +Inf."""
    size = 0
    for k in range(first, after):
        if not present[rows[k], step]:
            continue
        if size > 0 and out_uppers[size - 1] == uppers[k]:
            out_counts[size - 1] += values[rows[k], step]
        else:
            out_uppers[size], out_counts[size] = uppers[k], values[rows[k], step]
            size += 1
    return size


@_compiled
def _almost_equal(left, right):
    """Whether two counts differ by rounding only (util/almost, 1e-12)."""
    if (math.isnan(left) and math.isnan(right)) or left == right:
        return True
    total, distance = abs(left) + abs(right), abs(left - right)
    smallest = 2.2250738585072014e-308
    if left == 0 or right == 0 or total < smallest:
        return distance < 1e-12 * smallest
    return distance / min(total, 1.7976931348623157e308) < 1e-12


@_compiled
def _bucket_quantile(q, uppers, counts, size):
    """The quantile, and whether counts fell and were lifted (``BucketQuantile`` in promql/quantile.go of 3.5)."""
    if math.isnan(q):
        return np.nan, False
    if q < 0:
        return -np.inf, False
    if q > 1:
        return np.inf, False
    if uppers[size - 1] != np.inf:
        return np.nan, False
    forced = False
    for k in range(1, size):
        if counts[k] == counts[k - 1]:
            continue
        if _almost_equal(counts[k - 1], counts[k]):
            counts[k] = counts[k - 1]
        elif counts[k] < counts[k - 1]:
            counts[k] = counts[k - 1]
            forced = True
    if size < 2 or counts[size - 1] == 0:
        return np.nan, False
    rank = q * counts[size - 1]
    # Halving, not walking: with NaN among the counts the two find different buckets.
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if counts[middle] >= rank:
            high = middle
        else:
            low = middle + 1
    if low == size - 1:
        return uppers[size - 2], forced
    if low == 0 and uppers[0] <= 0:
        return uppers[0], forced
    start, count = 0.0, counts[low]
    if low > 0:
        start = uppers[low - 1]
        count -= counts[low - 1]
        rank -= counts[low - 1]
    return start + (uppers[low] - start) * (rank / count), forced


@_compiled
def bucket_quantiles(values, present, uppers, rows, bounds, q):
    """Histograms x steps: quantiles, presence, and where counts had to be lifted.

    ``rows[bounds[h]:bounds[h + 1]]`` are the buckets of histogram h, their bounds ``uppers`` rising.
    """
    histograms, steps = len(bounds) - 1, values.shape[1]
    out = np.full((histograms, steps), np.nan)
    seen = np.zeros((histograms, steps), np.bool_)
    forced = np.zeros((histograms, steps), np.bool_)
    at_uppers, at_counts = np.empty(len(rows)), np.empty(len(rows))
    for h in range(histograms):
        for j in range(steps):
            size = _gathered(values, present, uppers, rows, bounds[h], bounds[h + 1], j, at_uppers, at_counts)
            if size > 0:
                out[h, j], forced[h, j] = _bucket_quantile(q[j], at_uppers, at_counts, size)
                seen[h, j] = True
    return out, seen, forced


@_compiled
def _bucket_fraction(lower, upper, uppers, counts, size):
    """The share of observations between two bounds (``BucketFraction`` in promql/quantile.go of 3.5).

    A bound inside the lowest bucket, which begins at -Inf, gives NaN until 3.8.
    """
    if uppers[size - 1] != np.inf:
        return np.nan
    count = counts[size - 1]
    if count == 0 or math.isnan(lower) or math.isnan(upper):
        return np.nan
    if lower >= upper:
        return 0.0
    rank = lower_rank = upper_rank = 0.0
    lower_set = upper_set = False
    for k in range(size):
        begin = -np.inf if k == 0 else uppers[k - 1]
        end = uppers[k]
        if not lower_set and begin >= lower:
            lower_rank, lower_set = rank, True
        if not upper_set and begin >= upper:
            upper_rank, upper_set = rank, True
        if not lower_set and begin < lower and end > lower:
            lower_rank = rank + (counts[k] - rank) * (lower - begin) / (end - begin)
            lower_set = True
        if not upper_set and begin < upper and end > upper:
            upper_rank = rank + (counts[k] - rank) * (upper - begin) / (end - begin)
            upper_set = True
        if lower_set and upper_set:
            break
        rank = counts[k]
    if not lower_set or lower_rank > count:
        lower_rank = count
    if not upper_set or upper_rank > count:
        upper_rank = count
    return (upper_rank - lower_rank) / count


@_compiled
def bucket_fractions(values, present, uppers, rows, bounds, lower, upper):
    """Histograms x steps: shares and presence; arrays as in :func:`bucket_quantiles`."""
    histograms, steps = len(bounds) - 1, values.shape[1]
    out = np.full((histograms, steps), np.nan)
    seen = np.zeros((histograms, steps), np.bool_)
    at_uppers, at_counts = np.empty(len(rows)), np.empty(len(rows))
    for h in range(histograms):
        for j in range(steps):
            size = _gathered(values, present, uppers, rows, bounds[h], bounds[h + 1], j, at_uppers, at_counts)
            if size > 0:
                out[h, j] = _bucket_fraction(lower[j], upper[j], at_uppers, at_counts, size)
                seen[h, j] = True
    return out, seen
