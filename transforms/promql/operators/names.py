"""The metric name goes. In: label sets of a vector. Out: the same without it, and whether any two became equal."""

from __future__ import annotations

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.transforms.promql.semantics import RESERVED, Labels

_LAST_RESERVED = max(RESERVED)


def nameless(labels: tuple[Labels, ...]) -> tuple[tuple[Labels, ...], bool]:
    """Label sets without name, type and unit, and whether they are still distinct for sure.

    Different series of one metric stay different, so equal label sets need not be searched for.
    """
    if not labels:
        return labels, True
    first = labels[0][0] if labels[0] else None
    one_metric = first is not None and first[0] == NAME_LABEL
    out = []
    for one in labels:
        # Names are sorted: what follows a later name is none of the reserved ones.
        if one_metric and one and one[0] == first and (len(one) == 1 or one[1][0] > _LAST_RESERVED):
            out.append(one[1:])
        else:
            one_metric = False
            out.append(tuple(pair for pair in one if pair[0] not in RESERVED))
    return tuple(out), one_metric or len(labels) == 1
