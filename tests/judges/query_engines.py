"""Tests of other PromQL engines as judges. In: checkouts of Mimir and promql-engine. Out: results for the page.

Both are played on a Prometheus 3.5 and on ours, through a lake of 16 shards. Mimir's files have the notation of Prometheus' own corpus
and say what they expect: what that server does not answer as written is not counted. promql-engine's cases are tables in Go
that compare it with Prometheus: what that server answers is expected, and what it cannot read is not counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from tests.judges.checkouts import checkout
from tests.lab.parts import PartMissing
from tests.promql.conformance import corpus
from tests.promql.conformance.notation import Clear, Command, Eval, NotationError, read_file
from tests.promql.conformance.promqltest import ServerEngine
from tests.promql.conformance.through_lake import LakeEngine
from throttlescope.transforms.promql.semantics import LOOKBACK_MS

_OURS = Path("pkg/streamingpromql/testdata/ours")
_READER = Path(__file__).with_name("go_cases.go")
_READ_S = 300


def run_mimir(files: int | None = None) -> dict:
    """Play Mimir's own test files through a lake, the first ``files`` of them or all."""
    source = checkout("grafana/mimir")
    result = corpus.run(source.folder / _OURS, laws=False, through_lake=True, most=files)
    found = corpus.counts(result["evals"])
    return {
        "version": source.version,
        "figure": f"{found['ours']:,} of {found['counted']:,} evals that Prometheus {result['server']} answers as written "
        f"({found['refused']:,} refused); {result['files']} files with {found['evals']:,} evals, "
        f"{found['skipped']:,} of them with native histograms or series without a name",
        "details": list(corpus.report(result)),
    }


def run_promql_engine(cases: int | None = None) -> dict:
    """Play promql-engine's tables of cases through a lake, the first ``cases`` of them or all."""
    source = checkout("thanos-io/promql-engine")
    started = time.monotonic()
    evals, unread = [], []
    found = go_cases(source.folder / "engine")[:cases]
    with ServerEngine() as theirs:
        for test, of_test in groupby(found, key=lambda case: case["test"]):
            commands, not_read = commands_of(list(of_test))
            evals += corpus.beside_server(test, commands, theirs, LakeEngine())
            unread += [f"{test}:{line}  {why}" for line, why in not_read]
        version = theirs.version()
    result = {"server": version, "seconds": round(time.monotonic() - started, 1), "evals": evals}
    counts = corpus.counts(evals)
    skipped = Counter(one["skipped"] for one in evals if "skipped" in one)
    left_out = "".join(f", {number:,} with {why}" for why, number in skipped.items())
    not_theirs = sum(1 for one in evals if one.get("server"))
    return {
        "version": source.version,
        "figure": f"{counts['ours']:,} of {counts['counted']:,} queries equal to Prometheus {version} ({counts['refused']:,} refused), "
        f"of {len(found)} cases; not counted: {not_theirs:,} that the server cannot read{left_out}, {len(unread)} cases not read",
        "details": [*unread, *corpus.report(result)],
    }


def go_cases(folder: Path) -> list[dict]:
    """The cases with a load and a query in the Go tests of a folder; ``go_cases.go`` says which and how they are read.

    Raises
    ------
    PartMissing
        Without Go, or where a file is no Go.
    """
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        raise PartMissing("go not found in PATH: https://go.dev/dl")
    done = subprocess.run(
        [go, "run", str(_READER), str(folder)], capture_output=True, text=True, timeout=_READ_S, check=False
    )
    if done.returncode:
        raise PartMissing(f"{_READER.name}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def commands_of(cases: list[dict]) -> tuple[list[Command], list[tuple[int, str]]]:
    """Loads and queries of cases, those of one load together, and what cannot be played: lines and reasons."""
    commands: list[Command] = []
    unread: list[tuple[int, str]] = []
    by_load = sorted(cases, key=lambda case: case["load"])
    for load, of_load in groupby(by_load, key=lambda case: case["load"]):
        here = list(of_load)
        try:
            loads = read_file(load)
        except NotationError as error:
            unread += [(case["line"], str(error)) for case in here]
            continue
        unread += [(case["line"], case["unread"]) for case in here if case["unread"]]
        commands += [Clear(0), *loads, *(one for case in here if not case["unread"] for one in _evals(case))]
    return commands, unread


def _evals(case: dict) -> Iterator[Eval]:
    # Go's zero is the default; a case that has both it and five minutes asks the same twice.
    for lookback_ms in sorted({one or LOOKBACK_MS for one in case["lookbacks_ms"]}):
        yield Eval(
            case["line"],
            case["query"].strip(),
            case["start_ms"],
            case["end_ms"],
            case["step_ms"],
            lookback_ms=lookback_ms,
        )
