"""Rewrite rules: the plan becomes what the text pair says, and both plans give the same answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.promql.compare import answer_of, difference
from throttlescope.transforms.promql.evaluate import evaluate, plan_query
from throttlescope.transforms.promql.lower import lower
from throttlescope.transforms.promql.matrix import Steps
from throttlescope.transforms.promql.parse import parse
from throttlescope.transforms.promql.source import MemorySource, Series

_FILES = sorted((Path(__file__).parent / "rules").glob("*.txt"))
PAIRS = [
    tuple(side.strip() for side in line.split("=>"))
    for file in _FILES
    for line in file.read_text().splitlines()
    if line and not line.startswith("#")
]

SOURCE = MemorySource(
    [Series({"__name__": "x", "a": "1"}, np.array([0, 60_000]), np.array([-5.0, 70_000.0]))]
)
STEPS = Steps(0, 120_000, 30_000)


def test_each_rule_has_its_pairs():
    rules = Path(plan_query.__globals__["__file__"]).parent / "rules"
    assert {file.stem for file in _FILES} == {file.stem for file in rules.glob("*.py")} - {"__init__"}
    assert len(PAIRS) > 5


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_rewritten_plan_gives_same_result(before, after):
    rewritten = plan_query(before)
    assert rewritten == plan_query(after)
    plain = lower(before, parse(before))
    answers = [answer_of(evaluate(plan, SOURCE, STEPS), STEPS) for plan in (plain, rewritten)]
    assert difference(*answers) is None
    assert any(answers[0].values())


def test_a_rule_changes_something():
    changed = [before for before, _ in PAIRS if lower(before, parse(before)) != plan_query(before)]
    assert len(changed) >= len(PAIRS) // 2
