"""Functions of instant vectors and scalars, one module per kind. In: step matrices and scalars. Out: the same."""

from throttlescope.transforms.promql.operators.functions.histogram import Forced, annotate_forced, of_buckets
from throttlescope.transforms.promql.operators.functions.labels import relabelled
from throttlescope.transforms.promql.operators.functions.numbers import apply, negated
from throttlescope.transforms.promql.operators.functions.order import ordered
from throttlescope.transforms.promql.operators.functions.presence import (
    absent,
    scalar_of,
    step_time,
    vector_of,
)

__all__ = [
    "Forced",
    "absent",
    "annotate_forced",
    "apply",
    "negated",
    "of_buckets",
    "ordered",
    "relabelled",
    "scalar_of",
    "step_time",
    "vector_of",
]
