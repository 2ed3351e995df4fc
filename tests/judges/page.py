"""The page of judges. In: the judges and their recorded results. Out: ``docs/accuracy/outside.md`` with its tables."""

from __future__ import annotations

import json
from pathlib import Path

from tests.judges.registry import JUDGES, Judge
from tests.judges.zap.reasons import reason
from tests.promql.conformance.page import filled

RESULTS = Path(__file__).with_name("results")
PAGE = Path(__file__).parents[2] / "docs" / "accuracy" / "outside.md"


def write(page: Path = PAGE, results: Path = RESULTS) -> None:
    """Fill the page's tables from the results."""
    text = page.read_text()
    tables = (("judges", _had(results)), ("not run", _missing(results)), ("zap", _alerts(results)))
    for name, table in tables:
        text = filled(text, name, table)
    page.write_text(text)


def result_of(judge: Judge, results: Path = RESULTS) -> dict | None:
    """The recorded result of a judge, None where there is none."""
    path = results / f"{judge.key}.json"
    return json.loads(path.read_text()) if path.exists() else None


def _had(results: Path) -> str:
    lines = [
        "| judge | judges | version | date | figure | found | mended by |",
        "|---|---|---|---|---|---|---|",
    ]
    for judge in JUDGES:
        result = result_of(judge, results)
        if result is None:
            continue
        found = (
            "<br>".join(f"{number}. {one.text}" for number, one in enumerate(judge.findings, 1)) or "nothing"
        )
        mended = "<br>".join(f"{number}. {one.mended}" for number, one in enumerate(judge.findings, 1))
        cells = (judge.name, judge.judges, result["version"], result["date"], result["figure"], found, mended)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _missing(results: Path) -> str:
    lines = ["| judge | would judge | why there is no figure |", "|---|---|---|"]
    lines += [
        f"| {judge.name} | {judge.judges} | {judge.missing} |"
        for judge in JUDGES
        if result_of(judge, results) is None
    ]
    return "\n".join(lines)


def _alerts(results: Path) -> str:
    lines = ["| rule | alert | risk | confidence | alerts | why it stays |", "|---|---|---|---|---|---|"]
    path = results / "zap.json"
    details = json.loads(path.read_text())["details"] if path.exists() else []
    lines += [
        f"| {one['rule']} | {one['name']} | {one['risk'].lower()} | {one['confidence'].lower()} | {one['alerts']:,} | {reason(one['rule'])} |"
        for one in details
        if "rule" in one
    ]
    return "\n".join(lines)
