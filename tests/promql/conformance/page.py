"""The page of results. In: JSON results, a page with marked places. Out: the page with tables in those places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from tests.promql.conformance import compliance, corpus

Results = dict[str, list[dict]]

_IN_MEMORY = ("corpus", "compliance", "random", "hostile")
_THROUGH_LAKE = ("corpus lake", "compliance lake", "random lake")


def write(results_dir: Path, page: Path, say: Callable[[str], None] = print) -> None:
    """Fill the marked places of the page for which there are results; the others keep what they say.

    Raises
    ------
    SystemExit
        Where there are no results at all.
    """
    results = read(results_dir)
    if not any(results.values()):
        raise SystemExit(f"no results in {results_dir}: run a proof first")
    text = page.read_text()
    for name, (commands, render) in PLACES.items():
        missing = [command for command in commands if not results[command]]
        if missing:
            say(f"{name}: left as it is, there are no results of {', '.join(missing)}")
        else:
            text = filled(text, name, render(results))
    page.write_text(text)


def read(results_dir: Path) -> Results:
    """All results, by the command that made them; `` lake`` behind it where we evaluated through a lake."""
    found: Results = {name: [] for name in (*_IN_MEMORY, *_THROUGH_LAKE)}
    for command in _IN_MEMORY:
        for path in sorted(results_dir.glob(f"{command}*.json")):
            result = json.loads(path.read_text())
            found[f"{command} lake" if result.get("through") == "lake" else command].append(result)
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
    """Targets in memory, figures, and whether they are met."""
    lines = ["| target | measured | met? |", "|---|---|---|", *_equality(results, "")]
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


def summary_of_lakes(results: Results) -> str:
    """Targets through a lake, figures, and whether they are met."""
    return "\n".join(["| target | measured | met? |", "|---|---|---|", *_equality(results, " lake")]) + "\n"


def _equality(results: Results, where: str) -> Iterator[str]:
    for one in results[f"corpus{where}"]:
        n = corpus.counts(one["evals"])
        yield (
            f"| corpus, {one['what']}: every eval that the server answers as written, less info() "
            f"| {n['ours']:,} of {n['counted']:,} | {_met(n['ours'] == n['counted'])} |"
        )
    for one in results[f"compliance{where}"]:
        equal = {name: compliance.equal(found["rows"]) for name, found in one["sets"].items()}
        figures = ", ".join(f"{count} of {one['queries']} ({name})" for name, count in equal.items())
        yield (
            f"| compliance list, jittered and aligned | {figures} | {_met(set(equal.values()) == {one['queries']})} |"
        )
    runs = results[f"random{where}"]
    pairs = sum(one["pairs"] for one in runs)
    unexplained = sum(one["counts"]["differs"] - one["counts"]["explained"] for one in runs)
    crashes = sum(one["counts"]["crashes"] for one in runs)
    yield (
        f"| random pairs: no unexplained difference, no crash | {unexplained} and {crashes} of {pairs:,} "
        f"| {_met(not unexplained and not crashes)} |"
    )


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


def corpus_of_lakes(results: Results) -> str:
    """Per corpus what could be loaded into a lake, over how many shards it lies, and how equal we are."""
    head = (
        "| corpus | evals | left out | loaded | in two shards or more | in five or more | answered as written | ours "
        "| ours = server |"
    )
    rows = []
    for one in results["corpus lake"]:
        n, loaded = corpus.counts(one["evals"]), [each for each in one["evals"] if "skipped" not in each]
        shards = [each["shards"] for each in loaded]
        rows.append(
            [
                one["what"], n["evals"], n["skipped"], n["float"], sum(count > 1 for count in shards),
                sum(count > 4 for count in shards), n["counted"], n["ours"], f"{n['same']:,} of {n['beside']:,}",
            ]
        )  # fmt: skip
    first = results["corpus lake"][0]
    return f"On {first['date']} against Prometheus {first['server']}.\n\n" + _rows(head, rows)


def compliance_table(results: Results) -> str:
    """How equal the answers are, per data set."""
    return _compliance(results["compliance"])


def compliance_of_lakes(results: Results) -> str:
    """The same through a lake."""
    one = results["compliance lake"][0]
    return (
        _compliance(results["compliance lake"])
        + f"\nSeries in {one['shards']} of 16 shards and {one['blocks']} hours.\n"
    )


def _compliance(results: list[dict]) -> str:
    head = "| data | series | samples | equal to the bit | within 1e-12 | ties | only within 1e-5 | different | answers with values |"
    rows = []
    for one in results:
        for name, found in one["sets"].items():
            verdicts = [row["verdict"] for row in found["rows"]]
            counts = [verdicts.count(verdict) for verdict in ("bits", "1e-12", "ties", "1e-5", "differs")]
            rows.append(
                [name, found["series"], found["samples"], *counts, sum(r["filled"] for r in found["rows"])]
            )
    one = results[0]
    return (
        f"{one['queries']} queries, on {one['date']}, seed {one['seed']}, Prometheus {one['server']}.\n\n"
        + _rows(head, rows)
    )


def random_table(results: Results) -> str:
    """Figures per seed."""
    return _random(results["random"])


def random_of_lakes(results: Results) -> str:
    """The same through a lake, and what the lakes were."""
    shapes = [shape for one in results["random lake"] for shape in one["lakes"]]
    told = ", ".join(
        f"{name} {min(found)} to {max(found)} (median {median(found):g})"
        for name, found in (
            (name, [shape[name] for shape in shapes]) for name in ("series", "shards", "hours")
        )
    )
    return _random(results["random lake"]) + f"\nPer data set: {told}.\n"


def _random(results: list[dict]) -> str:
    head = (
        "| seed | pairs | data sets | equal to the bit | within 1e-12 | ties | one of several answers of the server "
        "| its instant queries | different, explained | different | with values | failed on both | crashes |"
    )
    rows = []
    for one in results:
        n = one["counts"]
        rows.append(
            [
                str(one["seed"]), one["pairs"], one["data_sets"], n["bits"], n["1e-12"], n["ties"], n["varies"], n["order"],
                n["explained"], n["differs"] - n["explained"], f"{n['filled'] / one['pairs']:.0%}",
                n["failed"] + n["refused_by_both"], n["crashes"],
            ]
        )  # fmt: skip
    first = results[0]
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


#: Per marked place the results that it needs, and what stands there.
PLACES: dict[str, tuple[tuple[str, ...], Callable[[Results], str]]] = {
    "summary": (_IN_MEMORY, summary),
    "summary lake": (_THROUGH_LAKE, summary_of_lakes),
    "corpus": (("corpus",), corpus_table),
    "corpus differences": (("corpus",), corpus_differences),
    "corpus lake": (("corpus lake",), corpus_of_lakes),
    "compliance": (("compliance",), compliance_table),
    "compliance lake": (("compliance lake",), compliance_of_lakes),
    "random": (("random",), random_table),
    "random lake": (("random lake",), random_of_lakes),
    "hostile": (("hostile",), hostile_table),
}
