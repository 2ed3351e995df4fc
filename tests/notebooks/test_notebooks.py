"""The notebooks run from top to bottom, and what they are kept with is what they give."""

from __future__ import annotations

import base64
import json
import re

import pytest

from tests.notebooks.kept import MOST_BYTES, PNG, code_sha256, keep, marked_sha256, told
from tests.notebooks.running import NOTEBOOKS, executed, names, read

#: A folder of whoever executed it last, or a host.
_MACHINE = re.compile(r"/(home|root|tmp|work|Users|private|var)/|\b127\.0\.0\.1:\d+|localhost:\d+")
WANTED = [
    "first-look.ipynb",
    "one-incident.ipynb",
    "promql-over-a-month.ipynb",
    "right-size-a-limit.ipynb",
    "your-own-rule.ipynb",
]


def test_these_are_the_notebooks():
    assert names() == WANTED


@pytest.mark.parametrize("name", WANTED)
def test_outputs_are_of_the_code_above_them(name):
    """A cell that was edited and not executed again fails here."""
    notebook = read(name)
    assert marked_sha256(notebook) == code_sha256(notebook)


@pytest.mark.parametrize("name", WANTED)
def test_stored_outputs_are_readable_on_forges(name):
    notebook = read(name)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = [output["data"][PNG] for output in outputs if PNG in output.get("data", {})]
    assert pictures
    assert all(base64.b64decode(one)[:8] == b"\x89PNG\r\n\x1a\n" for one in pictures)
    assert {output.output_type for output in outputs} <= {"display_data", "execute_result", "stream"}
    assert max(len(json.dumps(output)) for output in outputs) < MOST_BYTES
    words = [json.dumps({k: v for k, v in out.get("data", out).items() if k != PNG}) for out in outputs]
    assert [text[:300] for text in words if _MACHINE.search(text)] == []


def test_words_stand_before_code():
    """A notebook that begins with code tells nobody what it is for."""
    for name in WANTED:
        cells = read(name).cells
        assert cells[0].cell_type == "markdown"
        assert cells[0].source.startswith("# ")


def test_what_is_kept_is_what_is_told(tmp_path):
    """Keeping a notebook changes nothing that a reader sees: the comparison below would pass over it."""
    notebook = read(WANTED[0])
    before = told(notebook)
    assert any("a chart" in cell for cell in before)
    assert told(keep(notebook, lambda figure: pytest.fail("it has no figure any more"))) == before


@pytest.mark.spark
@pytest.mark.study
@pytest.mark.timeout(2400)
def test_notebooks_reproduce_stored_outputs(tmp_path):
    fresh = executed(WANTED, tmp_path)
    for name in WANTED:
        got, kept = told(fresh[name]), told(read(name))
        assert len(got) == len(kept) > 3
        for number, (mine, theirs) in enumerate(zip(got, kept, strict=True), 1):
            assert mine == theirs, f"{NOTEBOOKS / name}: cell {number}; make notebooks writes it anew"
