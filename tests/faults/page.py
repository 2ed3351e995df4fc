"""``docs/accuracy/reliability.md`` from figures. In: those of the suite, the fuzzing and the soak. Out: the page with tables in its marked places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.soak.table import table

ROOT = Path(__file__).parents[2]
FIGURES = Path(__file__).parent / "figures.json"
FUZZED = ROOT / "tests" / "fuzz" / "figures.json"
SOAKED = ROOT / "benchmarks" / "soak" / "figures.json"
#: What an input may come to that it must not.
_TROUBLE = ("crash", "slow", "memory", "unlike_the_twin", "no_clear_line", "died", "hang")
PAGE = ROOT / "docs" / "accuracy" / "reliability.md"


def filled(text: str) -> str:
    """The page with its tables; a study without figures is left out."""
    known: dict[str, dict[str, Any]] = json.loads(FIGURES.read_text())
    text = _placed(text, "summary", _table(("study", "seed", "instants", "lost", "doubled", "torn", "otherwise wrong", "asserted"), (
        (
            name, one["seed"], f"{one['instants']:,}", f"{one['lost']:,}", f"{one['doubled']:,}", f"{one['torn']:,}",
            f"{len(one['wrong']):,}", one["asserted"],
        )
        for name, one in known.items()
    )))  # fmt: skip
    fuzzed = json.loads(FUZZED.read_text())["targets"]
    text = _placed(text, "fuzz", _table(("what was read", "executions", "guided besides", "accepted", "refused", "in trouble", "slowest"), (
        (
            one["what"], f"{one['executions']:,}", f"{one['guided_executions']:,}", f"{one['accepted']:,}", f"{one['refused']:,}",
            sum(one[kind] for kind in _TROUBLE), f"{one['slowest_s']:.3f} s",
        )
        for one in fuzzed
    )))  # fmt: skip
    text = _placed(
        text, "soak", _table(("what", "seen", "target", ""), table(json.loads(SOAKED.read_text())))
    )
    for name, one in known.items():
        rows = ((what, f"{count:,}") for what, count in sorted(one["tally"].items()))
        text = _placed(text, name, _table(("what", "count"), rows))
    return text


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _placed(text: str, name: str, table: str) -> str:
    place = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.S)
    if not place.search(text):
        raise SystemExit(f"the page has no place {name}")
    return place.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
