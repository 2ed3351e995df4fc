"""``python -m tests.faults [STUDY ...]``: run studies and print their table. In: a seed, a number. Out: lines, and a file of JSON."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.faults.studies import STUDIES
from tests.faults.study import Line, run

KEPT = Path(".faults")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("study", nargs="*", metavar="STUDY", help=f"default: all of {', '.join(STUDIES)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--instants", type=int, metavar="N", help="default: what each study is meant to have")
    parser.add_argument(
        "--json", type=Path, metavar="OUT", help="write the figures there, next to those of other studies"
    )
    parser.add_argument("--anew", action="store_true", help=f"forget what is kept below {KEPT}/")
    asked = parser.parse_args()
    if unknown := set(asked.study) - STUDIES.keys():
        parser.error(f"no such study: {', '.join(sorted(unknown))}; there are {', '.join(STUDIES)}")
    lines = []
    for name in asked.study or STUDIES:
        study = STUDIES[name]
        kept = KEPT / f"{name}-{asked.seed}.jsonl"
        if asked.anew:
            kept.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="throttlescope-faults-") as scratch:
            count = asked.instants or study.default
            line = run(
                study,
                asked.seed,
                count,
                Path(scratch),
                kept,
                lambda text: print(text, file=sys.stderr, flush=True),
            )
        lines.append(line)
        if asked.json:
            write(asked.json, name, line)
    print(table(lines))
    return 0 if all(line.holds for line in lines) else 1


def write(path: Path, name: str, line: Line) -> None:
    """Put a study's figures into a file, in place of its old ones."""
    known = json.loads(path.read_text()) if path.exists() else {}
    known[name] = line.to_json()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def table(lines: list[Line]) -> str:
    """The lines as text; what did not hold stands below."""
    head = ("study", "seed", "instants", "lost", "doubled", "torn", "wrong", "seconds", "asserted")
    rows = [
        (
            line.study, f"{line.seed}", f"{line.instants:,}", f"{line.lost:,}", f"{line.doubled:,}", f"{line.torn:,}",
            f"{len(line.wrong):,}", f"{line.seconds:,.0f}", line.asserted,
        )
        for line in lines
    ]  # fmt: skip
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    text += [f"  {line.study}: {one}" for line in lines for one in line.wrong[:20]]
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main())
