"""Order of evaluation. In: rules files. Out: all rules in the order of their evaluation, or an error for a cycle.

There are two orders. What a rule *sees* at a time depends on its position: groups after the groups that they read, rules
of a group as written; the result of a later rule is that of the evaluation before. What is *computed* first depends on
need: a rule after all that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.transforms.promql import ast
from throttlescope.transforms.promql.evaluate import plan_query
from throttlescope.transforms.promql.plan import Plan, ScalarFirst, walk
from throttlescope.transforms.rules.outputs import may_read, metric_names
from throttlescope.transforms.rules.rule_file import Group, Rule, RuleFile, RuleFileError


@dataclass(frozen=True)
class Scheduled:
    """A rule with its place.

    Attributes
    ----------
    number : int
        Its place among all rules: at one moment it sees what lower numbers have written at that moment.
    plan : Plan
        Of its expression.
    interval_ms, offset_ms, limit : int
        Of its group.
    reads : frozenset of int
        Numbers of the rules whose series it may read.
    stepped : bool
        It has to be evaluated one moment after the other: it reads its own past, or a rule behind it, or looks ahead.
    """

    rule: Rule
    plan: Plan
    number: int
    interval_ms: int
    offset_ms: int
    limit: int
    reads: frozenset[int] = frozenset()
    stepped: bool = False


def schedule(files: Iterable[RuleFile], evaluation_interval_ms: int) -> list[Scheduled]:
    """Rules in the order in which they are computed.

    Parameters
    ----------
    evaluation_interval_ms : int
        Interval of groups that name none, and step of subqueries that name none.

    Raises
    ------
    RuleFileError
        Rules of a group read one another, or two groups do.
    """
    groups = [group for file in files for group in file.groups]
    rules = [rule for group in _ordered(groups) for rule in group.rules]
    group_of = {id(rule): group for group in groups for rule in group.rules}
    placed = [
        Scheduled(
            rule,
            plan_query(rule.expr, evaluation_interval_ms),
            number,
            group_of[id(rule)].interval_ms or evaluation_interval_ms,
            group_of[id(rule)].query_offset_ms,
            group_of[id(rule)].limit,
        )
        for number, rule in enumerate(rules)
    ]
    known = [_with_reads(rule, placed, read) for rule, read in zip(placed, _reads(rules), strict=True)]
    numbers = _topological(
        range(len(known)),
        lambda number: known[number].reads - {number},
        lambda cycle: _rules_error(known, cycle),
    )
    return [known[number] for number in numbers]


def check_order(file: RuleFile) -> None:
    """Raises as :func:`schedule` does."""
    schedule([file], MINUTE_MS)


def _ordered(groups: Sequence[Group]) -> list[Group]:
    """Groups after those that they read."""
    rules = [rule for group in groups for rule in group.rules]
    group_of = [number for number, group in enumerate(groups) for _ in group.rules]
    reads: list[set[int]] = [set() for _ in groups]
    for number, read in zip(group_of, _reads(rules), strict=True):
        reads[number] |= {group_of[other] for other in read} - {number}
    order = _topological(range(len(groups)), lambda n: reads[n], lambda cycle: _groups_error(groups, cycle))
    return [groups[number] for number in order]


def _reads(rules: Sequence[Rule]) -> list[set[int]]:
    """For each rule the rules that it may read, by their places."""
    by_metric: dict[str, set[int]] = {}
    for place, rule in enumerate(rules):
        for metric in metric_names(rule):
            by_metric.setdefault(metric, set()).add(place)
    found = []
    for rule in rules:
        read: set[int] = set()
        for selector in rule.selectors:
            named = selector.metric_name
            candidates = range(len(rules)) if named is None else by_metric.get(named, ())
            read |= {place for place in candidates if may_read(selector, rules[place])}
        found.append(read)
    return found


def _with_reads(rule: Scheduled, placed: Sequence[Scheduled], reads: set[int]) -> Scheduled:
    stepped = _moves(rule) or any(
        number >= rule.number or placed[number].offset_ms > rule.offset_ms for number in reads
    )
    return replace(rule, reads=frozenset(reads), stepped=stepped)


def _moves(rule: Scheduled) -> bool:
    """Whether an evaluation at a moment differs from that step of a range: ``@ end()``, a look ahead, a first step."""
    reading = (
        node for node in ast.walk(rule.rule.tree) if isinstance(node, ast.VectorSelector | ast.Subquery)
    )
    return any(node.at is not None or node.offset_ms < 0 for node in reading) or any(
        isinstance(node, ScalarFirst) for node in walk(rule.plan)
    )


def _topological(
    nodes: Iterable[int], before: Callable[[int], Iterable[int]], error: Callable[[list[int]], Exception]
) -> list[int]:
    """Nodes behind all that come before them, otherwise in their own order."""
    done: dict[int, None] = {}
    for node in nodes:
        path = [node] if node not in done else []
        while path:
            waiting = [other for other in sorted(before(path[-1])) if other not in done]
            if not waiting:
                done[path.pop()] = None
            elif waiting[0] in path:
                raise error(path[path.index(waiting[0]) :])
            else:
                path.append(waiting[0])
    return list(done)


def _rules_error(rules: Sequence[Scheduled], cycle: list[int]) -> RuleFileError:
    names = [rules[number].rule.name for number in (*cycle, cycle[0])]
    return _cycle_error(
        f"{rules[cycle[0]].rule.place}: the rules read one another",
        names,
        "write one of them out in the other",
    )


def _groups_error(groups: Sequence[Group], cycle: list[int]) -> RuleFileError:
    names = [groups[number].name for number in (*cycle, cycle[0])]
    place = groups[cycle[0]].rules[0].place
    return _cycle_error(
        f"{place}: groups read one another", names, "move the rules that are read into a group of their own"
    )


def _cycle_error(what: str, names: list[str], fix: str) -> RuleFileError:
    error = RuleFileError(what, got=" reads ".join(names), expected="an order without a cycle", fix=fix)
    error.promtool_accepts = True
    return error
