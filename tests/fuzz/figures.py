"""Figures of the fuzzing. In: states. Out: a table for people, and the file that is committed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.fuzz.guided import tried
from tests.fuzz.registry import NAMES, target_of
from tests.fuzz.state import FOLDER, State
from tests.fuzz.target import TROUBLE

FILE = Path("tests/fuzz/figures.json")


def table(states: Sequence[State]) -> Iterator[str]:
    """A line for each target, and one for each input that gave trouble."""
    yield f"{'target':16} {'seed':>5} {'executions':>11} {'accepted':>10} {'refused':>10} {'trouble':>8} {'slowest':>8} {'peak':>10} {'seconds':>8}"
    for state in states:
        count = state.classes.get
        yield (
            f"{state.target:16} {state.seed:>5} {state.executions:>11,} {count('accepted', 0):>10,} {count('refused', 0):>10,}"
            f" {state.trouble:>8} {state.slowest_s:>6.3f} s {state.largest_peak_bytes / 2**20:>6.1f} MiB {state.seconds:>8.0f}"
        )
    for state in states:
        for finding in state.findings:
            yield f"{state.target} {finding['number']}: {finding['kind']}: {finding['said']}\n    {finding['input'][:300]}"


def keep(folder: Path = FOLDER, file: Path = FILE) -> None:
    """Add up the states of all seeds in a folder, and write them where they are committed."""
    rows = []
    for name in NAMES:
        target = target_of(name)
        states = [State(**json.loads(path.read_text())) for path in sorted(folder.glob(f"{name}-*.json"))]
        # A name may begin another.
        states = [state for state in states if state.target == name and state.executions]
        if not states:
            continue
        rows.append(
            {
                "target": name,
                "what": target.what,
                "wanted": target.wanted,
                "seeds": sorted(state.seed for state in states),
                "executions": sum(state.executions for state in states),
                "guided_executions": tried(folder, name)["executions"],
                "seconds": round(sum(state.seconds for state in states)),
                "accepted": sum(state.classes.get("accepted", 0) for state in states),
                "refused": sum(state.classes.get("refused", 0) for state in states),
                **{
                    kind.replace(" ", "_"): sum(state.classes.get(kind, 0) for state in states)
                    for kind in TROUBLE
                },
                "slowest_s": max(state.slowest_s for state in states),
                "memory_measured": sum(state.measured for state in states),
                "largest_peak_bytes": max(state.largest_peak_bytes for state in states),
                "memory_bound": {
                    "bytes_per_byte": target.bytes_per_byte,
                    "spare_bytes": target.spare_bytes,
                },
            }
        )
    text = json.dumps({"date": str(datetime.now(UTC).date()), "targets": rows}, indent=1)
    file.write_text(text + "\n")
