"""Study: what a run stands on fails: disks, stores, workers, the admin API. In: tests that break real parts. Out: how many of them held.

Each instant is one place, whose tests pytest runs in a process of its own. A test that was skipped tried nothing, and counts as wrong here.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from tests.faults.study import Found, Study

ROOT = Path(__file__).parents[2]
AT_MOST_S = 3600
PLACES: dict[str, tuple[str, ...]] = {
    "the admin API forbids, fails, is silent or slow": ("tests/ingest/test_pulsar_admin.py",),
    "the disk is full, the lake read-only": ("tests/ingest/lake/test_unwritable.py",),
    "Spark meets a damaged file": ("tests/faults/test_spark.py",),
    "the lake is an earlier release's": ("tests/faults/test_earlier_lake.py",),
    "a repair is killed, or its source has no more": ("tests/faults/test_repair.py",),
    "a backfill is killed, or there are two": ("tests/app/test_backfill_processes.py",),
    "the object store is silent, or answers 503": ("tests/storage/test_failing_store.py",),
    "a worker or an executor is killed in a stage": ("tests/cluster/test_study.py", "-k", "loses_half"),
}


@contextlib.contextmanager
def opened(seed: int, instants: int, scratch: Path) -> Iterator[Iterator[tuple[str, Callable[[], Found]]]]:
    yield (
        (place, lambda place=place: tried(place, PLACES[place], scratch / "report.xml")) for place in PLACES
    )


def tried(place: str, arguments: tuple[str, ...], report: Path) -> Found:
    """Run the tests of one place."""
    found = Found(place)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=AT_MOST_S, check=False,
    )  # fmt: skip
    # What pytest of this process' own environment wrote.
    tests = ElementTree.parse(report).getroot().iter("testcase") if report.exists() else ()  # noqa: S314
    for test in tests:
        ended = {part.tag for part in test} & {"failure", "error", "skipped"}
        if ended:
            found.wrong.append(f"{test.get('name')}: {', '.join(sorted(ended))}")
        else:
            found.tally[place] = found.tally.get(place, 0) + 1
    report.unlink(missing_ok=True)
    if (done.returncode and not found.wrong) or not (found.tally or found.wrong):
        found.wrong.append((done.stdout + done.stderr).strip()[-300:])
    return found


STUDY = Study(
    "surroundings",
    "one line and an exit code report it, nothing is half-done, and a repetition gives the same result",
    len(PLACES),
    opened,
)
