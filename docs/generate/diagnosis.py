"""The rules as tables. In: thresholds, truth table, grades, weighing. Out: ``docs/background/diagnosis.md`` with its tables rewritten."""

from __future__ import annotations

from docs.generate.markdown import DOCS, fill_marked, markdown_table
from throttlescope.models.diagnosis.bearing import BEARING
from throttlescope.models.diagnosis.causes import CAUSES, REPLICATOR_RULES, RULES
from throttlescope.models.diagnosis.thresholds import THRESHOLDS
from throttlescope.models.diagnosis.truth_table import TABLE
from throttlescope.models.diagnosis.verdict import ANSWER_FLOOR, CONFIDENCE_OF_GRADE, FLAWS, RULES_VERSION

PAGE = DOCS / "background" / "diagnosis.md"


def hypotheses() -> str:
    rows = [
        (place, f"`{rule.__name__}`", (rule.__doc__ or "").strip().splitlines()[0])
        for place, rule in enumerate(RULES, 1)
    ]
    return markdown_table(("", "rule", "applies when"), rows)


def replicators() -> str:
    rows = [
        (place, f"`{rule.__name__}`", (rule.__doc__ or "").strip().splitlines()[0])
        for place, rule in enumerate(REPLICATOR_RULES, 1)
    ]
    return markdown_table(("", "rule", "applies when"), rows)


def truth_table() -> str:
    rows = [
        (row.zones, row.activities, row.queues, f"`{row.cause}`", row.grade or "-", row.why) for row in TABLE
    ]
    return markdown_table(("limit", "counter", "queues", "cause", "grade", "because"), rows)


def thresholds() -> str:
    rows = [(f"`{t.name}`", f"{t.value:g}", t.unit, t.source, t.meaning) for t in THRESHOLDS]
    return markdown_table(("name", "value", "unit", "from", "meaning"), rows)


def confidence() -> str:
    grades = [
        (f"grade {grade}" if grade else "`unknown`", value) for grade, value in CONFIDENCE_OF_GRADE.items()
    ]
    flaws = [(f"`{name}`", f"x {factor}") for name, factor in FLAWS.items()]
    floor = [("below this no cause is named", ANSWER_FLOOR), ("rules version", RULES_VERSION)]
    return markdown_table(("what", "confidence"), [*grades, *flaws, *floor])


def sides() -> str:
    return markdown_table(("cause", "side"), [(f"`{cause.name}`", f"`{cause.side}`") for cause in CAUSES])


def weighing() -> str:
    rows = [
        (f"`{b.symptom}`", "yes" if b.holds else "no", b.speaks_for, b.speaks_against, b.neutral)
        for b in BEARING
    ]
    return markdown_table(("symptom", "answer", "speaks for", "speaks against", "is shown with"), rows)


TABLES = {
    table.__name__: table
    for table in (hypotheses, replicators, truth_table, thresholds, confidence, sides, weighing)
}


def render(page: str) -> str:
    """The page with every marked table rewritten."""
    return fill_marked(page, "rules", TABLES)
