"""Rewrite rules. In: a plan. Out: a plan of the same meaning that costs less.

A rule is a plain function from one node, whose inputs have been rewritten already, to a node. Their order is one tuple.
"""

from __future__ import annotations

from dataclasses import fields, replace

from throttlescope.transforms.promql.plan import Plan
from throttlescope.transforms.promql.rules.fold_scalars import fold_scalars

RULES = (fold_scalars,)


def apply_rules(plan: Plan) -> Plan:
    """Rewrite ``plan`` from the inside out, each node by every rule."""
    changes = {}
    for item in fields(plan):
        value = getattr(plan, item.name)
        if isinstance(value, Plan):
            changes[item.name] = apply_rules(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Plan):
            changes[item.name] = tuple(map(apply_rules, value))
    if changes:
        plan = replace(plan, **changes)
    for rule in RULES:
        plan = rule(plan)
    return plan
