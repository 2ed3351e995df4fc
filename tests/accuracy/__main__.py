"""Make the figures of the diagnosis anew. In: the recordings of the repository. Out: the page, and the JSON in the package.

``python -m tests.accuracy`` prints the figures as JSON; ``--write`` writes ``docs/accuracy/diagnosis.md`` and
``models/diagnosis/measured.json``, and leaves all figures in ``.bench/accuracy.json``, from which ``--figures`` takes them
where only the page has changed. It takes a few minutes and no server.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.accuracy.figures import figures, shipped
from tests.accuracy.page import page
from tests.accuracy.recorded import SETS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "accuracy" / "diagnosis.md"
ALL = ROOT / ".bench" / "accuracy.json"
_LIST, _MAPPING = re.compile(r"\[[^\[\]{}]*\]"), re.compile(r"\{[^{}]{0,240}\}")
MEASURED = ROOT / "models" / "diagnosis" / "measured.json"


def measured_text(found: dict[str, Any]) -> str:
    """``measured.json``; six digits are more than the figures are good for, and rounded again they read as on the page."""
    text = json.dumps(_rounded(shipped(found)), indent=1)
    # A share stands on one line: a change of figures can then be read.
    for leaf in (_LIST, _MAPPING):
        text = leaf.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text)
    return text + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the page and the package's JSON")
    parser.add_argument(
        "--set",
        dest="sets",
        action="append",
        choices=list(SETS),
        help="only this set, also in what is written; may be repeated",
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FILE", help="take the figures from a file instead of making them"
    )
    asked = parser.parse_args()
    if asked.figures is not None:
        found = json.loads(asked.figures.read_text())
    else:
        found = figures(asked.sets or tuple(SETS), lambda text: print(text, file=sys.stderr))
    if asked.write:
        ALL.parent.mkdir(exist_ok=True)
        ALL.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(PAGE.read_text(), found))
        MEASURED.write_text(measured_text(found))
    else:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
