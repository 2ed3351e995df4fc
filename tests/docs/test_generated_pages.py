"""Every page that is made from code equals what its generator gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate.generators import GENERATORS
from docs.generate.markdown import fill_between, fill_marked, markdown_table
from throttlescope.ingest.quality.gates import GATES

ROOT = Path(__file__).parents[2]
#: Generators that simulate or read recordings for more than about a second.
LONG = {"real_broker", "tdmq"}
NAMES = [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in GENERATORS]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_page_equals_its_generator(name):
    generator = GENERATORS[name]
    page = generator.PAGE.read_text(encoding="utf-8")
    assert generator.render(page) == page, f"the page is out of date: python -m docs.generate {name}"


def test_every_check_says_what_to_do():
    suites = [suite for gate in GATES.values() for _, suite in gate.suites]
    assert [check.name for suite in suites for check in suite if not check.fix] == []


def test_each_page_has_one_generator():
    pages = [generator.PAGE for generator in GENERATORS.values()]
    assert len(set(pages)) == len(pages)


@pytest.mark.long
def test_unknown_generator_is_refused():
    run = subprocess.run(
        [sys.executable, "-m", "docs.generate", "tabels"],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert "no generator tabels; there are tables, cli" in run.stderr


def test_bar_in_a_cell_is_escaped():
    assert markdown_table(("a", "b"), [("x|y", 1)]) == "| a | b |\n| --- | --- |\n| x\\|y | 1 |\n"


def test_only_marked_places_are_filled():
    page = "a\n<!-- rules: one -->\nold\n<!-- end -->\nb\n"
    assert fill_marked(page, "rules", {"one": lambda: "new\n"}) == page.replace("old", "new")
    assert fill_marked(page, "episodes", {}) == page
    assert fill_between(page, "<!-- rules", "<!-- end", "new") == page.replace("old", "new")
