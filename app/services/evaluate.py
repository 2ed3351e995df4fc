"""Verdicts compared with ground truth. In: a lake, and a truth file or the truth of its recordings. Out: an `Evaluation`.

Windows slide by one minute and are judged here, in this process, from the lake's signals: the table
``verdicts``, whose windows may differ, is neither read nor written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from throttlescope.app.pipeline.events import SILENT, Progress
from throttlescope.ingest.contracts import TABLES
from throttlescope.ingest.core.errors import InputError
from throttlescope.ingest.core.times import MINUTE_MS
from throttlescope.models.evaluation import Evaluation, JudgedWindow, evaluate, judge

if TYPE_CHECKING:
    from throttlescope.ingest.lake import Lake

SLIDE_MS = MINUTE_MS
TRUTH_FORMAT = 1


def evaluate_lake(
    lake: Lake, truth_file: Path | None, *, window_ms: int, note: Callable[[str], None] = lambda _: None
) -> Evaluation:
    """Evaluate the windows of a lake that lie completely within one range of the truth.

    Raises
    ------
    InputError
        There are no signals or no truth, the truth file is invalid, or no window can be evaluated.
    """
    if lake.version("signals") is None:
        raise InputError(
            "There are no signals in this lake",
            got=lake.root,
            fix="create some with throttlescope run --lake DIR",
        )
    truth = lake.read("truth") if truth_file is None else read_truth(truth_file)
    clusters = sorted(set(truth.column("cluster").to_pylist()))
    judged: list[JudgedWindow] = []
    for i, cluster in enumerate(clusters):
        note(f"{i + 1} of {len(clusters)}: {cluster}")
        signals = lake.read("signals", partition={"cluster": [cluster]})
        judged += judge(signals, window_ms=window_ms, every_ms=SLIDE_MS)
    return evaluate(judged, truth)


def evaluate_in_step(
    lake: Lake, truth_file: Path | None, window_ms: int, progress: Progress = SILENT
) -> Evaluation:
    """As :func:`evaluate_lake`, as one step of a progress.

    Raises
    ------
    InputError
        As :func:`evaluate_lake`.
    """
    with progress.step("Judging the windows"):
        found = evaluate_lake(lake, truth_file, window_ms=window_ms, note=progress.note)
        progress.note(f"{found.all.windows:,} settled windows of {found.all.recordings} recordings")
    return found


def read_truth(file: Path) -> pa.Table:
    """Rows of a ``truth.json``.

    Raises
    ------
    InputError
        The file does not exist, is not JSON, has another format, or its rows violate the contract.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as truth", got=str(error), expected="truth.json") from None
    if (
        not isinstance(found, dict)
        or found.get("format") != TRUTH_FORMAT
        or not isinstance(found.get("rows"), list)
    ):
        raise InputError(
            f"{file} is no truth",
            got=f"format {found.get('format')!r}" if isinstance(found, dict) else type(found).__name__,
            expected=f'{{"format": {TRUTH_FORMAT}, "rows": [...]}}',
        )
    contract = TABLES["truth"]
    if not found["rows"]:
        return contract.schema.empty_table()
    try:
        rows = pa.Table.from_pylist(found["rows"])
        # A column of NULLs has no type; a missing column is reported by its name.
        if "limiter" in rows.column_names:
            rows = rows.set_column(
                rows.column_names.index("limiter"), "limiter", rows.column("limiter").cast(pa.string())
            )
        return contract.conform(rows)
    except (pa.ArrowException, AttributeError, TypeError) as error:
        raise InputError(f"{file} is no truth", got=str(error), expected="rows of the table truth") from None
