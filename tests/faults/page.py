"""``docs/accuracy/reliability.md`` from figures. In: files of JSON beside the suite, and those of the fuzzing. Out: the page with tables in its marked places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parent / "figures"
FUZZED = Path(__file__).parents[1] / "fuzz" / "figures.json"
#: What an input may come to that it must not.
_TROUBLE = ("crash", "slow", "memory", "unlike_the_twin", "no_clear_line", "died", "hang")
PAGE = Path(__file__).parents[2] / "docs" / "accuracy" / "reliability.md"


def figures(folder: Path = FIGURES) -> dict[str, dict[str, Any]]:
    """Sums of the studies, by name."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found |= json.loads(path.read_text())
    return found


def filled(text: str, known: dict[str, dict[str, Any]]) -> str:
    """The page with its tables; a study without figures is left out."""
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
    PAGE.write_text(filled(PAGE.read_text(), figures()))
