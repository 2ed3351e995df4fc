"""The page about the diagnosis prints the rules that run."""

from __future__ import annotations

from pathlib import Path

from throttlescope.models.diagnosis import describe
from throttlescope.models.diagnosis.causes import RULES

PAGE = Path(__file__).parents[3] / "docs" / "background" / "diagnosis.md"


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert describe.fill(page) == page, (
        f"run: python -m throttlescope.models.diagnosis.describe {PAGE.relative_to(PAGE.parents[2])}"
    )


def test_every_table_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for name in describe.TABLES:
        assert f"<!-- rules: {name} -->" in page


def test_every_rule_has_a_docstring():
    assert all(rule.__doc__ for rule in RULES)


def test_pipe_in_cell_is_escaped():
    assert describe.markdown(("a", "b"), [("x|y", 1)]) == "| a | b |\n| --- | --- |\n| x\\|y | 1 |\n"
