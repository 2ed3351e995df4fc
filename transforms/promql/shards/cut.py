"""Split of a plan into per-shard parts. In: a plan and its steps. Out: the parts of it that every shard computes by itself.

A part is *within* a shard if the concatenated results of all shards equal one evaluation over all series: everything per
series is, and so are matches and groups that keep the labels that decide the shard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.plan import (
    Aggregation,
    ApplyFunction,
    ApplyRangeFunction,
    BinaryMatch,
    BinaryWithScalar,
    ChangeLabels,
    HistogramFunction,
    Negate,
    Plan,
    SampleTimestamp,
    ScalarFirst,
    SelectInstant,
    SelectorRead,
    SelectRange,
    SetOperation,
    StepTimestamp,
    SubqueryPlan,
    gives_scalar,
    inputs,
    reads,
    walk,
)

#: Labels that decide the shard of a series.
SHARD_LABELS = frozenset(("cluster", "namespace", "topic"))

#: Aggregations of which each shard can do its part.
IN_PARTS = ("sum", "avg", "count", "min", "max", "group", "topk", "bottomk")

#: Aggregations whose rows are in an order over all groups, or that may write a label which decides the shard.
_NOT_WITHIN = ("topk", "bottomk", "limitk", "count_values")


@dataclass(frozen=True)
class Cut:
    """What shards compute.

    Attributes
    ----------
    plan : Plan
        The part of the query whose value is combined from theirs.
    steps : Steps
    in_parts : bool
        ``plan`` is an aggregation over all shards, and each computes its share of it.
    """

    plan: Plan
    steps: Steps
    in_parts: bool


def find_cuts(plan: Plan, steps: Steps) -> list[Cut]:
    """The largest parts of a (settled) plan that are within a shard, or in parts, each once."""
    return list(dict.fromkeys(_find_cuts(plan, steps)))


def _find_cuts(plan: Plan, steps: Steps) -> Iterator[Cut]:
    if not any(True for _ in reads(plan)):
        return
    if is_within_shard(plan):
        yield Cut(plan, steps, in_parts=False)
        return
    if (
        isinstance(plan, Aggregation)
        and plan.op in IN_PARTS
        and _pure(plan, plan.vector)
        and is_within_shard(plan.vector)
    ):
        yield Cut(plan, steps, in_parts=True)
        return
    if isinstance(plan, ScalarFirst):
        yield from _find_cuts(plan.scalar, Steps.at(steps.start_ms))
        return
    read = getattr(plan, "read", None)
    if isinstance(read, SubqueryPlan):
        inner = read.steps(*read.ends_ms(steps.start_ms, steps.end_ms), plan.range_ms)
        if inner is not None:
            yield from _find_cuts(read.plan, inner)
    for part in inputs(plan):
        if not (isinstance(read, SubqueryPlan) and part is read.plan):
            yield from _find_cuts(part, steps)


def is_cut_whole(plan: Plan) -> bool:
    """Whether shards read all that a plan reads: not the range of a function with another argument that needs all shards."""
    return not any(
        isinstance(node, ApplyRangeFunction)
        and isinstance(node.read, SelectorRead)
        and not is_within_shard(node)
        for node in walk(plan)
    )


def is_within_shard(plan: Plan) -> bool:
    """Whether each shard can compute its rows of ``plan`` by itself."""
    match plan:
        case SelectInstant() | SampleTimestamp():
            return True
        case SelectRange(read=read):
            return isinstance(read, SelectorRead) or is_within_shard(read.plan)
        case ApplyRangeFunction(read=read):
            if not _pure(plan, getattr(read, "plan", None)):
                return False
            return isinstance(read, SelectorRead) or is_within_shard(read.plan)
        case Negate(vector=vector) | StepTimestamp(vector=vector) | BinaryWithScalar(vector=vector):
            return _pure(plan, vector) and is_within_shard(vector)
        case ApplyFunction(vector=vector) | HistogramFunction(vector=vector):
            return _pure(plan, vector) and is_within_shard(vector)
        case ChangeLabels(vector=vector, texts=texts):
            # The first text is the label that is written.
            return texts[0] not in SHARD_LABELS and is_within_shard(vector)
        case (
            BinaryMatch(left=left, right=right, matching=matching)
            | SetOperation(left=left, right=right, matching=matching)
        ):
            return _matches_topics(matching) and is_within_shard(left) and is_within_shard(right)
        case Aggregation(op=op, vector=vector, labels=labels, without=without):
            keeps = SHARD_LABELS.isdisjoint(labels) if without else set(labels) >= SHARD_LABELS
            return keeps and op not in _NOT_WITHIN and _pure(plan, vector) and is_within_shard(vector)
    return False


def _pure(plan: Plan, vector: Plan | None) -> bool:
    """Whether everything inside but ``vector`` is a scalar that needs no samples."""
    return all(
        part is vector or (gives_scalar(part) and not any(True for _ in reads(part))) for part in inputs(plan)
    )


def _matches_topics(matching: ast.Matching) -> bool:
    if matching.on:
        return set(matching.labels) >= SHARD_LABELS
    return SHARD_LABELS.isdisjoint(matching.labels)
