"""Recompute the figures of the diagnosis. In: the recordings of the repository. Out: the page, and the JSON in the package.

``python -m tests.accuracy`` prints the figures as JSON; ``--write`` writes the tables of ``docs/accuracy/diagnosis.md`` and
of the READMEs, and ``models/diagnosis/measured.json``, and leaves all figures in ``.bench/accuracy.json``, from which ``--figures`` takes
them where only the page has changed. ``--set fleet-development`` prints the targets of the fleets and every verdict that was not
right, ``--subject replicators`` the tables of subjects with sets of their own. It takes a few minutes and no server.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.accuracy.figures import figures, shipped, shipped_subjects
from tests.accuracy.fleets import fleet_figures, fleet_folders, fleet_table, miss_lines
from tests.accuracy.page import page, page_of_subjects, subject_tables
from tests.accuracy.recorded import SETS
from tests.accuracy.subjects import SUBJECTS, subject_figures
from tests.lab.fleet.sets import FLEET_SETS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "accuracy" / "diagnosis.md"
README, README_CHINESE = ROOT / "README.md", ROOT / "README.zh-CN.md"
ALL = ROOT / ".bench" / "accuracy.json"
_LIST, _MAPPING = re.compile(r"\[[^\[\]{}]*\]"), re.compile(r"\{[^{}]{0,240}\}")
MEASURED = ROOT / "models" / "diagnosis" / "measured.json"


def measured_text(found: dict[str, Any]) -> str:
    """``measured.json``; six digits are more than the figures are good for, and rounded again they read as on the page."""
    return _one_line_shares(shipped(found))


def _one_line_shares(measured: dict[str, Any]) -> str:
    text = json.dumps(_rounded(measured), indent=1)
    # A share is on one line, which makes a change of figures readable.
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
        choices=[*SETS, *FLEET_SETS],
        help="only this set, also in what is written; may be repeated",
    )
    parser.add_argument(
        "--subject",
        dest="subjects",
        action="append",
        choices=[*SUBJECTS],
        help="only this subject; with --write, all subjects",
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FILE", help="take the figures from a file instead of computing them"
    )
    options = parser.parse_args()
    if options.subjects:
        _subjects(options.subjects, options.write)
        return
    if options.sets and set(options.sets) <= set(FLEET_SETS):
        _fleets(options.sets)
        return
    if options.sets and set(options.sets) & set(FLEET_SETS):
        parser.error("sets of fleets have a table of their own: select them alone")
    if options.figures is not None:
        found = json.loads(options.figures.read_text())
    else:
        found = figures(options.sets or tuple(SETS), lambda text: print(text, file=sys.stderr))
    if options.write:
        ALL.parent.mkdir(exist_ok=True)
        ALL.write_text(json.dumps(found, indent=1) + "\n")
        for file in (PAGE, README, README_CHINESE):
            file.write_text(page(file.read_text(), found))
        MEASURED.write_text(measured_text(found))
    else:
        print(json.dumps(found, indent=1))


def _subjects(names: list[str], write: bool) -> None:
    """Print the tables of some subjects, or write those of all into the page."""
    found = {
        name: subject_figures(name, lambda text: print(text, file=sys.stderr))
        for name in (SUBJECTS if write else names)
    }
    if write:
        PAGE.write_text(page_of_subjects(PAGE.read_text(), found))
        measured = json.loads(MEASURED.read_text()) | {"subjects": shipped_subjects(found)}
        MEASURED.write_text(_one_line_shares(measured))
    else:
        print("\n".join(subject_tables(found).values()))


def _fleets(sets: list[str]) -> None:
    """Print the targets of sets of fleets, and every verdict that was not right."""
    for name in sets:
        folders = fleet_folders(name)
        found = fleet_figures(folders, lambda text: print(text, file=sys.stderr))
        starts_ms = {
            folder.name: json.loads((folder / "recording.json").read_text())["start_ms"] for folder in folders
        }
        print(f"{name}: {len(folders)} recordings\n\n{fleet_table(found)}\n{miss_lines(found, starts_ms)}")
        ALL.parent.mkdir(exist_ok=True)
        (ALL.parent / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
