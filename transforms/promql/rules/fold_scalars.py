"""Scalars that are the same at every step are computed once, before anything is read.

``60 * 1000`` becomes ``60000``; ``-1`` becomes one number. The arithmetic is the evaluator's own, so the result has the
same bits.
"""

from __future__ import annotations

import numpy as np

from throttlescope.transforms.promql.operators.elements import calculate, negate
from throttlescope.transforms.promql.plan import Plan, ScalarBinary, ScalarNegate, ScalarNumber


def fold_scalars(node: Plan) -> Plan:
    """Replace an operator between numbers by its number."""
    match node:
        case ScalarNegate(scalar=ScalarNumber(value=value)):
            return ScalarNumber(float(negate(np.array([value]))[0]))
        case ScalarBinary(op=op, left=ScalarNumber(value=left), right=ScalarNumber(value=right)):
            return ScalarNumber(float(calculate(op, np.array([left]), np.array([right]))[0]))
    return node
