"""The page about the diagnosis has every table of the rules."""

from __future__ import annotations

from docs.generate import diagnosis
from throttlescope.models.diagnosis.causes import RULES


def test_every_table_is_on_the_page():
    page = diagnosis.PAGE.read_text(encoding="utf-8")
    for name in diagnosis.TABLES:
        assert f"<!-- rules: {name} -->" in page


def test_every_rule_has_a_docstring():
    assert all(rule.__doc__ for rule in RULES)
