"""Rewrite rules. In: a plan. Out: a plan of the same meaning that costs less.

A rule is a plain function from one node, whose inputs have been rewritten already, to a node. Their order is one tuple.
"""

from __future__ import annotations

from throttlescope.transforms.promql.plan import Plan, rebuilt
from throttlescope.transforms.promql.rules.fold_scalars import fold_scalars

RULES = (fold_scalars,)


def apply_rules(plan: Plan) -> Plan:
    """Rewrite ``plan`` from the inside out, each node by every rule."""
    plan = rebuilt(plan, apply_rules)
    for rule in RULES:
        plan = rule(plan)
    return plan
