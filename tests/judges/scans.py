"""axe and schemathesis as judges of the pages and of the REST API. In: nothing. Out: a result for the page.

Both are among the tests, in a short form in ``make test``; here is the whole: every page in both languages and schemes, wide and narrow, and every
resource of the API with generated requests, right and wrong ones.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import axe_playwright_python

from tests.judges.demo_lake import ROOT
from tests.lab.parts import PartMissing

AXE, SCHEMATHESIS = "tests/app/web/test_browser_axe.py", "tests/app/web/rest/test_schemathesis.py"
#: Colour schemes times widths in which one test looks at a page.
LOOKS = 4
_TESTS_S = 3600


def run(most: int | None = None) -> dict:
    """Run both; ``most`` is not used, because neither can be cut short."""
    looked, failed = _tests(AXE)
    requested, refused = _tests(SCHEMATHESIS)
    script = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    axe = re.search(r"axe v([\d.]+)", script).group(1)
    return {
        "version": f"axe-core {axe}, schemathesis {importlib.metadata.version('schemathesis')}",
        "figure": f"axe: findings of any impact in {LOOKS * failed} of {LOOKS * (looked + failed)} looks; schemathesis: a fault in {refused} of {requested + refused} runs",
        "details": [],
    }


def _tests(file: str) -> tuple[int, int]:
    """How many tests of a file passed and failed, the long ones only."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "study", file],
        cwd=ROOT, capture_output=True, text=True, timeout=_TESTS_S, check=False,
    )  # fmt: skip
    counts = {
        word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)
    }
    if counts.get("skipped") or counts.get("error") or not counts:
        raise PartMissing(f"{file} did not run: {done.stdout.strip()[-300:]}")
    return counts.get("passed", 0), counts.get("failed", 0)
