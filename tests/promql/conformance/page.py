"""The page of results. In: JSON results, a page with marked places. Out: the page with tables in those places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.promql.conformance import compliance, corpus

Results = dict[str, list[dict]]


def write(results_dir: Path, page: Path) -> None:
    """Fill every marked place of the page.

    Raises
    ------
    SystemExit
        Where the results of a place are missing.
    """
    results = read(results_dir)
    text = page.read_text()
    for name, render in PLACES.items():
        text = filled(text, name, render(results))
    page.write_text(text)


def read(results_dir: Path) -> Results:
    """All results, by the command that made them."""
    found: Results = {}
    for command in ("corpus", "compliance", "random", "hostile"):
        found[command] = [
            json.loads(path.read_text()) for path in sorted(results_dir.glob(f"{command}*.json"))
        ]
        if not found[command]:
            raise SystemExit(f"no results of {command} in {results_dir}: run it first")
    return found


def filled(text: str, name: str, table: str) -> str:
    """The text with what stands between the marks of a place replaced."""
    marks = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise SystemExit(f"the page has no place {name}")
    return marks.sub(lambda found: found.group(1) + table.rstrip("\n") + "\n" + found.group(2), text)


def _rows(head: str, rows: list[list[object]]) -> str:
    columns = head.count("|") - 1
    lines = [head, "|---" + "|---:" * (columns - 1) + "|"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def summary(results: Results) -> str:
    """Targets, figures, and whether they are met."""
    lines = ["| target | measured | met? |", "|---|---|---|"]
    for one in results["corpus"]:
        n = corpus.counts(one["evals"])
        lines.append(
            f"| corpus, {one['what']}: every eval that the server answers as written, less info() "
            f"| {n['ours']:,} of {n['counted']:,} | {_met(n['ours'] == n['counted'])} |"
        )
    for one in results["compliance"]:
        equal = {name: compliance.equal(found["rows"]) for name, found in one["sets"].items()}
        figures = ", ".join(f"{count} of {one['queries']} ({name})" for name, count in equal.items())
        lines.append(
            f"| compliance list, jittered and aligned | {figures} | {_met(set(equal.values()) == {one['queries']})} |"
        )
    pairs = sum(one["pairs"] for one in results["random"])
    unexplained = sum(one["counts"]["differs"] - one["counts"]["explained"] for one in results["random"])
    crashes = sum(one["counts"]["crashes"] for one in results["random"])
    lines.append(
        f"| random pairs: no unexplained difference, no crash | {unexplained} and {crashes} of {pairs:,} "
        f"| {_met(not unexplained and not crashes)} |"
    )
    texts = sum(one["texts"] for one in results["hostile"])
    trouble = {
        kind: sum(one["classes"].get(kind, 0) for one in results["hostile"])
        for kind in ("crash", "died", "hang")
    }
    slow = sum(one["slow"] for one in results["hostile"])
    lines.append(
        f"| hostile texts: no crash, no hang, each answered in under 1 s | {trouble['crash'] + trouble['died']}, "
        f"{trouble['hang']} and {slow} too slow of {texts:,} | {_met(not slow and not any(trouble.values()))} |"
    )
    return "\n".join(lines) + "\n"


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def corpus_table(results: Results) -> str:
    """Per corpus the files and their figures."""
    parts = []
    head = "| file | evals | float | server answers as written | less info() | ours | ours = server | laws kept |"
    for one in results["corpus"]:
        files: dict[str, list[dict]] = {}
        for each in one["evals"]:
            files.setdefault(each["file"], []).append(each)
        rows = [_corpus_row(name, evals) for name, evals in files.items()]
        reasons: dict[str, int] = {}
        for each in one["evals"]:
            if "skipped" in each:
                reasons[each["skipped"]] = reasons.get(each["skipped"], 0) + 1
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items())) or "none"
        parts.append(
            f"**{one['what']}**, on {one['date']} against Prometheus {one['server']}. Left out: {left_out}.\n\n"
            + _rows(head, [*rows, _corpus_row("**all**", one["evals"])])
        )
    return "\n".join(parts)


def _corpus_row(name: str, evals: list[dict]) -> list[object]:
    n = corpus.counts(evals)
    return [
        name, n["evals"], n["float"], n["server"], n["counted"], n["ours"], f"{n['same']:,} of {n['beside']:,}",
        f"{n['laws_kept']:,} of {n['laws']:,}",
    ]  # fmt: skip


def corpus_differences(results: Results) -> str:
    """Where we are not the server, by file and line."""
    lines: dict[str, str] = {}
    for one in results["corpus"]:
        for each in one["evals"]:
            if "skipped" in each or each["info"]:
                continue
            missing = not each["server"] and each["ours"]
            if missing or each["beside_server"]:
                told = (
                    (each["ours"] if missing else each["beside_server"])
                    .replace("|", "\\|")
                    .replace("\n", " ")
                )
                lines.setdefault(
                    f"`{each['text']}`".replace("|", "\\|"),
                    f"{each['file']}.test:{each['line']} | {'yes' if missing else 'no'} | {told[:160]}",
                )
    if not lines:
        return "None.\n"
    rows = [f"| {text} | {told} |" for text, told in lines.items()]
    return "\n".join(["| eval | where | counts as missing | how |", "|---|---|---|---|", *rows]) + "\n"


def compliance_table(results: Results) -> str:
    """How equal the answers are, per data set."""
    head = "| data | series | samples | equal to the bit | within 1e-12 | ties | only within 1e-5 | different | answers with values |"
    rows = []
    for one in results["compliance"]:
        for name, found in one["sets"].items():
            verdicts = [row["verdict"] for row in found["rows"]]
            counts = [verdicts.count(verdict) for verdict in ("bits", "1e-12", "ties", "1e-5", "differs")]
            rows.append(
                [name, found["series"], found["samples"], *counts, sum(r["filled"] for r in found["rows"])]
            )
    one = results["compliance"][0]
    return (
        f"{one['queries']} queries, on {one['date']}, seed {one['seed']}, Prometheus {one['server']}.\n\n"
        + _rows(head, rows)
    )


def random_table(results: Results) -> str:
    """Figures per seed."""
    head = (
        "| seed | pairs | data sets | equal to the bit | within 1e-12 | ties | one of several answers of the server "
        "| its instant queries | different, explained | different | with values | failed on both | crashes |"
    )
    rows = []
    for one in results["random"]:
        n = one["counts"]
        rows.append(
            [
                str(one["seed"]), one["pairs"], one["data_sets"], n["bits"], n["1e-12"], n["ties"], n["varies"], n["order"],
                n["explained"], n["differs"] - n["explained"], f"{n['filled'] / one['pairs']:.0%}",
                n["failed"] + n["refused_by_both"], n["crashes"],
            ]
        )  # fmt: skip
    first = results["random"][0]
    return f"On {first['date']}, depth up to {first['depth']}.\n\n" + _rows(head, rows)


def hostile_table(results: Results) -> str:
    """What became of the texts, per family."""
    kinds = ("bad_data", "unsupported", "execution", "result", "crash", "died", "hang")
    head = "| family | texts | no PromQL | refused by name | failed or timed out | answered | crashed | died | hung |"
    parts = []
    for one in results["hostile"]:
        rows = [
            [family, sum(classes.values()), *(classes.get(kind, 0) for kind in kinds)]
            for family, classes in one["families"].items()
        ]
        rows.append(["**all**", one["texts"], *(one["classes"].get(kind, 0) for kind in kinds)])
        parts.append(
            f"On {one['date']}, seed {one['seed']}: the slowest took {one['slowest_s']:.2f} s, the longest has "
            f"{one['longest']:,} characters, {one['timed_out']} met the time-out of {one['timeout_s']} s.\n\n"
            + _rows(head, rows)
        )
    return "\n".join(parts)


PLACES: dict[str, Callable[[Results], str]] = {
    "summary": summary,
    "corpus": corpus_table,
    "corpus differences": corpus_differences,
    "compliance": compliance_table,
    "random": random_table,
    "hostile": hostile_table,
}
