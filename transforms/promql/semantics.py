"""The rules of meaning that are about labels and time, each written once with its source.

In: label sets and the words of a query. Out: label sets, keys and edges. The rules of numbers are in :mod:`kernels`.

Followed is Prometheus 3.5 with default flags (``promql/engine.go`` and ``promql/functions.go`` of that line): ranges and
the look-back are open on the left, the metric name is dropped at once and not at the end, staleness markers never
reach an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from throttlescope.ingest.core.selector import NAME_LABEL
from throttlescope.transforms.promql import ast

#: How long a sample is the current value of its series (flag ``query.lookback-delta``).
LOOKBACK_MS = 300_000

#: Step of a subquery that names none (``evaluation_interval``).
SUBQUERY_STEP_MS = 60_000

#: Name and value pairs, sorted by name; an empty value is the same as no label and is never kept.
Labels = tuple[tuple[str, str], ...]


def labels_of(pairs: Iterable[tuple[str, str]]) -> Labels:
    """The canonical form of a label set."""
    return tuple(sorted((name, value) for name, value in pairs if value))


_NO_TEXT = re.compile("[\ud800-\udfff]")


def is_text(value: str) -> bool:
    """Whether a string of the query is UTF-8: a string literal can write any bytes, a label is text."""
    return not _NO_TEXT.search(value)


def is_label_name(value: str) -> bool:
    """Any text that is not empty is a label's name since Prometheus 3."""
    return bool(value) and is_text(value)


def shown(value: str) -> str:
    """A string of the query as JSON and messages have it: U+FFFD for each byte that is no UTF-8, as Go does."""
    return _NO_TEXT.sub("\ufffd", value)


#: What operators and functions drop: the name, and the labels that belong to it where Prometheus keeps type and unit
#: as labels. Aggregations and matching leave out the name alone.
RESERVED = frozenset((NAME_LABEL, "__type__", "__unit__"))


def drop_name(labels: Labels) -> Labels:
    """What arithmetic, ``bool`` and functions leave of a label set."""
    return tuple(pair for pair in labels if pair[0] not in RESERVED)


def group_key(labels: Labels, names: frozenset[str], without: bool) -> Labels:
    """The labels of the group that a series is aggregated into (``by`` keeps, ``without`` drops; the name goes)."""
    if without:
        return tuple(pair for pair in labels if pair[0] not in names and pair[0] != NAME_LABEL)
    return tuple(pair for pair in labels if pair[0] in names)


def match_key(labels: Labels, matching: ast.Matching) -> Labels:
    """What two series must share to meet: the ``on`` labels, or all but the ignored ones and the name."""
    return group_key(labels, frozenset(matching.labels), without=not matching.on)


def matched_labels(many: Labels, one: Labels, matching: ast.Matching, op: str, return_bool: bool) -> Labels:
    """Labels of the result of two series that met (``resultMetric`` in engine.go).

    Without ``group_x`` the ``on`` labels are all that is left, or the ignored ones go. With it the many side keeps its
    labels, and takes each included label from the one side, also its absence: after arithmetic dropped the name, before
    ``bool`` drops it.
    """
    result = many if op in ast.COMPARISONS else drop_name(many)
    if matching.group is None:
        names = frozenset(matching.labels)
        result = tuple(pair for pair in result if (pair[0] in names) == matching.on)
    elif matching.include:
        taken = dict(one)
        kept = [pair for pair in result if pair[0] not in matching.include]
        result = labels_of([*kept, *((name, taken.get(name, "")) for name in matching.include)])
    return drop_name(result) if return_bool else result


def window_range(end_ms: int, length_ms: int) -> tuple[int, int]:
    """Times [start, end) of the samples that a window (end - length, end] can see."""
    return end_ms - length_ms + 1, end_ms + 1
