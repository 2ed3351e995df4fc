"""The rules as tables to read. In: thresholds, truth table, grades, weighing. Out: Markdown.

``docs/background/diagnosis.md`` holds these tables between markers; ``python -m throttlescope.models.diagnosis.describe
PAGE`` rewrites them, and a test compares page and rules.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from throttlescope.models.diagnosis.bearing import BEARING
from throttlescope.models.diagnosis.causes import CAUSES, RULES
from throttlescope.models.diagnosis.thresholds import THRESHOLDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.diagnosis.verdict import ANSWER_FLOOR, CONFIDENCE_OF_GRADE, FLAWS, RULES_VERSION

_MARKED = re.compile(r"(<!-- rules: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [list(heads)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def hypotheses() -> str:
    rows = [
        (place, f"`{rule.__name__}`", (rule.__doc__ or "").strip().splitlines()[0])
        for place, rule in enumerate(RULES, 1)
    ]
    return markdown(("", "rule", "applies when"), rows)


def truth_table() -> str:
    rows = [
        (row.zones, row.activities, row.queues, f"`{row.cause}`", row.grade or "-", row.why) for row in TABLE
    ]
    return markdown(("limit", "counter", "queues", "cause", "grade", "because"), rows)


def thresholds() -> str:
    rows = [(f"`{t.name}`", f"{t.value:g}", t.unit, t.source, t.meaning) for t in THRESHOLDS]
    return markdown(("name", "value", "unit", "from", "meaning"), rows)


def confidence() -> str:
    grades = [
        (f"grade {grade}" if grade else "`unknown`", value) for grade, value in CONFIDENCE_OF_GRADE.items()
    ]
    flaws = [(f"`{name}`", f"x {factor}") for name, factor in FLAWS.items()]
    floor = [("below this no cause is named", ANSWER_FLOOR), ("rules version", RULES_VERSION)]
    return markdown(("what", "confidence"), [*grades, *flaws, *floor])


def sides() -> str:
    return markdown(("cause", "side"), [(f"`{cause.name}`", f"`{cause.side}`") for cause in CAUSES])


def weighing() -> str:
    rows = [
        (f"`{b.symptom}`", "yes" if b.holds else "no", b.speaks_for, b.speaks_against, b.neutral)
        for b in BEARING
    ]
    return markdown(("symptom", "answer", "speaks for", "speaks against", "is shown with"), rows)


TABLES = {
    table.__name__: table for table in (hypotheses, truth_table, thresholds, confidence, sides, weighing)
}


def fill(page: str) -> str:
    """The page with every marked table written again."""
    return _MARKED.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")
