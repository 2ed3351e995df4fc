"""What an hour showed, as rows. In: what was measured. Out: what, seen, target, and whether it was missed."""

from __future__ import annotations

import statistics
from typing import Any

#: How much the middle of a process' memory may grow from the second third to the last one.
_FLAT = 1.1


def table(found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Rows of what, seen, target, and ``missed`` where it was."""
    rows: list[tuple[str, str, str, str]] = []

    def add(what: str, seen: str, target: str, met: bool) -> None:
        rows.append((what, seen, target, "" if met else "missed"))

    runs, answers, accounts = found["runs"], found["answers"], found["accounts"]
    failed = [one for one in runs if one["code"] != 0]
    took = sorted(one["s"] for one in runs)
    add(
        "runs",
        f"{len(runs)}, {len(failed)} failed; {statistics.median(took):.0f} s each, {took[-1]:.0f} s at most",
        "none failed",
        not failed,
    )
    add("answers of the web app", f"{answers['count']:,}, {sum(answers['wrong'].values())} errors; p95 {answers['p95_ms']:.0f} ms",
        "no error", not answers["wrong"])  # fmt: skip
    complete = not any(accounts[name] for name in ("missing", "surplus", "differing", "doubled"))
    add("samples of the server", f"{accounts['samples']:,} of {accounts['series']:,} series; missing {accounts['missing']}, surplus "
        f"{accounts['surplus']}, other value {accounts['differing']}, twice {accounts['doubled']}", "every one, once", complete and accounts["samples"] > 0)  # fmt: skip
    for name, looks in found["memory_mb"].items():
        _add_memory(add, name, looks)
    for kind in ("process", "jvm", "workers"):
        looks = [(one["at_s"], one["peak_mb"].get(kind, 0.0)) for one in runs]
        _add_memory(add, f"a run's {kind}, peak", looks)
    add("lake check", f"exit code {found['check']['code']}", "0", found["check"]["code"] == 0)
    add("rows refused", str(found["quarantined"]), "0", found["quarantined"] == 0)
    add("/-/ready", str(found["ready"]), "200", found["ready"] == 200)
    return rows


def _add_memory(add: Any, name: str, looks: list[tuple[float, float]]) -> None:
    """``looks`` are seconds and MB."""
    third = max(1, len(looks) // 3)
    first, second, last = (
        [statistics.median(column) for column in zip(*part, strict=True)]
        for part in (looks[:third], looks[-2 * third : -third] or looks, looks[-third:])
    )
    an_hour = (last[1] - second[1]) * 3600 / max(1.0, last[0] - second[0])
    seen = (
        f"{first[1]:.0f}, {second[1]:.0f}, {last[1]:.0f} MB by thirds ({an_hour:+.0f} MB an hour at last); "
        f"{max(mb for _, mb in looks):.0f} at most"
    )
    add(f"memory: {name}", seen, "flat", last[1] <= _FLAT * second[1])
