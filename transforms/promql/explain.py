"""Explanation of a query. In: its work. Out: text: plan, pruning and stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from throttlescope.ingest.core.times import format_time
from throttlescope.transforms.promql.plan import Plan, SubqueryPlan, inputs
from throttlescope.transforms.promql.shards.cut import SHARD_LABELS
from throttlescope.transforms.promql.shards.work import PIECE_SAMPLES, Work


def explain_work(work: Work, place: str) -> str:
    """The plan, the pruning, the shard labels and the stages."""
    first, last = work.spans[0], work.spans[-1]
    steps = sum(span.count for span in work.spans)
    lines = [
        f"Query   {' '.join(work.text.split())}",
        f"Steps   {steps:,} from {format_time(first.start_ms)} to {format_time(last.end_ms)}, look-back {work.lookback_ms / 1000:g} s",
        "",
        "Plan    (| computed by each shard, + each shard's share of it, other lines where shards meet)",
    ]
    marks = {cut.plan: "+" if cut.in_parts else "|" for cut in work.cuts}
    lines += [f"  {line}" for line in _tree(work.plan, marks, None, 0)]
    lines += [
        "",
        "Pruning of data files",
        f"  in the lake            {work.files_of_lake:>9,}",
        f"  of the metrics named   {work.files_of_metrics:>9,}",
        f"  in the requested time  {work.files_in_time:>9,}",
        f"  read                   {work.files_read:>9,}  (those of shards with a matching series, once per span)",
        f"Series that match {work.series:,}, samples about {work.samples:,}",
        "",
        "Stages",
    ]
    where = "threads of this process" if place == "local" else "Spark tasks"
    lines.append(
        f"  1  {len(work.pieces):,} pieces of {len({piece.shard for piece in work.pieces})} shards"
        f" (by {', '.join(sorted(SHARD_LABELS))}), spans of time {len(work.spans)}, in {where};"
        f" a piece holds about {max((piece.samples for piece in work.pieces), default=0):,} samples"
        f" (at most {PIECE_SAMPLES:,}, unless an hour of one shard is more)"
    )
    shares = sum(cut.in_parts for cut in work.cuts)
    rows = sum(cut.plan != work.plan for cut in work.cuts if not cut.in_parts)
    if shares or rows:
        lines.append(
            f"  2  meet in this process, span by span: shares of {shares} aggregations, rows of {rows} parts"
        )
    elif work.cuts:
        lines.append("  2  rows of all shards are concatenated in this process")
    return "\n".join(lines)


def _tree(plan: Plan, marks: dict[Plan, str], inherited: str | None, depth: int) -> Iterator[str]:
    mark = inherited or marks.get(plan)
    yield f"{mark or ' '} {'  ' * depth}{_line(plan)}"
    below = "|" if mark else None
    for part in inputs(plan):
        yield from _tree(part, marks, below, depth + 1)


def _line(plan: Plan) -> str:
    words = [type(plan).__name__]
    for item in fields(plan):
        value = getattr(plan, item.name)
        if (
            isinstance(value, Plan)
            or item.name in ("places", "bits")
            or (isinstance(value, tuple) and value and isinstance(value[0], Plan))
        ):
            continue
        if isinstance(value, SubqueryPlan):
            words.append(f"subquery step={value.step_ms / 1000:g}s{_shift(value)}")
        elif item.name == "read":
            words.append(f"{value.selector}{_shift(value)}")
        elif item.name.endswith("_ms"):
            words.append(f"{item.name.removesuffix('_ms')}={value / 1000:g}s")
        elif value not in ((), None, False):
            words.append(f"{item.name}={_shown(value)}")
    return " ".join(words)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(str, value)) + ")"
    if hasattr(value, "labels"):
        kind = "on" if value.on else "ignoring"
        group = f" group_{value.group}({', '.join(value.include)})" if value.group else ""
        return f"{kind}({', '.join(value.labels)}){group}"
    return str(value)


def _shift(read) -> str:
    shift = f" offset {read.offset_ms / 1000:g}s" if read.offset_ms else ""
    return shift + (f" @ {read.at.time / 1000:g}" if read.at else "")
